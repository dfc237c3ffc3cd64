// The whole gateway in this process, on a free port, with a sandbox of its own that tests can steer.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDefaultAccounts, createSandbox } from '@isthmus/sandbox';
import { type App, createApp } from '../../src/app.ts';
import { createLog } from '../../src/cli/log.ts';
import type { Cluster } from '../../src/cluster/cluster.ts';
import { configPath } from '../../src/config/effective.ts';
import { readEnvironment } from '../../src/config/env.ts';
import { createLiveConfig, type LiveConfig } from '../../src/config/live.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../src/lib/json.ts';
import { LogFiles } from '../../src/monitor/log-files.ts';
import type { Log } from '../../src/server/settings.ts';
import { placeKeyAndDatabase } from './database.ts';
import { createMiddayClock } from './midday-clock.ts';

/** The key clients must send to a gateway started with `STRICT`. */
export const KEY = 'sk-e2e-0123456789abcdef';

/** Environment of a gateway that always wants the key. */
export const STRICT = { API_KEY: KEY, AUTH_MODE: 'strict' } as const;

export interface TestApp {
  /** Without a trailing slash. */
  readonly url: string;
  readonly port: number;
  readonly app: App;
  readonly config: LiveConfig;
  readonly clock: ImpatientClock;
  readonly sandbox: SandboxControl;
  /** Writes `gui_config.json` by hand and resolves when the gateway has taken the change. */
  editConfig(content: JsonObject): Promise<void>;
  /** Resolves with the next log line of this message, or of any request that ends. */
  nextLine(message?: string): Promise<LogLine>;
  close(): Promise<void>;
}

/** Waits pass at once: the time they take is added to it. */
interface ImpatientClock extends Clock {
  /** Moves time on, for cooldowns and lifetimes; running timers stay as they are. */
  skip(byMs: number): void;
}

interface LogLine {
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

interface SandboxControl {
  readonly url: string;
  /** Headers of the first account, for calls without the gateway. */
  readonly authorization: Readonly<Record<string, string>>;
  addFault(fault: JsonObject): Promise<void>;
  clearFaults(): Promise<void>;
  /** The calls the sandbox received, oldest first, with their bodies. */
  requests(): Promise<readonly JsonObject[]>;
}

/** `environment` as the process would have it; `file` is the first `gui_config.json`. */
export interface StartOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly file?: JsonObject;
  /** True to keep the log in files, as `serve` does, where the admin API shows it. */
  readonly keepsLog?: boolean;
  /** It is midday unless given. */
  readonly clock?: Clock;
  /** Where it keeps everything; one of its own unless given. */
  readonly folder?: string;
  /** Of which it is a member; whoever opened it closes it. */
  readonly cluster?: Cluster;
}

/** The gateway over a sandbox with two accounts, `key-1@env` and `key-2@env`. */
export async function startApp({ environment = {}, file }: StartOptions = {}): Promise<TestApp> {
  const accounts = createDefaultAccounts();
  const sandbox = createSandbox({ accounts, clock: createMiddayClock() });
  const { url } = await sandbox.start();
  const app = await startGateway({
    environment: {
      UPSTREAM_PROFILE: 'sandbox',
      UPSTREAM_BASE_URL: url,
      UPSTREAM_API_KEYS: accounts.map(({ key }) => key).join(','),
      ...environment,
    },
    ...(file === undefined ? {} : { file }),
  });
  return {
    ...app,
    sandbox: createControl(url, accounts[0]?.key ?? ''),
    async close() {
      await app.close();
      await sandbox.close();
    },
  };
}

/** The gateway as the environment alone makes it; without any, as `npm start` does. */
export async function startGateway(options: StartOptions): Promise<Omit<TestApp, 'sandbox'>> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'isthmus-e2e-'));
  if (options.folder === undefined && options.environment?.ISTHMUS_SECRET_KEY === undefined) {
    await placeKeyAndDatabase(folder);
  }
  const path = configPath(folder);
  const write = (content: JsonObject): void => writeFileSync(path, JSON.stringify(content));
  if (options.file !== undefined) write(options.file);
  const { log, nextLine } = createTestLog();
  const clock = createImpatientClock(options.clock ?? createMiddayClock());
  const environment = readEnvironment({
    variables: { ISTHMUS_DATA_DIR: folder, PORT: '0', ...options.environment },
    readText: () => '',
  });
  const config = await createLiveConfig({ path, environment, clock, log });
  const kept = options.keepsLog === true ? openKeptLog(folder, clock) : undefined;
  const app = await createApp({
    config,
    clock,
    random: Math.random,
    log: kept?.log ?? log,
    logFiles: kept?.files,
    cluster: options.cluster,
  });
  const { url, port } = await app.server.listen();
  return {
    url,
    port,
    app,
    config,
    clock,
    nextLine,
    async editConfig(content) {
      const changed = nextLine('The settings were read again.');
      write(content);
      await changed;
    },
    async close() {
      await app.close();
      await kept?.files.close();
      if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

function openKeptLog(folder: string, clock: Clock): { files: LogFiles; log: Log } {
  const fail = (error: unknown): void => {
    throw error;
  };
  const files = new LogFiles({ folder: join(folder, 'logs'), clock, onFault: fail });
  return {
    files,
    log: createLog({ files, clock, isTerminal: false, output: { write: () => {} } }),
  };
}

function createImpatientClock(base: Clock): ImpatientClock {
  let ahead = 0;
  return {
    now: () => base.now() + ahead,
    monotonic: () => base.monotonic() + ahead,
    startTimer: base.startTimer,
    async sleep(delayMs, signal) {
      signal.throwIfAborted();
      // Clocks tell whole milliseconds, and a wait that was drawn has fractions.
      ahead += Math.ceil(delayMs);
    },
    skip(byMs) {
      ahead += byMs;
    },
  };
}

function createControl(url: string, key: string): SandboxControl {
  const faults = `${url}/sandbox/faults`;
  return {
    url,
    authorization: { authorization: `Bearer ${key}` },
    async addFault(fault) {
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(faults, { method: 'POST', headers, body: JSON.stringify(fault) });
      if (!answer.ok) throw new Error(await answer.text());
    },
    async clearFaults() {
      await fetch(faults, { method: 'DELETE' });
    },
    async requests() {
      const body = parseJson(await (await fetch(`${url}/sandbox/requests`)).text());
      const requests = isJsonObject(body) ? body.requests : undefined;
      return Array.isArray(requests) ? requests.filter(isJsonObject) : [];
    },
  };
}

function createTestLog(): { log: Log; nextLine: TestApp['nextLine'] } {
  const waiting: { readonly message: string; resolve(line: LogLine): void }[] = [];
  const write = (fields: object, message: string): void => {
    const at = waiting.findIndex((one) => one.message === message);
    if (at !== -1) waiting.splice(at, 1)[0]?.resolve({ message, fields: { ...fields } });
  };
  return {
    log: {
      ...{ debug: write, info: write, warn: write, error: write },
      request: (_level, line) => write(line, 'request'),
    },
    nextLine: (message = 'request') => new Promise((resolve) => waiting.push({ message, resolve })),
  };
}
