// Quotas that really run down: generate calls per account and model, back to full at the end of each window.

import type { SandboxCaller, SandboxQuota, TierQuotas } from '../accounts.ts';
import type { SandboxClock } from '../clock.ts';
import { reasonDetail, retryDetail, SandboxError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { findModel, ownIdOf } from '../models.ts';

/** Models may go by any of their ids; what is refused names the id it was asked for. */
export interface QuotaCounters {
  /**
   * Counts one call.
   * @throws SandboxError 429 with the time until the reset when nothing is left.
   */
  spend(account: SandboxCaller, modelId: string): void;
  read(account: SandboxCaller, modelId: string): QuotaReading;
  /** Sets other limits, for good, and what is left in the current window. */
  set(account: SandboxCaller, modelId: string, change: QuotaChange): void;
}

interface QuotaReading extends SandboxQuota {
  /** Calls left in this window. */
  readonly remaining: number;
  /** 0 to 1: `remaining` of `requests`. */
  readonly remainingFraction: number;
  /** Milliseconds since the epoch. */
  readonly resetsAt: number;
}

/** What is absent stays; a new `windowMs` starts a window of its own, full unless `left` says otherwise. */
export interface QuotaChange extends Partial<SandboxQuota> {
  readonly left?:
    | { readonly unit: 'calls'; readonly calls: number }
    | { readonly unit: 'fraction'; readonly fraction: number };
}

interface Usage {
  readonly resetsAt: number;
  readonly spent: number;
}

export interface QuotaCounterOptions {
  readonly clock: SandboxClock;
  readonly tiers: TierQuotas;
}

export function createQuotaCounters({ clock, tiers }: QuotaCounterOptions): QuotaCounters {
  const usages = new Map<string, Usage>();
  const limits = new Map<string, SandboxQuota>();
  const limitOf = (account: SandboxCaller, modelId: string): SandboxQuota => {
    const kind = findModel(ownIdOf(modelId))?.drawsImages === true ? 'image' : 'text';
    return limits.get(keyOf(account, modelId)) ?? account.quota ?? tiers[account.tier][kind];
  };
  const current = (account: SandboxCaller, modelId: string): Usage => {
    const { windowMs } = limitOf(account, modelId);
    const resetsAt = (Math.floor(clock.now() / windowMs) + 1) * windowMs;
    const usage = usages.get(keyOf(account, modelId));
    return usage?.resetsAt === resetsAt ? usage : { resetsAt, spent: 0 };
  };
  return {
    spend(account, modelId) {
      const usage = current(account, modelId);
      if (usage.spent >= limitOf(account, modelId).requests) {
        throw exhausted(modelId, usage.resetsAt, clock.now());
      }
      usages.set(keyOf(account, modelId), { ...usage, spent: usage.spent + 1 });
    },
    read(account, modelId) {
      const { resetsAt, spent } = current(account, modelId);
      const limit = limitOf(account, modelId);
      const remaining = Math.max(0, limit.requests - spent);
      const remainingFraction = limit.requests > 0 ? remaining / limit.requests : 0;
      return { ...limit, remaining, remainingFraction, resetsAt };
    },
    set(account, modelId, { left, ...limit }) {
      const key = keyOf(account, modelId);
      if (limit.requests !== undefined || limit.windowMs !== undefined) {
        limits.set(key, { ...limitOf(account, modelId), ...limit });
      }
      if (left === undefined) return;
      const { requests } = limitOf(account, modelId);
      const calls = left.unit === 'calls' ? left.calls : Math.round(left.fraction * requests);
      usages.set(key, { ...current(account, modelId), spent: requests - calls });
    },
  };
}

/** `GET /v1beta/quota`: `{tier, project, models: [{name, remainingFraction, remainingAmount, resetTime}]}`. */
export function writeQuota(
  account: SandboxCaller,
  modelIds: readonly string[],
  counters: QuotaCounters,
): JsonObject {
  return {
    tier: account.tier,
    project: account.project,
    models: modelIds.map((name) => {
      const { remaining, remainingFraction, resetsAt } = counters.read(account, name);
      return {
        name,
        remainingFraction,
        // Proto-JSON writes large integers as text.
        remainingAmount: String(remaining),
        resetTime: new Date(resetsAt).toISOString(),
      };
    }),
  };
}

function exhausted(model: string, resetsAt: number, now: number): SandboxError {
  const delay = `${Math.ceil((resetsAt - now) / 1000)}s`;
  const quotaResetTimeStamp = new Date(resetsAt).toISOString();
  return new SandboxError(429, `The quota of ${model} is used up; it resets after ${delay}.`, [
    reasonDetail('QUOTA_EXHAUSTED', { model, quotaResetDelay: delay, quotaResetTimeStamp }),
    retryDetail(delay),
  ]);
}

function keyOf(account: SandboxCaller, modelId: string): string {
  return `${account.email}\n${ownIdOf(modelId)}`;
}
