// Whether a request under way is one that the filters of the list may take.

import type { RunningRequest } from '../../../../src/admin/contract.ts';
import type { RequestFilters } from './filters.ts';

/** What only the end of a request tells. */
const AT_THE_END = ['status', 'error', 'search', 'to', 'without'] as const;

export function matchesRunning(
  row: Omit<RunningRequest, 'elapsedMs'>,
  filters: RequestFilters,
): boolean {
  if (AT_THE_END.some((name) => filters[name] !== undefined)) return false;
  const { protocol, model, account, key, replica, session, client } = filters;
  const { owner, team, tag } = filters;
  return (
    (protocol === undefined || row.protocol === protocol) &&
    isOneOf([row.model, row.upstreamModel], model) &&
    isOneOf([row.account], account) &&
    isOneOf([row.keyId, row.keyName], key) &&
    isOneOf([row.replica], replica) &&
    isOneOf([row.session], session) &&
    isOneOf([row.clientAddress], client) &&
    isOneOf([row.owner], owner) &&
    isOneOf([row.team], team) &&
    (tag === undefined || row.tags?.includes(tag) === true)
  );
}

/** As the gateway compares names: whole, or with `*` in any case; several with commas between them. */
function isOneOf(names: readonly (string | undefined)[], wanted: string | undefined): boolean {
  if (wanted === undefined) return true;
  const patterns = wanted.split(',').map((one) => one.trim());
  return names.some((name) => name !== undefined && patterns.some((one) => isNamed(name, one)));
}

/** As a pattern in which `*` stands for any text. */
export function isNamed(name: string, wanted: string): boolean {
  if (!wanted.includes('*')) return name === wanted;
  const parts = wanted.split('*').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 'is').test(name);
}
