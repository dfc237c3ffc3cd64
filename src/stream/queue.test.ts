import { expect, test } from 'vitest';
import { AsyncBatchQueue } from './queue.ts';

/** Notes what a producer hears of its reader. */
class Letters extends AsyncBatchQueue<string> {
  readonly log: string[] = [];
  readonly more: string[] = [];

  protected override onTaken(): void {
    this.log.push('taken');
    for (const letter of this.more.splice(0)) this.add([letter]);
  }

  protected override onLeft(): void {
    this.log.push('left');
  }
}

const fault = new Error('cut');
const OVER = { done: true, value: undefined };

test('who waits is given each batch as it is, and nothing had to wait', async () => {
  const letters = new Letters();
  const first = letters.next();
  letters.add(['a', 'b']);
  expect(await first).toEqual({ done: false, value: ['a', 'b'] });
  expect(letters.log).toEqual([]);
});

test('what nobody asked for waits, comes in one batch, and then the end', async () => {
  const letters = new Letters();
  letters.add(['a']);
  letters.add(['b', 'c']);
  letters.end({ kind: 'end' });
  expect(await letters.next()).toEqual({ done: false, value: ['a', 'b', 'c'] });
  expect(letters.log).toEqual(['taken']);
  expect(await letters.next()).toEqual(OVER);
});

test('the end reaches who waits', async () => {
  const letters = new Letters();
  const next = letters.next();
  letters.end({ kind: 'end' });
  expect(await next).toEqual(OVER);
  const failing = new Letters();
  const other = failing.next();
  failing.end({ kind: 'error', error: fault });
  await expect(other).rejects.toBe(fault);
  expect(await failing.next()).toEqual(OVER);
});

test('the fault comes behind all that was added before it, once', async () => {
  const letters = new Letters();
  const first = letters.next();
  letters.add(['a']);
  letters.add(['b']);
  letters.end({ kind: 'error', error: fault });
  letters.end({ kind: 'end' });
  expect((await first).value).toEqual(['a']);
  expect((await letters.next()).value).toEqual(['b']);
  await expect(letters.next()).rejects.toBe(fault);
  expect(await letters.next()).toEqual(OVER);
});

test('a producer that adds at once when what waited was taken does not overtake it', async () => {
  const letters = new Letters();
  letters.add(['a']);
  letters.more.push('b', 'c');
  expect((await letters.next()).value).toEqual(['a']);
  expect((await letters.next()).value).toEqual(['b', 'c']);
});

test('a reader that leaves is told of, and gets nothing more', async () => {
  const letters = new Letters();
  letters.add(['a']);
  for await (const items of letters) {
    expect(items).toEqual(['a']);
    letters.add(['b']);
    break;
  }
  expect(letters.log).toEqual(['taken', 'left']);
  expect(await letters.next()).toEqual(OVER);
});

test('dropped items are never given, the end still is', async () => {
  const letters = new Letters();
  letters.add(['a']);
  letters.drop();
  letters.end({ kind: 'error', error: fault });
  await expect(letters.next()).rejects.toBe(fault);
});
