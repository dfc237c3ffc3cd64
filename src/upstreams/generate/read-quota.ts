// Reads what an upstream reports of one account's quotas.

import { GatewayError } from '../../canonical/error.ts';
import type { Clock } from '../../lib/clock.ts';
import { isJsonObject, type JsonObject, type JsonValue, readNumber } from '../../lib/json.ts';
import type { AccountAccess, UpstreamQuota } from '../upstream.ts';
import type { UpstreamClient } from './client.ts';
import type { GenerateProfile } from './profiles/profile.ts';
import { quotaRequest } from './requests.ts';

export interface QuotaReaderOptions {
  readonly client: UpstreamClient;
  readonly profile: GenerateProfile;
  readonly clock: Clock;
}

export type ReadQuota = (
  access: AccountAccess,
  signal: AbortSignal,
) => Promise<UpstreamQuota | undefined>;

type ModelRow = UpstreamQuota['models'][number];

/** An upstream without the call is not asked again for this long. */
const NONE_FOR_MS = 60 * 60 * 1000;
/** Statuses of a path the upstream does not have. */
const NO_SUCH_CALL: ReadonlySet<number | undefined> = new Set([404, 405, 501]);
const TIERS = ['ultra', 'pro', 'free'] as const;

/**
 * Answers undefined for an upstream that has no such call. Whether it has one is the upstream's
 * property and not the account's, so that one account's 404 spares the others the question.
 */
export function createQuotaReader({ client, profile, clock }: QuotaReaderOptions): ReadQuota {
  const { quotaPath } = profile;
  if (quotaPath === undefined) return async () => undefined;
  let noneUntil = Number.NEGATIVE_INFINITY;
  return async (access, signal) => {
    signal.throwIfAborted();
    if (clock.monotonic() < noneUntil) return undefined;
    const request = quotaRequest({ ...profile, quotaPath }, access, signal);
    try {
      return readQuotaAnswer(await client.readObject(request));
    } catch (error) {
      if (!(error instanceof GatewayError) || !NO_SUCH_CALL.has(error.failure?.status)) throw error;
      noneUntil = clock.monotonic() + NONE_FOR_MS;
      return undefined;
    }
  };
}

/**
 * `{tier, project, models: [{name, remainingFraction, remainingAmount, resetTime}]}`; what cannot be read
 * is left out. Undefined when it is no such document: a list of models, as upstreams give that answer
 * every path with it, has rows, but neither a fraction nor a reset time in any of them.
 */
function readQuotaAnswer(answer: JsonObject): UpstreamQuota | undefined {
  const word = textOf(answer.tier)?.toLowerCase();
  const tier = TIERS.find((known) => known === word);
  const projectId = textOf(answer.project);
  const rows = Array.isArray(answer.models) ? answer.models.filter(isJsonObject) : [];
  const isOfQuota = rows.some(hasFigure);
  if (!isOfQuota && tier === undefined && projectId === undefined) return undefined;
  const models = new Map<string, ModelRow>();
  for (const row of isOfQuota ? rows.flatMap(readRow) : []) models.set(row.id, row);
  return { tier, projectId, models: [...models.values()] };
}

function hasFigure({ remainingFraction, resetTime }: JsonObject): boolean {
  return figureOf(remainingFraction) !== undefined || readTime(resetTime) !== undefined;
}

/** Beside rows with figures one without a fraction means 0, which proto-JSON may leave out. */
function readRow(row: JsonObject): ModelRow[] {
  const id = (textOf(row.name) ?? textOf(row.id))?.replace(/^models\//, '') ?? '';
  if (id === '') return [];
  const fraction = figureOf(row.remainingFraction) ?? 0;
  return [
    {
      id,
      remainingFraction: Math.min(Math.max(fraction, 0), 1),
      remainingCalls: countsCalls(row) ? readCount(row.remainingAmount) : undefined,
      resetsAt: readTime(row.resetTime),
    },
  ];
}

/** Amounts may be of tokens instead. */
function countsCalls({ tokenType }: JsonObject): boolean {
  return tokenType === undefined || textOf(tokenType)?.toUpperCase() === 'REQUESTS';
}

function readCount(value: JsonValue | undefined): number | undefined {
  const count = figureOf(value);
  return count !== undefined && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}

/** A time stamp of RFC 3339, as google.protobuf.Timestamp is written in JSON. */
function readTime(value: JsonValue | undefined): number | undefined {
  const at = Date.parse(textOf(value) ?? '');
  return Number.isNaN(at) ? undefined : at;
}

/** Proto-JSON allows figures as text. */
function figureOf(value: JsonValue | undefined): number | undefined {
  const text = textOf(value);
  const figure = text === undefined ? readNumber(value) : Number(text);
  return figure === undefined || !Number.isFinite(figure) ? undefined : figure;
}

function textOf(value: JsonValue | undefined): string | undefined {
  if (typeof value !== 'string') return undefined;
  return value.trim() || undefined;
}
