// Whether a record is among those a filter takes.

import { createWildcard, foldCase, isWildcard } from '../../src/lib/names.ts';
import type { RequestRecord, RequestRow } from '../../src/monitor/record.ts';
import type { NamedGroup, RequestFilter, StatusFilter } from '../../src/monitor/request-store.ts';

export function matchesFilter(record: RequestRecord, filter: RequestFilter): boolean {
  const { row } = record;
  const { from, to, status, protocol, surface, model, account, key, replica, search } = filter;
  const { session, client, error } = filter;
  const { owner, team, tag, without } = filter;
  return (
    (from === undefined || row.at >= from) &&
    (to === undefined || row.at < to) &&
    (status === undefined || hasStatus(row, status)) &&
    (protocol === undefined || row.protocol === protocol) &&
    (surface === undefined || row.surface === surface) &&
    (model === undefined ||
      model
        .split(',')
        .some((name) => isNamed([row.model, row.upstreamModel ?? row.routedModel], name.trim()))) &&
    (account === undefined || isNamed([row.account], account)) &&
    (key === undefined || row.keyId === key || isNamed([row.keyName], key)) &&
    (replica === undefined || isNamed([row.replica], replica)) &&
    (session === undefined || isNamed([row.session], session)) &&
    (client === undefined || isNamed([row.clientAddress], client)) &&
    (error === undefined || row.errorGroup === error) &&
    (owner === undefined || isNamed([row.owner], owner)) &&
    (team === undefined || isNamed([row.team], team)) &&
    (tag === undefined || row.tags?.includes(tag) === true) &&
    (without === undefined || lacks(row, without)) &&
    (search === undefined || holds(record, search))
  );
}

function lacks(row: RequestRow, group: NamedGroup): boolean {
  const { upstreamModel, routedModel, account, keyId, owner, team, tags = [] } = row;
  const model = upstreamModel ?? routedModel;
  const has = { model, account, key: keyId || undefined, owner, team, tag: tags[0] };
  return has[group] === undefined;
}

function isNamed(names: readonly (string | undefined)[], wanted: string): boolean {
  if (!isWildcard(wanted)) return names.includes(wanted);
  const { matches } = createWildcard(wanted);
  return names.some((name) => name !== undefined && matches(foldCase(name)));
}

function hasStatus({ outcome, status }: RequestRow, filter: StatusFilter): boolean {
  if (filter.kind === 'outcome') return outcome === filter.outcome;
  return status >= filter.least && status <= filter.most;
}

function holds({ row, bodies }: RequestRecord, search: string): boolean {
  const wanted = search.toLowerCase();
  const { id, requestId, model, upstreamModel, account, path, error } = row;
  if ([id, requestId].some((one) => one.startsWith(search))) return true;
  const texts = [model, upstreamModel, account, path, error?.text];
  const json = [bodies?.clientRequest?.text, bodies?.upstreamRequest?.text];
  if (bodies?.response !== undefined) json.push(JSON.stringify(bodies.response.blocks));
  const escaped = JSON.stringify(wanted).slice(1, -1);
  return (
    [...texts, ...json].some((text) => text?.toLowerCase().includes(wanted)) ||
    json.some((text) => text?.toLowerCase().includes(escaped))
  );
}
