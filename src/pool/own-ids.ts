// Under which id an account knows a routed model.

import type { Account } from '../accounts/account.ts';
import { foldCase } from '../lib/wildcard.ts';
import type { Upstream } from '../upstreams/upstream.ts';

/** Undefined when the account's list has the model under no id; without a list, the upstream's first choice. */
export type OwnId = (account: Account, model: string) => string | undefined;

type ModelList = NonNullable<Account['models']>;

export function createOwnIds(upstreams: {
  get(id: string): Pick<Upstream, 'modelIds'> | undefined;
}): OwnId {
  // A list is the same object until it is read anew, and every model asks for it.
  const known = new WeakMap<ModelList, ReadonlyMap<string, string>>();
  const foldedIds = (models: ModelList): ReadonlyMap<string, string> => {
    const folded =
      known.get(models) ?? new Map(Array.from(models.keys(), (id) => [foldCase(id), id]));
    known.set(models, folded);
    return folded;
  };
  return ({ record, models }, model) => {
    const ids = upstreams.get(record.upstreamId)?.modelIds(model) ?? [];
    if (models === undefined) return ids[0];
    const exact = ids.find((id) => models.has(id));
    if (exact !== undefined) return exact;
    const folded = foldedIds(models);
    const other = ids.find((id) => folded.has(foldCase(id)));
    return other === undefined ? undefined : folded.get(foldCase(other));
  };
}
