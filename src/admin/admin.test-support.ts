// The admin API over a real edge, with fakes of everything behind it.

import { Errors } from 'typebox/schema';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { loadMemoryAccess } from '../../test/support/memory-access-stores.ts';
import { createMemoryAccountStore } from '../../test/support/memory-account-store.ts';
import type { Account } from '../accounts/account.ts';
import { createAccountBook, type NewAccount, type SeedAccount } from '../accounts/account-book.ts';
import { isJsonObject, type JsonObject, parseJson } from '../lib/json.ts';
import type { AdminInput, AdminRoute } from '../server/admin-route.ts';
import { DEFAULT_EDGE_SETTINGS, type EdgeSettings } from '../server/settings.ts';
import {
  startEdge,
  type TestEdge,
  type TestEdgeOptions,
} from '../server/start-edge.test-support.ts';
import {
  createFakeOptions,
  createFakes,
  type Fakes,
  NOW,
  SECRETS,
} from './admin-fakes.test-support.ts';
import { createAdminRoutes } from './admin-routes.ts';
import type { AdminOptions } from './options.ts';
import type { ApiRoute } from './route.ts';
import { ERROR_SCHEMA } from './schemas.ts';

export const PASSWORD = 'the-console-password';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: JsonObject;
}

export interface TestAdmin {
  readonly edge: TestEdge;
  readonly routes: readonly AdminRoute[];
  readonly options: AdminOptions;
  readonly fakes: Fakes;
  /** With the console password unless `headers` hold another credential. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  close(): Promise<void>;
}

interface CallOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

interface TestAdminOptions extends TestEdgeOptions {
  readonly seeds?: readonly SeedAccount[];
}

export async function startAdmin({
  seeds = [],
  ...edgeOptions
}: TestAdminOptions = {}): Promise<TestAdmin> {
  const clock = createFakeClock(NOW);
  const fakes = createFakes();
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  let count = 0;
  const book = createAccountBook({
    store: createMemoryAccountStore(),
    stored: [],
    seeds,
    clock,
    random: () => 0.5,
    createId: (prefix) => `${prefix}${++count}`,
    log,
  });
  const settings: EdgeSettings = {
    ...DEFAULT_EDGE_SETTINGS,
    consolePassword: PASSWORD,
    ...edgeOptions.settings,
  };
  const access = await loadMemoryAccess({ settings: () => settings, clock });
  const options = { ...createFakeOptions({ book, clock, fakes }), access };
  const routes = createAdminRoutes(options);
  const edge = await startEdge({
    ...edgeOptions,
    adminRoutes: routes,
    access,
    settings: { consolePassword: PASSWORD, ...edgeOptions.settings },
  });
  return {
    edge,
    routes,
    options,
    fakes,
    async call(method, path, { body, headers = {} } = {}) {
      const response = await fetch(`${edge.url}${path}`, {
        method,
        redirect: 'manual',
        headers: {
          authorization: `Bearer ${PASSWORD}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const isJson = response.headers.get('content-type')?.startsWith('application/json');
      const parsed = isJson ? parseJson(text) : {};
      const { status } = response;
      const isPage = response.headers.get('content-type')?.startsWith('text/html');
      checkAnswer(edge, { method, path, status, body: isPage ? text : parsed });
      return { status, headers: response.headers, text, body: isJsonObject(parsed) ? parsed : {} };
    },
    close: () => edge.server.close(),
  };
}

/** Every answer of every test fits what the API's description promises. */
function checkAnswer(
  edge: TestEdge,
  { method, path, status, body }: { method: string; path: string; status: number; body: unknown },
): void {
  const [pathname = ''] = path.split('?');
  const match = edge.server.routes.match(method, pathname);
  const route =
    match.kind === 'route' && match.route.kind === 'admin' ? match.route.route : undefined;
  const schema =
    route !== undefined && isApiRoute(route) && status < 300
      ? route.description.answers[status]?.schema
      : undefined;
  if (schema === undefined && status < 400) {
    if (status === 204 || status === 303 || route?.access === 'public') return;
    throw new Error(`${method} ${path} answers ${status} without a word about it.`);
  }
  const [isGood, errors] = Errors(schema ?? ERROR_SCHEMA, body);
  if (!isGood) throw new Error(`${method} ${path} ${status}: ${JSON.stringify(errors)}`);
}

function isApiRoute(route: AdminRoute): route is ApiRoute {
  return 'description' in route;
}

/** An account that comes with the process. */
export const SEED: SeedAccount = {
  id: 'main/key-1@env',
  origin: 'environment',
  upstreamId: 'main',
  label: 'key-1@env',
  credential: { kind: 'api-key', key: SECRETS.key },
};

/** An account that is added behind the API's back. */
export function addTo(
  { options }: Pick<TestAdmin, 'options'>,
  account: Partial<NewAccount> = {},
): Promise<Account> {
  return options.book.add({
    upstreamId: 'main',
    label: 'ada@example.com',
    credential: { kind: 'oauth', refreshToken: SECRETS.refreshToken },
    ...account,
  });
}

/** What a route is run with that an owner of this machine asks. */
export function ownerInput(body?: JsonObject): AdminInput {
  return {
    body,
    query: new URLSearchParams(),
    parameter: '',
    ifMatch: undefined,
    isHead: false,
    author: 'password',
    requestId: 'r',
    caller: {
      address: '127.0.0.1',
      isLocal: true,
      isSecure: false,
      cookie: undefined,
      signInCookie: undefined,
      role: 'owner',
      person: undefined,
      hasShownPassword: true,
      passwordAgain: undefined,
      language: 'en',
      isPrefetch: false,
      under: () => ({ address: '127.0.0.1', isLocal: true, isOwnPage: true, isHeard: true }),
    },
    signal: new AbortController().signal,
  };
}
