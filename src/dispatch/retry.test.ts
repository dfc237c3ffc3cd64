import { expect, test } from 'vitest';
import { clientError } from '../canonical/error.ts';
import type { UpstreamFailureKind } from '../canonical/failure.ts';
import { decideRetry, whyFallBack } from './retry.ts';

type RetryState = Parameters<typeof decideRetry>[1];

const fresh: RetryState = {
  attempts: 1,
  limits: 1,
  limitedMs: 0,
  refusals: 1,
  pathFaults: 1,
  changes: new Set(),
  alters: () => true,
  canRefresh: true,
  hasRetryBudget: true,
};

const rows: readonly [UpstreamFailureKind, ReturnType<typeof decideRetry>][] = [
  ['rate-limited', { kind: 'other-account', pause: 'none', mayRepeat: false }],
  ['quota-exhausted', { kind: 'other-account', pause: 'none', mayRepeat: false }],
  ['unauthenticated', { kind: 'same-account', change: 'refresh-credential' }],
  ['credential-revoked', { kind: 'other-account', pause: 'none', mayRepeat: false }],
  ['credential-unavailable', { kind: 'other-account', pause: 'none', mayRepeat: true }],
  ['verification-required', { kind: 'other-account', pause: 'none', mayRepeat: false }],
  ['forbidden', { kind: 'other-account', pause: 'none', mayRepeat: false }],
  ['model-forbidden', { kind: 'other-account', pause: 'none', mayRepeat: false }],
  ['model-not-found', { kind: 'other-account', pause: 'none', mayRepeat: false }],
  ['bad-signature', { kind: 'same-account', change: 'replace-signatures' }],
  ['missing-signature', { kind: 'same-account', change: 'add-stand-ins' }],
  ['rejected', { kind: 'stop' }],
  ['path', { kind: 'other-account', pause: 'jitter', mayRepeat: true }],
  ['unusable-answer', { kind: 'other-account', pause: 'jitter', mayRepeat: true }],
  ['connection-lost', { kind: 'same-account', change: 'fresh-connection' }],
  ['overloaded', { kind: 'other-account', pause: 'none', mayRepeat: true }],
];

test.each(rows)('the first %s is followed by its row of the table', (failure, step) => {
  expect(decideRetry(failure, fresh)).toEqual(step);
});

test('a second 401 on the refreshed credential moves on, as does one that cannot be refreshed', () => {
  const refreshed = { ...fresh, changes: new Set(['refresh-credential'] as const) };
  expect(decideRetry('unauthenticated', refreshed)).toEqual({
    kind: 'other-account',
    pause: 'none',
    mayRepeat: false,
  });
  expect(decideRetry('unauthenticated', { ...fresh, canRefresh: false }).kind).toBe(
    'other-account',
  );
});

test('signatures refused after what is remembered took their place go (P013, P014)', () => {
  const replaced = { ...fresh, changes: new Set(['replace-signatures'] as const) };
  expect(decideRetry('bad-signature', replaced)).toEqual({
    kind: 'same-account',
    change: 'strip-signatures',
  });
});

test('signatures that nothing remembered would replace go at once (P013, P014)', () => {
  const alters = (change: string): boolean => change !== 'replace-signatures';
  expect(decideRetry('bad-signature', { ...fresh, alters })).toEqual({
    kind: 'same-account',
    change: 'strip-signatures',
  });
});

test('a request that went without signatures already is not sent so again (P013)', () => {
  const changes = new Set(['replace-signatures'] as const);
  const replaced = { ...fresh, changes, alters: () => false };
  expect(decideRetry('bad-signature', replaced)).toEqual({ kind: 'stop' });
});

test('a request without any signature is sent once more, whatever there is to change (P013)', () => {
  const plain = { ...fresh, alters: () => false };
  expect(decideRetry('bad-signature', plain)).toEqual({
    kind: 'same-account',
    change: 'strip-signatures',
  });
  const changes = new Set(['strip-signatures'] as const);
  expect(decideRetry('bad-signature', { ...plain, changes })).toEqual({ kind: 'stop' });
});

test('a signature error after stripping is the client’s 400 (P013)', () => {
  const changes = new Set(['replace-signatures', 'strip-signatures'] as const);
  const stripped = { ...fresh, changes, alters: () => false };
  expect(decideRetry('bad-signature', stripped)).toEqual({ kind: 'stop' });
});

test('calls go back as they were issued once, where signatures are refused without end', () => {
  const stripped = { ...fresh, changes: new Set(['strip-signatures'] as const) };
  const reissued = { kind: 'same-account', change: 'reissue-calls' };
  expect(decideRetry('bad-signature', stripped)).toEqual(reissued);
  const usesPlaceholders = {
    ...fresh,
    changes: new Set(['strip-signatures', 'add-stand-ins'] as const),
  };
  expect(decideRetry('missing-signature', usesPlaceholders)).toEqual(reissued);
});

test('nothing follows calls that went back as they were issued, whatever was tried before', () => {
  for (const before of ['strip-signatures', 'replace-signatures', 'add-stand-ins'] as const) {
    const changes = new Set([before, 'reissue-calls'] as const);
    for (const failure of ['bad-signature', 'missing-signature'] as const) {
      expect(decideRetry(failure, { ...fresh, changes })).toEqual({ kind: 'stop' });
    }
  }
});

test('a signature missed after stripping gets its stand-in once (P012, P013)', () => {
  const stripped = { ...fresh, changes: new Set(['strip-signatures'] as const) };
  expect(decideRetry('missing-signature', stripped)).toEqual({
    kind: 'same-account',
    change: 'add-stand-ins',
  });
  const changes = new Set(['strip-signatures', 'add-stand-ins'] as const);
  const both = { ...fresh, changes, alters: () => false };
  expect(decideRetry('missing-signature', both)).toEqual({ kind: 'stop' });
});

test('the limits of attempts', () => {
  const kindOf = (kind: UpstreamFailureKind, change: Partial<RetryState>) =>
    decideRetry(kind, { ...fresh, ...change }).kind;
  expect(kindOf('path', { pathFaults: 3 })).toBe('other-account');
  expect(kindOf('path', { pathFaults: 4 })).toBe('stop');
  expect(kindOf('overloaded', { pathFaults: 4 })).toBe('stop');
  expect(kindOf('path', { hasRetryBudget: false })).toBe('stop');
  expect(kindOf('connection-lost', { hasRetryBudget: false })).toBe('stop');
  expect(kindOf('rate-limited', { limits: 31, hasRetryBudget: false })).toBe('other-account');
  expect(kindOf('rate-limited', { limits: 32 })).toBe('stop');
  expect(kindOf('quota-exhausted', { limitedMs: 10_000 })).toBe('stop');
  expect(kindOf('model-forbidden', { refusals: 5 })).toBe('other-account');
  expect(kindOf('model-not-found', { refusals: 6 })).toBe('stop');
  expect(kindOf('rate-limited', { attempts: 40 })).toBe('stop');
});

test.each<[UpstreamFailureKind, ReturnType<typeof whyFallBack>]>([
  ['model-not-found', 'not-offered'],
  ['quota-exhausted', 'limited'],
  ['overloaded', 'overloaded'],
  ['unusable-answer', 'no-answer'],
  ['unauthenticated', 'unusable'],
  ['credential-revoked', 'unusable'],
  ['rejected', undefined],
])('a request that stops at %s goes to another model as %s', (kind, reason) => {
  expect(whyFallBack(new Error('refused'), { kind })).toBe(reason);
});

test('what is too long for one model goes to another, however it was refused', () => {
  const tooLong = clientError('invalid-request', 'Too long.', { reason: 'context-length' });
  expect(whyFallBack(tooLong, { kind: 'rejected' })).toBe('prompt-too-long');
  expect(whyFallBack(clientError('too-large', 'Too large.'), { kind: 'rejected' })).toBe(
    'prompt-too-long',
  );
});
