import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { GatewayError } from '../../canonical/error.ts';
import type { AuthMode } from '../../config/values.ts';
import type { ClientKey } from '../settings.ts';
import { authenticate, createKeyRing, readCredentials } from './authenticate.ts';

const KEYS: readonly ClientKey[] = [
  { id: 'main', key: 'right-key' },
  { id: 'ann', key: 'anns-key' },
];
const LOCAL = { peer: '127.0.0.1', host: '127.0.0.1:8045' };
const REMOTE = { peer: '192.168.1.7', host: '192.168.1.2:8045' };

interface Given {
  readonly mode: AuthMode;
  readonly from?: { readonly peer: string; readonly host: string };
  readonly keys?: readonly ClientKey[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly corsOrigins?: readonly string[];
  readonly allowedHosts?: readonly string[];
}

/** The client's key id, or the refusal's message. */
function outcome(given: Given): string {
  const { from = LOCAL, keys = KEYS, corsOrigins = [], allowedHosts = [] } = given;
  const headers = { host: from.host, ...given.headers };
  try {
    return authenticate({
      mode: given.mode,
      keys: createKeyRing(keys),
      credentials: readCredentials(headers, new URLSearchParams(given.query)),
      corsOrigins,
      checkGuess: () => undefined,
      peer: { peer: from.peer, port: 8045, headers, allowedHosts },
    });
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    expect(error.kind).toBe('unauthenticated');
    expect(error.message).not.toContain('wrong-key');
    return `401 ${error.message}`;
  }
}

const right = { headers: { authorization: 'Bearer right-key' } };
const wrong = { headers: { authorization: 'Bearer wrong-key' } };

test.each([
  ['Bearer', { headers: { authorization: 'Bearer right-key' } }],
  ['bearer in lower case', { headers: { authorization: 'bearer   right-key ' } }],
  ['x-api-key', { headers: { 'x-api-key': 'right-key' } }],
  ['api-key', { headers: { 'api-key': 'right-key' } }],
  ['x-goog-api-key', { headers: { 'x-goog-api-key': 'right-key' } }],
  ['x-vendora-api-key', { headers: { 'x-vendora-api-key': 'right-key' } }],
  ['?key=', { query: 'alt=sse&key=right-key' }],
  ['a right key beside a wrong one', { headers: { 'x-api-key': 'x' }, query: 'key=right-key' }],
])('V161: %s is accepted in every mode, local or remote', (_form, credential) => {
  for (const mode of ['off', 'auto', 'strict'] as const) {
    for (const from of [LOCAL, REMOTE]) {
      expect(outcome({ mode, from, ...credential })).toBe('main');
    }
  }
});

test('of keys in the address only the first few are looked at', () => {
  const query = (before: number) => `${'key=x&'.repeat(before)}key=right-key`;
  expect(outcome({ mode: 'strict', query: query(3) })).toBe('main');
  expect(outcome({ mode: 'strict', query: query(4) })).toContain('401 The API key is not valid');
});

test('each key is known by its own id', () => {
  expect(outcome({ mode: 'strict', headers: { 'x-api-key': 'anns-key' } })).toBe('ann');
});

test('strict always asks for a key', () => {
  expect(outcome({ mode: 'strict' })).toContain('401 This request needs an API key. Send it as');
  expect(outcome({ mode: 'strict', ...wrong })).toContain('401 The API key is not valid');
  expect(outcome({ mode: 'strict', keys: [], ...wrong })).toContain('Set API_KEY');
});

test('auto takes local requests without a key and asks remote ones for it', () => {
  expect(outcome({ mode: 'auto' })).toBe('local');
  expect(outcome({ mode: 'auto', from: REMOTE })).toContain('401 This request needs an API key');
  expect(outcome({ mode: 'auto', from: REMOTE, keys: [] })).toContain('Set API_KEY');
});

test('auto refuses a wrong key also from a local client once a key is configured', () => {
  expect(outcome({ mode: 'auto', ...wrong })).toContain('401 The API key is not valid');
  expect(outcome({ mode: 'auto', keys: [], ...wrong })).toBe('local');
  expect(outcome({ mode: 'auto', keys: [], from: REMOTE, ...wrong })).toContain('401');
});

test('off asks for nothing', () => {
  expect(outcome({ mode: 'off', from: REMOTE })).toBe('open');
  expect(outcome({ mode: 'off', from: REMOTE, ...wrong })).toBe('open');
});

test('D3: off refuses what comes under a name that is not its own, whatever the method', () => {
  const under = (host: string, given: Partial<Given> = {}): string =>
    outcome({ mode: 'off', from: { peer: '127.0.0.1', host }, ...given });
  for (const host of ['evil.example:8045', 'evil.example', 'localhost.evil.example', 'box', '']) {
    expect(under(host)).toContain('401 The gateway does not know the name');
  }
  expect(under('evil.example', right)).toBe('main');
  expect(under('box:8045', { allowedHosts: ['box'] })).toBe('open');
  expect(under('box', { allowedHosts: ['box'] })).toBe('open');
  for (const host of ['localhost', 'LOCALHOST:1', 'a.localhost:8045', '[::1]:8045', '10.0.0.5']) {
    expect(under(host)).toBe('open');
  }
});

test('off still refuses foreign web pages without a key (T1)', () => {
  const page = (headers: Record<string, string>, host = REMOTE.host): string =>
    outcome({
      mode: 'off',
      from: { peer: '192.168.1.7', host },
      headers,
      corsOrigins: ['https://chat.example'],
    });
  expect(page({ origin: 'https://evil.example' })).toContain('401 Web pages of other origins');
  expect(page({ origin: 'http://box:8045' })).toContain('401');
  expect(page({ 'sec-fetch-site': 'cross-site' })).toContain('401');
  expect(page({ origin: 'https://chat.example', 'sec-fetch-site': 'cross-site' })).toBe('open');
  expect(page({ origin: 'http://10.0.0.5:8045' }, '10.0.0.5:8045')).toBe('open');
  expect(page({ origin: 'http://localhost:8045' }, 'localhost:8045')).toBe('open');
});

test('a foreign page with the right key passes', () => {
  const headers = { ...right.headers, origin: 'https://chat.example' };
  expect(outcome({ mode: 'auto', headers })).toBe('main');
});

test('a key beyond ASCII is known whether a client writes it in UTF-8 or in Latin-1', () => {
  const keys = [{ id: 'ann', key: 'schlüssel-für-ann' }];
  const utf8 = Buffer.from('schlüssel-für-ann').toString('latin1');
  for (const shown of [utf8, 'schlüssel-für-ann']) {
    for (const headers of [{ authorization: `Bearer ${shown}` }, { 'x-api-key': shown }]) {
      expect(outcome({ mode: 'strict', keys, headers })).toBe('ann');
    }
  }
});

test('an empty Bearer value, other schemes and empty key headers are no keys', () => {
  for (const authorization of ['Bearer ', 'Bearer', 'Basic cmlnaHQta2V5', 'right-key', '']) {
    expect(outcome({ mode: 'strict', headers: { authorization } })).toContain('401 This request');
  }
  expect(outcome({ mode: 'auto', headers: { authorization: 'Bearer ', 'x-api-key': ' ' } })).toBe(
    'local',
  );
  expect(outcome({ mode: 'auto', query: 'key=&key=' })).toBe('local');
});

test('an empty configured key opens nothing', () => {
  const keys = [{ id: 'empty', key: '' }];
  expect(createKeyRing(keys).isEmpty).toBe(true);
  expect(outcome({ mode: 'strict', keys, query: 'key=' })).toContain('401');
});

test('keys that share a beginning or differ in length do not match', () => {
  for (const key of ['right-ke', 'right-key2', 'RIGHT-KEY', 'right-key\u0000']) {
    expect(createKeyRing(KEYS).find([key])).toBeUndefined();
  }
});

test('a key is found whatever was shown before it', () => {
  const ring = createKeyRing(KEYS);
  for (const shown of ['w'.repeat(400), 'w'.repeat(4000), 'w']) {
    expect(ring.find([shown])).toBeUndefined();
    expect(ring.find(['right-key'])).toBe('main');
    expect(ring.find([shown, 'right-key'])).toBe('main');
  }
});

test('long keys match themselves alone, and their digest is no key', () => {
  for (const length of [507, 508, 509, 513, 4000]) {
    const key = 'k'.repeat(length);
    const ring = createKeyRing([{ id: 'long', key }]);
    expect(ring.find([key])).toBe('long');
    expect(ring.find([`${key}k`, key.slice(1), `${key}\u0000`])).toBeUndefined();
    expect(ring.find([hash('sha512', key, 'latin1')])).toBeUndefined();
  }
});
