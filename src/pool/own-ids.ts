// Under which id an account knows a routed model.

import type { Account } from '../accounts/account.ts';
import { foldCase } from '../lib/wildcard.ts';
import type { Upstream } from '../upstreams/upstream.ts';

/** Undefined when the account's list has no model for the name; without a list, what the upstream is asked for then. */
export type OwnId = (account: Account, model: string) => string | undefined;

type ModelList = NonNullable<Account['models']>;

/** The models of a list that stand for a routed name which is none of its ids. */
interface FamilyModels {
  preferred(name: string, listed: ModelList): string | undefined;
  unlisted(name: string): string | undefined;
  newest(name: string, listed: ModelList): string | undefined;
}

export interface OwnIdsOptions {
  readonly upstreams: {
    get(id: string): Pick<Upstream, 'modelIds' | 'unlistedId'> | undefined;
  };
  /** As the settings are now. */
  readonly families?: (() => FamilyModels) | undefined;
}

export function createOwnIds({ upstreams, families }: OwnIdsOptions): OwnId {
  // A list is the same object until it is read anew, and every model asks for it.
  const known = new WeakMap<ModelList, ReadonlyMap<string, string>>();
  const foldedIds = (models: ModelList): ReadonlyMap<string, string> => {
    const folded =
      known.get(models) ?? new Map(Array.from(models.keys(), (id) => [foldCase(id), id]));
    known.set(models, folded);
    return folded;
  };
  const spelled = (models: ModelList, ids: readonly string[]): string | undefined => {
    const exact = ids.find((id) => models.has(id));
    if (exact !== undefined) return exact;
    const folded = foldedIds(models);
    const other = ids.find((id) => folded.has(foldCase(id)));
    return other === undefined ? undefined : folded.get(foldCase(other));
  };
  return ({ record, models }, model) => {
    const upstream = upstreams.get(record.upstreamId);
    if (upstream === undefined) return undefined;
    const rule = families?.();
    const ids = upstream.modelIds(model);
    if (models === undefined)
      return rule?.unlisted(model) ?? upstream.unlistedId?.(model) ?? ids[0];
    return (
      rule?.preferred(model, models) ??
      spelled(models, [model]) ??
      rule?.newest(model, models) ??
      spelled(models, ids)
    );
  };
}
