import { expect, test } from 'vitest';
import { noAccountReason, type Verdict } from './selection.ts';

const limited: Verdict = {
  kind: 'waiting',
  cause: 'limited',
  verdict: 'reached its limit (rate)',
  until: 1000,
};
const tried: Verdict = { kind: 'tried', verdict: 'already tried' };
const disabled: Verdict = { kind: 'unusable', verdict: 'disabled by hand' };

function reasonOf(verdicts: readonly Verdict[], soonestMs?: number) {
  return noAccountReason({ verdicts, soonestMs, selectionLog: [] });
}

test('accounts that are all limited are worth waiting for', () => {
  expect(reasonOf([limited, disabled], 1000)).toMatchObject({
    reason: 'limited',
    retryAfterMs: 1000,
  });
});

test.each(['exhausted', 'protected'] as const)(
  '%s accounts are limited ones, worth another look in some minutes when no reset is known',
  (cause) => {
    const verdict: Verdict = { kind: 'waiting', cause, verdict: cause, until: undefined };
    expect(reasonOf([verdict, disabled])).toMatchObject({
      reason: 'limited',
      retryAfterMs: 300_000,
    });
  },
);

test('one limited account does not make an hour of a fault that others just had', () => {
  const result = reasonOf([limited, tried], 3_600_000);
  expect(result).toMatchObject({ reason: 'all-tried' });
  expect(result).not.toHaveProperty('retryAfterMs');
});

test('accounts that cannot be used say more than those that do not offer the model', () => {
  const unknown: Verdict = { kind: 'not-offered', verdict: 'does not offer the model' };
  expect(reasonOf([unknown, disabled])).toMatchObject({ reason: 'unusable' });
  expect(reasonOf([unknown])).toMatchObject({ reason: 'not-offered' });
});

test('a resting account of the sandbox is no reason to wait for a model the others do not offer', () => {
  const unknown: Verdict = { kind: 'not-offered', verdict: 'does not offer the model' };
  const resting: Verdict = { kind: 'unusable', verdict: 'rests', isStandIn: true };
  expect(reasonOf([unknown, resting])).toMatchObject({ reason: 'not-offered' });
  expect(reasonOf([unknown, resting, disabled])).toMatchObject({ reason: 'unusable' });
  expect(reasonOf([resting])).toMatchObject({ reason: 'unusable' });
});

test('accounts behind an overload are waited for, although the others are at their limit', () => {
  const overloaded: Verdict = {
    kind: 'overloaded',
    verdict: 'upstream is overloaded',
    waitMs: 5000,
  };
  expect(reasonOf([limited, overloaded], 5000)).toMatchObject({
    reason: 'overloaded',
    retryAfterMs: 5000,
  });
});
