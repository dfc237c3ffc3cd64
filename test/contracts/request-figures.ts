// What every store of request records must say of all records of a filter.

import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import type {
  RequestFigures,
  RequestFilter,
  RequestStore,
} from '../../src/monitor/request-store.ts';
import { matchesFilter } from '../support/matches-filter.ts';
import { recordOf } from '../support/request-records.ts';
import type { OpenedStore } from './account-store.ts';

interface Stores {
  readonly requests: RequestStore;
  readonly requestFigures: RequestFigures;
}

const HOUR_MS = 3_600_000;
const AT = 470_000 * HOUR_MS;

/** Names that stand in several columns, so that a record may be told by more than one of them. */
const NAME = fc.constantFrom('m', 'n', 'o');
const MAYBE = fc.option(NAME, { nil: undefined });
const RECORD = fc.record({
  at: fc.integer({ min: AT, max: AT + 5 * HOUR_MS }),
  outcome: fc.constantFrom('ok' as const, 'error' as const, 'cancelled' as const),
  model: NAME,
  upstreamModel: MAYBE,
  routedModel: MAYBE,
  account: MAYBE,
  keyId: NAME,
  keyName: MAYBE,
  replica: MAYBE,
  team: MAYBE,
  protocol: fc.constantFrom('chat', 'messages'),
  errorGroup: fc.option(fc.constantFrom('cut', 'late', 'odd'), { nil: undefined }),
});
const FILTER: fc.Arbitrary<RequestFilter> = fc.record(
  {
    from: fc.integer({ min: AT, max: AT + 2 * HOUR_MS }),
    to: fc.integer({ min: AT + 3 * HOUR_MS, max: AT + 5 * HOUR_MS }),
    model: fc.oneof(NAME, fc.constantFrom('m, n', 'N*', 'none', ' ')),
    key: fc.oneof(NAME, fc.constantFrom('N*', 'none')),
    replica: fc.oneof(NAME, fc.constant('*')),
    ...{ account: NAME, team: NAME },
    protocol: fc.constant('chat'),
    status: fc.constant({ kind: 'outcome', outcome: 'error' } as const),
  },
  { requiredKeys: [] },
);

export function describeRequestFigures(
  name: string,
  openStores: () => Promise<OpenedStore<Stores>>,
): void {
  describe(`figures of request records: ${name}`, () => {
    const closing: (() => Promise<void>)[] = [];
    const open = async (): Promise<Stores> => {
      const { store, close } = await openStores();
      closing.push(close);
      return store;
    };
    afterEach(async () => {
      for (const close of closing.splice(0)) await close();
    });

    test('there are none without records', async () => {
      const { requestFigures } = await open();
      expect(await requestFigures.histogram({}, 60)).toBeUndefined();
      expect(await requestFigures.errorGroups({}, 10)).toEqual([]);
      expect(await requestFigures.session('a')).toBeUndefined();
    });

    test('outcomes are counted by parts of the time that begin at round times', async () => {
      const { requests, requestFigures } = await open();
      await requests.save([
        recordOf({ id: 'a', at: AT + 1 }),
        recordOf({ id: 'b', at: AT + 2, outcome: 'error', account: 'bob' }),
        recordOf({ id: 'c', at: AT + HOUR_MS + 5, outcome: 'cancelled' }),
        recordOf({ id: 'd', at: AT + 9 * HOUR_MS + 5 }),
      ]);
      const whole = await requestFigures.histogram({}, 10);
      expect(whole).toMatchObject({
        span: { from: AT + 1, to: AT + 9 * HOUR_MS + 6 },
        stepMs: HOUR_MS,
        isWhole: true,
      });
      const counts = whole?.parts.map(({ at, ok, error, cancelled }) => [
        (at - AT) / HOUR_MS,
        `${ok}/${error}/${cancelled}`,
      ]);
      expect(counts).toEqual([
        ...[[0, '1/1/0'] as const, [1, '0/0/1'] as const],
        ...[2, 3, 4, 5, 6, 7, 8].map((hour) => [hour, '0/0/0'] as const),
        [9, '1/0/0'],
      ]);
      const bobs = await requestFigures.histogram(
        { account: 'bob', from: AT, to: AT + 60_000 },
        60,
      );
      expect(bobs?.parts.length).toBe(60);
      expect(bobs?.parts[0]).toEqual({ at: AT, ok: 0, error: 1, cancelled: 0 });
      const none = await requestFigures.histogram({ from: AT + 3, to: AT + 4 }, 60);
      expect(none?.parts.every(({ ok, error }) => ok + error === 0)).toBe(true);
    });

    test('outcomes are of the records there are, whatever usage knows of those that were removed', async () => {
      const { requests, requestFigures } = await open();
      const quarter = HOUR_MS / 4;
      const records = Array.from({ length: 40 }, (_, nth) =>
        recordOf({
          ...{ id: `r${nth}`, at: AT + nth * quarter + 7 },
          outcome: (['ok', 'error', 'cancelled'] as const)[nth % 3] ?? 'ok',
          ...(nth % 4 === 0
            ? { team: 'lab', owner: 'ann', account: 'a', tags: ['blue', 'new'] }
            : {}),
        }),
      );
      const count = async (filter: object = {}) => {
        const { parts = [] } = (await requestFigures.histogram(filter, 10)) ?? {};
        return parts.map(({ ok, error, cancelled }) => `${ok}/${error}/${cancelled}`).join(' ');
      };
      await requests.save(records);
      expect(await count()).toBe('2/1/1 1/2/1 1/1/2 2/1/1 1/2/1 1/1/2 2/1/1 1/2/1 1/1/2 2/1/1');
      const labs = '1/0/0 0/1/0 0/0/1 1/0/0 0/1/0 0/0/1 1/0/0 0/1/0 0/0/1 1/0/0';
      const ofLab = [{ team: 'lab' }, { owner: 'ann' }, { account: 'a' }, { tag: 'blue' }];
      // What usage does not know is counted along the records.
      for (const filter of [...ofLab, { team: 'lab', tag: 'new' }, { team: 'l*b' }])
        expect(await count(filter)).toBe(labs);
      expect(await count({ team: 'lab', session: 'none' })).not.toContain('1');
      const amid = { from: AT + HOUR_MS + 8, to: AT + 9 * HOUR_MS + 8 };
      expect(await count(amid)).toBe('1/1/1 1/1/2 2/1/1 1/2/1 1/1/2 2/1/1 1/2/1 1/1/2 1/0/0');
      await requests.removeBefore(AT + 5 * HOUR_MS + 8);
      // One that began before all that are left.
      await requests.save([recordOf({ id: 'late', at: AT + 1 })]);
      expect(await count()).toBe('1/0/0 0/0/0 0/0/0 0/0/0 0/0/0 1/1/1 2/1/1 1/2/1 1/1/2 2/1/1');
    });

    test('of any records the figures of a filter are those of the records that it takes', async () => {
      const { requests, requestFigures } = await open();
      const records = fc.sample(RECORD, { numRuns: 300, seed: 7 });
      await requests.save(records.map((record, nth) => recordOf({ id: `r${nth}`, ...record })));
      const filters = fc.sample(FILTER, { numRuns: 40, seed: 8 });
      for (const filter of filters) {
        const taken = records
          .map((record) => recordOf(record))
          .filter((record) => matchesFilter(record, filter));
        const histogram = await requestFigures.histogram(filter, 10);
        const parts = histogram?.parts.map(({ at, ...counts }) => {
          const within = taken.filter(
            ({ row }) => row.at >= at && row.at < at + (histogram?.stepMs ?? 0),
          );
          const count = (outcome: string) =>
            within.filter(({ row }) => row.outcome === outcome).length;
          const expected = {
            ok: count('ok'),
            error: count('error'),
            cancelled: count('cancelled'),
          };
          expect({ filter, ...counts }).toEqual({ filter, ...expected });
          return within.length;
        });
        expect(parts?.reduce((sum, count) => sum + count, 0)).toBe(taken.length);
        const { total } = await requests.list(filter, { limit: 5 });
        expect({ filter, total }).toEqual({ filter, total: taken.length });
        const groups = await requestFigures.errorGroups(filter, 10);
        const expected = Map.groupBy(
          taken.filter(({ row }) => row.errorGroup !== undefined),
          ({ row }) => row.errorGroup ?? '',
        );
        expect(
          groups
            .map(({ group, count, firstAt, lastAt }) => ({ group, count, firstAt, lastAt }))
            .sort((one, other) => one.group.localeCompare(other.group)),
        ).toEqual(
          [...expected]
            .map(([group, all]) => {
              const times = all.map(({ row }) => row.at);
              const [firstAt, lastAt] = [Math.min(...times), Math.max(...times)];
              return { group, count: all.length, firstAt, lastAt };
            })
            .sort((one, other) => one.group.localeCompare(other.group)),
        );
      }
    });

    test('equal errors are one group, with where they came from', async () => {
      const { requests, requestFigures } = await open();
      const failed = (id: string, at: number, errorGroup: string, account = 'ann') =>
        recordOf({ ...{ id, at, errorGroup, account }, status: 502, outcome: 'error' });
      await requests.save([
        failed('a', AT, 'path: cut'),
        failed('b', AT + 5, 'path: cut', 'bob'),
        failed('c', AT + 9, 'path: cut'),
        failed('d', AT + 7, 'timeout\0'),
        recordOf({ id: 'e', at: AT + 8 }),
      ]);
      const groups = await requestFigures.errorGroups({}, 10);
      expect(groups.map(({ latest, ...group }) => ({ ...group, latest: latest.id }))).toEqual([
        {
          ...{ group: 'path: cut', count: 3, firstAt: AT, lastAt: AT + 9, latest: 'c' },
          models: [{ name: 'm', count: 3 }],
          accounts: [
            { name: 'ann', count: 2 },
            { name: 'bob', count: 1 },
          ],
        },
        {
          ...{ group: 'timeout\0', count: 1, firstAt: AT + 7, lastAt: AT + 7, latest: 'd' },
          models: [{ name: 'm', count: 1 }],
          accounts: [{ name: 'ann', count: 1 }],
        },
      ]);
      const bobs = await requestFigures.errorGroups({ account: 'bob', from: AT + 1 }, 10);
      expect(bobs.map(({ group, count }) => [group, count])).toEqual([['path: cut', 1]]);
      expect((await requestFigures.errorGroups({}, 1)).length).toBe(1);
    });

    test('the calls of a session are summed up', async () => {
      const { requests, requestFigures } = await open();
      const call = (id: string, at: number) => recordOf({ id, at, session: 'run 7' });
      await requests.save([
        call('a', AT),
        {
          ...call('b', AT + 5),
          row: { ...call('b', AT + 5).row, outcome: 'error', costNanos: 7, costBasis: 'own' },
        },
        recordOf({ id: 'c', at: AT + 2 }),
      ]);
      expect(await requestFigures.session('run 7')).toEqual({
        ...{ requests: 2, errors: 1, pricedRequests: 1, firstAt: AT, lastAt: AT + 5 },
        ...{ inputTokens: 6, outputTokens: 4, cachedTokens: 2, cacheWriteTokens: 2 },
        ...{ thoughtTokens: 2, images: 0, costNanos: 7, flatRateNanos: 0, cacheSavingsNanos: 0 },
        models: [{ name: 'm', count: 2 }],
        accounts: [{ name: 'ann@example.org', count: 2 }],
        keyIds: ['main'],
      });
      expect(await requestFigures.session('run')).toBeUndefined();
    });
  });
}
