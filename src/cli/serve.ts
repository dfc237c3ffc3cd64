// `isthmus serve`: runs the gateway until it is told to stop.

import { mkdirSync } from 'node:fs';
import { type Logger, pino } from 'pino';
import { createApp } from '../app.ts';
import { configPath, type Flags, resolveDataDir, type Settings } from '../config/effective.ts';
import { readEnvironment } from '../config/env.ts';
import { createLiveConfig, type LiveConfig } from '../config/live.ts';
import { createSystemClock } from '../lib/clock.ts';
import { createId } from '../lib/ids.ts';
import { writeBanner } from './banner.ts';

export interface RunningServer {
  /** Resolves when it listens and the banner is printed. @throws Error when the address is taken. */
  listen(): Promise<void>;
  /** Drains and closes; resolves when everything is closed. */
  close(): Promise<void>;
}

/** Builds the gateway; it can be closed from here on. @throws ConfigError */
export async function serve(flags: Flags): Promise<RunningServer> {
  const environment = readEnvironment();
  const clock = createSystemClock();
  const dataDir = resolveDataDir(flags, environment);
  makeDataDir(dataDir);
  const log = createLog();
  const path = configPath(dataDir);
  const config = await createLiveConfig({ path, environment, flags, clock, log });
  config.subscribe((settings) => {
    log.level = settings.logLevel;
  });
  log.level = config.current().logLevel;
  warnOfUnused(config.current(), log);
  const newKeyFile = (await ensureKey(config)) ? path : undefined;
  const app = await createApp({ config, clock, random: Math.random, log });
  return {
    async listen() {
      const { url } = await app.server.listen();
      const banner = writeBanner({
        version: app.version,
        url,
        settings: config.current(),
        accounts: app.pool.accounts(),
        isSandbox: app.isSandbox,
        newKeyFile,
      });
      console.log(banner);
      void app.pool.ensureModels();
    },
    async close() {
      await app.close();
      log.flush();
    },
  };
}

/** Settings of later parts are checked already; whoever sets one should know that it does nothing yet. */
function warnOfUnused(settings: Settings, log: Logger): void {
  const unused = {
    DATABASE_URL: settings.databaseUrl,
    REDIS_URL: settings.redisUrl,
    OTEL_EXPORTER_OTLP_ENDPOINT: settings.otlpEndpoint,
    ISTHMUS_SECRET_KEY: settings.secretKey,
    'proxy.extprov.enabled': settings.externalProvider.enabled || undefined,
  };
  for (const [name, value] of Object.entries(unused)) {
    if (value !== undefined) log.warn({ name }, `${name} is set, but nothing uses it yet.`);
  }
}

/** Lines go out by the block or four times a second: a write for each would cost every request. */
function createLog(): Logger {
  const destination = { fd: 2, sync: false, minLength: 8192, periodicFlush: 250 };
  return pino({ level: 'info' }, pino.destination(destination));
}

function makeDataDir(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(
      `The data folder ${path} cannot be made: ${why}\nName another with --data-dir or ISTHMUS_DATA_DIR.`,
      { cause: error },
    );
  }
}

/** A gateway that other machines can reach is never open by omission: it gets a key of its own. */
async function ensureKey(config: LiveConfig): Promise<boolean> {
  const { host, apiKey, authMode } = config.current();
  if (apiKey !== undefined || authMode === 'off' || isLoopback(host)) return false;
  await config.update({ api_key: createId('sk-') });
  return true;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}
