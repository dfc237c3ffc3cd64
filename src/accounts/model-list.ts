// Compares model lists, so that reading the same list again is no change.

import type { UpstreamModel } from '../upstreams/upstream.ts';

type ModelList = ReadonlyMap<string, UpstreamModel> | undefined;

export function isSameList(one: ModelList, other: ModelList): boolean {
  if (one === other) return true;
  if (one === undefined || other === undefined || one.size !== other.size) return false;
  for (const [id, model] of one) {
    const twin = other.get(id);
    if (twin === undefined || JSON.stringify(twin) !== JSON.stringify(model)) return false;
  }
  return true;
}
