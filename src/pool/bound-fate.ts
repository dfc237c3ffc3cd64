// What became of the account a session is bound to.

import type { ModelIndex } from './model-index.ts';
import type { BoundFate } from './session-binding.ts';
import type { UsableCandidates } from './usable-candidates.ts';

export interface BoundState {
  readonly fate: BoundFate;
  /** For `resting`: how long; undefined when this request tried the account before. */
  readonly restMs?: number | undefined;
}

/** A session comes back to an account that rests no longer than this; upstream caches live about as long. */
const LONGEST_REST_MS = 300_000;

export function boundFate(
  accountId: string,
  {
    index,
    usable,
    now,
  }: { readonly index: ModelIndex; readonly usable: UsableCandidates; readonly now: number },
): BoundState {
  const candidate = index.find(accountId, now);
  if (candidate === undefined) return { fate: 'gone' };
  const { eligibility } = candidate;
  switch (eligibility.kind) {
    case 'unusable':
      return { fate: 'gone' };
    case 'not-offered':
      return { fate: 'unfit' };
    case 'waiting': {
      const { cause, until } = eligibility;
      if (cause === 'exhausted' || cause === 'protected' || until === undefined) {
        return { fate: 'unfit' };
      }
      if (until - now > LONGEST_REST_MS) return { fate: 'unfit' };
      if (usable.isTried(candidate)) return { fate: 'resting' };
      return { fate: 'resting', restMs: Math.max(until - now, usable.overloadMs(candidate)) };
    }
    case 'eligible': {
      if (!usable.isLeft(candidate)) return { fate: 'resting' };
      const restMs = usable.overloadMs(candidate);
      return restMs > 0 ? { fate: 'resting', restMs } : { fate: 'ready' };
    }
    default:
      return eligibility satisfies never;
  }
}
