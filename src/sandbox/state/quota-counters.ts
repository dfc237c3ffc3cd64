// Quotas that really run down: generate calls per account and model, back to full at the end of each window.

import type { Clock } from '../../lib/clock.ts';
import type { JsonObject } from '../../lib/json.ts';
import { quotaOf, type SandboxAccount } from '../accounts.ts';
import { reasonDetail, retryDetail, SandboxError } from '../errors.ts';

export interface QuotaCounters {
  /**
   * Counts one call.
   * @throws SandboxError 429 with the time until the reset when nothing is left.
   */
  spend(account: SandboxAccount, modelId: string): void;
  read(account: SandboxAccount, modelId: string): QuotaReading;
}

export interface QuotaReading {
  /** 0 to 1. */
  readonly remainingFraction: number;
  /** Milliseconds since the epoch. */
  readonly resetsAt: number;
}

interface Usage {
  readonly resetsAt: number;
  readonly spent: number;
}

export function createQuotaCounters(clock: Clock): QuotaCounters {
  const usages = new Map<string, Usage>();
  const current = (account: SandboxAccount, modelId: string): Usage => {
    const { windowMs } = quotaOf(account);
    const resetsAt = (Math.floor(clock.now() / windowMs) + 1) * windowMs;
    const usage = usages.get(keyOf(account, modelId));
    return usage?.resetsAt === resetsAt ? usage : { resetsAt, spent: 0 };
  };
  return {
    spend(account, modelId) {
      const usage = current(account, modelId);
      if (usage.spent >= quotaOf(account).requests) {
        throw exhausted(modelId, usage.resetsAt, clock.now());
      }
      usages.set(keyOf(account, modelId), { ...usage, spent: usage.spent + 1 });
    },
    read(account, modelId) {
      const { resetsAt, spent } = current(account, modelId);
      const { requests } = quotaOf(account);
      return { remainingFraction: requests > 0 ? (requests - spent) / requests : 0, resetsAt };
    },
  };
}

/** `GET /v1beta/quota`: `{tier, project, models: [{name, remainingFraction, resetTime}]}`. */
export function writeQuota(
  account: SandboxAccount,
  modelIds: readonly string[],
  counters: QuotaCounters,
): JsonObject {
  return {
    tier: account.tier,
    project: account.project,
    models: modelIds.map((name) => {
      const { remainingFraction, resetsAt } = counters.read(account, name);
      return { name, remainingFraction, resetTime: new Date(resetsAt).toISOString() };
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

function keyOf(account: SandboxAccount, modelId: string): string {
  return `${account.email}\n${modelId}`;
}
