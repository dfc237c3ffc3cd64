import { expect, test } from 'vitest';
import { createAccount } from '../accounts/account.test-support.ts';
import type { Account, QuotaReading } from '../accounts/account.ts';
import { type AccountHealth, HEALTHY, type HealthEvent, nextHealth } from '../accounts/health.ts';
import type { UpstreamFailure } from '../canonical/failure.ts';
import { checkEligibility, type Eligibility } from './eligibility.ts';

const NOW = 1_000_000_000;
const MINUTE = 60_000;

interface Situation {
  readonly health?: AccountHealth;
  readonly origin?: Account['origin'];
  readonly quota?: Partial<QuotaReading>;
  readonly modelId?: string | undefined;
  readonly isProtected?: boolean;
  readonly isReserved?: boolean;
  readonly now?: number;
}

function check(situation: Situation): Eligibility {
  const { health = HEALTHY, quota, isProtected = false, isReserved = false, now = NOW } = situation;
  const reading: QuotaReading = {
    remainingFraction: 1,
    resetsAt: undefined,
    source: 'upstream',
    fetchedAt: NOW,
    ...quota,
  };
  const account = createAccount('a', {
    origin: situation.origin ?? 'stored',
    health,
    quotas: quota === undefined ? new Map() : new Map([['m', reading]]),
  });
  const modelId = 'modelId' in situation ? situation.modelId : 'm';
  return checkEligibility({ account, modelId, isProtected, isReserved, now });
}

function healthAfter(...events: readonly (UpstreamFailure | HealthEvent)[]): AccountHealth {
  return events.reduce((health: AccountHealth, one) => {
    const isEvent = one.kind === 'disable';
    const event: HealthEvent = isEvent
      ? one
      : { kind: 'failure', model: 'm', failure: one as UpstreamFailure };
    return nextHealth(health, event, { now: NOW, jitter: 0 });
  }, HEALTHY);
}

test.each<readonly [string, Situation, Partial<Eligibility> & object]>([
  ['a healthy account', {}, { kind: 'eligible' }],
  ['a model it does not offer', { modelId: undefined }, { kind: 'not-offered' }],
  [
    'a model it does not offer, although it is disabled',
    { modelId: undefined, health: healthAfter({ kind: 'disable' }) },
    { kind: 'not-offered' },
  ],
  [
    'disabled by hand',
    { health: healthAfter({ kind: 'disable' }) },
    { kind: 'unusable', verdict: 'disabled by hand' },
  ],
  [
    'refused by the upstream',
    { health: healthAfter({ kind: 'forbidden' }) },
    { kind: 'unusable', verdict: expect.stringContaining('the upstream refused') },
  ],
  [
    'a verification asked for',
    { health: healthAfter({ kind: 'verification-required' }) },
    { kind: 'waiting', cause: 'blocked', until: NOW + 10 * MINUTE },
  ],
  [
    'a verification asked for ten minutes ago',
    { health: healthAfter({ kind: 'verification-required' }), now: NOW + 10 * MINUTE },
    { kind: 'eligible' },
  ],
  [
    'of the sandbox, and disabled',
    { health: healthAfter({ kind: 'disable' }), origin: 'sandbox' },
    { kind: 'unusable', isStandIn: true },
  ],
  [
    'a refused credential',
    { health: healthAfter({ kind: 'unauthenticated' }) },
    { kind: 'waiting', cause: 'refused', until: NOW + 5_000, triedEveryMs: 1_000 },
  ],
  [
    'a used-up quota',
    { health: healthAfter({ kind: 'quota-exhausted' }) },
    { kind: 'waiting', cause: 'limited', until: NOW + MINUTE },
  ],
  [
    'a model that was refused',
    { health: healthAfter({ kind: 'model-forbidden' }) },
    { kind: 'waiting', cause: 'refused', until: NOW + MINUTE, triedEveryMs: 1_000 },
  ],
  [
    'a model it said it does not know',
    { health: healthAfter({ kind: 'model-not-found' }) },
    { kind: 'not-offered', until: NOW + 5 * MINUTE },
  ],
  [
    'a model it did not know five minutes ago',
    { health: healthAfter({ kind: 'model-not-found' }), now: NOW + 5 * MINUTE },
    { kind: 'eligible' },
  ],
  [
    'several waits: an explicit limit before a refusal',
    {
      health: healthAfter(
        { kind: 'unauthenticated' },
        { kind: 'quota-exhausted', retryAfterMs: 4000 },
      ),
    },
    { kind: 'waiting', cause: 'limited', until: NOW + 4000 },
  ],
  ['an unknown quota', { isProtected: false }, { kind: 'eligible' }],
  ['some quota left', { quota: { remainingFraction: 0.001 } }, { kind: 'eligible' }],
  [
    'none left until the reset',
    { quota: { remainingFraction: 0, resetsAt: NOW + MINUTE } },
    { kind: 'waiting', cause: 'exhausted', until: NOW + MINUTE },
  ],
  [
    'none left, and the reset is over',
    { quota: { remainingFraction: 0, resetsAt: NOW } },
    { kind: 'eligible' },
  ],
  [
    'none left, and nobody says until when',
    { quota: { remainingFraction: 0 } },
    { kind: 'waiting', cause: 'exhausted', until: NOW + 24 * 60 * MINUTE },
  ],
  [
    'none left for a week: the figure is believed for a day',
    { quota: { remainingFraction: 0, resetsAt: NOW + 7 * 24 * 60 * MINUTE } },
    { kind: 'waiting', cause: 'exhausted', until: NOW + 24 * 60 * MINUTE },
  ],
  [
    'a broken figure counts as none',
    { quota: { remainingFraction: Number.NaN, resetsAt: NOW + 1 } },
    { kind: 'waiting', cause: 'exhausted' },
  ],
  [
    'protected',
    { quota: { remainingFraction: 0.05, resetsAt: NOW + MINUTE }, isProtected: true },
    { kind: 'waiting', cause: 'protected', until: NOW + MINUTE },
  ],
  [
    'protected, and nobody says until when',
    { quota: { remainingFraction: 0.05 }, isProtected: true },
    { kind: 'waiting', cause: 'protected', until: undefined },
  ],
])('%s', (_situation, situation, expected) => {
  expect(check(situation)).toMatchObject(expected);
});
