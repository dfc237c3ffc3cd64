// The account's own id of a model that the upstream reports under another spelling of its name.

import type { Account, QuotaReading } from '../accounts/account.ts';
import type { Upstream } from '../upstreams/upstream.ts';

export interface ModelSpellings {
  readonly account: Account;
  readonly upstream: Pick<Upstream, 'modelIds'>;
  /** One spelling for every way to write a model's name. */
  readonly normalizeName: (name: string) => string;
}

/** The id itself when the account's list has it, or nothing in it is the same name. */
export function ownModelId(reported: string, spellings: ModelSpellings): string {
  const { account, upstream, normalizeName } = spellings;
  const { models } = account;
  if (models?.has(reported) === true) return reported;
  const name = normalizeName(reported);
  for (const id of models?.keys() ?? upstream.modelIds(name)) {
    if (normalizeName(id) === name) return id;
  }
  return reported;
}

/** What changes when the figures the upstream reported go by the account's own ids. */
export function respellReadings(
  spellings: ModelSpellings,
): ReadonlyMap<string, QuotaReading | undefined> {
  const { quotas } = spellings.account;
  const changes = new Map<string, QuotaReading | undefined>();
  for (const [id, reading] of quotas) {
    const own = reading.source === 'upstream' ? ownModelId(id, spellings) : id;
    if (own === id) continue;
    changes.set(id, undefined);
    if (quotas.get(own)?.source !== 'upstream') changes.set(own, reading);
  }
  return changes;
}
