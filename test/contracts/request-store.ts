// What every store of request records must do.

import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { asSentence, told } from '../../src/lib/localized-message.ts';
import { readTimings } from '../../src/monitor/latency.ts';
import type { RequestRecord } from '../../src/monitor/record.ts';
import {
  type RequestFilter,
  type RequestStore,
  USAGE_FIGURES,
  type UsageRow,
} from '../../src/monitor/request-store.ts';
import { recordOf } from '../support/request-records.ts';
import type { OpenedStore } from './account-store.ts';

const QUARTER_MS = 900_000;

const BODY = JSON.stringify({ say: 'Needle "in" C:\\hay, GRÜNE: Über allem полно' });
const AT = 1_700_000_100_000;
const LIMITS = {
  oldest: 0,
  oldestUsage: 0,
  maxBytes: Number.MAX_SAFE_INTEGER,
  reducedBytes: Number.MAX_SAFE_INTEGER,
  closedBefore: 0,
};

const closing: (() => Promise<void>)[] = [];

const byName = (left: UsageRow, right: UsageRow): number => (left.group < right.group ? -1 : 1);

async function idsOf(store: RequestStore, filter: RequestFilter): Promise<readonly string[]> {
  const { rows } = await store.list(filter, { limit: 200 });
  return rows.map(({ id }) => id);
}

export function describeRequestStore(
  name: string,
  openStore: () => Promise<OpenedStore<RequestStore>>,
): void {
  describe(`store of request records: ${name}`, () => describeRecords(openStore));
}

function describeRecords(openStore: () => Promise<OpenedStore<RequestStore>>): void {
  const open = async (): Promise<RequestStore> => {
    const { store, close } = await openStore();
    closing.push(close);
    return store;
  };
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });

  test('gives back what it took', async () => {
    const store = await open();
    const record = recordOf({
      id: 'req_a',
      requestId: 'mine',
      error: told`No ${'"luck" — 50 %'}: ${told`${7} tries`}`,
      keyName: 'Ann',
      replica: 'gateway-1',
      session: 'run 7',
      errorGroup: 'internal: No "…" tries',
      firstEventMs: 4,
      routedModel: 'r',
      costNanos: 1_234_567_890_123,
      flatRateNanos: 0,
      cacheSavingsNanos: -5,
      costBasis: 'own',
      bodies: {
        clientRequest: { text: '{"a":1}', isWhole: true },
        upstreamRequest: { text: '{"b":', isWhole: false },
        response: { blocks: [{ kind: 'text', text: 'Hello' }], isWhole: true },
        upstreamResponse: { text: '{"c":2}\n', isWhole: true },
        clientResponse: { text: 'data: {"c":', isWhole: false },
      },
    });
    await store.save([record]);
    expect(await store.find('req_a')).toEqual(record);
    expect(await store.find('mine')).toEqual(record);
    expect(await store.find('other')).toBeUndefined();
    expect((await store.list({}, { limit: 10 })).rows).toEqual([record.row]);
  });

  test('an empty one has no rows, no total and no usage', async () => {
    const store = await open();
    expect(await store.list({}, { limit: 10 })).toEqual({ rows: [], total: 0 });
    expect(await store.list({ search: 'x' }, { limit: 10 })).toEqual({ rows: [], total: 0 });
    expect(await store.usage([{ from: 0, to: AT }], 'none')).toEqual([]);
    expect(await store.sweep(LIMITS)).toBe(true);
  });

  test('each filter takes its own', async () => {
    const store = await open();
    await store.save([
      recordOf({ id: 'a', at: AT }),
      recordOf({ id: 'b', at: AT + 1, protocol: 'messages', surface: 'messages' }),
      recordOf({
        id: 'c',
        at: AT + 2,
        status: 429,
        outcome: 'error',
        error: asSentence('Too 100% many_'),
        errorGroup: 'rate-limited: Too … many_',
      }),
      recordOf({ id: 'd', at: AT + 3, status: 499, outcome: 'cancelled', model: 'x/y' }),
      recordOf({
        ...{ id: 'e', at: AT + 4, account: 'bob@example.org', keyId: 'k2', keyName: 'Bob' },
        ...{ replica: 'gateway-1/2', session: 'run 7', clientAddress: '192.0.2.7' },
      }),
      recordOf({
        id: 'f',
        at: AT + 5,
        upstreamModel: 'x/y',
        bodies: { clientRequest: { text: BODY, isWhole: true } },
      }),
    ]);
    const cases: readonly (readonly [RequestFilter, string])[] = [
      [{}, 'fedcba'],
      [{ from: AT + 1, to: AT + 3 }, 'cb'],
      [{ protocol: 'messages' }, 'b'],
      [{ surface: 'messages' }, 'b'],
      [{ status: { kind: 'outcome', outcome: 'error' } }, 'c'],
      [{ status: { kind: 'range', least: 400, most: 499 } }, 'dc'],
      [{ model: 'x/y' }, 'fd'],
      [{ account: 'bob@example.org' }, 'e'],
      [{ key: 'k2' }, 'e'],
      [{ key: 'Bob' }, 'e'],
      [{ key: 'bob' }, ''],
      [{ key: '*O*' }, 'e'],
      [{ key: '*2' }, ''],
      [{ model: 'X/*' }, 'fd'],
      [{ model: 'x' }, ''],
      [{ model: '*_*' }, ''],
      [{ account: 'B*@EXAMPLE*org' }, 'e'],
      [{ replica: 'gateway-1/2' }, 'e'],
      [{ replica: 'Gateway-1/*' }, 'e'],
      [{ replica: 'gateway-1' }, ''],
      [{ model: 'x/y, m' }, 'fedcba'],
      [{ model: 'X/*,nobody' }, 'fd'],
      [{ session: 'run 7' }, 'e'],
      [{ session: 'RUN*' }, 'e'],
      [{ session: 'run' }, ''],
      [{ client: '192.0.2.*' }, 'e'],
      [{ error: 'rate-limited: Too … many_' }, 'c'],
      [{ error: 'rate-limited' }, ''],
      [{ search: 'TOO' }, 'c'],
      [{ search: '0% m' }, 'c'],
      [{ search: 'many_' }, 'c'],
      [{ search: '_any' }, ''],
      [{ search: 'needle' }, 'f'],
      [{ search: 'NEEDLE "IN' }, 'f'],
      [{ search: '"say":"Needle' }, 'f'],
      [{ search: 'C:\\hay' }, 'f'],
      [{ search: 'grüne' }, 'f'],
      [{ search: 'gruene' }, ''],
      [{ search: 'über allem' }, 'f'],
      [{ search: 'ПОЛНО' }, 'f'],
      [{ search: 'bob@' }, 'e'],
      [{ search: '\\\\' }, 'f'],
      [{ search: '\\%' }, ''],
    ];
    for (const [filter, ids] of cases) {
      expect([filter, (await idsOf(store, filter)).join('')]).toEqual([filter, ids]);
      expect((await store.list(filter, { limit: 1 })).total).toBe(ids.length);
    }
  });

  test('the requests of each group of usage are found, also of none', async () => {
    const store = await open();
    const bare = { account: undefined, upstreamModel: undefined, keyId: '', keyName: undefined };
    const held = { owner: 'Ann', team: 'Red', tags: ['ci'], upstreamModel: 'u' };
    await store.save([
      recordOf({ id: 'a', at: AT, ...held }),
      recordOf({ id: 'b', at: AT + 1, ...bare, model: 'asked', routedModel: 'u' }),
      recordOf({ id: 'c', at: AT + 2, ...bare, ...held }),
      recordOf({ id: 'd', at: AT + 3, ...bare, model: 'asked', tags: [] }),
      recordOf({ id: 'e', at: AT + 4, ...held, routedModel: 'left', keyId: 'k2' }),
    ]);
    const cases: readonly (readonly [RequestFilter, string])[] = [
      [{ without: 'account' }, 'dcb'],
      [{ without: 'model' }, 'd'],
      [{ without: 'key' }, 'dcb'],
      [{ without: 'owner' }, 'db'],
      [{ without: 'team' }, 'db'],
      [{ without: 'tag' }, 'db'],
      [{ without: 'account', owner: 'Ann' }, 'c'],
      [{ model: 'u' }, 'ecba'],
      [{ model: 'left' }, ''],
      [{ model: 'U*' }, 'ecba'],
    ];
    for (const [filter, ids] of cases) {
      expect([filter, (await idsOf(store, filter)).join('')]).toEqual([filter, ids]);
    }
    for (const by of ['account', 'model', 'key', 'owner', 'team', 'tag'] as const) {
      const groups = await store.usage([{ from: AT - QUARTER_MS, to: AT + QUARTER_MS }], by);
      for (const { group, requests } of groups) {
        const filter = group === '' ? { without: by } : { [by]: group };
        const { total } = await store.list(filter, { limit: 1 });
        expect([filter, total]).toEqual([filter, requests]);
      }
    }
  });

  test('sums beyond the whole numbers of JavaScript are read', async () => {
    const store = await open();
    const costNanos = 4_000_000_000_000_000;
    const cost = { costNanos, costBasis: 'own' } as const;
    await store.save(['a', 'b', 'c'].map((id) => recordOf({ id, at: AT, session: 's', ...cost })));
    const span = { from: AT - (AT % QUARTER_MS), to: AT + QUARTER_MS };
    expect(await store.usage([span], 'model')).toMatchObject([{ costNanos: 3 * costNanos }]);
    expect(await store.usage([span], 'none')).toMatchObject([{ costNanos: 3 * costNanos }]);
    expect(await store.breakdown(span)).toMatchObject([{ costNanos: 3 * costNanos }]);
  });

  test('pages neither repeat nor miss a row while others come in', async () => {
    const store = await open();
    // Many of one millisecond, so that time alone does not tell them apart.
    const first = Array.from({ length: 25 }, (_, index) =>
      recordOf({ id: `old-${index}`, at: AT + Math.floor(index / 5) }),
    );
    await store.save(first);
    const seen: string[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < 20; page += 1) {
      const found = await store.list({}, { limit: 3, cursor });
      seen.push(...found.rows.map(({ id }) => id).filter((id) => id.startsWith('old')));
      await store.save([recordOf({ id: `new-${page}`, at: AT + 100 + page })]);
      cursor = found.nextCursor;
      if (cursor === undefined) break;
    }
    expect(cursor).toBeUndefined();
    expect(seen).toEqual(first.map(({ row }) => row.id).toReversed());
  });

  test('a cursor that is none is refused by name', async () => {
    const store = await open();
    await expect(store.list({}, { limit: 1, cursor: '1; drop' })).rejects.toThrow(/cursor/);
  });

  test('usage is the sum of the rows, however they are grouped, cut and batched', async () => {
    const record = fc.record({
      at: fc.integer({ min: AT, max: AT + 8 * QUARTER_MS }),
      upstreamModel: fc.constantFrom('m', 'n', undefined),
      account: fc.constantFrom('ann', 'bob', undefined),
      keyId: fc.constantFrom('k1', 'k2'),
      protocol: fc.constantFrom('chat', 'messages'),
      outcome: fc.constantFrom('ok' as const, 'error' as const, 'cancelled' as const),
      inputTokens: fc.option(fc.nat(1000), { nil: undefined }),
      images: fc.nat(3),
      costNanos: fc.option(fc.nat(2 ** 40), { nil: undefined }),
      flatRateNanos: fc.option(fc.nat(2 ** 40), { nil: undefined }),
      cacheSavingsNanos: fc.option(fc.integer(), { nil: undefined }),
      costBasis: fc.constantFrom('own' as const, 'listed' as const, 'estimate' as const, undefined),
    });
    const batches = fc.array(fc.array(record, { maxLength: 8 }), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(batches, async (all) => {
        const store = await open();
        const records = all.map((batch, outer) =>
          batch.map((change, inner) => recordOf({ ...change, id: `${outer}-${inner}` })),
        );
        for (const batch of records) await store.save(batch);
        await expectSums(store, records.flat());
      }),
      { numRuns: 8 },
    );
  });

  test('leading groups and all others use together what all do', async () => {
    const record = fc.record({
      at: fc.integer({ min: AT, max: AT + 8 * QUARTER_MS }),
      upstreamModel: fc.constantFrom('m', 'n', 'o', undefined),
      account: fc.constantFrom('ann', 'bob', 'cyd', 'dan', undefined),
      keyId: fc.constantFrom('k1', 'k2', 'k3'),
      tags: fc.subarray(['ci', 'lab', 'a "b"']),
      outcome: fc.constantFrom('ok' as const, 'error' as const),
      inputTokens: fc.option(fc.nat(1000), { nil: undefined }),
      costNanos: fc.option(fc.nat(2 ** 40), { nil: undefined }),
    });
    const cases = fc.record({
      changes: fc.array(record, { maxLength: 30 }),
      count: fc.integer({ min: 1, max: 4 }),
      by: fc.constantFrom(...(['model', 'account', 'key', 'team', 'tag', 'none'] as const)),
      filter: fc.constantFrom({}, { account: 'ann' }, { key: 'k1', tag: 'ci' }),
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ changes, count, by, filter }) => {
        const store = await open();
        await store.save(changes.map((change, nth) => recordOf({ ...change, id: `${nth}` })));
        const from = AT - (AT % QUARTER_MS);
        const spans = Array.from({ length: 3 }, (_, nth) => ({
          from: from + nth * 3 * QUARTER_MS,
          to: from + (nth + 1) * 3 * QUARTER_MS,
        }));
        const request = { spans, by, filter };
        const { groups, buckets, totals, others } = await store.leadingUsage(request, count, 100);
        const listed = await store.leadingUsage(request, 0, count);
        expect(listed.groups).toEqual(groups.slice(0, count));
        expect(listed.groupCount).toBe(groups.length);
        const whole = { from, to: from + 9 * QUARTER_MS };
        const all = await store.usage([whole], by, filter);
        expect(groups.toSorted(byName)).toEqual(all);
        const weights = groups.map((row) => row.inputTokens + row.outputTokens);
        expect(weights).toEqual(weights.toSorted((left, right) => right - left));
        const leading = groups.slice(0, count).map(({ group }) => group);
        const rows = await store.usage(spans, by, filter);
        expect(buckets).toEqual(rows.filter(({ group }) => leading.includes(group)));
        expect(totals).toEqual(await store.usage(spans, 'none', filter));
        const { groups: timed } = await store.latency({ spans, by, filter }, count);
        expect(timed.every(({ group }) => leading.includes(group))).toBe(true);
        // Of what has several tags each counts all.
        if (by === 'tag') return;
        for (const total of totals) {
          const parts = [...buckets, ...others].filter(({ at }) => at === total.at);
          for (const figure of USAGE_FIGURES) {
            expect(parts.reduce((sum, part) => sum + part[figure], 0)).toBe(total[figure]);
          }
        }
      }),
      { numRuns: 20 },
    );
  });

  test('what has none of the leading tags is what others used', async () => {
    const store = await open();
    const used = (id: string, tags: readonly string[], inputTokens: number) =>
      recordOf({ id, at: AT, tags: [...tags], inputTokens });
    await store.save([
      used('a', ['ci', 'lab'], 50),
      used('b', ['ci'], 40),
      used('c', ['lab'], 3),
      used('d', [], 2),
    ]);
    const spans = [{ from: 0, to: AT * 2 }];
    const { groups, buckets, totals, others } = await store.leadingUsage(
      { spans, by: 'tag' },
      1,
      9,
    );
    expect(groups.map(({ group }) => group)).toEqual(['ci', 'lab', '']);
    expect(buckets).toMatchObject([{ group: 'ci', requests: 2, inputTokens: 90 }]);
    expect(others).toMatchObject([{ requests: 2, inputTokens: 5 }]);
    expect(totals).toMatchObject([{ requests: 4, inputTokens: 95 }]);
  });

  test('usage by key tells what each key was called last', async () => {
    const store = await open();
    const later = AT + QUARTER_MS * 2;
    const used = (id: string, keyId: string, change: object) => recordOf({ id, keyId, ...change });
    await store.save([used('a', 'k1', { at: AT, keyName: 'Ann' }), used('b', 'k2', { at: AT })]);
    await store.save([used('c', 'k1', { at: AT, keyName: 'Anna' })]);
    await store.save([used('d', 'k1', { at: later, keyName: 'Bob' })]);
    await store.save([used('e', 'k1', { at: later }), used('f', 'k1', { at: later * 2 })]);
    const spans = [
      { from: 0, to: later - QUARTER_MS },
      { from: 0, to: later * 3 },
    ];
    const rows = await Promise.all(spans.map((span) => store.usage([span], 'key')));
    const names = rows.flat().map(({ group, groupName, requests }) => [group, groupName, requests]);
    expect(names).toEqual([
      ['k1', 'Anna', 2],
      ['k2', undefined, 1],
      ['k1', 'Bob', 5],
      ['k2', undefined, 1],
    ]);
    expect((await store.usage(spans, 'none')).some((row) => 'groupName' in row)).toBe(false);
  });

  test('usage counts for the owner, the team and each tag that the key had then', async () => {
    const store = await open();
    const used = (id: string, held: object) => recordOf({ id, at: AT, keyId: 'k1', ...held });
    await store.save([
      used('a', { owner: 'ada', team: 'Lab', tags: ['ci', 'a "b"'] }),
      used('b', { owner: 'ada', team: 'Lab', tags: ['ci'] }),
      used('c', { owner: 'bob', team: 'Lab' }),
      used('d', {}),
    ]);
    const spans = [{ from: 0, to: AT * 2 }];
    const groups = async (...asked: [Parameters<typeof store.usage>[1], object?]) =>
      (await store.usage(spans, ...asked)).map(({ group, requests }) => [group, requests]);
    expect(await groups('owner')).toEqual([
      ['', 1],
      ['ada', 2],
      ['bob', 1],
    ]);
    expect(await groups('team')).toEqual([
      ['', 1],
      ['Lab', 3],
    ]);
    expect(await groups('tag')).toEqual([
      ['', 2],
      ['a "b"', 1],
      ['ci', 2],
    ]);
    expect(await groups('key', { owner: 'ada' })).toEqual([['k1', 2]]);
    expect(await groups('none', { tag: 'a "b"' })).toEqual([['', 1]]);
    expect(await groups('none', { tag: 'c' })).toEqual([]);
    expect(await groups('owner', { key: 'k1', team: 'Lab', tag: 'ci' })).toEqual([['ada', 2]]);
    const timed = async (by: Parameters<typeof store.usage>[1], filter: object) => {
      const found = sayTimings(await store.latency({ spans, by, filter }));
      return [...found.spans, ...found.groups].map(({ duration }) => duration?.count ?? 0);
    };
    expect(await timed('none', { owner: 'ada' })).toEqual([2]);
    expect(await timed('none', { tag: 'c' })).toEqual([0]);
    expect(await timed('tag', { tag: 'a "b"' })).toEqual([1, 1, 1]);
    expect(await timed('owner', { key: 'k1', team: 'Lab' })).toEqual([3, 2, 1]);
    const parts = await store.breakdown({ from: 0, to: AT * 2 }, { team: 'Lab' });
    expect(parts.map(({ owner, tags }) => [owner, tags])).toEqual([
      ['ada', ['a "b"', 'ci']],
      ['ada', ['ci']],
      ['bob', []],
    ]);
    expect(await idsOf(store, { owner: 'ada' })).toEqual(['b', 'a']);
    expect(await idsOf(store, { team: 'l*' })).toEqual(['c', 'b', 'a']);
    expect(await idsOf(store, { tag: 'a "b"' })).toEqual(['a']);
    expect((await store.find('a'))?.row.tags?.toSorted()).toEqual(['a "b"', 'ci']);
  });

  test('sums what began by the minute', async () => {
    const store = await open();
    const minute = AT - (AT % 60_000);
    await store.save([
      recordOf({ id: 'a', at: minute - 1 }),
      recordOf({ id: 'b', at: minute, outcome: 'error', status: 404, inputTokens: undefined }),
      recordOf({ id: 'c', at: minute + 59_999, inputTokens: 5, outputTokens: 6 }),
      // A stream that broke off.
      recordOf({ id: 'e', at: minute, outcome: 'error', status: 200 }),
      recordOf({ id: 'f', at: minute, outcome: 'error', status: 503 }),
      recordOf({ id: 'd', at: minute + 120_000 }),
    ]);
    expect(await store.minutes({ from: minute, to: minute + 180_000 })).toEqual([
      { at: minute, requests: 4, errors: 3, faults: 2, tokens: 23 },
      { at: minute + 120_000, requests: 1, errors: 0, faults: 0, tokens: 5 },
    ]);
    expect(await store.minutes({ from: 0, to: minute - 1 })).toEqual([]);
  });

  test('usage outlives the records it was made of, for its own time', async () => {
    const store = await open();
    await store.save([
      recordOf({ id: 'a', at: AT }),
      recordOf({ id: 'b', at: AT + QUARTER_MS * 8 }),
    ]);
    const spans = [{ from: 0, to: AT * 2 }];
    while (!(await store.sweep({ ...LIMITS, oldest: AT + 1 })));
    expect(await idsOf(store, {})).toEqual(['b']);
    expect(await store.usage(spans, 'none')).toMatchObject([{ requests: 2 }]);
    while (!(await store.sweep({ ...LIMITS, oldestUsage: AT + 1 })));
    expect(await store.usage(spans, 'none')).toMatchObject([{ requests: 1 }]);
    expect(await store.removeBefore(AT * 2)).toBe(1);
    expect(await idsOf(store, {})).toEqual([]);
    expect(await store.find('b')).toBeUndefined();
  });

  describeLongTimes(open);
}

const HOUR_MS = 3_600_000;
/** A beginning of a day of UTC. */
const DAY = 1_600_041_600_000;

function describeLongTimes(open: () => Promise<RequestStore>): void {
  const closeAll = async (store: RequestStore, closedBefore: number): Promise<void> => {
    while (!(await store.sweep({ ...LIMITS, closedBefore })));
  };
  const records = Array.from({ length: 110 }, (_, nth) =>
    recordOf({
      id: `r${nth}`,
      at: DAY - 2 * HOUR_MS + nth * 901_000,
      ...{ upstreamModel: `m${nth % 3}`, account: `a${nth % 2}`, keyId: `k${nth % 2}` },
      ...{ keyName: `Key ${nth % 2}`, stream: nth % 2 === 0, totalMs: 2 ** (nth % 12) },
      ...{ firstEventMs: 2 ** (nth % 5), outputTokens: nth % 7, costNanos: nth },
      outcome: nth % 11 === 0 ? 'error' : 'ok',
      ...(nth % 4 === 0 ? { tags: ['ci', 'lab'] } : {}),
    }),
  );
  /** In another time zone than that of the days, and half an hour beside its hours. */
  const spans = Array.from({ length: 4 }, (_, nth) => {
    const from = DAY - 2.5 * HOUR_MS + nth * 8 * HOUR_MS;
    return { from, to: from + 8 * HOUR_MS };
  });
  const readAll = (store: RequestStore) =>
    Promise.all(
      (['none', 'model', 'key', 'tag'] as const).map(async (by) => ({
        usage: await store.usage(spans, by),
        used: await store.usage(spans, by, { model: 'm1' }),
        leading: await store.leadingUsage({ spans, by }, 1, 9),
        led: await store.leadingUsage({ spans, by, filter: { tag: 'ci' } }, 1, 9),
        first: sayTimings(await store.latency({ spans, by }, 1)),
        latency: sayTimings(await store.latency({ spans, by })),
        one: sayTimings(await store.latency({ spans, by, filter: { model: 'm1' } })),
        tagged: sayTimings(await store.latency({ spans, by, filter: { tag: 'ci' } })),
        both: sayTimings(
          await store.latency({ spans, by, filter: { model: 'm1', account: 'a1' } }),
        ),
      })),
    );

  test('what is summed up by hours and days says the same as before, also of what came late', async () => {
    // Opened one after the other: both may be the same database, which is emptied.
    const unsummed = await open();
    await unsummed.save(records);
    const before = await readAll(unsummed);
    const store = await open();
    // Of the first hours alone, so that later hours and quarters of days stay summed up.
    const late = records.filter((_, nth) => nth < 24 && nth % 10 === 0);
    await store.save(records.filter((record) => !late.includes(record)));
    await closeAll(store, DAY + 27 * HOUR_MS);
    await store.save(late);
    expect(await readAll(store)).toEqual(before);
    await closeAll(store, DAY + 27 * HOUR_MS);
    expect(await readAll(store)).toEqual(before);
  });

  test('timings are of answers that came whole, first tokens of streams', async () => {
    const store = await open();
    await store.save([
      recordOf({ id: 'a', at: AT, totalMs: 100, outputTokens: 10 }),
      recordOf({
        id: 'b',
        at: AT,
        totalMs: 300,
        stream: true,
        firstEventMs: 100,
        outputTokens: 10,
      }),
      recordOf({ id: 'c', at: AT, totalMs: 9, outcome: 'error', status: 500 }),
      recordOf({ id: 'd', at: AT, totalMs: 9, outcome: 'cancelled', status: 499 }),
    ]);
    const { spans: found } = await store.latency({ spans: [{ from: 0, to: AT * 2 }], by: 'none' });
    expect(found.map(readTimings)).toEqual([
      {
        duration: { count: 2, p50: 128, p95: expect.any(Number), p99: expect.any(Number) },
        firstToken: { count: 1, p50: 108, p95: 126, p99: 128 },
        tokensPerSecond: 66.7,
      },
    ]);
  });

  test('attempts are counted by account and half hour, but for limits and what clients did', async () => {
    const store = await open();
    const tried = (id: string, outcomes: readonly string[]): RequestRecord => {
      const { details, ...rest } = recordOf({ id, at: DAY });
      const attemptsList = outcomes.map((outcome, nth) => ({
        ...{ account: `a${nth}`, model: 'm', outcome, considered: [] },
      }));
      return { ...rest, details: { ...details, attemptsList } };
    };
    await store.save([tried('a', ['path', 'ok']), tried('b', ['unauthenticated', 'ok'])]);
    await store.save([tried('c', ['rate-limited', 'rejected', 'client-gone']), tried('d', ['ok'])]);
    const span = { from: DAY, to: DAY + HOUR_MS };
    const first = { at: DAY, account: 'a0', good: 1, failed: 2 };
    const second = { at: DAY, account: 'a1', good: 2, failed: 0 };
    expect(await store.attempts(span)).toEqual([first, second]);
    expect(await store.attempts(span, 'a1')).toEqual([second]);
    expect(await store.attempts({ from: 0, to: DAY })).toEqual([]);
  });
}

type Latency = Awaited<ReturnType<RequestStore['latency']>>;

/** As they are shown. */
function sayTimings({ spans, groups }: Latency) {
  return {
    spans: spans.map(({ at, ...timings }) => ({ at, ...readTimings(timings) })),
    groups: groups
      .map(({ group, groupName, ...timings }) => ({ group, groupName, ...readTimings(timings) }))
      .toSorted((left, right) => (left.group < right.group ? -1 : 1)),
  };
}

async function expectSums(store: RequestStore, records: readonly RequestRecord[]): Promise<void> {
  const half = Math.floor((AT + 4 * QUARTER_MS) / QUARTER_MS) * QUARTER_MS;
  const spans = [
    { from: 0, to: half },
    { from: half, to: AT * 2 },
  ];
  for (const span of spans) {
    const parts = await store.breakdown(span);
    const inside = records.filter(({ row }) => row.at >= span.from && row.at < span.to);
    const kinds = inside.map(({ row }) => [
      row.upstreamModel,
      row.account,
      row.keyId,
      row.protocol,
    ]);
    expect(parts.length).toBe(new Set(kinds.map((kind) => JSON.stringify(kind))).size);
    const cost = parts.reduce((sum, part) => sum + part.costNanos, 0);
    expect(cost).toBe(total(inside, ({ row }) => row.costNanos));
  }
  for (const by of ['none', 'model', 'account', 'key', 'protocol', 'owner', 'team'] as const) {
    const rows = await store.usage(spans, by);
    for (const { from, to } of spans) {
      const inside = records.filter(({ row }) => row.at >= from && row.at < to);
      const found = rows.filter(({ at }) => at === from);
      const sum = (field: (typeof USAGE_FIGURES)[number]): number =>
        found.reduce((total, row) => total + row[field], 0);
      expect(sum('requests')).toBe(inside.length);
      expect(sum('errors')).toBe(inside.filter(({ row }) => row.outcome === 'error').length);
      expect(sum('images')).toBe(total(inside, ({ row }) => row.images));
      const costs = ['costNanos', 'flatRateNanos', 'cacheSavingsNanos'] as const;
      for (const cost of costs) expect(sum(cost)).toBe(total(inside, ({ row }) => row[cost]));
      const priced = inside.filter(({ row }) => row.costBasis !== undefined).length;
      expect(sum('pricedRequests')).toBe(priced);
      expect(sum('inputTokens')).toBe(total(inside, ({ row }) => row.inputTokens));
      if (by === 'key') {
        const ofOne = inside.filter(({ row }) => row.keyId === 'k1').length;
        expect(found.find(({ group }) => group === 'k1')?.requests ?? 0).toBe(ofOne);
      }
    }
  }
}

function total(
  records: readonly RequestRecord[],
  read: (record: RequestRecord) => number | undefined,
): number {
  return records.reduce((sum, record) => sum + (read(record) ?? 0), 0);
}
