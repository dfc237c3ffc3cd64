import { expect, test } from 'vitest';
import { readRateLimit as readChat } from './chat/errors.ts';
import { readRateLimit as readMessages } from './messages/errors.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');

const spelled = (prefix: string) => ({
  [`${prefix}-ratelimit-requests-limit`]: '50',
  [`${prefix}-ratelimit-requests-remaining`]: '40',
  [`${prefix}-ratelimit-requests-reset`]: '2026-01-01T00:00:12Z',
  [`${prefix}-ratelimit-input-tokens-limit`]: '30000',
  [`${prefix}-ratelimit-input-tokens-remaining`]: '3000',
  [`${prefix}-ratelimit-input-tokens-reset`]: '2026-01-01T00:00:54Z',
});

test.each(['anthropic', 'vendorb'])('of the limits of %s the scarcest counts', (prefix) => {
  const limit = { remainingFraction: 0.1, resetsAt: NOW + 54_000 };
  expect(readMessages(spelled(prefix), NOW)).toEqual(limit);
});

test.each([
  ['6m0s', 360_000],
  ['120ms', 120],
  ['7.66s', 7660],
  ['30', 30_000],
  [undefined, 60_000],
  ['soon', 60_000],
])('a reset of %s is one in %i ms', (reset, waitMs) => {
  const headers = {
    'x-ratelimit-limit-requests': '10000',
    'x-ratelimit-remaining-requests': '9999',
    'x-ratelimit-limit-tokens': '200',
    'x-ratelimit-remaining-tokens': '50',
    'x-ratelimit-reset-tokens': reset,
  };
  expect(readChat(headers, NOW)).toEqual({ remainingFraction: 0.25, resetsAt: NOW + waitMs });
});

test.each([
  ['Mistral', 'tokens-minute', 'req-minute', undefined],
  ['Cerebras', 'tokens-minute', 'requests-day', '11.4'],
])('limits of %s are known by the time that they hold for', (_service, scarce, other, reset) => {
  const headers = {
    [`x-ratelimit-limit-${other}`]: '720',
    [`x-ratelimit-remaining-${other}`]: '717',
    [`x-ratelimit-limit-${scarce}`]: '60000',
    [`x-ratelimit-remaining-${scarce}`]: '6000',
    [`x-ratelimit-reset-${scarce}`]: reset,
  };
  const waitMs = reset === undefined ? 60_000 : 11_400;
  expect(readChat(headers, NOW)).toEqual({ remainingFraction: 0.1, resetsAt: NOW + waitMs });
});

test('a limit that says of nothing what it counts is known too', () => {
  const headers = {
    'x-ratelimit-limit': '10',
    'x-ratelimit-remaining': '4',
    'x-ratelimit-reset': '9',
  };
  expect(readChat(headers, NOW)).toEqual({ remainingFraction: 0.4, resetsAt: NOW + 9000 });
});

test.each([
  {},
  { 'x-ratelimit-limit-requests': '0', 'x-ratelimit-remaining-requests': '0' },
  { 'x-ratelimit-limit-requests': 'many', 'x-ratelimit-remaining-requests': '1' },
  { 'x-ratelimit-remaining-requests': '1' },
])('%o names no limit', (headers) => {
  expect(readChat(headers, NOW)).toBeUndefined();
  expect(readMessages(headers, NOW)).toBeUndefined();
});
