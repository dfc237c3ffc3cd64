// The admin API on a data folder without a running gateway, in the process of the command.

import { pino } from 'pino';
import { createApp } from '../app.ts';
import { configPath, type Flags, resolveDataDir } from '../config/effective.ts';
import type { Environment } from '../config/env.ts';
import { createLiveConfig } from '../config/live.ts';
import { createSystemClock } from '../lib/clock.ts';
import { type AdminClient, createHttpClient, machineCredential } from './admin-client.ts';
import { makeDataDir } from './data-folder.ts';

/**
 * Listens on a free loopback port that nobody else is told, under the same console password.
 * @throws ConfigError, or whatever keeps the gateway itself from starting
 */
export async function openLocalGateway(
  flags: Flags,
  environment: Environment,
): Promise<AdminClient> {
  const dataDir = resolveDataDir(flags, environment);
  makeDataDir(dataDir);
  const clock = createSystemClock();
  const log = Object.assign(pino({ level: 'silent' }), { request() {} });
  const config = await createLiveConfig({
    path: configPath(dataDir),
    environment,
    flags: { ...flags, host: '127.0.0.1', port: 0 },
    clock,
    log,
  });
  const app = await createApp({ config, clock, random: Math.random, log });
  const { url } = await app.server.listen();
  const password = machineCredential(config.current());
  return createHttpClient({ url, password, close: () => app.close() });
}
