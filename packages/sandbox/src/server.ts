// The sandbox as a server on loopback: its routes, who may call them, and what each answers.

import { createHash, timingSafeEqual } from 'node:crypto';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import {
  addServiceAccount,
  changeAccount,
  listAccounts,
  readQuotas,
  revokeAccount,
  setQuotas,
} from './controls.ts';
import { notFound, SandboxError } from './errors.ts';
import {
  applyFault,
  countTokens,
  embed,
  type GenerateServices,
  generate,
  type ModelAddress,
  requireModel,
} from './generate.ts';
import { readJsonBody, requireLocalTool, sendError, sendJson } from './http.ts';
import type { JsonObject } from './json.ts';
import { listModels, ownIdOf, SANDBOX_MODELS, writeModel, writePublisherModels } from './models.ts';
import {
  answerOAuth,
  authenticateToken,
  type BearerServices,
  createDefaultClient,
  DEFAULT_CLIENT_ID,
  isAccessToken,
  type OAuthAddresses,
  type OAuthOperation,
  type OAuthServices,
  oauthAddresses,
  type SandboxClient,
} from './oauth.ts';
import {
  createCodes,
  createGrants,
  createServiceAccountKeys,
  createTokens,
} from './oauth-tokens.ts';
import {
  createFaults,
  createMembers,
  createPrefixCache,
  createQuotaCounters,
  createRequestLog,
  createSignatures,
  DEFAULT_TIER_QUOTAS,
  type Ending,
  type Member,
  type RequestLog,
  requireStanding,
  type SandboxAccount,
  type SandboxClock,
  type TierQuotas,
  writeFault,
  writeQuota,
} from './state.ts';
import type { Delivery } from './write-answer.ts';

export { createDefaultAccounts, type SandboxAccount, type SandboxTier } from './state.ts';

export interface SandboxOptions {
  /** Who may call with a key; e-mails and keys are unique. */
  readonly accounts: readonly SandboxAccount[];
  readonly clock: SandboxClock;
  /**
   * What signatures, tokens and keys of service accounts are made with. The default never changes,
   * so they outlive a restart; it is no secret.
   */
  readonly seed?: string | undefined;
  /** What each plan allows. */
  readonly quotas?: Partial<TierQuotas> | undefined;
  /** An hour unless given. */
  readonly accessTokenLifetimeMs?: number | undefined;
  /** Return addresses of the built-in client beside those on this machine. */
  readonly redirectUrls?: readonly string[] | undefined;
  /** OAuth clients beside the built-in one. */
  readonly clients?: readonly SandboxClient[] | undefined;
}

interface SandboxStart {
  /** Without a trailing slash. */
  readonly url: string;
  readonly oauth: OAuthAddresses & { readonly clientId: string };
}

interface Sandbox {
  /** Listens on 127.0.0.1 at a free port. */
  start(): Promise<SandboxStart>;
  /** Drops running answers and stops listening. */
  close(): Promise<void>;
  readonly accounts: readonly SandboxAccount[];
}

const DEFAULT_SEED = 'isthmus-sandbox';
const ACCESS_TOKEN_LIFETIME_MS = 3_600_000;

export function createSandbox(options: SandboxOptions): Sandbox {
  const { accounts } = options;
  let url = '';
  const server = createServer(createListener(createServices(options, () => url)));
  return {
    accounts,
    async start() {
      url = await listen(server);
      return { url, oauth: { ...oauthAddresses(url), clientId: DEFAULT_CLIENT_ID } };
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function createServices(options: SandboxOptions, issuer: () => string): SandboxServices {
  const { accounts, clock, seed = DEFAULT_SEED } = options;
  const tiers = { ...DEFAULT_TIER_QUOTAS, ...options.quotas };
  return {
    accounts,
    clock,
    tiers,
    issuer,
    signatures: createSignatures(seed),
    faults: createFaults(),
    quotas: createQuotaCounters({ clock, tiers }),
    prefixes: createPrefixCache(),
    log: createRequestLog(),
    members: createMembers(accounts),
    clients: [createDefaultClient(options.redirectUrls ?? []), ...(options.clients ?? [])],
    tokens: createTokens(seed),
    codes: createCodes(clock),
    grants: createGrants(),
    keys: createServiceAccountKeys(seed),
    accessTokenLifetimeMs: options.accessTokenLifetimeMs ?? ACCESS_TOKEN_LIFETIME_MS,
  };
}

function listen(server: Server): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' ? address?.port : undefined;
      resolve(`http://127.0.0.1:${port}`);
    });
  });
}

function createListener(services: SandboxServices): RequestListener {
  return (request, response) => {
    const gone = new AbortController();
    response.once('close', () => {
      if (!response.writableFinished) gone.abort(new Error('The caller is gone.'));
    });
    const fail = (error: unknown): void => {
      if (!gone.signal.aborted) sendError(response, toSandboxError(error));
    };
    const url = URL.parse(request.url ?? '/', 'http://sandbox');
    if (url === null) return fail(new SandboxError(400, 'The request target is not an address.'));
    answerExchange({ request, response, url, signal: gone.signal }, services).catch(fail);
  };
}

interface SandboxServices extends GenerateServices, OAuthServices {
  readonly accounts: readonly SandboxAccount[];
  readonly log: RequestLog;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  /** Aborts when the caller is gone. */
  readonly signal: AbortSignal;
}

type ModelRoute = Extract<Route, { readonly kind: 'generate' | 'count-tokens' | 'embed' }>;
type LookupKind = 'get-model' | 'list-models' | 'list-publisher-models' | 'quota';
type LookupRoute = Extract<Route, { readonly kind: LookupKind }>;
type OAuthRoute = Extract<Route, { readonly kind: 'oauth' }>;
type ControlRoute = Exclude<Route, ModelRoute | LookupRoute | OAuthRoute>;

/** @throws SandboxError until the answer has begun. */
async function answerExchange(exchange: Exchange, services: SandboxServices): Promise<void> {
  const { request, response, url } = exchange;
  const route = matchRoute(request.method ?? 'GET', url);
  switch (route.kind) {
    case 'generate':
    case 'count-tokens':
    case 'embed':
      await answerModelCall(route, exchange, services);
      return;
    case 'get-model':
    case 'list-models':
    case 'list-publisher-models':
    case 'quota':
      sendJson(response, 200, await lookUp(route, exchange, services));
      return;
    case 'oauth':
      await answerOAuth(route.operation, exchange, services);
      return;
    default:
      requireLocalTool(request);
      sendJson(response, 200, await control(route, exchange, services));
  }
}

function toSandboxError(error: unknown): SandboxError {
  return error instanceof SandboxError
    ? error
    : new SandboxError(500, 'The sandbox itself failed.');
}

async function answerModelCall(
  route: ModelRoute,
  { request, response, url, signal }: Exchange,
  services: SandboxServices,
): Promise<void> {
  const account = authenticate(request, url, services);
  const { text, value } = await readJsonBody(request);
  const note = services.log.add({
    time: new Date(services.clock.now()).toISOString(),
    account: account.email,
    path: url.pathname,
    body: text,
  });
  try {
    let ended: Ending = 'complete';
    const { address } = route;
    requireStanding(account, address.modelId);
    if (route.kind === 'count-tokens') {
      const body = countTokens(value, account, address);
      const models = [address.modelId, ownIdOf(address.modelId)];
      await applyFault(
        { endpoint: 'count-tokens', account: account.email, models },
        services,
        signal,
      );
      sendJson(response, 200, body);
    } else if (route.kind === 'embed') {
      const { isBatch } = route;
      sendJson(
        response,
        200,
        await embed({ account, address, isBatch, body: value, signal }, services),
      );
    } else {
      const { delivery } = route;
      ended = await generate(
        { account, address, delivery, body: value, signal, response },
        services,
      );
    }
    note({ status: 200, ended });
  } catch (error) {
    const ended = signal.aborted ? 'client-gone' : 'complete';
    note({ status: toSandboxError(error).status, ended });
    throw error;
  }
}

async function lookUp(
  route: LookupRoute,
  { request, url, signal }: Exchange,
  services: SandboxServices,
): Promise<JsonObject> {
  const account = authenticate(request, url, services);
  requireStanding(account);
  const endpoint = route.kind === 'quota' ? 'quota' : 'models';
  await applyFault({ endpoint, account: account.email, models: [] }, services, signal);
  return writeLookup(route, { account, query: url.searchParams }, services);
}

function writeLookup(
  route: LookupRoute,
  { account, query }: { readonly account: Member; readonly query: URLSearchParams },
  { quotas }: SandboxServices,
): JsonObject {
  switch (route.kind) {
    case 'get-model':
      return writeModel(requireModel({ modelId: route.modelId, place: undefined }));
    case 'list-models':
      return listModels(query);
    case 'list-publisher-models':
      return writePublisherModels();
    case 'quota':
      return writeQuota(
        account,
        SANDBOX_MODELS.map(({ id }) => id),
        quotas,
      );
    default:
      return route satisfies never;
  }
}

async function control(
  route: ControlRoute,
  { request, url }: Exchange,
  services: SandboxServices,
): Promise<JsonObject> {
  const { faults, log } = services;
  switch (route.kind) {
    case 'add-fault':
      return writeFault(faults.add((await readJsonBody(request)).value));
    case 'clear-faults':
      faults.clear();
      return { faults: [] };
    case 'list-faults':
      return { faults: faults.list().map(writeFault) };
    case 'list-requests':
      return { requests: [...log.list()] };
    case 'list-accounts':
      return listAccounts(services);
    case 'change-account':
      return changeAccount(route.email, (await readJsonBody(request)).value, services);
    case 'revoke-account':
      return revokeAccount(route.email, services);
    case 'add-service-account':
      return addServiceAccount((await readJsonBody(request)).value, services);
    case 'read-quota':
      return readQuotas(url.searchParams, services);
    case 'set-quota':
      return setQuotas((await readJsonBody(request)).value, services);
    default:
      return route satisfies never;
  }
}

interface AuthenticationServices extends BearerServices {
  readonly accounts: readonly SandboxAccount[];
}

/**
 * The member a request's credential belongs to.
 * @throws SandboxError 401 when it has none or a bad one, 403 for a token without the models scope.
 */
function authenticate(
  { headers }: IncomingMessage,
  url: URL,
  services: AuthenticationServices,
): Member {
  const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  if (bearer !== undefined && isAccessToken(bearer)) {
    return authenticateToken(bearer, 'models', services);
  }
  const name = isPublisherPath(url) ? 'x-goog-api-key' : 'x-vendora-api-key';
  const header = headers[name];
  const key = typeof header === 'string' ? header : undefined;
  const credential = bearer ?? key ?? url.searchParams.get('key') ?? undefined;
  if (credential === undefined) {
    throw new SandboxError(
      401,
      `No credential: send Authorization: Bearer <key or access token>, ${name} or ?key=.`,
    );
  }
  const digest = hash(credential);
  const account = services.accounts.find((one) => timingSafeEqual(hash(one.key), digest));
  if (account === undefined) throw new SandboxError(401, 'The credential is not valid here.');
  return services.members.restore(account.email, account.tier);
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

export type Route =
  | { readonly kind: 'generate'; readonly address: ModelAddress; readonly delivery: Delivery }
  | { readonly kind: 'count-tokens'; readonly address: ModelAddress }
  | { readonly kind: 'embed'; readonly address: ModelAddress; readonly isBatch: boolean }
  | { readonly kind: 'get-model'; readonly modelId: string }
  | { readonly kind: 'list-models' | 'list-publisher-models' | 'quota' }
  | { readonly kind: 'oauth'; readonly operation: OAuthOperation }
  | { readonly kind: 'list-faults' | 'add-fault' | 'clear-faults' | 'list-requests' }
  | { readonly kind: 'list-accounts' | 'read-quota' | 'set-quota' | 'add-service-account' }
  | { readonly kind: 'change-account' | 'revoke-account'; readonly email: string };

interface Entry {
  readonly method: string;
  readonly path: RegExp;
  readonly route: (parts: PathParts, url: URL) => Route;
}

/** The named groups of the path, decoded. */
type PathParts = Readonly<Record<string, string | undefined>>;

const PLAIN = '^/v1(?:beta)?/models/(?<model>[^/:]+)';
const PLACE = '(?:projects/(?<project>[^/]+)/locations/(?<location>[a-z0-9-]+)/)?';
const PUBLISHER = `^/v1(?:beta1)?/${PLACE}(?<name>publishers/google/models/(?<model>[^/:]+))`;

const MODEL_TABLE: readonly Entry[] = [PLAIN, PUBLISHER].flatMap((model) => [
  {
    method: 'POST',
    path: new RegExp(`${model}:generateContent$`),
    route: (parts) => ({ kind: 'generate', address: addressOf(parts), delivery: 'whole' }),
  },
  {
    method: 'POST',
    path: new RegExp(`${model}:streamGenerateContent$`),
    route: (parts, url) => ({
      kind: 'generate',
      address: addressOf(parts),
      delivery: url.searchParams.get('alt') === 'sse' ? 'sse' : 'array',
    }),
  },
  {
    method: 'POST',
    path: new RegExp(`${model}${model === PLAIN ? '[:/]' : ':'}countTokens$`),
    route: (parts) => ({ kind: 'count-tokens', address: addressOf(parts) }),
  },
]);

const ACCOUNT = '^/sandbox/accounts/(?<email>[^/]+)';

const TABLE: readonly Entry[] = [
  ...MODEL_TABLE,
  {
    method: 'POST',
    path: new RegExp(`${PLAIN}:(?<verb>embedContent|batchEmbedContents)$`),
    route: (parts) => {
      const isBatch = parts.verb === 'batchEmbedContents';
      return { kind: 'embed', address: addressOf(parts), isBatch };
    },
  },
  {
    method: 'GET',
    path: new RegExp(`${PLAIN}$`),
    route: ({ model = '' }) => ({ kind: 'get-model', modelId: model }),
  },
  fixed('GET', '/v1(?:beta)?/models', { kind: 'list-models' }),
  fixed('GET', '/v1(?:beta1)?/publishers/google/models', { kind: 'list-publisher-models' }),
  fixed('GET', '/v1(?:beta)?/quota', { kind: 'quota' }),
  oauth('GET', '/\\.well-known/oauth-authorization-server', 'metadata'),
  oauth('GET', '/oauth/authorize', 'ask-for-consent'),
  oauth('POST', '/oauth/authorize', 'decide'),
  oauth('POST', '/oauth/token', 'token'),
  oauth('POST', '/oauth/revoke', 'revoke'),
  oauth('GET', '/oauth/userinfo', 'user-info'),
  oauth('POST', '/oauth/userinfo', 'user-info'),
  fixed('GET', '/sandbox/faults', { kind: 'list-faults' }),
  fixed('POST', '/sandbox/faults', { kind: 'add-fault' }),
  fixed('DELETE', '/sandbox/faults', { kind: 'clear-faults' }),
  fixed('GET', '/sandbox/requests', { kind: 'list-requests' }),
  fixed('GET', '/sandbox/accounts', { kind: 'list-accounts' }),
  fixed('GET', '/sandbox/quota', { kind: 'read-quota' }),
  fixed('POST', '/sandbox/quota', { kind: 'set-quota' }),
  fixed('POST', '/sandbox/service-accounts', { kind: 'add-service-account' }),
  {
    method: 'POST',
    path: new RegExp(`${ACCOUNT}$`),
    route: ({ email = '' }) => ({ kind: 'change-account', email: email.toLowerCase() }),
  },
  {
    method: 'POST',
    path: new RegExp(`${ACCOUNT}/revoke$`),
    route: ({ email = '' }) => ({ kind: 'revoke-account', email: email.toLowerCase() }),
  },
];

/** @throws SandboxError 404 when nothing stands at this path. */
function matchRoute(method: string, url: URL): Route {
  for (const entry of TABLE) {
    const match = entry.method === method ? entry.path.exec(url.pathname) : null;
    if (match !== null) return entry.route(decodeParts(match.groups ?? {}), url);
  }
  const verb = new RegExp(`${PLAIN}:(?<verb>\\w+)$`).exec(url.pathname)?.groups?.verb;
  throw notFound(
    verb === undefined
      ? `There is no ${method} ${url.pathname} here.`
      : `The sandbox does not offer ${method} ${verb}; see supportedGenerationMethods in the model list.`,
  );
}

/** True for paths in the words of Vertex AI, where an API key has its real header too. */
function isPublisherPath({ pathname }: URL): boolean {
  return pathname.includes('/publishers/google/models');
}

function fixed(method: string, path: string, route: Route): Entry {
  return { method, path: new RegExp(`^${path}$`), route: () => route };
}

function oauth(method: string, path: string, operation: OAuthOperation): Entry {
  return fixed(method, path, { kind: 'oauth', operation });
}

function addressOf({ model = '', name, project, location }: PathParts): ModelAddress {
  if (name === undefined) return { modelId: model, place: undefined };
  const parent = project === undefined ? '' : `projects/${project}/locations/${location}/`;
  return { modelId: model, place: { project, model: parent + name } };
}

function decodeParts(groups: PathParts): PathParts {
  const entries = Object.entries(groups);
  return Object.fromEntries(entries.map(([name, text]) => [name, text && decode(text)]));
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
