import { expect, test } from 'vitest';
import type { UpstreamFailure } from '../canonical/error.ts';
import { checkEligibility } from './eligibility.ts';
import { type AccountHealth, HEALTHY, nextHealth } from './health.ts';

const NOW = 1_000_000_000;

function after(
  failures: readonly UpstreamFailure[],
  health: AccountHealth = HEALTHY,
): AccountHealth {
  return failures.reduce(
    (current, failure) =>
      nextHealth(current, { kind: 'failure', model: 'm', failure }, { now: NOW, jitter: 1 }),
    health,
  );
}

function coolingMs(health: AccountHealth, model = 'm'): number {
  return (health.models.get(model)?.coolUntil ?? NOW) - NOW;
}

test('a hint cools exactly as long as the upstream said, at least a second, at most a day', () => {
  const hint = (retryAfterMs: number) =>
    coolingMs(after([{ kind: 'rate-limited', status: 429, retryAfterMs }]));
  expect([hint(7500), hint(0), hint(10 ** 12)]).toEqual([7500, 1000, 86_400_000]);
});

test('quota refusals without a hint cool 60, 300, 1800, 7200 s by consecutive count', () => {
  const refusal = { kind: 'quota-exhausted', status: 429 } as const;
  expect([1, 2, 3, 4, 5].map((n) => coolingMs(after(Array(n).fill(refusal))) / 1000)).toEqual([
    60, 300, 1800, 7200, 7200,
  ]);
});

test('rate refusals without a hint double from 5 s to a minute', () => {
  const refusal = { kind: 'rate-limited', status: 429 } as const;
  expect([1, 2, 5].map((n) => coolingMs(after(Array(n).fill(refusal))) / 1000)).toEqual([
    5, 10, 60,
  ]);
});

test('a limit on one model leaves the others usable (V144, P138)', () => {
  const health = after([{ kind: 'quota-exhausted', status: 429 }]);
  const check = (modelId: string) =>
    checkEligibility({ health, modelId, overloadMs: 0, now: NOW }).kind;
  expect([check('m'), check('other')]).toEqual(['waiting', 'eligible']);
});

test('two faults of the path cool nothing, the third within a minute cools 8 s (P137)', () => {
  const fault = { kind: 'path', status: 500 } as const;
  expect([1, 2, 3].map((n) => coolingMs(after(Array(n).fill(fault))))).toEqual([-NOW, -NOW, 8000]);
});

test('only three consecutive revocations disable an account; a verification request only blocks (P147)', () => {
  const revoked = { kind: 'credential-revoked' } as const;
  expect(after([revoked, revoked]).status.kind).toBe('active');
  expect(after([revoked, revoked, revoked]).status).toEqual({
    kind: 'disabled',
    reason: 'invalid-grant',
  });
  expect(after([{ kind: 'verification-required', status: 403 }]).status).toEqual({
    kind: 'blocked',
    until: NOW + 600_000,
  });
});

test('success clears the failure counts and the cooldown', () => {
  const cooled = after([{ kind: 'quota-exhausted', status: 429 }]);
  const well = nextHealth(cooled, { kind: 'success', model: 'm' }, { now: NOW, jitter: 0 });
  expect(coolingMs(well)).toBe(0);
  expect(coolingMs(after([{ kind: 'quota-exhausted', status: 429 }], well))).toBe(60_000);
});

test('a model the account said it does not know counts as not offered for five minutes (P156)', () => {
  const health = after([{ kind: 'model-not-found', status: 404 }]);
  const at = (now: number) => checkEligibility({ health, modelId: 'm', overloadMs: 0, now }).kind;
  expect([at(NOW), at(NOW + 300_001)]).toEqual(['not-offered', 'eligible']);
});
