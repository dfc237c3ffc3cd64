import { expect, test } from 'vitest';
import { Handover, pump, type Take } from './queue.ts';

function start() {
  const log: string[] = [];
  const handover = new Handover<string>({
    onCaughtUp: () => log.push('caught up'),
    onLeft: () => log.push('left'),
  });
  const take: Take<readonly string[]> = (items) => {
    log.push(items.join(''));
    return true;
  };
  return { handover, log, take };
}

const fault = new Error('cut');

test('a pumped item is taken in the turn it is added', () => {
  const { handover, log, take } = start();
  void handover.pump(take);
  handover.add(['a']);
  handover.add(['b', 'c']);
  expect(log).toEqual(['a', 'bc']);
});

test('what waited when pumping begins comes first, then the end', async () => {
  const { handover, log, take } = start();
  handover.add(['a']);
  handover.add(['b']);
  handover.end({ kind: 'end' });
  await handover.pump(take);
  expect(log).toEqual(['ab', 'caught up']);
});

test('the fault comes behind all that was added before it, in every way of reading', async () => {
  const { handover, log, take } = start();
  handover.add(['a']);
  handover.end({ kind: 'error', error: fault });
  await expect(handover.pump(take)).rejects.toBe(fault);
  expect(log).toEqual(['a', 'caught up']);
  const other = start().handover;
  const first = other.next();
  other.add(['a']);
  other.end({ kind: 'error', error: fault });
  expect(await first).toEqual({ done: false, value: ['a'] });
  await expect(other.next()).rejects.toBe(fault);
  expect(await other.next()).toEqual({ done: true, value: undefined });
});

test('a taker that is behind gets nothing until it has caught up, and then all at once', async () => {
  const { handover, log } = start();
  const behind = Promise.withResolvers<boolean>();
  const done = handover.pump((items) => {
    log.push(items.join(''));
    return items[0] === 'a' ? behind.promise : true;
  });
  handover.add(['a']);
  handover.add(['b']);
  handover.add(['c']);
  handover.end({ kind: 'end' });
  expect(log).toEqual(['a']);
  behind.resolve(true);
  await done;
  expect(log).toEqual(['a', 'bc', 'caught up']);
});

test('a taker that was behind is told to have caught up, also when nothing had to wait', async () => {
  const { handover, log } = start();
  const behind = Promise.withResolvers<boolean>();
  void handover.pump(() => behind.promise);
  expect(handover.isBehind).toBe(false);
  handover.add(['a']);
  expect(handover.isBehind).toBe(true);
  behind.resolve(true);
  await behind.promise;
  await Promise.resolve();
  expect(handover.isBehind).toBe(false);
  expect(log).toEqual(['caught up']);
});

test('a producer that adds at once when the taker has caught up does not overtake what waited', async () => {
  const log: string[] = [];
  const more = [['d'], ['e', 'f'], ['g']];
  const handover = new Handover<string>({
    onCaughtUp: () => {
      for (const items of more.splice(0, 2)) handover.add(items);
      if (more.length === 0) handover.end({ kind: 'end' });
    },
    onLeft: () => {},
  });
  let isTaking = false;
  const done = handover.pump(async (items) => {
    expect(isTaking).toBe(false);
    isTaking = true;
    log.push(items.join(''));
    await Promise.resolve();
    isTaking = false;
    return true;
  });
  for (const item of 'abc') handover.add([item]);
  await done;
  expect(log.join('')).toBe('abcdefg');
});

test('a taker with enough leaves, at once or later, and gets nothing more', async () => {
  for (const enough of [false, Promise.resolve(false)]) {
    const { handover, log } = start();
    const done = handover.pump((items) => {
      log.push(items.join(''));
      return enough;
    });
    handover.add(['a']);
    if (enough === false) handover.add(['b']);
    await done;
    handover.add(['c']);
    expect(log).toEqual(['a', 'left']);
  }
});

test('what a taker throws is what pumping throws, and the producer is left', async () => {
  for (const take of [
    () => {
      throw fault;
    },
    () => Promise.reject(fault),
  ]) {
    const { handover, log } = start();
    const done = handover.pump(take);
    handover.add(['a']);
    await expect(done).rejects.toBe(fault);
    expect(log).toEqual(['left']);
  }
});

test('a reader that goes over to pumping misses nothing', async () => {
  const { handover, log, take } = start();
  const first = handover.next();
  handover.add(['a']);
  expect((await first).value).toEqual(['a']);
  handover.add(['b']);
  const done = handover.pump(take);
  handover.add(['c']);
  handover.end({ kind: 'end' });
  await done;
  expect(log).toEqual(['b', 'caught up', 'c']);
});

test('dropped items are never given, the end still is', async () => {
  const { handover, log, take } = start();
  handover.add(['a']);
  handover.drop();
  handover.end({ kind: 'error', error: fault });
  await expect(handover.pump(take)).rejects.toBe(fault);
  expect(log).toEqual([]);
});

test('a generator is pumped as well, held back and left by the same answers', async () => {
  const log: string[] = [];
  async function* letters(): AsyncGenerator<string, void> {
    try {
      for (const letter of 'abc') yield letter;
    } finally {
      log.push('left');
    }
  }
  const taken: string[] = [];
  await pump(letters(), async (letter) => {
    taken.push(letter);
    return letter !== 'b';
  });
  expect(taken).toEqual(['a', 'b']);
  expect(log).toEqual(['left']);
});
