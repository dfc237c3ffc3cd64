import { expect, test } from 'vitest';
import {
  readDelay,
  readDelayFromMessage,
  readDuration,
  readRetryAfter,
  readTimestamp,
} from './refusals.ts';

const NOW = Date.UTC(2026, 10, 20, 12, 0, 0);
/** No account is kept away for longer. */
const DAY = 86_400_000;

test.each([
  ['1.5s', 1500],
  ['200ms', 200],
  ['1h16m0.667s', 4_560_667],
  ['2h21m25.831582438s', 8_485_832],
  ['510.79ms', 511],
  ['45.837906927s', 45_838],
  ['0s', 0],
  ['837.9µs', 1],
  ['1H16M', 4_560_000],
  ['1d', DAY],
  ['999999999999999999999h', DAY],
])('V140, P135: the duration %s is %i ms', (text, expected) => {
  expect(readDuration(text)).toBe(expected);
});

test.each(['invalid', '', '-5s', '5', '1s2h', 's', '1.5.5s', 'NaNs'])(
  'V140: %j is no duration',
  (text) => {
    expect(readDuration(text)).toBeUndefined();
  },
);

test.each([
  [{ seconds: '45', nanos: 837_906_927 }, 45_838],
  [{ seconds: 3 }, 3000],
  [7, 7000],
  ['7s', 7000],
  [{ seconds: -1 }, undefined],
  [{ nanos: -1 }, undefined],
  [-7, undefined],
  [null, undefined],
  [[], undefined],
])('the delay %j is %s ms', (value, expected) => {
  expect(readDelay(value)).toBe(expected);
});

test.each([
  ['12', 12_000],
  ['0', 0],
  ['1.5', 1500],
  ['7s', 7000],
  ['1e3', undefined],
  ['-1', undefined],
  ['99999999999', DAY],
  ['Fri, 20 Nov 2026 12:00:30 GMT', 30_000],
  ['Fri, 20 Nov 2026 11:59:30 GMT', 0],
  ['soon', undefined],
  ['', undefined],
])('Retry-After %j is %s ms', (text, expected) => {
  expect(readRetryAfter(text, NOW)).toBe(expected);
});

test('the day on which an allowance begins anew is the wait until it', () => {
  const said = 'You will regain access on 2026-11-20 at 13:00 UTC.';
  expect(readDelayFromMessage(said, NOW)).toBe(3_600_000);
});

test('a reset time stamp becomes the wait until it', () => {
  expect(readTimestamp('2026-11-20T12:01:00Z', NOW)).toBe(60_000);
  expect(readTimestamp('2026-11-20T11:00:00Z', NOW)).toBe(0);
  expect(readTimestamp('later', NOW)).toBeUndefined();
});

test.each([
  ['You exceeded your quota. Please retry in 45.837906927s.', 45_838],
  ['Rate limit reached, try again in 20 seconds.', 20_000],
  ['try again in 1h16m0.667s', 4_560_667],
  ['Please try again in 5 minutes and 30 seconds', 330_000],
  ['Your quota will reset after 2h21m25s.', 8_485_000],
  ['quota resets in 510.79ms', 511],
  ['Please retry your request after 1 hour', 3_600_000],
  ['You must wait at least 20 seconds', 20_000],
  ['The quota is available again in 90s', 90_000],
  ['Quota resets at 2026-11-20T13:00:00Z.', 3_600_000],
  ['Usage limit reached for 5 hour. Your limit will reset at 2026-11-20 21:00:00', 3_600_000],
  ['Your limit will reset at 2026-11-20 13:00:00 UTC', 3_600_000],
  ['retry in a while', undefined],
  ['try again later', undefined],
])('the message %j asks for %s ms', (message, expected) => {
  expect(readDelayFromMessage(message, NOW)).toBe(expected);
});
