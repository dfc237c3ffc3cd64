// How long a run of the bench measures, and what it counts on the way.

import type { Contender } from './contender.ts';
import type { LoadResult } from './load.ts';

export interface Plan {
  readonly isQuick: boolean;
  readonly rounds: number;
  /** Multiplies the length of every run. */
  readonly scale: number;
  readonly withRivals: boolean;
  /** Keeps account of failed requests. */
  note(contender: Contender, result: LoadResult): void;
  readonly failures: ReadonlyMap<string, number>;
}

export function createPlan({ isQuick }: { readonly isQuick: boolean }): Plan {
  const failures = new Map<string, number>();
  const size = isQuick
    ? { isQuick, rounds: 1, scale: 0.25, withRivals: false }
    : { isQuick, rounds: 3, scale: 1, withRivals: true };
  return {
    ...size,
    failures,
    note: ({ name }, result) => {
      if (result.failures > 0) failures.set(name, (failures.get(name) ?? 0) + result.failures);
    },
  };
}
