// Finds the gateway a command works on: a running one, or the data folder.

import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { configPath, resolveDataDir, resolveSettings, type Settings } from '../config/effective.ts';
import type { Environment } from '../config/env.ts';
import { loadConfig } from '../config/file.ts';
import { createSystemClock } from '../lib/clock.ts';
import { messageOf } from '../lib/localized-message.ts';
import { ownAddress } from '../lib/net.ts';
import {
  type AdminClient,
  createHttpClient,
  machineCredential,
  type Trust,
} from './admin-client.ts';
import { makeDataDir } from './data-folder.ts';
import { CommandError } from './exit-codes.ts';
import type { Said } from './terminal.ts';

/** With `local` it works on the data folder, in this process. */
export type ConnectFlags = Said<'url' | 'passwordFile' | 'dataDir' | 'ca', string> &
  Said<'local', boolean>;

export type Connect = (flags: ConnectFlags) => Promise<AdminClient>;

/** @param readEnvironment asked when a command connects, since it may throw ConfigError */
export function createConnect(readEnvironment: () => Environment): Connect {
  return async (flags) => {
    const environment = readEnvironment();
    if (!flags.local) return createHttpClient(await findGateway(flags, environment));
    if (flags.url !== undefined)
      throw new CommandError('usage', '--local and --url do not go together.');
    return openLocalGateway(flags.dataDir, environment);
  };
}

/**
 * The address of the gateway that is meant, and the password that is known for it.
 * @throws Error when the address cannot be used; ConfigError
 */
export async function findGateway(flags: ConnectFlags, environment: Environment) {
  const { passwordFile, dataDir } = flags;
  const { config } = await loadConfig(configPath(resolveDataDir({ dataDir }, environment)));
  const settings = resolveSettings({ flags: { dataDir }, environment, file: config });
  const { url, isOwn, trust } = findAddress(flags, settings);
  if (passwordFile !== undefined) {
    return { url, password: readFlagFile('--password-file', passwordFile).trimEnd(), trust };
  }
  // The password of the config file is for the gateway of that file, not for any other address.
  const password = isOwn ? machineCredential(settings) : environment.webPassword;
  return { url, password, trust };
}

/** @throws CommandError for a flag that cannot be used */
export function findAddress(
  { url: named, ca }: Pick<ConnectFlags, 'url' | 'ca'>,
  { host, port, tlsCert }: Pick<Settings, 'host' | 'port' | 'tlsCert'>,
): { readonly url: string; readonly isOwn: boolean; readonly trust: Trust | undefined } {
  const own = readUrl(ownAddress(host, port, tlsCert === undefined ? 'http' : 'https'));
  const url = named === undefined ? own : readUrl(named);
  const isOwn = url === own;
  const given = ca === undefined ? undefined : { authorities: readFlagFile('--ca', ca) };
  return { url, isOwn, trust: given ?? (isOwn ? trustOwn(tlsCert) : undefined) };
}

/** @throws CommandError naming the flag */
function readFlagFile(flag: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const message = `The file of ${flag} cannot be read: ${messageOf(error)}`;
    throw new CommandError('usage', message, error);
  }
}

/**
 * The gateway of these settings has the certificate of their file, under whatever address it is asked. A file that cannot
 * be used is its to tell of.
 */
function trustOwn(path: string | undefined): Trust | undefined {
  if (path === undefined) return undefined;
  try {
    const authorities = readFileSync(path, 'utf8');
    const { subjectAltName = '' } = new X509Certificate(authorities);
    return { authorities, name: /DNS:([^,*]+)/.exec(subjectAltName)?.[1] };
  } catch {
    return undefined;
  }
}

function readUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '') {
    throw new CommandError('usage', '--url must be an address such as http://127.0.0.1:8045.');
  }
  return url.href.replace(/\/+$/, '');
}

/**
 * The admin API on a data folder without a running gateway, in the process of the command. Listens on a free loopback port that nobody else is told, under the same console password.
 * @throws ConfigError, or whatever keeps the gateway itself from starting
 */
async function openLocalGateway(folder: string | undefined, environment: Environment) {
  const dataDir = resolveDataDir({ dataDir: folder }, environment);
  makeDataDir(dataDir);
  // Of all commands on a gateway only these load one.
  const [{ pino }, { createApp }, { createLiveConfig }] = await Promise.all([
    import('pino'),
    import('../app.ts'),
    import('../config/live.ts'),
  ]);
  const clock = createSystemClock();
  const log = Object.assign(pino({ level: 'silent' }), { request() {} });
  const config = await createLiveConfig({
    path: configPath(dataDir),
    environment,
    flags: { dataDir, host: '127.0.0.1', port: 0 },
    clock,
    log,
  });
  const app = await createApp({ config, clock, random: Math.random, log, isPlain: true });
  const { url } = await app.server.listen();
  const password = machineCredential(config.current());
  return createHttpClient({ url, password, close: () => app.close() });
}
