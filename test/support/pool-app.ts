// The whole gateway over a data folder of its own, on a fake clock, that can be closed and started again.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type App, createApp } from '../../src/app.ts';
import { configPath } from '../../src/config/effective.ts';
import { readEnvironment } from '../../src/config/env.ts';
import { createLiveConfig } from '../../src/config/live.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../src/lib/json.ts';
import { placeKeyAndDatabase } from './database.ts';
import { createPassingClock, type PassingClock } from './passing-clock.ts';

export interface PoolAppOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** The first `gui_config.json`. */
  readonly file?: JsonObject;
  readonly clock?: PassingClock;
  /** Random numbers; one half unless given. */
  readonly random?: () => number;
  /** True to let the background work begin, as `npm start` does. */
  readonly starts?: boolean;
}

export interface PoolApp {
  readonly folder: string;
  readonly clock: PassingClock;
  /** Every line of the log so far, as JSON. */
  readonly logged: readonly string[];
  /** Of the running app; they change with a restart. */
  readonly url: string;
  readonly app: App;
  api(method: string, path: string, body?: JsonValue): Promise<ApiAnswer>;
  /** As `api`. @throws Error when the status is not 2xx */
  must(method: string, path: string, body?: JsonValue): Promise<JsonObject>;
  /** Closes the app and starts it anew on the same folder. */
  restart(change?: { readonly environment?: Readonly<Record<string, string>> }): Promise<void>;
  /** Stops the app; the folder stays for a restart. */
  stop(): Promise<void>;
  close(): Promise<void>;
}

export interface ApiAnswer {
  readonly status: number;
  readonly text: string;
  /** Empty when the answer is no JSON object. */
  readonly body: JsonObject;
}

export async function startPoolApp(options: PoolAppOptions = {}): Promise<PoolApp> {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-pool-'));
  if (options.environment?.ISTHMUS_SECRET_KEY === undefined) await placeKeyAndDatabase(folder);
  const { clock = createPassingClock() } = options;
  if (options.file !== undefined) {
    writeFileSync(configPath(folder), JSON.stringify(options.file));
  }
  const logged: string[] = [];
  let running: Running | undefined = await run({ ...options, folder, clock, logged });
  const current = (): Running => {
    if (running === undefined) throw new Error('The app is stopped.');
    return running;
  };
  const api = (method: string, path: string, body?: JsonValue): Promise<ApiAnswer> =>
    callApi(`${current().url}${path}`, method, body);
  const stop = async (): Promise<void> => {
    const stopping = running;
    running = undefined;
    await stopping?.app.close();
  };
  return {
    folder,
    clock,
    logged,
    api,
    stop,
    get url() {
      return current().url;
    },
    get app() {
      return current().app;
    },
    async must(method, path, body) {
      const answer = await api(method, path, body);
      if (answer.status < 300) return answer.body;
      throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    },
    async restart(change = {}) {
      await stop();
      const environment = { ...options.environment, ...change.environment };
      running = await run({ ...options, environment, folder, clock, logged });
    },
    async close() {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

interface Running {
  readonly app: App;
  readonly url: string;
}

interface RunOptions extends PoolAppOptions {
  readonly folder: string;
  readonly clock: PassingClock;
  readonly logged: string[];
}

async function run(options: RunOptions): Promise<Running> {
  const { folder, clock, logged, random = () => 0.5 } = options;
  const write = (fields: object, message: string): void => {
    logged.push(JSON.stringify({ ...fields, message }, showErrors));
  };
  const log = {
    ...{ debug: write, info: write, warn: write, error: write },
    request: (_level: string, line: object) => write(line, 'request'),
  };
  const environment = readEnvironment({
    variables: { ISTHMUS_DATA_DIR: folder, PORT: '0', ...options.environment },
    readText: () => '',
  });
  const config = await createLiveConfig({ path: configPath(folder), environment, clock, log });
  const app = await createApp({ config, clock, random, log });
  const { url } = await app.server.listen();
  if (options.starts === true) app.start();
  return { app, url };
}

/** Errors have no fields of their own in JSON; a log shows their words and their causes. */
function showErrors(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  const { name, message, stack, cause } = value;
  return { ...value, name, message, stack, cause };
}

async function callApi(url: string, method: string, body?: JsonValue): Promise<ApiAnswer> {
  const answer = await fetch(url, {
    method,
    redirect: 'manual',
    ...(body === undefined
      ? {}
      : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  const isJson = answer.headers.get('content-type')?.startsWith('application/json') === true;
  const value = isJson ? parseJson(text) : undefined;
  return { status: answer.status, text, body: isJsonObject(value) ? value : {} };
}
