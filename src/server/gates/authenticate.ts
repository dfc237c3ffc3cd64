// Authenticates a client by authentication mode, API key and locality.

import { isUtf8 } from 'node:buffer';
import { hash, timingSafeEqual } from 'node:crypto';
import type { ShownKeys } from '../../access/key-guess-limit.ts';
import { clientError, type GatewayError } from '../../canonical/error.ts';
import type { AuthMode } from '../../config/values.ts';
import { type Sentence, told } from '../../lib/localized-message.ts';
import { HEADER_SPELLINGS } from '../../wire/vocabulary.ts';
import { isForeignPage } from '../cors.ts';
import type { ClientKey, HeaderMap } from '../settings.ts';
import { classifyPeer, isKnownHost, type PeerInput } from './locality.ts';

interface AuthenticateInput {
  readonly mode: AuthMode;
  readonly keys: KeyRing;
  readonly credentials: readonly string[];
  readonly peer: PeerInput;
  readonly corsOrigins: readonly string[];
  /** Hears of every key that is shown where one counts. @throws GatewayError rate-limited */
  checkGuess(guess: Pick<ShownKeys, 'keyId' | 'isOfPage'>): void;
}

/**
 * A matching key always lets in. Without one: `strict` refuses; `auto` takes local requests, but
 * refuses a key that matches nothing as soon as any key is configured (with none configured the
 * dummy keys of command-line clients do not matter); `off` takes everything except foreign pages and
 * what comes under a name that is not ours: a web page may have had it rebound to this address.
 * @returns the id of the key; without one `local` (auto mode) or `open` (mode off)
 * @throws GatewayError unauthenticated, with the way out; rate-limited after too many wrong keys.
 */
export function authenticate(input: AuthenticateInput): string {
  const { mode, keys, credentials } = input;
  const showsKey = credentials.length > 0;
  const keyId = showsKey ? findKey(input) : undefined;
  if (keyId !== undefined) return keyId;
  switch (mode) {
    case 'off':
      if (isForeignPage(input)) throw unauthenticated(FOREIGN_PAGE);
      if (!isKnownHost(input.peer)) throw unauthenticated(UNKNOWN_HOST);
      return 'open';
    case 'auto':
      if (showsKey && !keys.isEmpty) throw unauthenticated(WRONG_KEY);
      if (classifyPeer(input.peer) === 'local') return 'local';
      throw unauthenticated(keys.isEmpty ? NO_KEYS : MISSING_KEY);
    case 'strict':
      if (keys.isEmpty) throw unauthenticated(NO_KEYS);
      throw unauthenticated(showsKey ? WRONG_KEY : MISSING_KEY);
    default:
      mode satisfies never;
      throw unauthenticated(MISSING_KEY);
  }
}

/** In `off` nobody is turned away: past the limit a key is as good as none. */
function findKey(input: AuthenticateInput): string | undefined {
  const { mode, keys, credentials } = input;
  const keyId = keys.find(credentials);
  if (keys.isEmpty) return keyId;
  try {
    input.checkGuess({ keyId, isOfPage: isForeignPage(input) });
    return keyId;
  } catch (error) {
    if (mode !== 'off') throw error;
    return undefined;
  }
}

const MISSING_KEY = told`This request needs an API key. Send it as "Authorization: Bearer <key>" (or x-api-key, x-goog-api-key, ?key=).`;
const WRONG_KEY = told`The API key is not valid. Check the key this client is configured with against the one the gateway was started with.`;
const NO_KEYS = told`This request needs an API key, and the gateway has none configured. Set API_KEY where the gateway runs, then send it with the request.`;
const FOREIGN_PAGE = told`Web pages of other origins need an API key. Send one, or allow the origin in the gateway settings.`;

const UNKNOWN_HOST = told`The gateway does not know the name in this request's Host header as its own. Call it by its address or as localhost, send an API key, or add the name to proxy.allowed_hosts (ISTHMUS_ALLOWED_HOSTS).`;

function unauthenticated(message: Sentence): GatewayError {
  return clientError('unauthenticated', message);
}

/** `api-key` is the one of Azure's clients. */
const KEY_HEADERS = ['x-api-key', 'api-key', ...HEADER_SPELLINGS.generateApiKey] as const;

/** Of one address; each costs the comparison, and work to keep it out of the logs. */
const MAX_QUERY_KEYS = 4;

/** All keys a request shows, on whatever path: Bearer, the key headers, the first of `?key=`. Empty ones do not count. */
export function readCredentials(headers: HeaderMap, query: URLSearchParams): readonly string[] {
  const credentials: string[] = [];
  const { authorization } = headers;
  if (authorization?.slice(0, 7).toLowerCase() === 'bearer ') {
    const bearer = authorization.slice(7).trim();
    if (bearer !== '') credentials.push(asWritten(bearer));
  }
  for (const name of KEY_HEADERS) {
    const value = headers[name]?.trim();
    if (value) credentials.push(asWritten(value));
  }
  if (query.size > 0) {
    const keys = query.getAll('key').filter((value) => value !== '');
    credentials.push(...keys.slice(0, MAX_QUERY_KEYS));
  }
  return credentials;
}

/** Compares keys in a time that does not tell how alike they are, always against all of them. */
export type KeyRing = ReturnType<typeof createKeyRing>;

export function createKeyRing(keys: readonly ClientKey[]) {
  const entries = keys
    .filter(({ key }) => key !== '')
    .map(({ id, key }) => ({ id, image: imageOf(key, Buffer.alloc(IMAGE_BYTES)) }));
  const shown = Buffer.alloc(IMAGE_BYTES);
  return {
    isEmpty: entries.length === 0,
    find(credentials: readonly string[]): string | undefined {
      let found: string | undefined;
      for (const credential of credentials) {
        imageOf(credential, shown);
        for (const entry of entries) {
          if (timingSafeEqual(entry.image, shown)) found ??= entry.id;
        }
      }
      return found;
    },
  };
}

/** Node takes headers for Latin-1, as some clients write them; most write UTF-8. */
function asWritten(value: string): string {
  if (!BEYOND_ASCII.test(value)) return value;
  const bytes = Buffer.from(value, 'latin1');
  return isUtf8(bytes) ? bytes.toString() : value;
}

const BEYOND_ASCII = /[\u0080-\u00ff]/;

/** Long enough for every usual key, short enough to compare in a tenth of the time a digest takes. */
const IMAGE_BYTES = 512;
const LENGTH_BYTES = 4;

/** Of one length whatever the key: its length and its bytes, or the digest of a longer one. */
function imageOf(key: string, image: Buffer): Buffer {
  const bytes = Buffer.byteLength(key);
  image.fill(0);
  image.writeUInt32BE(bytes);
  if (bytes <= IMAGE_BYTES - LENGTH_BYTES) image.write(key, LENGTH_BYTES);
  else hash('sha512', key, 'buffer').copy(image, LENGTH_BYTES);
  return image;
}
