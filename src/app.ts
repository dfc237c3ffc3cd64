// The composition root: builds everything once, from the configuration inwards to the server.

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { AccessControl } from './access/access.ts';
import type { AccountBook } from './accounts/account-book.ts';
import { createAdministration } from './compose/administration.ts';
import { createEdgeSettings, openAccessControl } from './compose/edge.ts';
import { createSecretList, type GatewayContext, openFoundation } from './compose/foundation.ts';
import { openObservation } from './compose/monitor.ts';
import { openTraffic } from './compose/traffic.ts';
import { createId } from './lib/ids.ts';
import { createRedactors } from './lib/redact.ts';
import type { LogFiles } from './monitor/log-files.ts';
import type { Pool } from './pool/create-pool.ts';
import type { Router } from './routing/router.ts';
import { createConsoleFiles } from './server/console.ts';
import { createServer, type EdgeServer } from './server/create-server.ts';

export interface AppOptions extends Omit<GatewayContext, 'version'> {
  /** Where the log is kept, to show it; undefined where it is not. */
  readonly logFiles?: LogFiles | undefined;
  /** How many the system lets this process have open; undefined where it does not say. */
  readonly openFiles?: number | undefined;
}

export interface App {
  readonly version: string;
  readonly book: AccountBook;
  readonly pool: Pool;
  readonly access: AccessControl;
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
export async function createApp({ logFiles, openFiles, ...options }: AppOptions): Promise<App> {
  const context = { ...options, version: VERSION };
  const { config, clock, log } = context;
  const foundation = await openFoundation(context);
  const traffic = await openTraffic(context, foundation);
  const settings = createEdgeSettings(() => config.current());
  const access = await openAccessControl({
    ...{ config, settings, clock, createId, log },
    stores: foundation.stores.access,
    derive: (purpose) => foundation.secretKey.derive(purpose),
    redactorFor: createRedactors(createSecretList(config), traffic.accountSecrets),
  });
  let { port } = config.current();
  const parts = { ...foundation, ...traffic, access, logFiles, port: () => port };
  const observation = await openObservation(context, parts);
  const distPath = consoleFolder(config.current().distPath);
  const consoleFiles = createConsoleFiles({ distPath, log });
  const { backend, accounts, router, protocols, dispatcher, models, responseStores, bodies } =
    traffic;
  const server = createServer({
    ...{
      protocols,
      dispatcher,
      models,
      responseStores,
      bodies,
      access,
      consoleFiles,
      settings,
      clock,
      log,
    },
    version: VERSION,
    openFiles,
    observer: observation.observer,
    adminRoutes: createAdministration(context, parts, observation.routes),
  });
  const { book, pool, quota } = accounts;
  return {
    ...{ version: VERSION, book, pool, access, router, isSandbox: backend.isSandbox },
    server: {
      ...server,
      async listen() {
        const address = await server.listen();
        port = address.port;
        return address;
      },
    },
    start() {
      void pool.ensureModels();
      quota.start();
    },
    async close() {
      const inReverse = [server, observation, access, traffic, foundation.stores, config];
      for (const part of inReverse) await part.close();
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
