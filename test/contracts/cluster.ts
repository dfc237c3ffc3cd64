// What every kind of cluster promises: notices, values and exact counters over several processes.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Cluster, GATHER_MS } from '../../src/cluster/cluster.ts';
import { Counters } from '../../src/cluster/counters.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { createLiveFeed, createLiveFigures } from '../../src/monitor/live.ts';
import { shareLive } from '../../src/monitor/shared-live.ts';
import { openSealedValues } from '../support/sealed-values.ts';

export interface ClusterUnderTest {
  readonly members: readonly [Cluster, Cluster, Cluster];
  readonly clock: Clock;
  /** Resolves when everything that was sent has arrived. */
  settle(): Promise<void>;
  /** Moves the time of counters and values on, for the bank as well. */
  pass(ms: number): Promise<void>;
  /** One of the members stops as it should. */
  leave(index: 0 | 1 | 2): Promise<void>;
  close(): Promise<void>;
}

export function describeCluster(name: string, open: () => Promise<ClusterUnderTest>): void {
  describe(`a cluster of ${name}`, () => {
    let under: ClusterUnderTest;
    let members: ClusterUnderTest['members'];
    beforeEach(async () => {
      under = await open();
      ({ members } = under);
    });
    afterEach(() => under.close());

    const heard = (index: 0 | 1 | 2, topic: string) => {
      const notices: [unknown, string][] = [];
      members[index].notices.listen(
        { name: topic },
        {
          take: (notice, from) => notices.push([notice, from]),
        },
      );
      return notices;
    };

    test('names its members to each other', async () => {
      await under.settle();
      const names = members.map(({ replica }) => replica).sort();
      expect(new Set(names).size).toBe(3);
      for (const member of members) {
        await expect.poll(() => [...member.state().replicas].sort()).toEqual(names);
        expect(member.state().isConnected).toBe(true);
      }
    });

    test('a notice reaches every other member once, in the order it was told, and not its teller', async () => {
      const [own, second, third] = [heard(0, 'news'), heard(1, 'news'), heard(2, 'news')];
      for (let count = 0; count < 100; count += 1)
        members[0].notices.tell({ name: 'news' }, { count });
      await under.settle();
      const all = Array.from({ length: 100 }, (_, count) => [{ count }, members[0].replica]);
      expect(second).toEqual(all);
      expect(third).toEqual(all);
      expect(own).toEqual([]);
    });

    test('what waits to be told of the same is told together, and says as much', async () => {
      const kept = heard(1, 'sums');
      const join = (before: { of: string; sum: number }, after: { of: string; sum: number }) => ({
        ...after,
        sum: before.sum + after.sum,
      });
      for (let turn = 0; turn < 100; turn += 1) {
        const of = turn % 2 === 0 ? 'even' : 'odd';
        members[0].notices.tell({ name: 'sums' }, { of, sum: turn }, { about: of, join });
        members[0].notices.tell({ name: 'latest' }, turn, { about: 'turn' });
      }
      const latest = heard(1, 'latest');
      const sumOf = (name: string): number =>
        kept
          .map(([notice]) => notice as { of: string; sum: number })
          .reduce((total, { of, sum }) => (of === name ? total + sum : total), 0);
      await under.pass(GATHER_MS);
      await expect.poll(() => [sumOf('even'), sumOf('odd')]).toEqual([2450, 2500]);
      if (members[0].bank.isLocal) return;
      expect(kept).toHaveLength(2);
      expect(latest).toEqual([[99, members[0].replica]]);
    });

    test('a notice reaches those who listen to its topic, as long as they listen', async () => {
      const other = heard(1, 'other');
      const kept = heard(1, 'news');
      let count = 0;
      const end = members[1].notices.listen({ name: 'news' }, { take: () => (count += 1) });
      members[0].notices.tell({ name: 'news' }, 1);
      await under.settle();
      end();
      members[0].notices.tell({ name: 'news' }, 2);
      await under.settle();
      expect(count).toBe(1);
      expect(kept.map(([notice]) => notice)).toEqual([1, 2]);
      expect(other).toEqual([]);
    });

    test('a value is read by any member until its time is over', async () => {
      await members[0].values.put('name', 'välue', 60_000);
      expect(await members[1].values.get('name')).toBe('välue');
      expect(await members[2].values.get('name')).toBe('välue');
      await under.pass(60_001);
      expect(await members[1].values.get('name')).toBeUndefined();
    });

    test('of many who take a value at once, one gets it', async () => {
      await members[0].values.put('state', 'once', 60_000);
      const taken = await Promise.all(
        Array.from({ length: 12 }, (_, index) => members[index % 3]?.values.take('state')),
      );
      expect(taken.filter((value) => value !== undefined)).toEqual(['once']);
      expect(await members[2].values.get('state')).toBeUndefined();
    });

    test('a sealed value is taken once, by whichever member, and its store knows nothing of it', async () => {
      const [first, second, third] = members.map(({ values }) =>
        openSealedValues({ values, clock: under.clock }),
      );
      await first?.put('state of one', 'a secret', 600_000);
      expect(await second?.get('state of one')).toBe('a secret');
      const taken = await Promise.all(
        [first, second, third, first, second, third].map((one) => one?.take('state of one')),
      );
      expect(taken.filter((value) => value !== undefined)).toEqual(['a secret']);
      await second?.put('another', 'a secret', 600_000);
      const { values } = members[0];
      const other = openSealedValues({ values, clock: under.clock, secretKey: 'two' });
      expect(await other.get('another')).toBeUndefined();
      await under.pass(600_001);
      expect(await third?.take('another')).toBeUndefined();
    });

    test('events of one member reach who watches at another, and go nowhere before and else', async () => {
      const lives = members.map((cluster) => {
        const feed = createLiveFeed(cluster.replica);
        const figures = createLiveFigures(() => 0);
        const live = shareLive({ cluster, siblings: cluster, clock: under.clock, figures });
        live.connect({ feed, onFailed: () => undefined, save: async () => undefined });
        const heard: object[] = [];
        const { take } = feed;
        feed.take = (kind, content) => {
          heard.push(content);
          take(kind, content);
        };
        return { feed, live, heard };
      });
      const [first, second, third] = lives;
      const tell = (live: typeof first, message: string): void =>
        live?.live.tell({ kind: 'log', content: { message } });
      tell(first, 'before');
      second?.feed.read();
      second?.live.watch();
      await under.settle();
      expect(lives.map(({ live }) => live.isLogWatched)).toEqual([true, false, true]);
      tell(first, 'one');
      tell(first, 'two');
      tell(third, 'three');
      await under.pass(250);
      const messages = ['one', 'three', 'two'].map((message) => ({ message }));
      await expect.poll(() => second?.heard.toSorted(byText)).toEqual(messages);
      expect([first?.heard, third?.heard]).toEqual([[], []]);
      for (const { live } of lives) live.close();
    });

    const openCounters = (counter: string, window: 'minute' | 'named', initial = 0) =>
      members.map((member) =>
        new Counters({ bank: member.bank, clock: under.clock }).open(counter, window, { initial }),
      );

    test.each(['minute', 'named'] as const)(
      'of a %s counter exactly the limit is taken, however the members ask',
      async (window) => {
        const counters = openCounters('requests', window);
        const outcomes = await Promise.all(
          Array.from({ length: 300 }, async (_, index) => counters[index % 3]?.take(1, 100)),
        );
        const taken = outcomes.filter((outcome) => outcome?.isTaken === true).length;
        // What a member took in stock and did not use comes back.
        for (const counter of counters) counter.release();
        await under.settle();
        let later = 0;
        for (let turn = 0; turn < 100; turn += 1)
          if ((await counters[turn % 3]?.take(1, 100))?.isTaken === true) later += 1;
        for (const counter of counters) counter.release();
        await under.settle();
        expect(taken).toBeLessThanOrEqual(100);
        expect(taken + later).toBe(100);
      },
    );

    test('an amount is taken whole or not at all', async () => {
      const [first, second] = openCounters('images', 'named');
      expect(await first?.take(7, 10)).toEqual({ isTaken: true });
      expect(await second?.take(4, 10)).toEqual({ isTaken: false, retryAfterMs: 0, left: 3 });
      expect(await second?.take(3, 10)).toEqual({ isTaken: true });
    });

    test('what is given back is there for the others, and what was used beyond it counts', async () => {
      const [first, second] = openCounters('tokens', 'named');
      await first?.take(80, 100);
      first?.giveBack(50);
      await under.settle();
      expect(await second?.take(60, 100)).toEqual({ isTaken: true });
      second?.giveBack(-5);
      await under.settle();
      expect(await first?.take(10, 100)).toMatchObject({ isTaken: false, left: 5 });
    });

    test('a counter of the minute is free again after it, and says when', async () => {
      const [first, second] = openCounters('rate', 'minute');
      await first?.take(5, 5);
      const refused = await second?.take(1, 5);
      expect(refused).toMatchObject({ isTaken: false, left: 0 });
      const waitMs = refused?.isTaken === false ? refused.retryAfterMs : 0;
      expect(waitMs).toBeGreaterThan(0);
      expect(waitMs).toBeLessThanOrEqual(60_000);
      await under.pass(waitMs);
      expect(await second?.take(1, 5)).toEqual({ isTaken: true });
    });

    test('a counter begins with what is stored of it, once', async () => {
      const counters = openCounters('day', 'named', 90);
      expect(await counters[0]?.take(8, 100)).toEqual({ isTaken: true });
      expect(await counters[1]?.take(2, 100)).toEqual({ isTaken: true });
      expect(await counters[2]?.take(1, 100)).toMatchObject({ isTaken: false, left: 0 });
    });

    test('what runs is held until it is settled, or until the member that runs it is gone', async () => {
      const [first, second] = members.map((member) =>
        new Counters({ bank: member.bank, clock: under.clock }).open('budget', 'long', {
          ...{ initial: 10, hasStock: false, isHeld: true },
        }),
      );
      expect(await first?.take(40, 100)).toEqual({ isTaken: true });
      expect(await second?.take(50, 100)).toEqual({ isTaken: true });
      first?.settle(40, 15);
      await under.settle();
      expect(await second?.take(26, 100)).toMatchObject({ isTaken: false, left: 25 });
      expect(await second?.take(20, 100)).toEqual({ isTaken: true });
      await under.leave(1);
      expect(await first?.take(75, 100)).toEqual({ isTaken: true });
      first?.giveBack(5);
      expect(await first?.take(6, 100)).toMatchObject({ isTaken: false, left: 5 });
    });

    test('a steady stream of requests waits for no bank after the first', async () => {
      const [counter] = openCounters('steady', 'named');
      let waited = 0;
      for (let turn = 0; turn < 200; turn += 1) {
        const outcome = counter?.take(1, 1_000_000);
        if (outcome instanceof Promise) waited += 1;
        expect((await outcome)?.isTaken).toBe(true);
        if (turn % 10 === 9) await under.settle();
      }
      expect(waited).toBeLessThanOrEqual(12);
    });
  });
}

function byText(one: object, other: object): number {
  return JSON.stringify(one).localeCompare(JSON.stringify(other));
}
