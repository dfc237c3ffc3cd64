// The client of the admin API for commands, over HTTP.

import { getCACertificates } from 'node:tls';
import type { Agent } from 'undici';
import { createMachineToken, isPasswordHash } from '../access/password-hash.ts';
import type { Settings } from '../config/effective.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseObject } from '../lib/json.ts';
import { readSentence } from '../lib/localized-message.ts';
import { loadSecretKey } from '../sealing/secret-key.ts';
import { CommandError, whyUnreached } from './exit-codes.ts';

export type AdminClient = ReturnType<typeof createHttpClient>;

interface HttpClientOptions {
  /** Without a trailing slash. */
  readonly url: string;
  readonly password: string | undefined;
  /** What a certificate of the gateway is checked with, besides the authorities that node knows. */
  readonly trust?: Trust | undefined;
  readonly close?: () => Promise<void>;
}

export interface Trust {
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
    /** Lets go of what was opened for the command. */
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
    // What is named may be the gateway's own certificate, which is nobody's authority.
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

/**
 * The console password, or a token of the secret key where only its hash is known.
 * @throws Error when the secret key of the data folder cannot be read
 */
export function machineCredential({
  consolePassword,
  dataDir,
  secretKey: environmentKey,
}: Pick<Settings, 'consolePassword' | 'dataDir' | 'secretKey'>): string | undefined {
  if (consolePassword === undefined || !isPasswordHash(consolePassword)) return consolePassword;
  const { derive } = loadSecretKey({ dataDir, environmentKey });
  return createMachineToken(derive);
}
