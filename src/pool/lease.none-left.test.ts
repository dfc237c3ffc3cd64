import { expect, test } from 'vitest';
import { type Finding, noAccountReason } from './lease.ts';

const limited: Finding = {
  kind: 'waiting',
  cause: 'limited',
  verdict: 'reached its limit (rate)',
  until: 1000,
};
const tried: Finding = { kind: 'tried' };
const disabled: Finding = { kind: 'unusable', verdict: 'disabled by hand' };

function reasonOf(findings: readonly Finding[], soonestMs?: number) {
  return noAccountReason({ findings, soonestMs, selectionLog: [] });
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
    const finding: Finding = { kind: 'waiting', cause, verdict: cause, until: undefined };
    expect(reasonOf([finding, disabled])).toMatchObject({
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
  const unknown: Finding = { kind: 'not-offered', verdict: 'does not offer the model' };
  expect(reasonOf([unknown, disabled])).toMatchObject({ reason: 'unusable' });
  expect(reasonOf([unknown])).toMatchObject({ reason: 'not-offered' });
});

test('a resting account of the sandbox is no reason to wait for a model the others do not offer', () => {
  const unknown: Finding = { kind: 'not-offered', verdict: 'does not offer the model' };
  const resting: Finding = { kind: 'unusable', verdict: 'rests', isStandIn: true };
  expect(reasonOf([unknown, resting])).toMatchObject({ reason: 'not-offered' });
  expect(reasonOf([unknown, resting, disabled])).toMatchObject({ reason: 'unusable' });
  expect(reasonOf([resting])).toMatchObject({ reason: 'unusable' });
});

test('accounts behind an overload are waited for, although the others are at their limit', () => {
  const overloaded: Finding = {
    ...limited,
    cause: 'overloaded',
    verdict: 'upstream is overloaded',
  };
  expect(reasonOf([limited, overloaded], 5000)).toMatchObject({
    reason: 'overloaded',
    retryAfterMs: 5000,
  });
});
