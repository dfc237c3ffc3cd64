import { expect, test } from 'vitest';
import type { UpstreamFailure } from '../canonical/failure.ts';
import { textOf } from '../lib/localized-message.ts';
import { type AccountHealth, HEALTHY, type HealthEvent, nextHealth } from './health.ts';

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

test('a limit on one model leaves the others as they were', () => {
  const health = after([{ kind: 'quota-exhausted', status: 429 }]);
  expect([...health.models.keys()]).toEqual(['m']);
  expect(health.outUntil).toBe(0);
});

test('5xx, 404 and lost connections never count toward the quota', () => {
  const health = after([
    { kind: 'path', status: 500 },
    { kind: 'model-not-found', status: 404 },
    { kind: 'connection-lost' },
    { kind: 'overloaded', status: 503 },
  ]);
  expect(health.models.get('m')).toMatchObject({ quotaCount: 0, rateCount: 0, cause: 'missing' });
});

test('answers a model spoiled are not held against the account, however many', () => {
  expect(after(Array(20).fill({ kind: 'unusable-answer' }))).toEqual(HEALTHY);
});

const revoked = { kind: 'credential-revoked' } as const;

/** Refusals of the refresh token, each found at its time. */
function revokedAt(times: readonly number[]): AccountHealth {
  return times.reduce(
    (current, now) =>
      nextHealth(current, { kind: 'failure', model: 'm', failure: revoked }, { now, jitter: 0 }),
    HEALTHY,
  );
}

test('three consecutive refusals of the refresh token disable the account within seconds', () => {
  expect(revokedAt([NOW, NOW + 2000]).status.kind).toBe('active');
  expect(revokedAt([NOW, NOW + 2000, NOW + 4000]).status).toEqual({
    kind: 'disabled',
    reason: 'invalid-grant',
    since: NOW + 4000,
  });
});

test('500 requests that waited for one refresh learn of one refusal', () => {
  expect(revokedAt(Array(500).fill(NOW))).toMatchObject({
    revocations: 1,
    status: { kind: 'active' },
  });
});

test('a refusal learned late by a request that began before the last one counts no more', () => {
  const event = { kind: 'failure', model: 'm', failure: revoked, startedAt: NOW } as const;
  const health = nextHealth(revokedAt([NOW + 100]), event, { now: NOW + 60_000, jitter: 0 });
  expect(health.revocations).toBe(1);
});

test('a refresh, a sign-in and a later success forget the refusals; an earlier success does not', () => {
  const moment = { now: NOW + 10, jitter: 0 };
  const revocationsAfter = (event: HealthEvent) =>
    nextHealth(revokedAt([NOW]), event, moment).revocations;
  expect(revocationsAfter({ kind: 'refreshed' })).toBe(0);
  expect(revocationsAfter({ kind: 'reauthenticated' })).toBe(0);
  expect(revocationsAfter({ kind: 'success', model: 'm', startedAt: NOW + 1 })).toBe(0);
  expect(revocationsAfter({ kind: 'success', model: 'm', startedAt: NOW - 1 })).toBe(1);
});

test('a verification request blocks for ten minutes, until it is done', () => {
  const blocked = after([{ kind: 'verification-required', status: 403 }]);
  expect(blocked.status).toEqual({ kind: 'blocked', until: NOW + 600_000, since: NOW });
  const moment = { now: NOW, jitter: 0 };
  expect(nextHealth(blocked, { kind: 'verified' }, moment).status.kind).toBe('active');
});

test('what the upstream said of a refused account is kept, in one line of at most 200 characters', () => {
  const detail = `Terms\nviolated. ${'x'.repeat(500)}`;
  const { status } = after([{ kind: 'forbidden', status: 403, detail }]);
  expect(status).toMatchObject({ kind: 'disabled', reason: 'forbidden', since: NOW });
  const kept = status.kind === 'disabled' ? textOf(status.detail ?? '') : '';
  expect(kept.startsWith('Terms violated. xxx')).toBe(true);
  expect(kept).toHaveLength(200);
});

test('a new sign-in ends what the upstream disabled, not what a person did', () => {
  const moment = { now: NOW, jitter: 0 };
  const signIn = (health: AccountHealth) =>
    nextHealth(health, { kind: 'reauthenticated' }, moment).status.kind;
  const forbidden = after([{ kind: 'forbidden' }]);
  expect(signIn(forbidden)).toBe('active');
  expect(signIn(revokedAt([NOW, NOW + 2000, NOW + 4000]))).toBe('active');
  const manual = nextHealth(HEALTHY, { kind: 'disable', detail: 'holiday' }, moment);
  expect(manual.status).toEqual({
    kind: 'disabled',
    reason: 'manual',
    since: NOW,
    detail: 'holiday',
  });
  expect(signIn(manual)).toBe('disabled');
  expect(nextHealth(manual, { kind: 'enable' }, moment).status.kind).toBe('active');
});

test('a new credential is not kept from what the old one had used up', () => {
  const health = after([{ kind: 'quota-exhausted', retryAfterMs: 7_200_000 }]);
  expect(health.models.size).toBe(1);
  const moment = { now: NOW, jitter: 0 };
  expect(nextHealth(health, { kind: 'reauthenticated' }, moment)).toEqual(HEALTHY);
});

test('an account that stands by says so, and comes back by being enabled', () => {
  const moment = { now: NOW, jitter: 0 };
  const resting = nextHealth(HEALTHY, { kind: 'stand-by' }, moment);
  expect(resting.status).toEqual({ kind: 'disabled', reason: 'standing-by', since: NOW });
  expect(nextHealth(resting, { kind: 'reauthenticated' }, moment).status.kind).toBe('disabled');
  expect(nextHealth(resting, { kind: 'enable' }, moment).status.kind).toBe('active');
  const manual = nextHealth(HEALTHY, { kind: 'disable' }, moment);
  expect(nextHealth(manual, { kind: 'stand-by' }, moment)).toEqual(manual);
});

test('a person clears the cooldown of one model or of all', () => {
  const cooled = ['m', 'other'].reduce(
    (health, model) =>
      nextHealth(
        health,
        { kind: 'failure', model, failure: { kind: 'quota-exhausted' } },
        { now: NOW, jitter: 0 },
      ),
    after([{ kind: 'unauthenticated' }]),
  );
  const moment = { now: NOW, jitter: 0 };
  const one = nextHealth(cooled, { kind: 'clear-cooldown', model: 'm' }, moment);
  expect([...one.models.keys()]).toEqual(['other']);
  expect(one.outUntil).toBe(NOW + 5_000);
  const all = nextHealth(cooled, { kind: 'clear-cooldown' }, moment);
  expect([all.models.size, all.outUntil]).toEqual([0, 0]);
});

/** What is left of the cooldown after figures that were read so long after a quota refusal. */
function coolingAfterFigures(...figures: readonly (readonly [afterMs: number, left: number])[]) {
  const refused = after([{ kind: 'quota-exhausted', status: 429, retryAfterMs: 3_600_000 }]);
  const health = figures.reduce(
    (current, [afterMs, remainingFraction]) =>
      nextHealth(
        current,
        {
          kind: 'quota-read',
          model: 'm',
          remainingFraction,
          resetsAt: undefined,
          readAt: NOW + afterMs,
        },
        { now: NOW + 10, jitter: 0 },
      ),
    refused,
  );
  return coolingMs(health);
}

test('a figure ends an older quota cooldown when it shows recovery', () => {
  expect(coolingAfterFigures([1, 0], [2, 0.5])).toBe(0);
  expect(coolingAfterFigures([1, 0.2], [2, 0.1], [3, 0.2])).toBe(0);
  expect(coolingAfterFigures([60_000, 0.5])).toBe(0);
});

test('a figure that contradicts the refusal, or is older, ends no cooldown', () => {
  expect(coolingAfterFigures([1, 0.5])).toBe(3_600_000);
  expect(coolingAfterFigures([1, 0.5], [300_000, 0.5])).toBe(3_600_000);
  expect(coolingAfterFigures([-1, 1])).toBe(3_600_000);
  expect(coolingAfterFigures([1, 0])).toBe(3_600_000);
});

test('a figure says nothing of a limit on the rate', () => {
  const limited = after([{ kind: 'rate-limited', retryAfterMs: 9000 }]);
  const event = {
    kind: 'quota-read',
    model: 'm',
    remainingFraction: 1,
    resetsAt: undefined,
  } as const;
  const health = nextHealth(limited, { ...event, readAt: NOW + 1 }, { now: NOW + 10, jitter: 0 });
  expect(coolingMs(health)).toBe(9000);
});

test('a figure of zero cools until its reset, a day at most, and counts as no refusal', () => {
  const read = (resetsAt: number) =>
    nextHealth(
      HEALTHY,
      { kind: 'quota-read', model: 'm', remainingFraction: 0, resetsAt, readAt: NOW },
      { now: NOW, jitter: 0 },
    );
  expect(coolingMs(read(NOW + 3_600_000))).toBe(3_600_000);
  expect(coolingMs(read(NOW + 10 ** 10))).toBe(86_400_000);
  expect(read(NOW + 3_600_000).models.get('m')?.quotaCount).toBe(0);
  expect(read(NOW - 1)).toBe(HEALTHY);
});

test('a figure of zero makes a shorter cooldown as long as its reset, and ends no longer one', () => {
  const readAfter = (failure: UpstreamFailure): AccountHealth => {
    const event = { kind: 'quota-read', model: 'm', remainingFraction: 0, readAt: NOW } as const;
    const resetsAt = NOW + 600_000;
    return nextHealth(after([failure]), { ...event, resetsAt }, { now: NOW, jitter: 0 });
  };
  const limited = (retryAfterMs: number): AccountHealth =>
    readAfter({ kind: 'rate-limited', retryAfterMs });
  expect(coolingMs(limited(5000))).toBe(600_000);
  expect(limited(5000).models.get('m')?.cause).toBe('quota');
  expect(coolingMs(limited(900_000))).toBe(900_000);
  expect(limited(900_000).models.get('m')?.cause).toBe('rate');
  // One fault of the path cools nothing yet, but is remembered of the model.
  expect(coolingMs(readAfter({ kind: 'path', status: 500 }))).toBe(600_000);
});

test('refusals of requests that were under way together are one refusal', () => {
  const failure = { kind: 'quota-exhausted', status: 429 } as const;
  const event = { kind: 'failure', model: 'm', failure, startedAt: NOW - 5 } as const;
  const health = Array(4)
    .fill(event)
    .reduce(
      (current, one, index) => nextHealth(current, one, { now: NOW + index, jitter: 0 }),
      HEALTHY,
    );
  expect(health.models.get('m')).toMatchObject({ quotaCount: 1, coolUntil: NOW + 60_003 });
});

test('a success that began before the cooldown does not end it', () => {
  const cooled = after([{ kind: 'quota-exhausted', retryAfterMs: 3_600_000 }]);
  const success = (startedAt: number) =>
    nextHealth(cooled, { kind: 'success', model: 'm', startedAt }, { now: NOW + 10, jitter: 0 });
  expect(success(NOW - 1).models).toBe(cooled.models);
  expect(coolingMs(success(NOW + 1))).toBe(0);
});

test('a success on a healthy account changes nothing', () => {
  const served = nextHealth(HEALTHY, { kind: 'success', model: 'm' }, { now: NOW, jitter: 0 });
  expect(served).toEqual({ ...HEALTHY, servedAt: NOW });
  const again = nextHealth(served, { kind: 'success', model: 'm' }, { now: NOW + 1000, jitter: 0 });
  expect(again).toBe(served);
});

test('success clears the failure counts and the cooldown', () => {
  const cooled = after([{ kind: 'quota-exhausted', status: 429 }]);
  const well = nextHealth(cooled, { kind: 'success', model: 'm' }, { now: NOW, jitter: 0 });
  expect(coolingMs(well)).toBe(0);
  expect(coolingMs(after([{ kind: 'quota-exhausted', status: 429 }], well))).toBe(60_000);
});

test('only the models with the longest cooldowns are remembered', () => {
  const failures = Array.from({ length: 300 }, (_, index) => `m${index}`);
  const health = failures.reduce(
    (current, model, index) =>
      nextHealth(
        current,
        { kind: 'failure', model, failure: { kind: 'rate-limited', retryAfterMs: 5000 + index } },
        { now: NOW, jitter: 0 },
      ),
    HEALTHY,
  );
  expect(health.models.size).toBe(256);
  expect([health.models.has('m0'), health.models.has('m299')]).toEqual([false, true]);
});

/** Each step happens so long after the first; failures and other events alike. */
function through(
  steps: readonly (readonly [atMs: number, event: HealthEvent])[],
  health: AccountHealth = HEALTHY,
): AccountHealth {
  return steps.reduce(
    (current, [atMs, event]) => nextHealth(current, event, { now: NOW + atMs, jitter: 1 }),
    health,
  );
}

const failing = (failure: UpstreamFailure): HealthEvent => ({
  kind: 'failure',
  model: 'm',
  failure,
});
const figureOf = (remainingFraction: number, readAt: number): HealthEvent => ({
  kind: 'quota-read',
  model: 'm',
  remainingFraction,
  resetsAt: undefined,
  readAt: NOW + readAt,
});

test('a refused model cools a minute, a refused credential five seconds', () => {
  expect(coolingMs(after([{ kind: 'model-forbidden', status: 403 }]))).toBe(60_000);
  expect(after([{ kind: 'unauthenticated', status: 401 }]).outUntil).toBe(NOW + 5_000);
});

test('a shorter rest never ends a longer one early', () => {
  const limits = [30_000, 5000].map(
    (retryAfterMs) => ({ kind: 'rate-limited', retryAfterMs }) as const,
  );
  expect(coolingMs(after(limits))).toBe(30_000);
  const quotaThenRate = after([{ kind: 'quota-exhausted' }, { kind: 'rate-limited' }]);
  expect(quotaThenRate.models.get('m')).toMatchObject({ cause: 'quota', coolUntil: NOW + 60_000 });
  const out = after([{ kind: 'unauthenticated' }, { kind: 'credential-revoked' }]);
  expect(out.outUntil).toBe(NOW + 5_000);
});

test('a new sign-in and enabling end the rest of a refused credential', () => {
  const out = after([{ kind: 'unauthenticated' }]);
  expect(through([[1, { kind: 'reauthenticated' }]], out).outUntil).toBe(0);
  expect(
    through(
      [
        [1, { kind: 'disable' }],
        [2, { kind: 'enable' }],
      ],
      out,
    ),
  ).toEqual(HEALTHY);
  expect(through([[1, { kind: 'enable' }]], out)).toBe(out);
});

test('an answer ends the wait for verification when it was begun behind it', () => {
  const blocked = after([{ kind: 'verification-required' }]);
  const success = { kind: 'success', model: 'm' } as const;
  expect(through([[1, { ...success, startedAt: NOW - 1 }]], blocked).status.kind).toBe('blocked');
  expect(through([[600_001, { ...success, startedAt: NOW + 600_000 }]], blocked).status).toEqual({
    kind: 'active',
  });
});

test('a disabled account counts no refusals of its sign-in', () => {
  const off = through([[0, { kind: 'disable' }]]);
  expect(through([[1, failing({ kind: 'credential-revoked' })]], off)).toBe(off);
});

test('a figure from before a refusal says nothing of what follows it', () => {
  const refused = through([[1000, failing({ kind: 'quota-exhausted', retryAfterMs: 3_600_000 })]]);
  const figures = [
    [2000, figureOf(0.2, 500)],
    [3000, figureOf(0.5, 2500)],
  ] as const;
  expect(coolingMs(through(figures, refused))).toBe(3_601_000);
});

test('what figures showed before the last refusal is no measure of recovery behind it', () => {
  const refusal = failing({ kind: 'quota-exhausted', retryAfterMs: 3_600_000 });
  const again = through([
    [0, refusal],
    [10, figureOf(0.3, 5)],
    [20, refusal],
  ]);
  expect(coolingMs(through([[30, figureOf(0.5, 25)]], again))).toBe(3_600_020);
  expect(
    coolingMs(
      through(
        [
          [30, figureOf(0.5, 25)],
          [40, figureOf(0.6, 35)],
        ],
        again,
      ),
    ),
  ).toBe(0);
});
