// An account as the admin API shows it: status and condition, never a secret.

import type { XStatic } from 'typebox/schema';
import type { Account } from '../accounts/account.ts';
import { type AccountStatus, isStandingBy, type Trial } from '../accounts/health.ts';
import { asSentence, type Sentence } from '../lib/localized-message.ts';
import { compareCodePoints } from '../lib/names.ts';
import { bandOfShare } from '../pool/success-shares.ts';
import { percentOf } from '../quota/protection.ts';
import type { AccountFacts } from './options.ts';
import type { ACCOUNT_SCHEMA, COOLDOWN_SCHEMA, QUOTA_SCHEMA, STATUS_SCHEMA } from './schemas.ts';

type AccountJson = XStatic<typeof ACCOUNT_SCHEMA>;
type QuotaJson = XStatic<typeof QUOTA_SCHEMA>;
type CooldownJson = XStatic<typeof COOLDOWN_SCHEMA>;
type StatusJson = XStatic<typeof STATUS_SCHEMA>;

/** What tells whether an account needs attention: of many accounts that is asked every few seconds. */
export type JudgedAccount = Pick<
  AccountJson,
  'id' | 'upstream' | 'kind' | 'name' | 'status' | 'condition' | 'cooldowns'
>;

export function judgeAccount(account: Account, facts: AccountFacts): JudgedAccount {
  const { id, label, upstreamId: upstream, kind } = account.record;
  const name = facts.pool.nameOf(id) ?? label;
  const status = writeStatus(account, facts);
  const cooldowns = writeCooldowns(account, facts);
  const condition = toCondition(account, { status, cooldowns }, facts);
  return { id, upstream, kind, name, status, condition, cooldowns };
}

export function writeAccount(account: Account, facts: AccountFacts): AccountJson {
  const { book, pool, isProtected } = facts;
  const { record, origin, models } = account;
  return {
    ...judgeAccount(account, facts),
    label: record.label,
    tier: record.tier ?? null,
    billing: record.billing ?? null,
    usualBilling: facts.usualBilling(record),
    project: record.projectId ?? null,
    priority: record.priority,
    notes: record.notes ?? null,
    hasProxy: book.proxyUrl(record.id) !== undefined,
    origin,
    quotas: writeQuotas(account, isProtected),
    models: models?.size ?? null,
    createdAt: writeTime(record.createdAt),
    lastUsedAt: writeOptionalTime(pool.lastUsedAt(record.id)),
    revision: record.revision,
  };
}

/** How it does by its last requests, and by its last trial where that is newer. */
function toCondition(
  { record }: Account,
  now: Pick<AccountJson, 'status' | 'cooldowns'>,
  { pool, trials }: AccountFacts,
): AccountJson['condition'] {
  const { attempts, share, lastSuccessAt, lastFailure } = pool.conditionOf(record.id);
  const trial = trials.last(record.id);
  const requestedAt = Math.max(lastSuccessAt ?? 0, lastFailure?.at ?? 0);
  const newer = trial !== undefined && trial.at >= requestedAt ? trial : undefined;
  const state = stateOf(now, share, newer);
  const failure = lastFailure?.failure;
  const last = writeDetail(failure?.detail ?? failure?.kind);
  const said = newer?.isGood === false ? newer.message : last;
  return {
    state,
    attempts,
    share: share ?? null,
    lastSuccessAt: writeOptionalTime(lastSuccessAt),
    lastFailureAt: writeOptionalTime(lastFailure?.at),
    lastFailure: last,
    reason: state === 'healthy' || state === 'untried' ? null : (said ?? now.status.detail),
    trial: trial === undefined ? null : { ...trial, at: writeTime(trial.at) },
  };
}

function stateOf(
  { status, cooldowns }: Pick<AccountJson, 'status' | 'cooldowns'>,
  share: number | undefined,
  trial: Trial | undefined,
): AccountJson['condition']['state'] {
  if (status.kind === 'disabled') return 'disabled';
  if (trial?.isGood === false) return 'failing';
  if (status.kind === 'blocked' || cooldowns.some(({ model }) => model === null)) {
    return share !== undefined && bandOfShare(share) === 2 ? 'failing' : 'cooling-down';
  }
  if (trial?.what === 'answer') return 'healthy';
  if (share === undefined) return 'untried';
  return (['healthy', 'degraded', 'failing'] as const)[bandOfShare(share)];
}

export function writeQuotas(
  account: Account,
  isProtected: AccountFacts['isProtected'],
): QuotaJson[] {
  const { quotas } = account;
  const written = writtenQuotas.get(quotas) ?? writeReadings(quotas);
  writtenQuotas.set(quotas, written);
  return written.map((reading) => {
    const { model } = reading;
    return {
      ...reading,
      isProtected: isProtected(account, { modelId: model, routedModel: model }),
    };
  });
}

type WrittenReading = Omit<QuotaJson, 'isProtected'>;

/** Until they change: most of what a list of many accounts costs are the texts of their times. */
const writtenQuotas = new WeakMap<Account['quotas'], readonly WrittenReading[]>();

function writeReadings(quotas: Account['quotas']): readonly WrittenReading[] {
  const readings = [...quotas].sort(([left], [right]) => compareCodePoints(left, right));
  return readings.map(([model, reading]) => ({
    model,
    percent: percentOf(reading),
    resetsAt: writeOptionalTime(reading.resetsAt),
    source: reading.source,
    fetchedAt: writeTime(reading.fetchedAt),
  }));
}

/** RFC 3339, in UTC. */
export function writeTime(at: number): string {
  return new Date(at).toISOString();
}

/** Zero stands for a time that never was. */
export function writeOptionalTime(at: number | undefined): string | null {
  return at === undefined || at === 0 ? null : writeTime(at);
}

/** As people order them: priority, then age. Accounts of the sandbox that rest come last. */
export function inOrder(accounts: readonly Account[]): readonly Account[] {
  return accounts.toSorted(
    (left, right) =>
      Number(isStandingBy(left)) - Number(isStandingBy(right)) ||
      right.record.priority - left.record.priority ||
      left.record.createdAt - right.record.createdAt,
  );
}

const ACTIVE: StatusJson = {
  kind: 'active',
  reason: null,
  since: null,
  until: null,
  detail: null,
  wayOut: null,
};

/** Whether it may serve, and what keeps it from that. */
export function writeStatus(
  account: Account,
  { clock, upstreams }: Pick<AccountFacts, 'clock' | 'upstreams'>,
): StatusJson {
  const { upstreamId } = account.record;
  const { status, revocations, revokedAt } = account.health;
  // Disabled on purpose: other problems of the account need no attention.
  const isOnPurpose =
    status.kind === 'disabled' && (status.reason === 'manual' || status.reason === 'standing-by');
  if (!isOnPurpose && upstreams.get(upstreamId) === undefined) {
    // Its upstream is not in the settings; it serves again when that is back.
    return {
      ...ACTIVE,
      kind: 'disabled',
      reason: 'no-upstream',
      wayOut: `Its upstream ${upstreamId} is no longer configured. Add it again under this id, or remove the account.`,
    };
  }
  switch (status.kind) {
    case 'active':
      if (revocations === 0) return ACTIVE;
      // It may serve, but what it signs in with was refused and not accepted since.
      return {
        ...ACTIVE,
        reason: 'refused-grant',
        since: writeOptionalTime(revokedAt),
        wayOut: `It is tried again by itself, and disabled when it is refused three times. ${wayOutOf('invalid-grant', account)}`,
      };
    case 'disabled':
      return {
        ...ACTIVE,
        kind: 'disabled',
        reason: status.reason,
        since: writeOptionalTime(status.since),
        detail: writeDetail(status.detail),
        wayOut: wayOutOf(status.reason, account),
      };
    case 'blocked':
      if (status.until <= clock.now()) return ACTIVE;
      return {
        kind: 'blocked',
        reason: 'verification',
        since: writeOptionalTime(status.since),
        until: writeTime(status.until),
        detail: writeDetail(status.detail),
        wayOut:
          'The upstream wants this account verified: sign in to it there and follow what it asks. ' +
          'The gateway retries automatically when this time is over; enable it to retry now.',
      };
    default:
      return status satisfies never;
  }
}

function wayOutOf(
  reason: Extract<AccountStatus, { kind: 'disabled' }>['reason'],
  { record }: Account,
): string {
  switch (reason) {
    case 'invalid-grant':
      return record.kind === 'oauth'
        ? 'The upstream no longer takes its refresh token. Sign in to this account again: ' +
            `isthmus accounts add --oauth --upstream ${record.upstreamId} --account ${record.id}`
        : 'The upstream no longer takes its key. Give the account a new key, then enable it.';
    case 'invalid-key':
      return 'The upstream refuses its key. Give the account a new key. It is tried again by itself, at longer and longer intervals; enable it to try at once.';
    case 'forbidden':
      return 'The upstream refuses this account. Check there that it may use the API and that its project is right, then enable it.';
    case 'manual':
      return 'Somebody disabled it. Enable it to use it again.';
    case 'standing-by':
      return 'It becomes active again when the other accounts and upstreams are removed. Enable it to use it anyway.';
    default:
      return reason satisfies never;
  }
}

/** Cooldowns of a whole account come first. */
function writeCooldowns(account: Account, { clock, pool }: AccountFacts): CooldownJson[] {
  const { health, models, record } = account;
  const now = clock.now();
  const cooldowns: CooldownJson[] = [];
  if (health.outUntil > now) {
    cooldowns.push({ model: null, until: writeTime(health.outUntil), cause: 'credential' });
  }
  for (const [model, { coolUntil, cause }] of health.models) {
    if (coolUntil <= now || cause === 'none') continue;
    cooldowns.push({ model, until: writeTime(coolUntil), cause });
  }
  // Overloads are the upstream's: its accounts share them, but for models that are not theirs.
  for (const [model, until] of pool.overloads.of(record.upstreamId)) {
    if (models?.has(model) === false) continue;
    cooldowns.push({ model, until: writeTime(until), cause: 'overloaded' });
  }
  const isTold = cooldowns.some(({ model }) => model === null);
  const whole = isTold ? undefined : restOfAll(account, cooldowns);
  return whole === undefined ? cooldowns : [whole, ...cooldowns];
}

/** An account whose models are all cooling down is so as a whole, until the first of them is back. */
function restOfAll(
  { models }: Account,
  cooldowns: readonly CooldownJson[],
): CooldownJson | undefined {
  const ends = new Map<string | null, CooldownJson>();
  for (const one of cooldowns) {
    const known = ends.get(one.model);
    if (known === undefined || known.until < one.until) ends.set(one.model, one);
  }
  const own = [...(models?.keys() ?? [])].map((model) => ends.get(model));
  const resting = own.filter((one) => one !== undefined);
  if (resting.length < own.length) return undefined;
  const [first] = resting.sort((left, right) => compareCodePoints(left.until, right.until));
  return first === undefined ? undefined : { ...first, model: null };
}

function writeDetail(detail: string | Sentence | undefined): Sentence | null {
  return detail === undefined ? null : asSentence(detail);
}
