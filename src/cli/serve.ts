// `isthmus serve`: runs the gateway until it is stopped.

import { hostname } from 'node:os';
import { join } from 'node:path';
import { type App, createApp } from '../app.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Channel } from '../cluster/parent.ts';
import { joinSiblings, openCluster } from '../compose/cluster.ts';
import { openSharedDatabase } from '../compose/shared-database.ts';
import { configPath, type Flags, resolveDataDir, type Settings } from '../config/effective.ts';
import { readEnvironment } from '../config/env.ts';
import { createLiveConfig, gatewaySecrets, type LiveConfig } from '../config/live.ts';
import { type Clock, createSystemClock } from '../lib/clock.ts';
import { createId } from '../lib/ids.ts';
import { shareMemory } from '../lib/memory-limit.ts';
import { isLoopbackHost } from '../lib/net.ts';
import { LogFiles } from '../monitor/log-files.ts';
import { escapeLine } from '../monitor/log-line.ts';
import type { AccountView } from '../pool/pool.ts';
import type { Log } from '../server/settings.ts';
import { writeBanner } from './banner.ts';
import { claimFolder, makeDataDir, SHARED_FOLDER } from './data-folder.ts';
import { takeFromParent } from './handover.ts';
import { createLog, type LogOptions } from './log.ts';
import { explainListening, readOpenFiles, warnOfFewFiles } from './start-checks.ts';
import { channelToParent, countWorkers, isSpokesman, reportListening } from './worker.ts';

export type RunningServer = Awaited<ReturnType<typeof serve>>;

/** Builds the gateway; it can be closed from here on. @throws ConfigError */
export async function serve(flags: Flags) {
  const environment = readEnvironment();
  const clock = createSystemClock();
  const dataDir = resolveDataDir(flags, environment);
  const folderWarning = makeDataDir(dataDir);
  let secrets: readonly string[] = [];
  const channel = channelToParent();
  const { replicaName: name = hostname(), redisUrl, databaseUrl } = environment;
  const isAlone = channel === undefined && redisUrl === undefined && databaseUrl === undefined;
  const { logFiles, log } = openLog(dataDir, {
    clock,
    replica: isAlone ? undefined : name,
    secrets: () => secrets,
  });
  const path = configPath(dataDir);
  const { random } = Math;
  const shared = await openSharedDatabase({ environment, dataDir, clock, random, log });
  const { source } = shared ?? {};
  const config = await createLiveConfig({ path, source, environment, flags, clock, log });
  const follow = (settings: Settings): void => {
    log.level = settings.logLevel;
    secrets = gatewaySecrets(settings);
  };
  config.subscribe(follow);
  follow(config.current());
  if (folderWarning !== undefined) log.warn({ dataDir }, folderWarning);
  for (const warning of config.current().warnings) log.warn({}, warning.text);
  const openFiles = readOpenFiles();
  warnOfFewFiles(openFiles, log);
  const newKeyFile = (await ensureKey(config)) ? (source?.path ?? path) : undefined;
  shareMemory(countWorkers(environment.workers ?? 1));
  const siblings = channel && joinParent(channel, { name, clock, log });
  const cluster = await openCluster({ redisUrl, siblings, name, clock, log });
  const incoming = siblings && takeFromParent();
  const parts = { clock, log, logFiles, openFiles, incoming, random };
  const app = await createApp({ ...parts, config, shared, cluster, siblings });
  let isReplaced = false;
  // The parent of workers holds it for them.
  const claim = siblings === undefined ? claimFolder(dataDir) : undefined;
  if (claim?.isOurs === false) log.warn({ dataDir }, SHARED_FOLDER);
  return {
    /** Resolves when it listens and the banner is printed. @throws Error with the way out when it cannot listen there. */
    async listen(): Promise<void> {
      const { url } = await app.server.listen().catch((error: unknown) => {
        throw explainListening(error, config.current());
      });
      const { version, isSandbox } = app;
      const settings = config.current();
      log.info({ version, url }, 'The gateway listens.');
      const facts = { version, url, settings, isSandbox, newKeyFile };
      const links = { accounts: accountsAtWork(app), signInUrl: signInUrl(app, url, settings) };
      if (isSpokesman()) console.log(writeBanner({ ...facts, ...links }));
      app.start();
      reportListening(() => {
        isReplaced = true;
        process.kill(process.pid, 'SIGTERM');
      });
    },
    /** Drains and closes; resolves when everything is closed. */
    async close(): Promise<void> {
      log.info({}, 'The gateway stops.');
      await app.close({ isReplaced });
      await cluster.close();
      await siblings?.close();
      claim?.release();
      log.flush();
      await logFiles.close();
    },
  };
}

/** Joins the other workers of this machine. */
function joinParent(
  channel: Channel,
  { name, clock, log }: { name: string; clock: Clock; log: Log },
): Cluster {
  // It means the parent, which replaces its workers then.
  process.on('SIGHUP', () => undefined);
  return joinSiblings(channel, { name, clock, log });
}

/** On this machine alone, and only where there is a password to go without. */
function signInUrl({ access }: App, url: string, settings: Settings): string | undefined {
  const { host, consolePassword } = settings;
  const isWanted = settings.console.hasSignInLink && consolePassword !== undefined;
  if (!isWanted || !isLoopbackHost(host)) return undefined;
  return `${url}/sign-in?token=${access.login.createLink()}`;
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
  { clock, ...options }: Pick<LogOptions, 'clock' | 'replica' | 'secrets'> & { clock: Clock },
) {
  const files = new LogFiles({
    folder: join(dataDir, 'logs'),
    clock,
    onFault: (error) => {
      const why = error instanceof Error ? error.message : String(error);
      process.stderr.write(`The log cannot be written to its files: ${escapeLine(why)}\n`);
    },
  });
  const isTerminal = process.stderr.isTTY === true;
  const log = createLog({ ...options, files, clock, isTerminal });
  // Before the error output writes its rest at the same moment.
  process.prependOnceListener('exit', () => log.flush());
  return { logFiles: files, log };
}

/** A gateway that other machines can reach is never open by omission: it gets a key of its own. */
async function ensureKey(config: LiveConfig): Promise<boolean> {
  const { host, apiKey, authMode } = config.current();
  if (apiKey !== undefined || authMode === 'off' || isLoopbackHost(host)) return false;
  // Of several gateways that share their settings, the first one makes the key of all.
  const made = createId('sk-');
  const settings = await config.update((raw) =>
    raw.api_key === undefined ? { api_key: made } : {},
  );
  return settings.apiKey === made;
}
