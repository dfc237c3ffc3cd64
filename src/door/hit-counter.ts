// The hits of address rules that are not saved yet, saved together a moment later.

import type { AddressRuleStore, RuleHits } from './address-rule.ts';
import { type BatchOptions, createBatch } from './batch.ts';

export interface HitCounter {
  /** @param at milliseconds since the epoch */
  count(id: string, at: number): void;
  forget(id: string): void;
  /** Saves what waits. */
  close(): Promise<void>;
}

export interface HitCounterOptions extends Pick<BatchOptions, 'clock' | 'log'> {
  readonly store: Pick<AddressRuleStore, 'addHits'> | undefined;
}

export function createHitCounter({ store, clock, log }: HitCounterOptions): HitCounter {
  let waiting = new Map<string, RuleHits>();
  const save = async (): Promise<void> => {
    const taken = waiting;
    waiting = new Map();
    try {
      await store?.addHits([...taken.values()]);
    } catch (error) {
      for (const { id, hits, lastHitAt } of taken.values()) {
        const newer = waiting.get(id);
        const sum = hits + (newer?.hits ?? 0);
        waiting.set(id, { id, hits: sum, lastHitAt: newer?.lastHitAt ?? lastHitAt });
      }
      throw error;
    }
  };
  const batch = createBatch({ clock, title: 'The hits of address rules', save, log });
  return {
    count(id, at) {
      const hits = (waiting.get(id)?.hits ?? 0) + 1;
      waiting.set(id, { id, hits, lastHitAt: at });
      if (store !== undefined) batch.touch();
    },
    forget: (id) => void waiting.delete(id),
    close: () => batch.close(),
  };
}
