// What the accounts that could serve a model are known to lack, upstream by upstream.

import { lackingOf, type NeedSet } from '../canonical/needs.ts';
import type { UpstreamModel } from '../upstreams/upstream.ts';
import type { CandidateGroup, LeaseRequest, PoolOptions } from './pool.ts';

/** Of the groups with an account that is eligible. */
export function lackingByGroup(
  groups: readonly CandidateGroup[],
  { needs }: Pick<LeaseRequest, 'needs'>,
  upstreams: PoolOptions['upstreams'],
): ReadonlyMap<CandidateGroup, NeedSet> {
  const found = new Map<CandidateGroup, NeedSet>();
  for (const group of groups) {
    const upstream = group.size === 0 ? undefined : upstreams.get(group.upstreamId);
    if (upstream === undefined) continue;
    const capabilities = upstream.capabilities(group.modelId, listedModel(group));
    found.set(group, lackingOf({ wire: upstream.wire, capabilities }, needs?.wire));
  }
  return found;
}

/** As the list of one of them has it: the accounts of an upstream read the same one. */
function listedModel({ tiers, modelId }: CandidateGroup): UpstreamModel | undefined {
  const ranks = tiers.find(({ length }) => length > 0);
  return ranks?.[0]?.members[0]?.account.models?.get(modelId);
}
