// Every form in which a client may show its key, and the comparison that gives no time away.

import { isUtf8 } from 'node:buffer';
import { hash, timingSafeEqual } from 'node:crypto';
import { HEADER_SPELLINGS } from '../../wire/vocabulary.ts';
import type { HeaderMap } from '../headers.ts';
import type { ClientKey } from '../settings.ts';

const KEY_HEADERS = ['x-api-key', ...HEADER_SPELLINGS.generateApiKey] as const;

/** Of one address; each costs the comparison, and work to keep it out of the logs. */
const MOST_QUERY_KEYS = 4;

/** All keys a request shows, on whatever path: Bearer, the key headers, the first of `?key=`. Empty ones do not count. */
export function readCredentials(headers: HeaderMap, query: URLSearchParams): readonly string[] {
  const credentials: string[] = [];
  const bearer = readBearer(headers.authorization);
  if (bearer !== '') credentials.push(asWritten(bearer));
  for (const name of KEY_HEADERS) {
    const value = headers[name]?.trim();
    if (value) credentials.push(asWritten(value));
  }
  if (query.size > 0) {
    const keys = query.getAll('key').filter((value) => value !== '');
    credentials.push(...keys.slice(0, MOST_QUERY_KEYS));
  }
  return credentials;
}

/** Compares keys in a time that does not tell how alike they are, always against all of them. */
export interface KeyRing {
  readonly isEmpty: boolean;
  /** The id of a key one of the credentials is; undefined when none is. */
  find(credentials: readonly string[]): string | undefined;
}

export function createKeyRing(keys: readonly ClientKey[]): KeyRing {
  const entries = keys
    .filter(({ key }) => key !== '')
    .map(({ id, key }) => ({ id, image: imageOf(key, Buffer.alloc(IMAGE_BYTES)) }));
  const shown = Buffer.alloc(IMAGE_BYTES);
  return {
    isEmpty: entries.length === 0,
    find(credentials) {
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

function readBearer(authorization: string | undefined): string {
  if (authorization === undefined) return '';
  if (authorization.slice(0, 7).toLowerCase() !== 'bearer ') return '';
  return authorization.slice(7).trim();
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
