// Every form in which a client may show its key, and the comparison that gives no time away.

import { hash, timingSafeEqual } from 'node:crypto';
import { HEADER_SPELLINGS } from '../../wire/vocabulary.ts';
import type { HeaderMap } from '../headers.ts';
import type { ClientKey } from '../settings.ts';

const KEY_HEADERS = ['x-api-key', ...HEADER_SPELLINGS.generateApiKey] as const;

/** All keys a request shows, on whatever path: Bearer, the key headers, `?key=`. Empty ones do not count. */
export function readCredentials(headers: HeaderMap, query: URLSearchParams): readonly string[] {
  const credentials: string[] = [];
  const bearer = readBearer(headers.authorization);
  if (bearer !== '') credentials.push(bearer);
  for (const name of KEY_HEADERS) {
    const value = headers[name]?.trim();
    if (value) credentials.push(value);
  }
  if (query.size > 0) credentials.push(...query.getAll('key').filter((value) => value !== ''));
  return credentials;
}

/** Compares keys by digest, always against all of them. */
export interface KeyRing {
  readonly isEmpty: boolean;
  /** The id of a key one of the credentials is; undefined when none is. */
  find(credentials: readonly string[]): string | undefined;
}

export function createKeyRing(keys: readonly ClientKey[]): KeyRing {
  const entries = keys
    .filter(({ key }) => key !== '')
    .map(({ id, key }) => ({ id, digest: digestOf(key) }));
  return {
    isEmpty: entries.length === 0,
    find(credentials) {
      let found: string | undefined;
      for (const credential of credentials) {
        const digest = digestOf(credential);
        for (const entry of entries) {
          if (timingSafeEqual(entry.digest, digest)) found ??= entry.id;
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

function digestOf(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
