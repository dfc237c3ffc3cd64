// A gateway over a sandbox with its monitor, for tests of what is recorded and shown.

import { createDefaultAccounts, createSandbox } from '@isthmus/sandbox';
import { AccountTrials } from '../../src/accounts/health.ts';
import { createMonitorRoutes } from '../../src/admin/admin-routes.ts';
import type { MonitorRouteOptions } from '../../src/admin/options.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { createId } from '../../src/lib/ids.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../src/lib/json.ts';
import { createRedactors } from '../../src/lib/redact.ts';
import type { LogFiles } from '../../src/monitor/log-files.ts';
import { createMonitor, type Monitor } from '../../src/monitor/monitor.ts';
import type { RequestRow } from '../../src/monitor/record.ts';
import type { RequestFigures, RequestStore } from '../../src/monitor/request-store.ts';
import { createProtocols } from '../../src/protocols/index.ts';
import { findTarget } from '../../src/routing/router.ts';
import { createServer } from '../../src/server/create-server.ts';
import { DEFAULT_EDGE_SETTINGS, type EdgeSettings } from '../../src/server/settings.ts';
import { createResponseStores } from '../../src/stored-responses/response-store.ts';
import { createUpstream } from '../../src/upstreams/index.ts';
import { loadMemoryAccess } from './memory-access-stores.ts';
import { createMemoryRequestStore } from './memory-request-store.ts';
import { createMiddayClock } from './midday-clock.ts';
import { dispatchOver } from './pool-dispatch.ts';
import { createSeedPool } from './seed-pool.ts';

type MonitorSettings = ReturnType<MonitorOptions['settings']>;

type MonitorOptions = Parameters<typeof createMonitor>[0];

export const CLIENT_KEY = 'sk-canary-client-key-0123456789abcdef';
export const CONSOLE_PASSWORD = 'canary-console-password';

/** Longer waits are no gathering. */
const MOST_GATHERING_MS = 250;

export interface MonitoredGateway {
  readonly url: string;
  readonly monitor: Monitor;
  readonly settings: { -readonly [Key in keyof MonitorSettings]: MonitorSettings[Key] };
  readonly warnings: readonly string[];
  /** A model request with the client key; JSON, or a form. */
  ask(path: string, body: object, headers?: Readonly<Record<string, string>>): Promise<Response>;
  /** The same with a body as it stands. */
  askRaw(path: string, body: string): Promise<Response>;
  /** An admin request with the console password. */
  admin(path: string, method?: string, body?: object): Promise<AdminReply>;
  /** The row of the next request that ends; call before it is sent. */
  nextRow(): Promise<RequestRow>;
  addFault(fault: JsonObject): Promise<void>;
  disable(accountId: string): void;
  /** From now on no address is let in. */
  denyAddresses(): void;
  close(): Promise<void>;
}

interface AdminReply {
  readonly status: number;
  readonly text: string;
  readonly body: JsonObject;
}

type MutableSettings = { -readonly [Name in keyof MonitorSettings]: MonitorSettings[Name] };

/** Of a store in memory nothing is added up. */
const NO_FIGURES: RequestFigures = {
  histogram: async () => undefined,
  errorGroups: async () => [],
  session: async () => undefined,
};

export interface MonitoredOptions {
  readonly store?: RequestStore;
  readonly requestFigures?: RequestFigures;
  /** True to save records as the gateway does, together and a moment later. */
  readonly gathers?: boolean;
  readonly settings?: Partial<MonitorSettings>;
  readonly logFiles?: Pick<LogFiles, 'read'>;
  readonly secrets?: readonly string[];
  readonly accounts?: readonly string[];
  readonly priceOf?: MonitorOptions['priceOf'];
  readonly onRecord?: MonitorOptions['onRecord'];
  /** What the client key is called now; `Ann` when absent. */
  readonly mainKeyName?: () => string | undefined;
}

export async function startMonitored(options: MonitoredOptions = {}): Promise<MonitoredGateway> {
  const clock = createMiddayClock();
  const accounts = createDefaultAccounts();
  const sandbox = createSandbox({ accounts, clock });
  const { url: upstreamUrl } = await sandbox.start();
  const [key = ''] = accounts.map((account) => account.key);
  const upstream = createUpstream(
    { profile: 'sandbox', baseUrl: upstreamUrl, version: 'test' },
    { clock },
  );
  const { pool, book } = createSeedPool({
    accounts: (options.accounts ?? ['ann']).map((id) => ({ id })),
    upstream,
    clock,
    tokens: {
      accessFor: async ({ record: { id } }) => ({
        accountId: id,
        credential: key,
        credentialKind: 'api-key',
      }),
    },
  });
  const warnings: string[] = [];
  const warn = (_fields: object, message: string): void => void warnings.push(message);
  const settings: MutableSettings = {
    enabled: true,
    keepsBodies: false,
    retentionMs: 604_800_000,
    maxBytes: 1_073_741_824,
    ...options.settings,
  };
  const { router, dispatcher, models } = dispatchOver(pool, clock);
  const { mainKeyName = () => 'Ann', secrets = [] } = options;
  const keyName = (keyId: string): string | undefined =>
    keyId === 'main' ? mainKeyName() : undefined;
  const monitor = createMonitor({
    store: options.store ?? createMemoryRequestStore(),
    clock: options.gathers === true ? clock : withoutGathering(clock),
    settings: () => settings,
    redactorFor: createRedactors(() => secrets),
    keyOf: (id) => ({ name: keyName(id) }),
    priceOf: options.priceOf ?? (() => undefined),
    targetOf: (model) => findTarget(model, { router, pool }),
    figures: { accounts: () => ({ active: book.list().length }) },
    createId,
    readsRequests: options.onRecord !== undefined,
    onRecord: options.onRecord,
    log: { warn },
  });
  const protocols = createProtocols();
  const routeOptions: MonitorRouteOptions = {
    monitor,
    requestFigures: options.requestFigures ?? NO_FIGURES,
    bodyRecording: {
      until: () => settings.bodiesUntil ?? 0,
      async setUntil(at) {
        settings.bodiesUntil = at;
      },
    },
    metrics: async () => monitor.metrics.write(),
    dispatcher,
    protocols,
    book,
    pool,
    clock,
    createId,
    keyName,
    isProtected: () => false,
    upstreams: { get: () => upstream },
    version: 'test',
    startedAt: clock.now(),
    logFiles: options.logFiles,
    trials: new AccountTrials(),
    usualBilling: () => 'metered',
    facts: () => ({
      isSandbox: true,
      address: 'http://127.0.0.1:8045',
      authMode: 'strict',
      isLoopback: true,
      consolePassword: 'own',
      configProblems: [],
      warnings: [],
      isLasting: true,
    }),
  };
  const log = { debug: warn, info: () => {}, warn, error: warn, request: () => {} };
  let edgeSettings: EdgeSettings = {
    ...DEFAULT_EDGE_SETTINGS,
    port: 0,
    authMode: 'strict',
    apiKeys: [{ id: 'main', key: CLIENT_KEY }],
    consolePassword: CONSOLE_PASSWORD,
  };
  const server = createServer({
    protocols,
    dispatcher,
    models,
    responseStores: createResponseStores({ clock, onFailure: () => {} }),
    adminRoutes: createMonitorRoutes(routeOptions),
    observer: monitor.observer,
    settings: () => edgeSettings,
    access: await loadMemoryAccess({ settings: () => edgeSettings, clock, log }),
    clock,
    log,
    version: 'test',
  });
  const { url } = await server.listen();
  return {
    url,
    monitor,
    settings,
    warnings,
    ask: (path, body, headers = {}) =>
      fetch(`${url}${path}`, {
        method: 'POST',
        headers: { ...writeType(body), 'x-api-key': CLIENT_KEY, ...headers },
        body: body instanceof FormData ? body : JSON.stringify(body),
      }),
    askRaw: (path, body) =>
      fetch(`${url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': CLIENT_KEY },
        body,
      }),
    async admin(path, method = 'GET', body) {
      const answer = await fetch(`${url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${CONSOLE_PASSWORD}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      const parsed = answer.headers.get('content-type')?.includes('json') ? parseJson(text) : {};
      return { status: answer.status, text, body: isJsonObject(parsed) ? parsed : {} };
    },
    async nextRow() {
      const reader = monitor.feed.read();
      const event = await reader.next();
      reader.close();
      if (event === undefined || event === 'idle') throw new Error('The feed ended.');
      return event.content as RequestRow;
    },
    denyAddresses() {
      const addressFilter = { enabled: true, fallback: 'deny', allowBeatsDeny: false } as const;
      edgeSettings = { ...edgeSettings, addressFilter };
    },
    async addFault(fault) {
      const headers = { 'content-type': 'application/json' };
      const body = JSON.stringify(fault);
      const answer = await fetch(`${upstreamUrl}/sandbox/faults`, {
        method: 'POST',
        headers,
        body,
      });
      if (!answer.ok) throw new Error(await answer.text());
    },
    disable: (accountId) => book.apply(accountId, { kind: 'disable' }),
    async close() {
      await server.close();
      await monitor.close();
      await pool.close();
      await upstream.close();
      await sandbox.close();
    },
  };
}

/** Of a form the type is known once its boundary is. */
function writeType(body: object): Readonly<Record<string, string>> {
  return body instanceof FormData ? {} : { 'content-type': 'application/json' };
}

/** Saves each record as soon as it is there: what a test asks for next is found. */
function withoutGathering(clock: Clock): Clock {
  return {
    ...clock,
    startTimer(delayMs, callback) {
      if (delayMs > MOST_GATHERING_MS) return clock.startTimer(delayMs, callback);
      let isCancelled = false;
      queueMicrotask(() => isCancelled || callback());
      return { cancel: () => (isCancelled = true) };
    },
  };
}
