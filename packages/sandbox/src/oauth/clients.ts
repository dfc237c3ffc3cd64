// The OAuth clients the sandbox knows, and where each may be sent back to.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { OAuthError } from './oauth-error.ts';
import type { Parameters } from './parameters.ts';

export interface SandboxClient {
  readonly id: string;
  /** As the consent page shows it. */
  readonly name: string;
  /** Public clients send none. One that is sent must be this. */
  readonly secret?: string | undefined;
  /** Compared as text; `http` addresses of this machine without a port stand for any port. */
  readonly redirectUrls: readonly string[];
}

export const DEFAULT_CLIENT_ID = 'isthmus-sandbox';
const LOOPBACK_HOSTS = ['127.0.0.1', '[::1]', 'localhost'];
const CALLBACK_PATHS = ['/', '/callback', '/oauth/callback', '/oauth2callback'];
const API_CALLBACK_PATHS = ['/api/oauth/callback'];
const LOOPBACK_ADDRESS = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::\d{1,5})?(\/.*)$/;

/** The built-in public client; `redirectUrls` are allowed beside its addresses on this machine. */
export function createDefaultClient(redirectUrls: readonly string[]): SandboxClient {
  const paths = [...CALLBACK_PATHS, ...API_CALLBACK_PATHS];
  return {
    id: DEFAULT_CLIENT_ID,
    name: 'isthmus',
    secret: 'isthmus-sandbox-secret',
    redirectUrls: [
      ...LOOPBACK_HOSTS.flatMap((host) => paths.map((path) => `http://${host}${path}`)),
      ...redirectUrls,
    ],
  };
}

/** Exact, except for the port of an address on this machine (RFC 8252, 7.3; RFC 9700, 2.1). */
export function isRegisteredRedirect({ redirectUrls }: SandboxClient, given: string): boolean {
  if (given.includes('#') || URL.parse(given) === null) return false;
  if (redirectUrls.includes(given)) return true;
  const loopback = LOOPBACK_ADDRESS.exec(given);
  return loopback !== null && redirectUrls.includes(`${loopback[1]}${loopback[2]}`);
}

/**
 * The client of a token or revocation request: `client_id` alone, with `client_secret`, or by HTTP
 * Basic (RFC 6749, 2.3.1); undefined when the request names none.
 * @throws OAuthError invalid_client 401, or invalid_request for two ways at once.
 */
export function authenticateClient(
  request: IncomingMessage,
  form: Parameters,
  clients: readonly SandboxClient[],
): SandboxClient | undefined {
  const basic = readBasic(request.headers.authorization);
  if (basic !== undefined && form.has('client_secret')) {
    throw new OAuthError('invalid_request', 'Send the client secret in one way only.');
  }
  const id = basic?.id ?? form.get('client_id');
  const secret = basic?.secret ?? form.get('client_secret');
  if (id === undefined) return undefined;
  const client = clients.find((one) => one.id === id);
  const isItself = basic === undefined || (form.get('client_id') ?? id) === id;
  if (client === undefined || !isItself || !acceptsSecret(client, secret)) {
    throw new OAuthError('invalid_client', 'The client is unknown or its secret is wrong.', {
      status: 401,
      headers: { 'www-authenticate': 'Basic realm="sandbox"' },
    });
  }
  return client;
}

/** @throws OAuthError invalid_client 401 */
export function requireClient(client: SandboxClient | undefined): SandboxClient {
  if (client !== undefined) return client;
  throw new OAuthError('invalid_client', 'client_id is missing.', { status: 401 });
}

function acceptsSecret(client: SandboxClient, secret: string | undefined): boolean {
  if (secret === undefined || secret === '') return true;
  return client.secret !== undefined && timingSafeEqual(hash(client.secret), hash(secret));
}

/** Both halves are form-encoded before they are joined. */
function readBasic(header: string | undefined): { id: string; secret: string } | undefined {
  if (header === undefined) return undefined;
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header)?.[1] ?? '';
  const [, id, secret] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString()) ?? [];
  if (id === undefined || secret === undefined) {
    throw new OAuthError('invalid_client', 'The Authorization header cannot be read.', {
      status: 401,
      headers: { 'www-authenticate': 'Basic realm="sandbox"' },
    });
  }
  return { id: decodeForm(id), secret: decodeForm(secret) };
}

function decodeForm(text: string): string {
  return new URLSearchParams(`value=${text.replaceAll('&', '%26')}`).get('value') ?? '';
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
