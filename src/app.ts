// The composition root: builds everything once, from the configuration inwards to the server.

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { AccountBook } from './accounts/account-book.ts';
import { createAdminRoutes } from './admin/admin-routes.ts';
import { openAccounts } from './compose/accounts.ts';
import { openBackend } from './compose/backend.ts';
import { createConfigSecrets } from './compose/config-secrets.ts';
import { createEdgeSettings } from './compose/edge-settings.ts';
import { keepConfigPrivate } from './compose/keep-config-private.ts';
import { openGatewayDoor } from './compose/open-gateway-door.ts';
import { openMonitor } from './compose/open-monitor.ts';
import { openTelemetry } from './compose/telemetry.ts';
import { configPath } from './config/effective.ts';
import type { LiveConfig } from './config/live.ts';
import { createDispatcher } from './dispatch/dispatch.ts';
import { createModelDirectory } from './dispatch/model-directory.ts';
import type { Door } from './door/door.ts';
import type { Clock } from './lib/clock.ts';
import { createId } from './lib/ids.ts';
import { createMediaFetcher } from './media/fetch-media.ts';
import type { LogFiles } from './monitor/log-files.ts';
import { createAccountTransfer } from './oauth/account-transfer.ts';
import { createRevoker } from './oauth/revoker.ts';
import { createSignIns } from './oauth/sign-ins.ts';
import type { Pool } from './pool/pool.ts';
import { createProtocols } from './protocols/index.ts';
import { createRouter, type Router } from './routing/router.ts';
import { openWithPassphrase, sealWithPassphrase } from './sealing/passphrase.ts';
import { DATABASE_FILE, loadSecretKey } from './sealing/secret-key.ts';
import { createVault } from './sealing/vault.ts';
import { createConsoleFiles } from './server/console-files.ts';
import { createServer, type EdgeServer } from './server/create-server.ts';
import type { Log } from './server/log.ts';
import { createAnswerShelves } from './shelf/answer-shelf.ts';
import { createSignatureKeeper } from './signatures/keeper.ts';

export interface AppOptions {
  readonly config: LiveConfig;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  /** Where the log is kept, to show it; undefined where it is not. */
  readonly logFiles?: LogFiles | undefined;
}

export interface App {
  readonly version: string;
  readonly book: AccountBook;
  readonly pool: Pool;
  readonly door: Door;
  readonly router: Router;
  readonly server: EdgeServer;
  /** True when the accounts are the sandbox's, because none was configured. */
  readonly isSandbox: boolean;
  /**
   * Begins what goes on behind requests: model lists and quota figures are read and kept fresh, the
   * console's files compressed.
   */
  start(): void;
  /** Drains and closes everything, in reverse order of opening. */
  close(): Promise<void>;
}

export const VERSION: string = readVersion();

/**
 * @throws Error when an upstream of the configuration cannot be built, StoreError and others when the
 * data folder cannot be used; the message names the way out.
 */
export async function createApp(options: AppOptions): Promise<App> {
  const { config, clock, random, log, logFiles } = options;
  const settings = () => config.current();
  const { dataDir, secretKey: environmentKey } = settings();
  const secretKey = loadSecretKey({ dataDir, environmentKey, log });
  const vault = createVault(secretKey);
  const secrets = createConfigSecrets({ config, vault, log });
  keepConfigPrivate({ config, path: configPath(dataDir), log });
  await secrets.keepSealed();
  // The database is a third of the start: its code is read while nothing else waits for it.
  const { openDatabase } = await import('./stores/sqlite/open-database.ts');
  const stores = await openDatabase({ path: join(dataDir, DATABASE_FILE), vault, clock, log });
  const stored = await stores.accounts.list();

  const backend = await openBackend({
    settings,
    subscribe: (listener) => void config.subscribe(listener),
    hasStoredAccounts: stored.length > 0,
    openSecret: secrets.open,
    version: VERSION,
    clock,
    log,
  });
  const { upstreams, oauth } = backend;
  const accounts = await openAccounts({
    config,
    backend,
    store: stores.accounts,
    userAgent: `isthmus/${VERSION}`,
    clock,
    random,
    log,
  });
  const { book, tokens, fetch, isProtected, quota, pool } = accounts;

  const router = createRouter({
    mapping: () => settings().customMapping,
    offered: () => pool.offered(),
  });
  const keeper = createSignatureKeeper({ clock, store: stores.signatures, log });
  await keeper.load();
  const media = createMediaFetcher({
    clock,
    userAgent: `isthmus/${VERSION}`,
    isEnabled: () => settings().fetchRemoteMedia,
  });
  const dispatcher = createDispatcher({
    router,
    pool,
    keeper,
    clock,
    random,
    createId,
    media,
    thinkingMode: () => settings().thinking,
  });
  const shelves = createAnswerShelves({
    clock,
    store: stores.keptAnswers,
    onFailure: (error) => log.warn({ error }, 'An answer could not be kept on disk.'),
  });
  const protocols = createProtocols();
  const models = createModelDirectory({ router, pool });

  const signIns = createSignIns({
    book,
    oauth,
    fetch,
    clock,
    log,
    onCredentialReplaced: (id) => tokens.forget(id),
  });
  const sealing = { sealWithPassphrase, openWithPassphrase };
  const hasUpstream = (id: string): boolean => upstreams.get(id) !== undefined;
  const transfer = createAccountTransfer({
    book,
    oauth,
    tokens,
    fetch,
    clock,
    log,
    createId,
    hasUpstream,
    sealing,
  });
  let port = settings().port;
  const edgeSettings = createEdgeSettings(settings);
  const entrance = await openGatewayDoor({
    config,
    stores: stores.door,
    derive: (purpose) => secretKey.derive(purpose),
    settings: edgeSettings,
    clock,
    createId,
    log,
  });
  const { door } = entrance;
  const telemetry = await openTelemetry({
    settings,
    book,
    upstreams,
    version: VERSION,
    clock,
    log,
    accountKey: secretKey.derive('telemetry accounts'),
  });
  const monitoring = openMonitor({
    onRecord: (record, ended) => telemetry?.observe(record, ended),
    store: stores.requests,
    config,
    logFiles,
    book,
    pool,
    protocols,
    isProtected,
    clock,
    createId,
    log,
    version: VERSION,
    keyName: (id) => door.keys.get(id)?.key.name,
    address: () => `http://${settings().host}:${port}`,
  });
  const consoleFiles = createConsoleFiles({
    distPath: consoleFolder(settings().distPath),
    log,
  });
  const server = createServer({
    protocols,
    dispatcher,
    models,
    shelves,
    door,
    consoleFiles,
    observer: monitoring.monitor.observer,
    adminRoutes: createAdminRoutes(
      {
        door,
        version: VERSION,
        clock,
        revisionKey: secretKey.derive('config revisions').toString('hex'),
        book,
        upstreams: { list: backend.choices, get: (id) => upstreams.get(id) },
        tokens,
        pool,
        quota,
        isProtected,
        signIns,
        callbackUrl: () => `http://127.0.0.1:${port}/oauth/callback`,
        transfer,
        revoker: createRevoker({ book, oauth, fetch, clock, log }),
        config: secrets.guard(door.hasher),
        origins: config,
        router,
        models,
        protocols,
        dispatcher,
        log,
      },
      monitoring.connect(dispatcher),
    ),
    settings: edgeSettings,
    clock,
    log,
    version: VERSION,
  });
  return {
    version: VERSION,
    book,
    pool,
    door,
    router,
    server: {
      ...server,
      async listen() {
        const address = await server.listen();
        port = address.port;
        return address;
      },
    },
    isSandbox: backend.isSandbox,
    start() {
      void pool.ensureModels();
      quota.start();
      void consoleFiles.compress();
    },
    async close() {
      await server.close();
      await monitoring.close();
      await telemetry?.close();
      await entrance.close();
      await media.close();
      await accounts.close();
      await keeper.close();
      await stores.close();
      await backend.close();
      await config.close();
    },
  };
}

/** The default folder is the program's own, whatever folder it was started in. */
function consoleFolder(distPath: string): string {
  return distPath === 'dist' ? join(import.meta.dirname, '../dist') : resolve(distPath);
}

function readVersion(): string {
  const manifest: { version?: unknown } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  );
  return String(manifest.version);
}
