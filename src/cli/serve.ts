// `isthmus serve`: runs the gateway until it is stopped; its folder lock and its start checks.

import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type App, createApp } from '../app.ts';
import { openCluster } from '../compose/cluster.ts';
import { configPath, type Flags, resolveDataDir, type Settings } from '../config/effective.ts';
import { readEnvironment } from '../config/env.ts';
import { createLiveConfig, gatewaySecrets, type LiveConfig } from '../config/live.ts';
import { type Clock, createSystemClock } from '../lib/clock.ts';
import { createId } from '../lib/ids.ts';
import { isLoopbackHost } from '../lib/net.ts';
import { LogFiles } from '../monitor/log-files.ts';
import { escapeLine } from '../monitor/log-line.ts';
import type { AccountView } from '../pool/pool.ts';
import type { Log } from '../server/settings.ts';
import { writeBanner } from './banner.ts';
import { makeDataDir } from './data-folder.ts';
import { createLog } from './log.ts';

export type RunningServer = Awaited<ReturnType<typeof serve>>;

/** Builds the gateway; it can be closed from here on. @throws ConfigError */
export async function serve(flags: Flags) {
  const environment = readEnvironment();
  const clock = createSystemClock();
  const dataDir = resolveDataDir(flags, environment);
  const folderWarning = makeDataDir(dataDir);
  let secrets: readonly string[] = [];
  const { logFiles, log } = openLog(dataDir, clock, () => secrets);
  const path = configPath(dataDir);
  const config = await createLiveConfig({ path, environment, flags, clock, log });
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
  const newKeyFile = (await ensureKey(config)) ? path : undefined;
  const { random } = Math;
  const cluster = await openCluster({ redisUrl: environment.redisUrl, clock, log });
  const app = await createApp({ config, clock, log, logFiles, openFiles, random, cluster });
  const claim = claimFolder(dataDir);
  if (!claim.isOurs) log.warn({ dataDir }, SHARED_FOLDER);
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
      console.log(writeBanner({ ...facts, ...links }));
      app.start();
    },
    /** Drains and closes; resolves when everything is closed. */
    async close(): Promise<void> {
      log.info({}, 'The gateway stops.');
      await app.close();
      await cluster.close();
      claim.release();
      log.flush();
      await logFiles.close();
    },
  };
}

const SHARED_FOLDER =
  'Another gateway runs on this data folder: neither sees what is changed in the other. Stop one of them, or give this one a folder of its own with --data-dir.';

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
function openLog(dataDir: string, clock: Clock, secrets: () => readonly string[]) {
  const files = new LogFiles({
    folder: join(dataDir, 'logs'),
    clock,
    onFault: (error) => {
      const why = error instanceof Error ? error.message : String(error);
      process.stderr.write(`The log cannot be written to its files: ${escapeLine(why)}\n`);
    },
  });
  const log = createLog({ files, clock, secrets, isTerminal: process.stderr.isTTY === true });
  // Before the error output writes its rest at the same moment.
  process.prependOnceListener('exit', () => log.flush());
  return { logFiles: files, log };
}

/** A gateway that other machines can reach is never open by omission: it gets a key of its own. */
async function ensureKey(config: LiveConfig): Promise<boolean> {
  const { host, apiKey, authMode } = config.current();
  if (apiKey !== undefined || authMode === 'off' || isLoopbackHost(host)) return false;
  await config.update({ api_key: createId('sk-') });
  return true;
}

const CLAIM_FILE = 'running.lock';
const SQLITE_BUSY = 5;

/**
 * Claims the folder as long as this process lives: a second gateway would not see changes of the first. The lock is
 * SQLite's on an empty file: the system takes it back from a process that is killed, and node has no other that it would.
 */
export function claimFolder(dataDir: string) {
  const path = join(dataDir, CLAIM_FILE);
  let lock: DatabaseSync | undefined;
  try {
    closeSync(openSync(path, 'a', 0o600));
    lock = new DatabaseSync(path, { timeout: 0 });
    // Nothing is ever written: no journal has to stand beside the file.
    lock.exec('pragma journal_mode = memory; begin exclusive');
    return { isOurs: true, release: () => lock?.close() };
  } catch (error) {
    lock?.close();
    // Where nobody can tell, the folder is taken for free.
    const isBusy = error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY;
    return { isOurs: !isBusy, release: () => undefined };
  }
}

/** A thousand streams, each with a socket to its client and one to its upstream, and what the gateway has open itself. */
const ENOUGH = 2200;

/** Node has raised the limit as far as it may by now. */
export function warnOfFewFiles(openFiles: number | undefined, log: Pick<Log, 'warn'>): void {
  if (openFiles === undefined || openFiles >= ENOUGH) return;
  log.warn(
    { openFiles },
    `The system lets this process open ${openFiles} files, and a stream takes two: beyond that, connections wait or fail. Raise it with "ulimit -Hn 4096", or LimitNOFILE= of the service.`,
  );
}

/** How many files the kernel lets this process have open (proc(5)); undefined where it says nothing. */
export function readOpenFiles(limits: string | undefined = readLimits()): number | undefined {
  const [, soft] = /^Max open files\s+(\d+)\s/m.exec(limits ?? '') ?? [];
  return soft === undefined ? undefined : Number(soft);
}

function readLimits(): string | undefined {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return undefined;
  }
}

type Listening = Pick<Settings, 'host' | 'port'>;

/** The error of a listening socket with the way out behind its message; any other error as it is. */
export function explainListening(error: unknown, { host, port }: Listening): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error;
  const wayOuts: Readonly<Record<string, string>> = {
    EADDRINUSE: 'Another program listens there. Choose another port with --port or PORT.',
    EACCES: `Port ${port} is kept for the administrator of this machine. Choose one from 1024 on with --port or PORT.`,
    EADDRNOTAVAIL: `This machine has no address ${host}. ${CHOOSE_HOST}`,
    ENOTFOUND: `The name ${host} leads to no address. ${CHOOSE_HOST}`,
    EAI_AGAIN: `The name ${host} leads to no address. ${CHOOSE_HOST}`,
  };
  const wayOut = wayOuts[String(error.code)];
  return wayOut === undefined ? error : new Error(`${error.message}\n${wayOut}`, { cause: error });
}

const CHOOSE_HOST =
  'Set HOST, or proxy.host in gui_config.json, to 127.0.0.1 for this machine alone, to 0.0.0.0 for all networks, or to an address of this machine.';
