// The client of the admin API for commands, over HTTP.

import { getCACertificates } from 'node:tls';
import type { Agent } from 'undici';
import { createMachineToken } from '../access/access.ts';
import { isPasswordHash } from '../access/password-hash.ts';
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

interface Trust {
  /** In PEM. */
  readonly authorities: string;
  /** The name that the certificate is for, where the address has another. */
  readonly name?: string | undefined;
}

export function createHttpClient({ url, password, trust, close }: HttpClientOptions) {
  const agent = memoizedAgent(trust);
  return {
    /** @param path from `/api/` on, every value in it encoded. @throws Error in words: refused, or nothing listens */
    async call(method: Method, path: string, body?: JsonObject): Promise<JsonObject> {
      const headers = new Headers();
      if (password !== undefined) headers.set('authorization', `Bearer ${password}`);
      if (body !== undefined) headers.set('content-type', 'application/json');
      const text = body === undefined ? null : JSON.stringify(body);
      const dispatcher = await agent();
      const request = { method, headers, body: text, redirect: 'error', dispatcher } as const;
      const response = await send(url, path, request);
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

/** Loaded only where it is needed: commands start in a moment. */
function memoizedAgent(trust: Trust | undefined): () => Promise<Agent | undefined> {
  let agent: Agent | undefined;
  return async () => {
    if (trust === undefined) return undefined;
    const { Agent } = await import('undici');
    const { authorities, name: servername } = trust;
    const ca = [...getCACertificates('default'), authorities];
    // What is named may be the gateway's own certificate, which is nobody's authority.
    const connect = { ca, allowPartialTrustChain: true, ...(servername && { servername }) };
    agent ??= new Agent({ connect });
    return agent;
  };
}

/** Certificates that no authority is known for (openssl-verify(1)). */
const UNKNOWN_AUTHORITY = /self.signed|unable to (?:get|verify)/i;

/** OpenSSL of an answer that is no handshake. */
const SPEAKS_PLAIN = /wrong version number|packet length too long/i;

interface Sent {
  readonly method: Method;
  readonly headers: Headers;
  readonly body: string | null;
  /** A redirect would take the password elsewhere. */
  readonly redirect: 'error';
  readonly dispatcher: Agent | undefined;
}

async function send(
  url: string,
  path: string,
  { dispatcher, ...request }: Sent,
): Promise<Pick<Response, 'ok' | 'status' | 'text'>> {
  try {
    if (dispatcher === undefined) return await fetch(`${url}${path}`, request);
    const undici = await import('undici');
    const headers = Object.fromEntries(request.headers);
    return await undici.fetch(`${url}${path}`, { ...request, headers, dispatcher });
  } catch (error) {
    const why = whyUnreached(error);
    if (UNKNOWN_AUTHORITY.test(why)) {
      throw new CommandError(
        'no-gateway',
        `The certificate at ${url} is of no known authority (${why}).\n` +
          'Name a file with that of the authority with --ca.',
        error,
      );
    }
    if (SPEAKS_PLAIN.test(why)) {
      throw new CommandError(
        'no-gateway',
        `What answers at ${url} speaks HTTP without TLS. Name it as http:// with --url.`,
        error,
      );
    }
    throw new CommandError(
      'no-gateway',
      `No gateway answers at ${url} (${why}).\n` +
        'Start it with "isthmus serve", name another with --url, or add --local to work on the data ' +
        'folder without one.',
      error,
    );
  }
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
