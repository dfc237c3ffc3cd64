// Records of requests in memory: what the database must answer, said plainly.

import { addTimings, NO_TIMINGS, type Timings } from '../../src/monitor/latency.ts';
import type { RequestRecord } from '../../src/monitor/record.ts';
import {
  type MinuteSum,
  type RequestStore,
  readCursor,
  type SumRequest,
  type TimeSpan,
  USAGE_FIGURES,
  type UsageFilter,
  type UsageGroup,
  type UsageRow,
  type UsageSum,
  writeCursor,
} from '../../src/monitor/request-store.ts';
import {
  type QuarterSum,
  readTags,
  SUMMED_BY,
  sumAttempts,
  sumByQuarter,
} from '../../src/monitor/usage.ts';
import { matchesFilter } from './matches-filter.ts';

const MINUTE_MS = 60_000;
/** What tells one kind of use from another, in the order in which they are listed. */
const KINDS = SUMMED_BY.filter((name) => name !== 'at');

interface Kept {
  readonly record: RequestRecord;
  readonly sequence: number;
}

export function createMemoryRequestStore(): RequestStore {
  let kept: Kept[] = [];
  const usage = new Map<string, QuarterSum>();
  let sequence = 0;

  const inOrder = (): readonly Kept[] =>
    kept.toSorted(
      (left, right) => right.record.row.at - left.record.row.at || right.sequence - left.sequence,
    );
  const addSum = (sum: QuarterSum): void => {
    const key = JSON.stringify(SUMMED_BY.map((name) => sum[name]));
    const known = usage.get(key);
    usage.set(key, known === undefined ? sum : addQuarters(known, sum));
  };

  const sumSpans: RequestStore['usage'] = async (spans, by, filter = {}) =>
    spans.flatMap(({ from, to }) => {
      const groups = new Map<string, UsageRow>();
      for (const sum of usage.values()) {
        if (sum.at < from || sum.at >= to || !isUseOf(sum, filter)) continue;
        for (const group of groupsOf(sum, by)) addTo(groups, group, sum, from);
      }
      if (by === 'key') nameKeys(groups, usage.values(), { from, to });
      return [...groups.values()].sort((left, right) => (left.group < right.group ? -1 : 1));
    });
  const sumGroups = async ({ spans, by, filter }: SumRequest): Promise<readonly UsageRow[]> => {
    const tokens = (row: UsageRow): number => row.inputTokens + row.outputTokens;
    const groups = await sumSpans([hullOf(spans)], by, filter);
    return groups.toSorted(
      (left, right) => tokens(right) - tokens(left) || right.requests - left.requests,
    );
  };

  return {
    async save(records) {
      for (const record of records) {
        sequence += 1;
        kept.push({ record, sequence });
      }
      for (const sum of sumByQuarter(records)) addSum(sum);
    },
    async find(id) {
      const byId = kept.findLast(({ record }) => record.row.id === id);
      return (byId ?? kept.findLast(({ record }) => record.row.requestId === id))?.record;
    },
    async list(filter, { limit, cursor }) {
      const after = cursor === undefined ? undefined : readCursor(cursor);
      const found = inOrder().filter(({ record }) => matchesFilter(record, filter));
      const rest = found.filter(({ record: { row }, sequence: place }) => {
        if (after === undefined || row.at < after.at) return true;
        return row.at === after.at && place < after.sequence;
      });
      const page = rest.slice(0, limit);
      const last = page.at(-1);
      const hasMore = rest.length > limit && last !== undefined;
      return {
        rows: page.map(({ record }) => record.row),
        total: found.length,
        nextCursor: hasMore
          ? writeCursor({ at: last.record.row.at, sequence: last.sequence })
          : undefined,
      };
    },
    usage: sumSpans,
    async leadingUsage(request, count, listed) {
      const { spans, by, filter = {} } = request;
      const groups = await sumGroups(request);
      const leading = groups.slice(0, count).map(({ group }) => group);
      const buckets = await sumSpans(spans, by, filter);
      return {
        groups: groups.slice(0, listed),
        groupCount: groups.length,
        buckets: buckets.filter(({ group }) => leading.includes(group)),
        totals: await sumSpans(spans, 'none', filter),
        others: spans.flatMap(({ from, to }) => {
          const others = new Map<string, UsageRow>();
          for (const sum of usage.values()) {
            if (sum.at < from || sum.at >= to || !isUseOf(sum, filter)) continue;
            if (groupsOf(sum, by).some((group) => leading.includes(group))) continue;
            addTo(others, '', sum, from);
          }
          return [...others.values()];
        }),
      };
    },
    async latency(request, count) {
      const { spans, by, filter = {} } = request;
      const leading = (await sumGroups(request)).slice(0, count).map(({ group }) => group);
      const all = [...usage.values()].filter((sum) => isUseOf(sum, filter));
      const timingsOf = ({ from, to }: TimeSpan, group?: string): Timings =>
        all
          .filter((sum) => sum.at >= from && sum.at < to)
          .filter((sum) => group === undefined || groupsOf(sum, by).includes(group))
          .reduce((timed, { timings }) => addTimings(timed, timings), NO_TIMINGS);
      const groups = new Set(all.flatMap((sum) => groupsOf(sum, by)));
      return {
        spans: spans.map((span) => ({ at: span.from, ...timingsOf(span) })),
        groups: [...groups]
          .filter((one) => by !== 'none' && leading.includes(one))
          .map((one) => ({ group: one, ...timingsOf(hullOf(spans), one) })),
      };
    },
    async attempts({ from, to }, account) {
      return sumAttempts(kept.map(({ record }) => record))
        .filter(({ at }) => at >= from && at < to)
        .filter((sum) => account === undefined || sum.account === account);
    },
    async breakdown({ from, to }, filter = {}) {
      const found = new Map<string, QuarterSum>();
      for (const sum of [...usage.values()].sort((left, right) => left.at - right.at)) {
        if (sum.at < from || sum.at >= to || !isUseOf(sum, filter)) continue;
        const key = JSON.stringify(KINDS.map((name) => sum[name]));
        const known = found.get(key);
        found.set(key, { ...(known === undefined ? sum : addQuarters(known, sum)), at: from });
      }
      const order = (sum: QuarterSum): string => KINDS.map((name) => sum[name]).join('\0');
      return [...found.values()]
        .sort((left, right) => (order(left) < order(right) ? -1 : 1))
        .map((sum) => ({ ...sum, tags: readTags(sum.tags) }));
    },
    async minutes({ from, to }) {
      const minutes = new Map<number, MinuteSum>();
      for (const { record } of inOrder().toReversed()) {
        const { at, outcome, status, inputTokens = 0, outputTokens = 0 } = record.row;
        if (at < from || at >= to) continue;
        const start = at - (at % MINUTE_MS);
        const { requests = 0, errors = 0, faults = 0, tokens = 0 } = minutes.get(start) ?? {};
        minutes.set(start, {
          at: start,
          requests: requests + 1,
          errors: errors + Number(outcome === 'error'),
          faults: faults + Number(outcome === 'error' && (status < 400 || status >= 500)),
          tokens: tokens + inputTokens + outputTokens,
        });
      }
      return [...minutes.values()];
    },
    async sweep({ oldest, oldestUsage }) {
      kept = kept.filter(({ record }) => record.row.at >= oldest);
      for (const [key, { at }] of usage) if (at < oldestUsage) usage.delete(key);
      return true;
    },
    async removeBefore(at) {
      const before = kept.length;
      kept = kept.filter(({ record }) => record.row.at >= at);
      return before - kept.length;
    },
  };
}

function hullOf(spans: readonly TimeSpan[]): TimeSpan {
  return { from: spans[0]?.from ?? 0, to: spans.at(-1)?.to ?? 0 };
}

function addTo(groups: Map<string, UsageRow>, group: string, sum: QuarterSum, at: number): void {
  const known = groups.get(group);
  const added = known === undefined ? pickUsage(sum) : addUsage(known, sum);
  groups.set(group, { ...added, at, group });
}

function pickUsage(sum: QuarterSum): Omit<UsageRow, 'at' | 'group'> {
  const { at: _at, model: _model, account: _account, keyId: _id, keyName: _name, ...rest } = sum;
  const { protocol: _protocol, owner: _owner, team: _team, tags: _tags, ...others } = rest;
  const { timings: _timings, ...figures } = others;
  return figures;
}

function nameKeys(
  groups: Map<string, UsageRow>,
  sums: Iterable<QuarterSum>,
  { from, to }: TimeSpan,
): void {
  const inOrder = [...sums].sort((left, right) => left.at - right.at);
  for (const { at, keyId, keyName } of inOrder) {
    const row = groups.get(keyId);
    const isNamed = row !== undefined && keyName !== undefined && at >= from && at < to;
    if (isNamed) groups.set(keyId, { ...row, groupName: keyName });
  }
}

function isUseOf(sum: QuarterSum, { tag, key, ...names }: UsageFilter): boolean {
  const isNamed = (['model', 'account', 'protocol', 'owner', 'team'] as const).every(
    (name) => names[name] === undefined || names[name] === sum[name],
  );
  const isTagged = tag === undefined || readTags(sum.tags).includes(tag);
  return isNamed && isTagged && (key === undefined || key === sum.keyId);
}

function groupsOf(sum: QuarterSum, by: UsageGroup): readonly string[] {
  if (by !== 'tag') return [groupOf(sum, by)];
  const tags = readTags(sum.tags);
  return tags.length === 0 ? [''] : tags;
}

function groupOf(sum: QuarterSum, by: Exclude<UsageGroup, 'tag'>): string {
  switch (by) {
    case 'model':
      return sum.model;
    case 'account':
      return sum.account;
    case 'key':
      return sum.keyId;
    case 'protocol':
      return sum.protocol;
    case 'owner':
      return sum.owner;
    case 'team':
      return sum.team;
    case 'none':
      return '';
    default:
      return by satisfies never;
  }
}

function addQuarters(left: QuarterSum, right: QuarterSum): QuarterSum {
  return {
    ...left,
    ...addUsage(left, right),
    keyName: right.keyName ?? left.keyName,
    timings: addTimings(left.timings, right.timings),
  };
}

function addUsage(left: UsageSum, right: UsageSum): UsageSum {
  const sums: Record<keyof UsageSum, number> = { ...left };
  for (const figure of USAGE_FIGURES) sums[figure] = left[figure] + right[figure];
  return sums;
}
