import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { UpstreamFailureKind } from '../canonical/failure.ts';
import { parseJson } from '../lib/json.ts';
import { textOf } from '../lib/localized-message.ts';
import {
  type AccountHealth,
  HEALTHY,
  type HealthEvent,
  nextHealth,
  readHealth,
  writeHealth,
} from './health.ts';

const START = 1_700_000_000_000;
const DAY_MS = 86_400_000;

const FAILURES: readonly UpstreamFailureKind[] = [
  'rate-limited',
  'quota-exhausted',
  'unauthenticated',
  'credential-revoked',
  'verification-required',
  'forbidden',
  'model-forbidden',
  'model-not-found',
  'bad-signature',
  'missing-signature',
  'rejected',
  'overloaded',
  'connection-lost',
  'path',
  'credential-unavailable',
];

const model = fc.constantFrom('m', 'n', '__proto__', 'constructor');
const wait = fc.oneof(
  fc.integer({ min: -1000, max: 10 ** 12 }),
  fc.constantFrom(0, Number.NaN, Number.POSITIVE_INFINITY),
);
const failure = fc.record(
  { kind: fc.constantFrom(...FAILURES), retryAfterMs: wait, detail: fc.string({ maxLength: 400 }) },
  { requiredKeys: ['kind'] },
);
const moment = fc.integer({ min: START - DAY_MS, max: START + 3 * DAY_MS });
const event: fc.Arbitrary<HealthEvent> = fc.oneof(
  fc.record(
    { kind: fc.constant('success' as const), model, startedAt: moment },
    { requiredKeys: ['kind', 'model'] },
  ),
  fc.record(
    { kind: fc.constant('failure' as const), model, failure, startedAt: moment },
    { requiredKeys: ['kind', 'model', 'failure'] },
  ),
  fc.record({
    kind: fc.constant('quota-read' as const),
    model,
    remainingFraction: fc.constantFrom(0, 0.01, 1),
    resetsAt: fc.option(moment, { nil: undefined }),
    readAt: moment,
  }),
  fc.constantFrom<HealthEvent>(
    { kind: 'refreshed' },
    { kind: 'reauthenticated' },
    { kind: 'verified' },
    { kind: 'disable' },
    { kind: 'disable', detail: 'on leave' },
    { kind: 'enable' },
    { kind: 'stand-by' },
    { kind: 'clear-cooldown' },
    { kind: 'clear-cooldown', model: 'm' },
  ),
);
const history = fc.array(
  fc.record({
    event,
    afterMs: fc.integer({ min: 0, max: 90_000 }),
    jitter: fc.double({ min: 0, max: 0.999, noNaN: true }),
  }),
  { maxLength: 60 },
);

interface Step {
  readonly before: AccountHealth;
  readonly after: AccountHealth;
  readonly event: HealthEvent;
  readonly now: number;
}

test('no sequence of events breaks what holds for every account', () => {
  fc.assert(
    fc.property(history, (steps) => {
      let health = HEALTHY;
      let now = START;
      for (const step of steps) {
        now += step.afterMs;
        const after = nextHealth(health, step.event, { now, jitter: step.jitter });
        checkBounds(after, now);
        checkStatus({ before: health, after, event: step.event, now });
        expect(readHealth(parseJson(JSON.stringify(writeHealth(after))))).toEqual(after);
        health = after;
      }
    }),
    { numRuns: 300 },
  );
});

/** No wait is longer than a day, none is without end or not a number, and lists stay short. */
function checkBounds(health: AccountHealth, now: number): void {
  expect(health.outUntil).toBeLessThanOrEqual(now + DAY_MS);
  expect(health.revocations).toBeLessThanOrEqual(3);
  for (const one of health.models.values()) {
    expect(Number.isSafeInteger(one.coolUntil)).toBe(true);
    expect(one.coolUntil).toBeLessThanOrEqual(now + DAY_MS);
    expect(one.since).toBeLessThanOrEqual(now);
  }
  const { status } = health;
  if (status.kind !== 'active') expect(textOf(status.detail ?? '').length).toBeLessThanOrEqual(200);
}

/** Nobody is disabled by accident, and only a person or a sign-in ends it. */
function checkStatus({ before, after, event, now }: Step): void {
  if (before.status.kind === 'disabled' && after.status.kind !== 'disabled') {
    expect(['enable', 'reauthenticated']).toContain(event.kind);
    const isMeant = ['manual', 'standing-by'].includes(before.status.reason);
    expect(isMeant && event.kind === 'reauthenticated').toBe(false);
  }
  if (before.status.kind === 'disabled' || after.status.kind !== 'disabled') return;
  const cause = event.kind === 'failure' ? event.failure.kind : event.kind;
  expect(['disable', 'stand-by', 'forbidden', 'credential-revoked']).toContain(cause);
  if (cause === 'credential-revoked') expect(after.revocations).toBe(3);
  expect(after.status.since).toBe(now);
}

test('only refusals for quota raise the quota count, and only refusals for rate the rate count', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 30 }), (events) => {
      let health = HEALTHY;
      for (const one of events) {
        const after = nextHealth(health, one, { now: START, jitter: 0 });
        for (const [id, next] of after.models) {
          const known = health.models.get(id) ?? { quotaCount: 0, rateCount: 0 };
          const cause = one.kind === 'failure' ? one.failure.kind : one.kind;
          if (cause !== 'quota-exhausted') {
            expect(next.quotaCount).toBeLessThanOrEqual(known.quotaCount);
          }
          if (cause !== 'rate-limited') {
            expect(next.rateCount).toBeLessThanOrEqual(known.rateCount);
          }
        }
        health = after;
      }
    }),
    { numRuns: 200 },
  );
});

test('a damaged stored health keeps the account out until a person looks', () => {
  for (const value of [null, 7, [], {}, { status: 'active' }, { status: { kind: 'odd' } }]) {
    expect(readHealth(value).status).toMatchObject({ kind: 'disabled', reason: 'manual' });
  }
  expect(readHealth({ status: { kind: 'active' }, models: [['m', 1], 'x', [1, {}]] })).toEqual(
    HEALTHY,
  );
});
