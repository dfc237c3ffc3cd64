// Losing Valkey and having it back, with a real server.

import { spawnSync } from 'node:child_process';
import { createServer } from 'node:net';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Cluster, ClusterUnavailable, type Topic } from '../../src/cluster/cluster.ts';
import { type Counter, Counters, type Taken } from '../../src/cluster/counters.ts';
import { joinValkeyCluster } from '../../src/cluster/valkey.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openLink } from '../support/link.ts';
import { listen } from '../support/listen.ts';
import { openSealedValues } from '../support/sealed-values.ts';
import { startValkey, VALKEY, type ValkeyServer } from '../support/valkey.ts';

const clock = createSystemClock();
const log = { warn: () => undefined, info: () => undefined };

describe.skipIf(VALKEY === undefined)('a replica whose Valkey is lost', () => {
  let server: ValkeyServer;
  let first: Cluster;
  let second: Cluster;
  beforeEach(async () => {
    server = await startValkey();
    const join = (replica: string) => joinValkeyCluster({ url: server.url, replica, clock, log });
    first = await join('first');
    second = await join('second');
  });
  afterEach(async () => {
    await first.close();
    await second.close();
    await server.close();
  });

  const reach = (member: Cluster, isConnected: boolean): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (member.state().isConnected !== isConnected) return;
        end();
        resolve();
      };
      const end = member.subscribe(look);
      look();
    });

  const openCounter = (member: Cluster, { hasStock = true } = {}) =>
    new Counters({ bank: member.bank, clock }).open('requests 2026-11-27', 'named', { hasStock });

  test('decides by itself against the whole limit, and what it used counts when Valkey is back', async () => {
    const [own, other] = [openCounter(first), openCounter(second)];
    expect(await own.take(10, 100)).toEqual({ isTaken: true });
    server.pause();
    const lost = reach(first, false);
    // The first who asks waits as long as a command may take, and then goes on alone.
    expect(await own.take(30, 100)).toEqual({ isTaken: true });
    await lost;
    expect(await own.take(60, 100)).toEqual({ isTaken: true });
    expect(await own.take(1, 100)).toMatchObject({ isTaken: false });
    const [back, otherBack] = [reach(first, true), reach(second, true)];
    server.resume();
    await Promise.all([back, otherBack]);
    await told(first, second);
    expect(await other.take(1, 100)).toMatchObject({ isTaken: false, left: 0 });
  });

  test('goes on from what it knows with a Valkey that lost everything', async () => {
    const counter = openCounter(first);
    await counter.take(70, 100);
    const lost = reach(first, false);
    await server.kill();
    await lost;
    await server.restart();
    await Promise.all([reach(first, true), reach(second, true)]);
    counter.giveBack(5);
    expect(await counter.take(40, 100)).toMatchObject({ isTaken: false, left: 35 });
    expect(await counter.take(35, 100)).toEqual({ isTaken: true });
  });

  test('counts the minute on from what it knows, while it is alone and with a Valkey that lost everything', async () => {
    const openMinute = (member: Cluster) =>
      new Counters({ bank: member.bank, clock }).open('rate', 'minute');
    const [own, other] = [openMinute(first), openMinute(second)];
    await own.take(70, 100);
    const lost = reach(first, false);
    await server.kill();
    await lost;
    expect(await own.take(40, 100)).toMatchObject({ isTaken: false, left: 30 });
    await server.restart();
    await Promise.all([reach(first, true), reach(second, true)]);
    expect(await own.take(40, 100)).toMatchObject({ isTaken: false, left: 30 });
    expect(await own.take(20, 100)).toEqual({ isTaken: true });
    expect(await other.take(11, 100)).toMatchObject({ isTaken: false });
  });

  const openBudget = (member: Cluster) =>
    new Counters({ bank: member.bank, clock }).open('budget 2026-11', 'long', {
      ...{ hasStock: false, isHeld: true },
    });

  /** A member whose beats come when the test says so. */
  async function joinBeating(
    replica: string,
    { url = server.url, monotonic = clock.monotonic } = {},
  ) {
    const beats = createFakeClock();
    const member = await joinValkeyCluster({ url, replica, clock: { ...beats, monotonic }, log });
    return { member, advance: beats.advance, beat: () => beats.advance(2000) };
  }

  async function asAdmin(work: (redis: Redis) => Promise<unknown>): Promise<void> {
    const redis = new Redis(server.url);
    await work(redis);
    redis.disconnect();
  }

  /** Nobody has heard of them for longer than a member is waited for. */
  const age = (replicas: readonly string[]): Promise<void> =>
    asAdmin(async (redis) => {
      for (const replica of replicas)
        expect(await redis.zadd(MEMBERS, 'XX', 'CH', 1, replica)).toBe(1);
    });

  const whole = async (members: readonly Cluster[]): Promise<void> => {
    for (const member of members)
      await expect.poll(() => member.state().replicas.length).toBe(members.length);
  };

  test('is not cut off by being busy itself for longer than a command may take', async () => {
    const { member, advance } = await joinBeating('busy');
    const asked = openCounter(member).take(10, 100);
    // This process does nothing else until the server has answered both.
    const { port } = new URL(server.url);
    const ping = `const s = net.connect(${port}, '127.0.0.1', () => s.write('PING\\r\\n')); s.on('data', () => s.destroy())`;
    expect(spawnSync(process.execPath, ['-e', ping]).status).toBe(0);
    await advance(600);
    expect(await asked).toEqual({ isTaken: true });
    expect(member.state().isConnected).toBe(true);
    await member.close();
  });

  test('has what a killed one held, though nobody was told what that was', async () => {
    await Promise.all([first.close(), second.close()]);
    const { member: own, beat } = await joinBeating('own');
    const { member: killed } = await joinBeating('killed');
    const [budget, lost] = [openBudget(own), openBudget(killed)];
    expect(await budget.take(30, 100)).toEqual({ isTaken: true });
    expect(await lost.take(60, 100)).toEqual({ isTaken: true });
    expect(await budget.take(11, 100)).toMatchObject({ isTaken: false, left: 10 });
    await age(['killed']);
    await beat();
    await whole([own]);
    expect(await budget.take(70, 100)).toEqual({ isTaken: true });
    budget.giveBack(70);
    // It stood still for as long, and goes on: what it used counts, once.
    lost.settle(60, 50);
    await expect.poll(async () => left(await budget.take(100, 100))).toBe(20);
    await Promise.all([own.close(), killed.close()]);
  });

  test('is not taken for gone when all were out of reach together', async () => {
    await Promise.all([first.close(), second.close()]);
    const { member: own, beat } = await joinBeating('own');
    const { member: other } = await joinBeating('other');
    expect(await openBudget(other).take(60, 100)).toEqual({ isTaken: true });
    await age(['own', 'other']);
    await beat();
    expect(left(await openBudget(own).take(100, 100))).toBe(40);
    expect(own.state().replicas).toHaveLength(2);
    await Promise.all([own.close(), other.close()]);
  });

  test('catches up, and its reservations count, when it stood still for so long that it was taken for gone', async () => {
    const { member: own, beat } = await joinBeating('own');
    const missed = listenFor(own);
    expect(await openBudget(own).take(60, 100)).toEqual({ isTaken: true });
    await asAdmin((redis) => redis.zrem(MEMBERS, 'own'));
    await asAdmin((redis) => redis.del(`${HELD}own`, `${COUNTER}budget 2026-11`));
    await beat();
    await expect.poll(missed).toBe(1);
    expect(left(await openBudget(first).take(100, 100))).toBe(40);
    await own.close();
  });

  test.each([
    ['it hears the others over', 'xread'],
    ['it asks over', 'evalsha'],
  ])(
    'takes a new connection for one that %s and that carries nothing any more',
    async (_what, words) => {
      const link = await openLink(Number(new URL(server.url).port));
      const { member: own, beat } = await joinBeating('own', {
        url: `redis://127.0.0.1:${link.port}`,
      });
      await told(own, second);
      const missed = listenFor(own);
      let isLost = false;
      own.subscribe(({ isConnected }) => {
        isLost ||= !isConnected;
      });
      const beating = (isSo: () => boolean) =>
        expect
          .poll(async () => {
            await beat();
            return isSo();
          })
          .toBe(true);
      link.silenceWith(words);
      second.notices.tell(KEYS, 'missed');
      await beating(() => isLost);
      await beating(() => own.state().isConnected && missed() > 0);
      await told(own, second);
      await own.close();
      await link.close();
    },
  );

  test('settles what it held with a Valkey that lost everything, and what was used before still counts', async () => {
    const [own, other] = [openBudget(first), openBudget(second)];
    for (const budget of [own, other]) budget.learn(40, 40);
    expect(await own.take(20, 100)).toEqual({ isTaken: true });
    expect(await other.take(30, 100)).toEqual({ isTaken: true });
    const lost = Promise.all([reach(first, false), reach(second, false)]);
    await server.kill();
    await lost;
    await server.restart();
    await Promise.all([reach(first, true), reach(second, true)]);
    await told(first, second);
    expect(left(await own.take(100, 100))).toBe(10);
    own.settle(20, 5);
    other.settle(30, 5);
    await told(first, second);
    for (const budget of [own, other]) expect(left(await budget.take(100, 100))).toBe(50);
  });

  test('settles while it is alone, and counts that when Valkey is back', async () => {
    const [own, other] = [openBudget(first), openBudget(second)];
    expect(await own.take(60, 100)).toEqual({ isTaken: true });
    server.pause();
    const lost = reach(first, false);
    expect(left(await own.take(50, 100))).toBe(40);
    await lost;
    own.settle(60, 10);
    own.learn(10, 10);
    expect(await own.take(90, 100)).toEqual({ isTaken: true });
    const [back, otherBack] = [reach(first, true), reach(second, true)];
    server.resume();
    await Promise.all([back, otherBack]);
    await told(first, second);
    expect(left(await other.take(100, 100))).toBe(0);
    own.settle(90, 20);
    await told(first, second);
    expect(left(await other.take(100, 100))).toBe(70);
  });

  test('counts once what one used alone, and another found stored before that was told', async () => {
    const link = await openLink(Number(new URL(server.url).port));
    const url = `redis://127.0.0.1:${link.port}`;
    const { member: cut, advance } = await joinBeating('cut', { url });
    const [own, other] = [openBudget(cut), openBudget(second)];
    expect(await own.take(10, 100)).toEqual({ isTaken: true });
    own.settle(10, 10);
    expect(left(await own.take(100, 100))).toBe(90);
    await link.refuse();
    expect(await own.take(30, 100)).toEqual({ isTaken: true });
    own.settle(30, 30);
    expect(cut.state().isConnected).toBe(false);
    // The database has it by now, and everybody reads that.
    for (const budget of [own, other]) budget.learn(40, 40);
    expect(left(await other.take(100, 100))).toBe(60);
    await link.heal();
    const isBack = async () => {
      await advance(100);
      return cut.state().isConnected;
    };
    await expect.poll(isBack).toBe(true);
    await told(cut, second);
    expect(left(await other.take(100, 100))).toBe(60);
    await cut.close();
    await link.close();
  });

  test('counts nothing twice that one heard of as unsaved when it was stored already', async () => {
    const [own, other] = [openBudget(first), openBudget(second)];
    expect(await own.take(20, 100)).toEqual({ isTaken: true });
    own.settle(20, 15);
    other.learn(30, 15);
    await told(first, second);
    expect(left(await other.take(100, 100))).toBe(85);
    // A server that took the place of another may have less than was stored.
    await asAdmin((redis) => redis.set(`${COUNTER}budget 2026-11`, 5));
    expect(left(await other.take(100, 100))).toBe(85);
  });

  test.each<[string, (counter: Counter) => unknown, number]>([
    ['what runs ends', (counter) => counter.settle(20, 5), 5],
    ['what was not used is given back', (counter) => counter.giveBack(15), 5],
    ['more is taken', (counter) => counter.take(30, 100), 50],
  ])('counts once what Valkey does late: %s', async (what, act, used) => {
    // Stock would count as used until it goes back.
    const open = (member: Cluster) =>
      what === 'what runs ends' ? openBudget(member) : openCounter(member, { hasStock: false });
    const [own, other] = [open(first), open(second)];
    expect(await own.take(20, 100)).toEqual({ isTaken: true });
    server.pause();
    const lost = reach(first, false);
    const acted = act(own);
    await lost;
    const back = reach(first, true);
    server.resume();
    await Promise.all([acted, back]);
    await expect.poll(() => second.state().isConnected).toBe(true);
    await told(first, second);
    expect(left(await other.take(101, 100))).toBe(100 - used);
  });

  test('counts once what reaches Valkey when the one who asked has given up', async () => {
    const link = await openLink(Number(new URL(server.url).port));
    const url = `redis://127.0.0.1:${link.port}`;
    let agoMs = 0;
    const monotonic = () => clock.monotonic() - agoMs;
    const { member: own, advance } = await joinBeating('own', { url, monotonic });
    const open = ({ bank }: Cluster) =>
      new Counters({ bank, clock }).open('images 2026-11-27', 'named', { hasStock: false });
    const counter = open(own);
    expect(await counter.take(20, 100)).toEqual({ isTaken: true });
    link.silence();
    // It is on its way for as long.
    agoMs = 1000;
    const asked = counter.take(30, 100);
    agoMs = 0;
    const lost = reach(own, false);
    await advance(600);
    await lost;
    expect(await asked).toEqual({ isTaken: true });
    // A beat is not answered either: the connection is given up, and what is on its way arrives.
    for (const ms of [2000, 600]) {
      await advance(ms);
      for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
    }
    await link.heal();
    const isBack = async () => {
      await advance(100);
      return own.state().isConnected;
    };
    await expect.poll(isBack).toBe(true);
    await told(own, second);
    expect(left(await open(second).take(101, 100))).toBe(50);
    await own.close();
    await link.close();
  });

  test('is told to catch up, and hears the others again', async () => {
    let caughtUp = 0;
    first.notices.listen(
      { name: 'keys' },
      { take: () => undefined, catchUp: () => (caughtUp += 1) },
    );
    await told(first, second);
    const before = caughtUp;
    const lost = Promise.all([reach(first, false), reach(second, false)]);
    await server.kill();
    await lost;
    first.notices.tell({ name: 'keys' }, 'lost');
    await server.restart();
    await Promise.all([reach(first, true), reach(second, true)]);
    await told(first, second);
    expect(caughtUp).toBeGreaterThan(before);
  });

  test('refuses what only Valkey can answer', async () => {
    const lost = reach(first, false);
    await server.kill();
    await lost;
    await expect(first.values.put('state', 'x', 1000)).rejects.toThrow(ClusterUnavailable);
    await expect(first.values.take('state')).rejects.toThrow(ClusterUnavailable);
  });

  test('finishes what was begun meanwhile at this replica', async () => {
    const lost = reach(first, false);
    await server.kill();
    await lost;
    const { values } = first;
    const kept = openSealedValues({ values, clock });
    await kept.put('state', 'begun here', 60_000);
    expect(await openSealedValues({ values: second.values, clock }).take('state')).toBeUndefined();
    expect(await kept.take('state')).toBe('begun here');
    expect(await kept.take('state')).toBeUndefined();
  });

  test('leaves a server that another took the place of, with all its connections', async () => {
    const admin = new Redis(server.url);
    const connections = async (): Promise<readonly string[]> =>
      [...String(await admin.client('LIST')).matchAll(/^id=(\d+) .* cmd=(?!client)/gm)].map(
        ([, id = '']) => id,
      );
    const before = await connections();
    expect(before).toHaveLength(4);
    const lost = [reach(first, false), reach(second, false)];
    await admin.replicaof('127.0.0.1', 1);
    await openCounter(first).take(1, 10);
    await Promise.all(lost);
    // Clients that are not asked for anything stay where they are.
    await expect
      .poll(async () => (await connections()).filter((id) => before.includes(id)))
      .toEqual([]);
    await admin.replicaof('NO', 'ONE');
    admin.disconnect();
    await Promise.all([reach(first, true), reach(second, true)]);
    await told(first, second);
  });

  test.each([
    ['', 'NOAUTH'],
    [':wrong-secret@', 'WRONGPASS'],
  ])('says why one at redis://%s is refused, and nothing of the password', async (user, why) => {
    await asAdmin((redis) => redis.config('SET', 'requirepass', 'right'));
    const lines: string[] = [];
    const alone = await joinValkeyCluster({
      ...{ url: server.url.replace('//', `//${user}`), replica: 'alone', clock },
      log: { info: log.info, warn: (...line) => void lines.push(JSON.stringify(line)) },
    });
    expect(alone.state()).toMatchObject({
      isConnected: false,
      refusal: expect.stringContaining(why),
    });
    expect(lines).toEqual([expect.stringContaining(why)]);
    expect(lines.join()).not.toContain('secret');
    await alone.close();
  });

  test.each([
    ['is full', ['maxmemory', '1'], ['maxmemory', '0'], 'OOM'],
    ['is a replica', ['replicaof', '127.0.0.1 1'], ['replicaof', 'no one'], 'READONLY'],
  ])('says why a Valkey that %s refuses it, until it does no more', async (_what, on, off, why) => {
    const set = ([name = '', value = '']: readonly string[]) =>
      asAdmin(async (redis) => {
        if (name === 'replicaof') await redis.call(name, ...value.split(' '));
        else await redis.config('SET', name, value);
      });
    await set(on);
    await expect.poll(() => first.state().refusal, { timeout: 5000 }).toContain(why);
    await set(off);
    await reach(first, true);
    expect(first.state().refusal).toBeUndefined();
    await server.kill();
    await expect.poll(() => first.state()).toMatchObject({ isConnected: false });
    await expect.poll(() => first.state().refusal).toBeUndefined();
  });

  test('says that a Valkey still loads what it kept', async () => {
    const loading = createServer((socket) => {
      // A command is a list, which begins with how many words it has.
      socket.on('data', (data) => {
        const commands = data.toString().split(/^\*\d/m).length - 1;
        socket.write('-LOADING Valkey is loading the dataset in memory\r\n'.repeat(commands));
      });
      socket.on('error', () => undefined);
    });
    const url = `redis://127.0.0.1:${await listen(loading)}`;
    const alone = await joinValkeyCluster({ url, replica: 'alone', clock, log });
    expect(alone.state().refusal).toContain('LOADING');
    await alone.close();
  });

  test('goes on alone, and not in the first database, where there is none of its number', async () => {
    const join = (database: number) =>
      joinValkeyCluster({ url: `${server.url}/${database}`, replica: 'own', clock, log });
    const [alone, other] = await Promise.all([join(99), join(3)]);
    expect(alone.state()).toMatchObject({
      isConnected: false,
      refusal: expect.stringContaining('DB index'),
    });
    expect(other.state()).toMatchObject({ isConnected: true, replicas: ['own'] });
    await other.close();
    await alone.close();
  });

  test('starts without it', async () => {
    await server.kill();
    const alone = await joinValkeyCluster({ url: server.url, replica: 'alone', clock, log });
    expect(alone.state()).toMatchObject({ isConnected: false, replicas: ['alone'] });
    expect(await openCounter(alone).take(1, 1)).toEqual({ isTaken: true });
    await server.restart();
    await reach(alone, true);
    await alone.close();
  });
});

const MEMBERS = '{isthmus}:members';
const HELD = '{isthmus}:held:';
const COUNTER = '{isthmus}:counter:';
const KEYS: Topic<string> = { name: 'keys' };

/** @returns what counts how often it had to catch up or heard of it */
function listenFor({ notices }: Cluster): () => number {
  let count = 0;
  const hear = (): void => {
    count += 1;
  };
  notices.listen(KEYS, { take: hear, catchUp: hear });
  return () => count;
}

function left(taken: Taken): number | undefined {
  return taken.isTaken ? undefined : taken.left;
}

/** Resolves when each has read what the other told before. */
async function told(first: Cluster, second: Cluster): Promise<void> {
  const heard = [first, second].map(
    ({ notices }) =>
      new Promise<void>((resolve) => {
        const end = notices.listen(
          { name: 'test.told' },
          {
            take() {
              end();
              resolve();
            },
          },
        );
      }),
  );
  for (const { notices } of [first, second]) notices.tell({ name: 'test.told' }, null);
  await Promise.all(heard);
}
