// An account's health as JSON, for storage: written whole, read tolerantly.

import { isJsonObject, type JsonObject, type JsonValue } from '../lib/json.ts';
import { told } from '../lib/told.ts';
import type { AccountHealth, AccountStatus, DisabledReason } from './health.ts';
import type { CoolingCause, ModelHealth } from './model-health.ts';

const REASONS: readonly DisabledReason[] = ['invalid-grant', 'forbidden', 'manual', 'standing-by'];
const CAUSES: readonly CoolingCause[] = ['none', 'quota', 'rate', 'refused', 'missing', 'path'];

/** Models are pairs, as their names are the client's and may be any text. */
export function writeHealth(health: AccountHealth): JsonObject {
  return {
    status: { ...health.status, detail: detailOf(health.status) },
    outUntil: health.outUntil,
    revocations: health.revocations,
    revokedAt: health.revokedAt,
    models: [...health.models].map(([id, model]) => [
      id,
      { ...model, pathFaults: [...model.pathFaults], figure: model.figure ?? null },
    ]),
  };
}

/**
 * The health `writeHealth` wrote; what is missing or of another kind is as in a healthy account, but
 * a status that cannot be read keeps the account out: `disabled` by hand, for a person to look at.
 */
export function readHealth(value: JsonValue): AccountHealth {
  const stored = isJsonObject(value) ? value : {};
  const pairs = Array.isArray(stored.models) ? stored.models : [];
  return {
    status: readStatus(stored.status),
    outUntil: readTime(stored.outUntil),
    revocations: readTime(stored.revocations),
    revokedAt: readTime(stored.revokedAt),
    models: new Map(pairs.flatMap(readModel)),
  };
}

function detailOf(status: AccountStatus): string | null {
  return status.kind === 'active' ? null : (status.detail ?? null);
}

function readStatus(value: JsonValue | undefined): AccountStatus {
  const stored = isJsonObject(value) ? value : {};
  const since = readTime(stored.since);
  const detail = typeof stored.detail === 'string' ? { detail: stored.detail } : {};
  switch (stored.kind) {
    case 'active':
      return { kind: 'active' };
    case 'blocked':
      return { kind: 'blocked', until: readTime(stored.until), since, ...detail };
    case 'disabled': {
      const reason = REASONS.find((known) => known === stored.reason) ?? 'manual';
      return { kind: 'disabled', reason, since, ...detail };
    }
    default:
      return {
        kind: 'disabled',
        reason: 'manual',
        since,
        detail: told`Its stored state is damaged.`,
      };
  }
}

function readModel(pair: JsonValue): readonly (readonly [string, ModelHealth])[] {
  if (!Array.isArray(pair)) return [];
  const [id, stored] = pair;
  if (typeof id !== 'string' || !isJsonObject(stored)) return [];
  const faults = Array.isArray(stored.pathFaults) ? stored.pathFaults : [];
  const model: ModelHealth = {
    coolUntil: readTime(stored.coolUntil),
    since: readTime(stored.since),
    cause: CAUSES.find((known) => known === stored.cause) ?? 'none',
    quotaCount: readTime(stored.quotaCount),
    rateCount: readTime(stored.rateCount),
    pathFaults: faults.filter((at) => typeof at === 'number'),
    figure: typeof stored.figure === 'number' ? stored.figure : undefined,
  };
  return [[id, model]];
}

function readTime(value: JsonValue | undefined): number {
  return typeof value === 'number' && value >= 0 ? value : 0;
}
