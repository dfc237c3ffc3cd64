// `isthmus serve`: runs the gateway until it is told to stop.

import { join } from 'node:path';
import type { Logger } from 'pino';
import { type App, createApp } from '../app.ts';
import { configPath, type Flags, resolveDataDir, type Settings } from '../config/effective.ts';
import { readEnvironment } from '../config/env.ts';
import { gatewaySecrets } from '../config/gateway-secrets.ts';
import { createLiveConfig, type LiveConfig } from '../config/live.ts';
import { type Clock, createSystemClock } from '../lib/clock.ts';
import { createId } from '../lib/ids.ts';
import { isLoopbackHost } from '../lib/loopback.ts';
import { type LogFiles, openLogFiles } from '../monitor/log-files.ts';
import { escapeLine } from '../monitor/log-line.ts';
import type { AccountView } from '../pool/pool.ts';
import { writeBanner } from './banner.ts';
import { makeDataDir } from './data-folder.ts';
import { claimFolder } from './folder-claim.ts';
import { explainListening } from './listen-error.ts';
import { createLog } from './log.ts';
import { readOpenFiles, warnOfFewFiles } from './open-files.ts';

export interface RunningServer {
  /** Resolves when it listens and the banner is printed. @throws Error with the way out when it cannot listen there. */
  listen(): Promise<void>;
  /** Drains and closes; resolves when everything is closed. */
  close(): Promise<void>;
}

/** Builds the gateway; it can be closed from here on. @throws ConfigError */
export async function serve(flags: Flags): Promise<RunningServer> {
  const environment = readEnvironment();
  const clock = createSystemClock();
  const dataDir = resolveDataDir(flags, environment);
  const folderWarning = makeDataDir(dataDir);
  let secrets: readonly string[] = [];
  const { files: logFiles, log } = openLog(dataDir, { clock, secrets: () => secrets });
  const path = configPath(dataDir);
  const config = await createLiveConfig({ path, environment, flags, clock, log });
  config.subscribe((settings) => {
    log.level = settings.logLevel;
    secrets = gatewaySecrets(settings);
  });
  log.level = config.current().logLevel;
  secrets = gatewaySecrets(config.current());
  if (folderWarning !== undefined) log.warn({ dataDir }, folderWarning);
  for (const warning of config.current().warnings) log.warn({}, warning);
  const openFiles = readOpenFiles();
  warnOfFewFiles({ openFiles, log });
  const newKeyFile = (await ensureKey(config)) ? path : undefined;
  const app = await createApp({
    ...{ config, clock, log, logFiles, openFiles },
    random: Math.random,
  });
  const claim = claimFolder(dataDir);
  if (!claim.isOurs) log.warn({ dataDir }, SHARED_FOLDER);
  return {
    async listen() {
      const { url } = await app.server.listen().catch((error: unknown) => {
        throw explainListening(error, config.current());
      });
      const { version } = app;
      log.info({ version, url }, 'The gateway listens.');
      const banner = writeBanner({
        version,
        url,
        settings: config.current(),
        accounts: accountsAtWork(app),
        isSandbox: app.isSandbox,
        newKeyFile,
        signInUrl: signInUrl(app, url, config.current()),
      });
      console.log(banner);
      app.start();
    },
    async close() {
      log.info({}, 'The gateway stops.');
      await app.close();
      claim.release();
      log.flush();
      await logFiles.close();
    },
  };
}

const SHARED_FOLDER =
  'Another gateway runs on this data folder: neither sees what is changed in the other. Stop one of them, or give this one a folder of its own with --data-dir.';

/** On this machine alone, and only where there is a password to go without. */
function signInUrl({ door }: App, url: string, settings: Settings): string | undefined {
  const { host, consolePassword } = settings;
  const isWanted = settings.console.hasSignInLink && consolePassword !== undefined;
  if (!isWanted || !isLoopbackHost(host)) return undefined;
  return `${url}/sign-in?token=${door.login.createLink()}`;
}

/** Without those of the sandbox that rest beside others. */
function accountsAtWork({ book, pool }: App): readonly AccountView[] {
  return pool.accounts().filter(({ id }) => {
    const account = book.find(id);
    return account?.origin !== 'sandbox' || account.health.status.kind !== 'disabled';
  });
}

/** What the log itself cannot tell goes to the error output alone. */
function openLog(
  dataDir: string,
  { clock, secrets }: { readonly clock: Clock; readonly secrets: () => readonly string[] },
): { readonly files: LogFiles; readonly log: Logger } {
  const files = openLogFiles({
    folder: join(dataDir, 'logs'),
    clock,
    onFault: (error) => {
      const why = error instanceof Error ? error.message : String(error);
      process.stderr.write(`The log cannot be written to its files: ${escapeLine(why)}\n`);
    },
  });
  const isTerminal = process.stderr.isTTY === true;
  const log = createLog({ files, clock, secrets, isTerminal });
  // Before the error output writes its rest at the same moment.
  process.prependOnceListener('exit', () => log.flush());
  return { files, log };
}

/** A gateway that other machines can reach is never open by omission: it gets a key of its own. */
async function ensureKey(config: LiveConfig): Promise<boolean> {
  const { host, apiKey, authMode } = config.current();
  if (apiKey !== undefined || authMode === 'off' || isLoopbackHost(host)) return false;
  await config.update({ api_key: createId('sk-') });
  return true;
}
