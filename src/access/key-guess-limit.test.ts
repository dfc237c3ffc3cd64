import { beforeEach, expect, test } from 'vitest';
import { createFakeClock, type FakeClock } from '../../test/support/fake-clock.ts';
import { GatewayError } from '../canonical/error.ts';
import { createKeySecret } from './api-key.ts';
import { createGuessLimit } from './key-guess-limit.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const RIGHT = 'the-right-key';
/** Guesses of an address within an hour. */
const FREE = 20;

let clock: FakeClock;
let limit: ReturnType<typeof createGuessLimit>;

beforeEach(() => {
  clock = createFakeClock();
  limit = createGuessLimit({ clock });
});

/** The wait in milliseconds; undefined when the credentials were looked at. */
function waitOf(address: string, ...credentials: readonly string[]): number | undefined {
  const keyId = credentials.includes(RIGHT) ? 'api-key' : undefined;
  try {
    limit.check({ address, credentials, keyId, isOfPage: false });
    return undefined;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    expect([error.kind, error.source]).toEqual(['rate-limited', 'client']);
    return error.retryAfterMs;
  }
}

function guess(address: string, count: number, word = 'guess'): void {
  for (let index = 0; index < count; index += 1) {
    expect(waitOf(address, `${word} ${index}`)).toBeUndefined();
  }
}

test('past twenty wrong keys within an hour no other key of the address is looked at, right or wrong', async () => {
  guess('192.0.2.1', FREE - 1);
  await clock.advance(10 * MINUTE_MS);
  expect(waitOf('192.0.2.1', 'the last guess')).toBeUndefined();
  expect(waitOf('192.0.2.1', 'one more')).toBe(50 * MINUTE_MS);
  expect(waitOf('192.0.2.1', RIGHT)).toBe(50 * MINUTE_MS);
  expect(waitOf('192.0.2.2', RIGHT)).toBeUndefined();
  await clock.advance(50 * MINUTE_MS);
  expect(waitOf('192.0.2.1', RIGHT)).toBeUndefined();
});

test('a key that was right from the address within a day goes on', async () => {
  expect(waitOf('192.0.2.1', RIGHT)).toBeUndefined();
  await clock.advance(23 * HOUR_MS);
  guess('192.0.2.1', FREE);
  expect(waitOf('192.0.2.1', 'one more')).toBe(HOUR_MS);
  expect(waitOf('192.0.2.1', RIGHT)).toBeUndefined();
  await clock.advance(24 * HOUR_MS);
  guess('192.0.2.1', FREE);
  expect(waitOf('192.0.2.1', RIGHT)).toBe(HOUR_MS);
});

test('one wrong key, however often it comes, is one guess, and is told that it is wrong', () => {
  for (let turn = 0; turn < 1000; turn += 1) {
    expect(waitOf('192.0.2.1', 'an old key')).toBeUndefined();
  }
  guess('192.0.2.1', FREE - 1);
  expect(waitOf('192.0.2.1', 'an old key')).toBeUndefined();
  expect(waitOf('192.0.2.1', 'one more')).toBe(HOUR_MS);
});

test('each of many keys in one request is a guess', () => {
  const keys = Array.from({ length: FREE + 1 }, (_, index) => `key ${index}`);
  expect(waitOf('192.0.2.1', ...keys, RIGHT)).toBe(HOUR_MS);
  expect(waitOf('192.0.2.1', ...keys.slice(0, FREE))).toBeUndefined();
  expect(waitOf('192.0.2.1', RIGHT)).toBe(HOUR_MS);
});

test('what has the form of a person’s key cannot be guessed, and is always looked at', () => {
  for (let turn = 0; turn < 2 * FREE; turn += 1) {
    expect(waitOf('192.0.2.1', createKeySecret())).toBeUndefined();
  }
  expect(waitOf('192.0.2.1', RIGHT)).toBeUndefined();
  guess('192.0.2.1', FREE);
  limit.check({
    address: '192.0.2.1',
    credentials: [createKeySecret()],
    isOfPage: false,
    keyId: 'key_of_ada',
  });
});

test('an IPv6 network counts as one address', () => {
  for (let index = 0; index < FREE; index += 1) {
    expect(waitOf(`2001:db8::${index}`, `guess ${index}`)).toBeUndefined();
  }
  expect(waitOf('2001:db8::ffff', RIGHT)).toBe(HOUR_MS);
  expect(waitOf('2001:db8:0:1::1', RIGHT)).toBeUndefined();
});

test('what is remembered of addresses is bounded, and guessers push out no key that was right', () => {
  expect(waitOf('192.0.2.1', RIGHT)).toBeUndefined();
  guess('192.0.2.1', FREE);
  expect(waitOf('192.0.2.1', 'one more')).toBe(HOUR_MS);
  for (let index = 0; index < 5000; index += 1) {
    waitOf(`10.0.${index >> 8}.${index & 255}`, 'a guess');
  }
  // The record of the first guesser made room; whoever was right there is still known.
  guess('192.0.2.1', FREE, 'another guess');
  expect(waitOf('192.0.2.1', 'one more')).toBe(HOUR_MS);
  expect(waitOf('192.0.2.1', RIGHT)).toBeUndefined();
});
