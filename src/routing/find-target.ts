// Where a name would lead, for those that only tell of it.

import type { OfferedNames, Router } from './router.ts';

export interface TargetSources {
  readonly router: Pick<Router, 'explain'>;
  readonly pool: { offered(): Pick<OfferedNames, 'has'> };
}

/** Undefined when no account offers it: names nobody knows are as many as clients care to write. */
export function findTarget(name: string, { router, pool }: TargetSources): string | undefined {
  const target = router.explain(name).route?.target;
  return target !== undefined && pool.offered().has(target) ? target : undefined;
}
