// The admin API for commands: finds the gateway that is meant, a running one or the data folder, and calls it over HTTP.

import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { getCACertificates } from 'node:tls';
import type { Agent } from 'undici';
import { createMachineToken, isPasswordHash } from '../access/password-hash.ts';
import { configPath, resolveDataDir, resolveSettings, type Settings } from '../config/effective.ts';
import type { Environment } from '../config/env.ts';
import { loadConfig } from '../config/file.ts';
import { createSystemClock } from '../lib/clock.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseObject } from '../lib/json.ts';
import { messageOf, readSentence } from '../lib/localized-message.ts';
import { ownAddress, withoutSlashes } from '../lib/net.ts';
import { keyPath, loadSecretKey } from '../sealing/secret-key.ts';
import { claimFolder, makeDataDir } from './data-folder.ts';
import { CommandError, whyUnreached } from './exit-codes.ts';
import type { Said } from './terminal.ts';

export type AdminClient = ReturnType<typeof createHttpClient>;

interface HttpClientOptions {
  /** Without a trailing slash. */
  readonly url: string;
  readonly password: string | undefined;
  /** What a certificate of the gateway is checked with, besides the authorities that node knows. */
  readonly trust?: Trust | undefined;
  readonly close?: () => Promise<void>;
}

interface Trust {
  /** In PEM. */
  readonly authorities: string;
  /** The name that the certificate is for, where the address has another. */
  readonly name?: string | undefined;
}

/** What commands need of `fetch`, whichever client it is of. */
export type GatewayFetch = (
  url: string,
  request: Pick<RequestInit, 'method' | 'redirect' | 'signal'> & {
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string | null;
  },
) => Promise<
  Pick<Response, 'ok' | 'status' | 'text'> & { readonly headers: Pick<Headers, 'has' | 'get'> }
>;

export function createHttpClient({ url, password, trust, close }: HttpClientOptions) {
  const fetch = createGatewayFetch(trust);
  return {
    /** @param path from `/api/` on, every value in it encoded. @throws Error in words: refused, or nothing listens */
    async call(method: Method, path: string, body?: JsonObject): Promise<JsonObject> {
      const headers = {
        ...(password === undefined ? {} : { authorization: `Bearer ${password}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      };
      const text = body === undefined ? null : JSON.stringify(body);
      // A redirect would take the password elsewhere.
      const request = { method, headers, body: text, redirect: 'error' } as const;
      const response = await fetch(`${url}${path}`, request).catch((error: unknown) => {
        throw sayUnreached(url, error);
      });
      const reply = parseObject(await response.text());
      if (response.ok) return reply;
      const reason = response.status === 401 ? 'refused' : 'failed';
      throw new CommandError(
        reason,
        sayRefusal(url, response.status, { error: reply.error, password }),
      );
    },
    /** Closes what was opened for the command. */
    close: close ?? (() => Promise.resolve()),
  };
}

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** Ids may hold slashes, which are sent as they are. */
export function encodePath(id: string): string {
  return id.split('/').map(encodeURIComponent).join('/');
}

/** The client of its own that a certificate needs is loaded only for that: commands start in a moment. */
export function createGatewayFetch(trust: Trust | undefined): GatewayFetch {
  if (trust === undefined) return globalThis.fetch;
  let agent: Agent | undefined;
  return async (url, request) => {
    const undici = await import('undici');
    const { authorities, name: servername } = trust;
    const ca = [...getCACertificates('default'), authorities];
    // What is named may be the gateway's own certificate, which is no certificate authority.
    const connect = { ca, allowPartialTrustChain: true, ...(servername && { servername }) };
    agent ??= new undici.Agent({ connect });
    return undici.fetch(url, { ...request, dispatcher: agent } as Parameters<
      typeof undici.fetch
    >[1]);
  };
}

/** Certificates that no authority is known for (openssl-verify(1)). */
export const UNKNOWN_AUTHORITY = /self.signed|unable to (?:get|verify)/i;

/** OpenSSL of an answer that is no handshake. */
const SPEAKS_PLAIN = /wrong version number|packet length too long/i;

/** @param wayOut where nothing answers at the address */
export function sayUnreached(
  url: string,
  error: unknown,
  wayOut = 'name another with --url, or add --local to work on the data folder without one',
): CommandError {
  const why = whyUnreached(error);
  const say = (message: string) => new CommandError('no-gateway', message, error);
  if (UNKNOWN_AUTHORITY.test(why)) {
    return say(
      `The certificate at ${url} is of no known authority (${why}).\n` +
        'Name a file with that of the authority with --ca.',
    );
  }
  if (SPEAKS_PLAIN.test(why)) {
    return say(`What answers at ${url} speaks HTTP without TLS. Name it as http:// with --url.`);
  }
  return say(`No gateway answers at ${url} (${why}).\nStart it with "isthmus serve", ${wayOut}.`);
}

function sayRefusal(
  url: string,
  status: number,
  {
    error,
    password,
  }: { readonly error: JsonValue | undefined; readonly password?: string | undefined },
): string {
  if (status === 401) {
    const what =
      password === undefined
        ? 'wants the console password'
        : 'does not accept this console password';
    return (
      `The gateway at ${url} ${what}.\n` +
      'Set WEB_PASSWORD, or name a file that holds it with --password-file.'
    );
  }
  const message = isJsonObject(error) ? readSentence(error.message ?? null) : undefined;
  return message?.text ?? `The program at ${url} answered ${status}.`;
}

/** The console password, or a token of the secret key where no more than its hash is known. @throws Error */
function machineCredential(settings: Settings): string | undefined {
  const { consolePassword, dataDir, secretKey: environmentKey } = settings;
  const isKnown = consolePassword !== undefined && !isPasswordHash(consolePassword);
  if (isKnown) return consolePassword;
  const hasKey = environmentKey !== undefined || existsSync(keyPath(dataDir));
  // The gateway may have a password in its own environment; a key is never made for a command.
  if (consolePassword === undefined && !hasKey) return undefined;
  return createMachineToken(loadSecretKey({ dataDir, environmentKey }).derive);
}

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

/** The address of the gateway that is meant, with its password if known. @throws Error; ConfigError */
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

function readFlagFile(flag: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const message = `The file of ${flag} cannot be read: ${messageOf(error)}`;
    throw new CommandError('usage', message, error);
  }
}

/** The gateway's own certificate, to be trusted at any address. If it cannot be read, the gateway says so. */
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
  return withoutSlashes(url.href);
}

/** Serves the admin API of a data folder in this process, on a free loopback port. @throws ConfigError */
async function openLocalGateway(folder: string | undefined, environment: Environment) {
  if (environment.databaseUrl !== undefined) throw new CommandError('usage', NO_LOCAL_DATA);
  const dataDir = resolveDataDir({ dataDir: folder }, environment);
  makeDataDir(dataDir);
  const claim = claimFolder(dataDir);
  if (!claim.isOurs) {
    throw new Error(`A gateway works on the data folder ${dataDir}. Leave --local out to ask it.`);
  }
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
  const close = () => app.close().finally(claim.release);
  return createHttpClient({ url, password, close });
}

const NO_LOCAL_DATA =
  'DATABASE_URL is set: PostgreSQL keeps everything, and --local works on a data folder. Leave --local out to ask a running gateway.';
