// Records of the latest requests in memory: all there is without a database.

import { matchesFilter } from './matches-filter.ts';
import { readCursor, writeCursor } from './page-cursor.ts';
import { bodySize, type RequestRecord } from './request-record.ts';
import type { MinuteSum, RequestStore, UsageRow } from './request-store.ts';
import { addUsage, groupOf, type QuarterSum, sumByQuarter } from './usage-sums.ts';

export interface MemoryRequestStore extends RequestStore {
  /** As `save`, at once. */
  add(record: RequestRecord): void;
  /** As `find`, at once. */
  get(id: string): RequestRecord | undefined;
  /** The latest first. */
  latest(): readonly RequestRecord[];
}

export interface MemoryStoreOptions {
  readonly maxRecords?: number;
  /** Of all kept bodies together; those of the oldest records leave first. */
  readonly maxBodyCharacters?: number;
  /** 0 sums up no usage. */
  readonly maxUsageRows?: number | undefined;
}

const MINUTE_MS = 60_000;
/** How many more than asked for may be there for a while. */
const SPARE_RECORDS = 64;

interface Kept {
  readonly record: RequestRecord;
  readonly sequence: number;
}

export function createMemoryRequestStore(options: MemoryStoreOptions = {}): MemoryRequestStore {
  const { maxRecords = 1000, maxBodyCharacters = 33_554_432, maxUsageRows = 20_000 } = options;
  let kept: Kept[] = [];
  const usage = new Map<string, QuarterSum>();
  let sequence = 0;
  let bodyCharacters = 0;

  const inOrder = (): readonly Kept[] =>
    kept.toSorted(
      (left, right) => right.record.row.at - left.record.row.at || right.sequence - left.sequence,
    );
  const dropBodies = (): void => {
    for (const [index, { record, sequence: at }] of kept.entries()) {
      if (bodyCharacters <= maxBodyCharacters) return;
      bodyCharacters -= bodySize(record);
      kept[index] = { record: { ...record, bodies: undefined }, sequence: at };
    }
  };
  // Some at once: each removal moves all that stay.
  const dropOldest = (): void => {
    const gone = kept.splice(0, kept.length - maxRecords);
    for (const { record } of gone) bodyCharacters -= bodySize(record);
  };
  const addSums = (records: readonly RequestRecord[]): void => {
    for (const sum of sumByQuarter(records)) {
      const key = JSON.stringify([sum.at, sum.model, sum.account, sum.keyId, sum.protocol]);
      const known = usage.get(key);
      usage.set(key, known === undefined ? sum : { ...known, ...addUsage(known, sum) });
      const [oldest] = usage.keys();
      if (usage.size > maxUsageRows && oldest !== undefined) usage.delete(oldest);
    }
  };
  const add = (record: RequestRecord): void => {
    sequence += 1;
    kept.push({ record, sequence });
    bodyCharacters += bodySize(record);
    if (kept.length >= maxRecords + SPARE_RECORDS) dropOldest();
    if (bodyCharacters > maxBodyCharacters) dropBodies();
    if (maxUsageRows > 0) addSums([record]);
  };
  const get = (id: string): RequestRecord | undefined => {
    const byId = kept.findLast(({ record }) => record.row.id === id);
    return (byId ?? kept.findLast(({ record }) => record.row.requestId === id))?.record;
  };

  return {
    add,
    get,
    latest: () => inOrder().map(({ record }) => record),
    async save(records) {
      for (const record of records) add(record);
    },
    find: async (id) => get(id),
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
    async usage(spans, by) {
      return spans.flatMap(({ from, to }) => {
        const groups = new Map<string, UsageRow>();
        for (const sum of usage.values()) {
          if (sum.at < from || sum.at >= to) continue;
          const group = groupOf(sum, by);
          const known = groups.get(group);
          const added = known === undefined ? pickUsage(sum) : addUsage(known, sum);
          groups.set(group, { ...added, at: from, group });
        }
        return [...groups.values()].sort((left, right) => (left.group < right.group ? -1 : 1));
      });
    },
    async minutes({ from, to }) {
      const minutes = new Map<number, MinuteSum>();
      for (const { record } of inOrder().toReversed()) {
        const { at, outcome, inputTokens = 0, outputTokens = 0 } = record.row;
        if (at < from || at >= to) continue;
        const start = at - (at % MINUTE_MS);
        const { requests = 0, errors = 0, tokens = 0 } = minutes.get(start) ?? {};
        minutes.set(start, {
          at: start,
          requests: requests + 1,
          errors: errors + Number(outcome === 'error'),
          tokens: tokens + inputTokens + outputTokens,
        });
      }
      return [...minutes.values()];
    },
    async sweep({ oldest, oldestUsage }) {
      kept = kept.filter(({ record }) => record.row.at >= oldest);
      bodyCharacters = kept.reduce((sum, { record }) => sum + bodySize(record), 0);
      for (const [key, { at }] of usage) if (at < oldestUsage) usage.delete(key);
      return true;
    },
    async removeBefore(at) {
      const before = kept.length;
      kept = kept.filter(({ record }) => record.row.at >= at);
      bodyCharacters = kept.reduce((sum, { record }) => sum + bodySize(record), 0);
      return before - kept.length;
    },
  };
}

function pickUsage(sum: QuarterSum): Omit<UsageRow, 'at' | 'group'> {
  const { requests, errors, inputTokens, outputTokens, cachedTokens, thoughtTokens, images } = sum;
  return { requests, errors, inputTokens, outputTokens, cachedTokens, thoughtTokens, images };
}
