// An account's health as JSON, for storage: written whole, read tolerantly.

import { isJsonObject, type JsonObject, type JsonValue } from '../lib/json.ts';
import { readSentence, type Sentence, told, writeSentence } from '../lib/localized-message.ts';
import {
  type AccountHealth,
  type AccountStatus,
  type CoolingCause,
  type DisabledReason,
  HEALTHY,
  type ModelHealth,
} from './health.ts';

const REASONS: readonly DisabledReason[] = [
  'invalid-grant',
  'invalid-key',
  'forbidden',
  'manual',
  'standing-by',
];
const CAUSES: readonly CoolingCause[] = ['none', 'quota', 'rate', 'refused', 'missing'];

const NUMBERS = [
  ...(['outUntil', 'revocations', 'revokedAt', 'refusals', 'refusedSince', 'refusedAt'] as const),
  ...(['servedAt', 'probes'] as const),
] as const;

/** Models are pairs, as their names are the client's and may be any text. */
export function writeHealth({ status, models, ...numbers }: AccountHealth): JsonObject {
  const probeAt = status.kind === 'disabled' ? (status.probeAt ?? null) : null;
  const detail = status.kind === 'active' ? null : writeDetail(status.detail);
  return {
    status: { ...status, detail, probeAt },
    ...numbers,
    models: [...models].map(([id, model]) => [id, { ...model, figure: model.figure ?? null }]),
  };
}

/** A text from elsewhere as text, so that an earlier version reads it too. */
function writeDetail(detail: string | Sentence | undefined): JsonValue {
  if (detail === undefined) return null;
  return typeof detail === 'string' ? detail : writeSentence(detail);
}

/**
 * The health `writeHealth` wrote; what is missing or of another kind is as in a healthy account, but
 * a status that cannot be read keeps the account out: `disabled` by hand, for a person to look at.
 */
export function readHealth(value: JsonValue): AccountHealth {
  const stored = isJsonObject(value) ? value : {};
  const pairs = Array.isArray(stored.models) ? stored.models : [];
  const { status: _status, models: _models, ...numbers } = HEALTHY;
  const read = { ...numbers };
  for (const key of NUMBERS) read[key] = readTime(stored[key]);
  return { ...read, status: readStatus(stored.status), models: new Map(pairs.flatMap(readModel)) };
}

function readStatus(value: JsonValue | undefined): AccountStatus {
  const stored = isJsonObject(value) ? value : {};
  const since = readTime(stored.since);
  const read = readSentence(stored.detail ?? null);
  const detail = read === undefined ? {} : { detail: read };
  switch (stored.kind) {
    case 'active':
      return { kind: 'active' };
    case 'blocked':
      return { kind: 'blocked', until: readTime(stored.until), since, ...detail };
    case 'disabled': {
      const reason = REASONS.find((known) => known === stored.reason) ?? 'manual';
      const probeAt = reason === 'invalid-key' ? { probeAt: readTime(stored.probeAt) } : {};
      return { kind: 'disabled', reason, since, ...probeAt, ...detail };
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
  // Older versions took accounts out of use for faults of the path.
  if (stored.cause === 'path') return [];
  const model: ModelHealth = {
    coolUntil: readTime(stored.coolUntil),
    since: readTime(stored.since),
    cause: CAUSES.find((known) => known === stored.cause) ?? 'none',
    quotaCount: readTime(stored.quotaCount),
    rateCount: readTime(stored.rateCount),
    forbiddenCount: readTime(stored.forbiddenCount),
    isGuess: stored.isGuess === true,
    figure: typeof stored.figure === 'number' ? stored.figure : undefined,
  };
  return [[id, model]];
}

function readTime(value: JsonValue | undefined): number {
  return typeof value === 'number' && value >= 0 ? value : 0;
}
