import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { GatewayError } from '../canonical/error.ts';
import { SignatureCache } from '../signatures/cache.ts';
import { type AnswerRoom, HeldMemory } from '../stream/held-memory.ts';
import type { Frame } from '../stream/sse.ts';
import { AnswerText } from './answer-text.ts';
import { StreamObserver, TokenEstimator } from './stream-observer.ts';

const failure = new GatewayError({ kind: 'internal', source: 'upstream', message: 'cut' });

/** Frames that tell whether they were given up; the word `cut` is an upstream that fails. */
class Words implements AsyncIterableIterator<readonly Frame[], undefined> {
  isGivenUp = false;
  readonly #words: string[];

  constructor(words: readonly string[]) {
    this.#words = [...words];
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<readonly Frame[], undefined>> {
    const word = this.#words.shift();
    if (word === undefined) return { done: true, value: undefined };
    if (word === 'cut') throw failure;
    return { done: false, value: [{ text: word, value: { word } }] };
  }

  async return(): Promise<IteratorResult<readonly Frame[], undefined>> {
    this.isGivenUp = true;
    return { done: true, value: undefined };
  }
}

/** All frames at once. */
class AtOnce extends Words {
  #frames: readonly Frame[] | undefined;

  constructor(words: readonly string[]) {
    super([]);
    this.#frames = words.map((word) => ({ text: word, value: { word } }));
  }

  override async next(): Promise<IteratorResult<readonly Frame[], undefined>> {
    const value = this.#frames;
    this.#frames = undefined;
    return value === undefined ? { done: true, value } : { done: false, value };
  }
}

/** Repeats the words; `silence` shows nothing, `enough` wants no more, `break` is a fault of its own. */
class Repeated extends AnswerText {
  readonly contentType = 'text/plain';
  heldBytes = 0;
  #hasEnough = false;

  protected push({ text }: Frame): void {
    if (text === 'break') throw failure;
    this.#hasEnough = text === 'enough';
    if (text === 'silence' || this.#hasEnough) return;
    this.watch.onEvent({ kind: 'block-delta', index: 0, delta: { kind: 'text', text } });
    this.text += text;
  }

  protected isComplete(): boolean {
    return this.#hasEnough;
  }

  protected end(): void {
    this.text += '.';
  }

  protected fail({ message }: GatewayError): void {
    this.text += `<${message}>`;
  }
}

/** Writes each word twice more, when it is asked for more. */
class Long extends Repeated {
  readonly left: string[] = [];
  protected override more = (): string => this.left.shift() ?? '';

  protected override push(frame: Frame): void {
    super.push(frame);
    this.left.push(`${frame.text}1`, `${frame.text}2`);
  }

  protected override fail({ message }: GatewayError): void {
    this.left.push(`<${message}>`);
  }
}

function inputOf(words: readonly string[], room?: AnswerRoom) {
  const keeper = new SignatureCache({ clock: createFakeClock() });
  const estimator = new TokenEstimator();
  const watch = new StreamObserver({ keeper, scope: 'key', estimator, estimatePrompt: () => 0 });
  return { frames: new Words(words), watch, memory: new HeldMemory(room) };
}

function textOf(words: readonly string[]) {
  const input = inputOf(words);
  const text = new Repeated(input);
  let ends = 0;
  const begin = () =>
    text.begin(() => {
      ends += 1;
    });
  return { text, frames: input.frames, begin, ends: () => ends };
}

async function collect(text: AnswerText): Promise<string[]> {
  const items: string[] = [];
  for await (const item of text) items.push(item);
  return items;
}

test('an item a batch, the ending last, and nothing for batches that show nothing', async () => {
  const { text, frames, begin, ends } = textOf(['silence', 'a', 'silence', 'b']);
  await begin();
  expect(ends()).toBe(0);
  expect(await collect(text)).toEqual(['a', 'b', '.']);
  expect(frames.isGivenUp).toBe(false);
  expect(ends()).toBe(1);
  await text.return();
  expect(ends()).toBe(1);
});

/** Writes words of which none is an answer. */
class Talk extends Repeated {
  protected override push({ text }: Frame): void {
    this.text += text;
  }
}

test('what is no answer yet is held back, but no megabytes of it', async () => {
  const piece = 'x'.repeat(300_000);
  const held = new Talk(inputOf([piece, piece, 'cut']));
  await expect(held.begin(() => {})).rejects.toBe(failure);
  const long = new Talk(inputOf([...Array(10).fill(piece), 'cut']));
  await long.begin(() => {});
  const items = await collect(long);
  expect(items[0]).toHaveLength(1_200_000);
  expect(items.at(-1)).toBe('<cut>');
});

test('what a lane writes later comes behind what it wrote', async () => {
  const text = new Long(inputOf(['a', 'b']));
  await text.begin(() => {});
  expect(await collect(text)).toEqual(['a', 'a1', 'a2', 'b', 'b1', 'b2', '.']);
});

test('what a lane writes later is left where it is while nobody asks for it', async () => {
  const input = inputOf(['a', 'b']);
  const text = new Long(input);
  await text.begin(() => {});
  for await (const item of text) {
    if (item === 'a') expect(text.left).toEqual(['a1', 'a2']);
    else break;
  }
  expect(text.left).toEqual(['a2']);
  expect(input.frames.isGivenUp).toBe(true);
});

test('a failure comes behind what a lane has still to write', async () => {
  const text = new Long(inputOf(['a']));
  await text.begin(() => {});
  await text.next();
  text.endWithError(failure);
  expect(await collect(text)).toEqual(['a1', 'a2', '<cut>']);
});

/** Shows the word `show`, and holds every other one. */
class Holding extends Repeated {
  protected override push(frame: Frame): void {
    if (frame.text === 'show') super.push(frame);
    else this.heldBytes += frame.text.length;
  }
}

/** Gives so many bytes at most, to all together. */
function roomOf(most: number) {
  let held = 0;
  const room: AnswerRoom = {
    take(holder, bytes) {
      if (held - holder.heldBytes + bytes > most) throw full;
      held += bytes - holder.heldBytes;
      holder.heldBytes = bytes;
    },
    release(holder) {
      held -= holder.heldBytes;
      holder.heldBytes = 0;
    },
  };
  return { room, held: () => held };
}

const full = new GatewayError({ kind: 'overloaded', source: 'gateway', message: 'full' });
const MEGABYTE_WORD = 'x'.repeat(1_000_000);

test('what waits for more of the answer takes memory until the answer is read', async () => {
  const { room, held } = roomOf(5_000_000);
  const words = ['show', MEGABYTE_WORD, MEGABYTE_WORD, MEGABYTE_WORD, 'show'];
  const text = new Holding(inputOf(words, room));
  await text.begin(() => {});
  expect(await text.next()).toMatchObject({ value: 'show' });
  expect(held()).toBe(0);
  expect(await text.next()).toMatchObject({ value: 'show' });
  expect(held()).toBe(3_000_000);
  expect(await collect(text)).toEqual(['.']);
  expect(held()).toBe(0);
});

test('an answer that holds more than there is memory for ends in an error, and gives back what it had', async () => {
  const { room, held } = roomOf(5_000_000);
  const many = Array<string>(10).fill(MEGABYTE_WORD);
  const begun = inputOf(['show', ...many, 'show'], room);
  const text = new Holding(begun);
  await text.begin(() => {});
  expect(await collect(text)).toEqual(['show', '<full>']);
  expect(begun.frames.isGivenUp).toBe(true);
  expect(held()).toBe(0);
  const unbegun = inputOf([...many, 'show'], room);
  await expect(new Holding(unbegun).begin(() => {})).rejects.toBe(full);
  expect(unbegun.frames.isGivenUp).toBe(true);
  expect(held()).toBe(0);
});

test('an answer nobody reads on gives back what it had', async () => {
  const { room, held } = roomOf(5_000_000);
  const words = ['show', MEGABYTE_WORD, MEGABYTE_WORD, 'show'];
  const text = new Holding(inputOf(words, room));
  await text.begin(() => {});
  await text.next();
  await text.next();
  expect(held()).toBe(2_000_000);
  await text.return();
  expect(held()).toBe(0);
});

/** Has each frame in what it writes so many times. */
class Twice extends Repeated {
  protected override get copies(): number {
    return 2;
  }
}

test('A3: a large frame takes memory for itself and for what it becomes, until the answer is read', async () => {
  const large = 'x'.repeat(5_000_000);
  const { room, held } = roomOf(12_000_000);
  const text = new Repeated(inputOf(['a', large, 'b'], room));
  await text.begin(() => {});
  expect(await text.next()).toMatchObject({ value: 'a' });
  expect(await text.next()).toMatchObject({ value: large });
  expect(held()).toBe(10_000_000);
  expect(await collect(text)).toEqual(['b', '.']);
  expect(held()).toBe(0);
  await expect(new Twice(inputOf([large], room)).begin(() => {})).rejects.toBe(full);
  expect(held()).toBe(0);
});

test.each(['cut', 'break'])('a failure before the commit point is thrown (%s)', async (word) => {
  const { begin, frames } = textOf(['silence', word]);
  await expect(begin()).rejects.toBe(failure);
  // Frames that failed themselves are over; the others have to be told.
  expect(frames.isGivenUp).toBe(word === 'break');
});

test.each(['cut', 'break'])('a failure behind it is the last item (%s)', async (word) => {
  const { text, frames, begin } = textOf(['a', word, 'b']);
  await begin();
  expect(await collect(text)).toEqual(['a', '<cut>']);
  expect(frames.isGivenUp).toBe(word === 'break');
});

test('an upstream nobody needs any more is given up, and the answer ends as usual', async () => {
  const { text, frames, begin } = textOf(['a', 'enough', 'b']);
  await begin();
  expect(await collect(text)).toEqual(['a', '.']);
  expect(frames.isGivenUp).toBe(true);
});

test('a reader who leaves gives the upstream up, and the end is told', async () => {
  const { text, frames, begin, ends } = textOf(['a', 'b']);
  await begin();
  for await (const item of text) {
    expect(item).toBe('a');
    break;
  }
  expect(frames.isGivenUp).toBe(true);
  expect(ends()).toBe(1);
  expect(await text.next()).toEqual({ done: true, value: undefined });
});

test('an answer that was whole in its first item has no second ending', async () => {
  const { text, begin } = textOf(['enough']);
  await begin();
  expect(await collect(text)).toEqual(['.']);
});

test.each([true, false])(
  'an answer that is broken off says so once, and nothing comes behind (waiting: %s)',
  async (isWaiting) => {
    const { text, frames, begin } = textOf(['a', 'b', 'c']);
    await begin();
    expect((await text.next()).value).toBe('a');
    const next = isWaiting ? text.next() : undefined;
    text.endWithError(failure);
    expect(await (next ?? text.next())).toEqual({ done: false, value: '<cut>' });
    text.endWithError(failure);
    expect(await text.next()).toEqual({ done: true, value: undefined });
    expect(frames.isGivenUp).toBe(true);
  },
);

test('an answer whose ending is written already is not broken off any more', async () => {
  const { text, begin } = textOf(['a']);
  await begin();
  const items: string[] = [];
  for await (const item of text) {
    items.push(item);
    if (item === '.') text.endWithError(failure);
  }
  expect(items).toEqual(['a', '.']);
});

test.each([
  ['many frames that come at once', Array.from({ length: 5000 }, (_, at) => `w${at} `), 10],
  ['a large frame', ['x'.repeat(5_000_000)], 2],
  ['a few frames', ['one ', 'two'], 0],
])('others get their turn while %s become text', async (_kind, words, least) => {
  const text = new Repeated({ ...inputOf([]), frames: new AtOnce(words) });
  let turns = 0;
  let next = setImmediate(function count() {
    turns += 1;
    next = setImmediate(count);
  });
  await text.begin(() => {});
  clearImmediate(next);
  expect(turns).toBeGreaterThanOrEqual(least);
  expect(turns).toBeLessThanOrEqual(least + 2);
  let written = '';
  for await (const chunk of text) written += chunk;
  expect(written === `${words.join('')}.`).toBe(true);
});
