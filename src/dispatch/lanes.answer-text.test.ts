import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { GatewayError } from '../canonical/error.ts';
import { SignatureCache } from '../signatures/cache.ts';
import type { Frame } from '../upstreams/upstream.ts';
import { type AnswerLane, AnswerText } from './lanes.ts';
import { createAnswerWatch } from './stream-observer.ts';

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

/** Repeats the words; `silence` shows nothing, `enough` wants no more, `break` is a fault of its own. */
function textOf(words: readonly string[]) {
  const keeper = new SignatureCache({ clock: createFakeClock() });
  const frames = new Words(words);
  let hasEnough = false;
  const lane: AnswerLane = {
    watch: createAnswerWatch({ keeper, scope: 'key' }),
    text: '',
    push({ text }) {
      if (text === 'break') throw failure;
      hasEnough = text === 'enough';
      if (text === 'silence' || hasEnough) return;
      lane.watch.see({ kind: 'block-delta', index: 0, delta: { kind: 'text', text } });
      lane.text += text;
    },
    isComplete: () => hasEnough,
    end: () => {
      lane.text += '.';
    },
    fail: ({ message }) => {
      lane.text += `<${message}>`;
    },
  };
  return { text: new AnswerText(frames, lane), lane, frames };
}

async function collect(text: AnswerText): Promise<string[]> {
  const items: string[] = [];
  for await (const item of text) items.push(item);
  return items;
}

async function pumped(text: AnswerText): Promise<string[]> {
  const items: string[] = [];
  await text.pump((item) => items.push(item) > 0);
  return items;
}

const WAYS = [
  { way: 'read', collect },
  { way: 'pumped', collect: pumped },
];

test.each(WAYS)(
  '$way: an item a batch, the ending last, and nothing for batches that show nothing',
  async ({ collect }) => {
    const { text, frames } = textOf(['silence', 'a', 'silence', 'b']);
    expect(await collect(text)).toEqual(['a', 'b', '.']);
    expect(frames.isGivenUp).toBe(false);
  },
);

/** Writes each word twice, the second time when it is asked for more. */
function longTextOf(words: readonly string[]) {
  const left: string[] = [];
  const { text, lane, frames } = textOf(words);
  const push = lane.push.bind(lane);
  lane.push = (frame) => {
    push(frame);
    left.push(`${frame.text}1`, `${frame.text}2`);
  };
  lane.fail = ({ message }) => void left.push(`<${message}>`);
  lane.more = () => left.shift() ?? '';
  return { text, frames, left };
}

test.each(WAYS)(
  '$way: what a lane writes later comes behind what it wrote',
  async ({ collect }) => {
    const { text } = longTextOf(['a', 'b']);
    expect(await collect(text)).toEqual(['a', 'a1', 'a2', 'b', 'b1', 'b2', '.']);
  },
);

test('pumped: what a lane writes later is left where it is when the taker is behind or has enough', async () => {
  const { text, frames, left } = longTextOf(['a', 'b']);
  const items: string[] = [];
  await text.pump(async (item) => {
    items.push(item);
    expect(left.length + items.length).toBe(3);
    await Promise.resolve();
    return item !== 'a1';
  });
  expect(items).toEqual(['a', 'a1']);
  expect(frames.isGivenUp).toBe(true);
});

test('a failure comes behind what a lane has still to write', async () => {
  const { text } = longTextOf(['a']);
  await text.next();
  expect(text.breakOff(failure)).toBe('a1a2<cut>');
});

test.each(['cut', 'break'])('a failure before the commit point is thrown (%s)', async (word) => {
  const { text, frames } = textOf(['silence', word]);
  await expect(text.next()).rejects.toBe(failure);
  // Frames that failed themselves are over; the others have to be told.
  expect(frames.isGivenUp).toBe(word === 'break');
});

test.each(WAYS)('$way: a failure behind it is the last item', async ({ collect }) => {
  for (const word of ['cut', 'break']) {
    const { text, frames } = textOf(['a', word, 'b']);
    expect(await collect(text)).toEqual(['a', '<cut>']);
    expect(frames.isGivenUp).toBe(word === 'break');
  }
});

test.each(['cut', 'break'])(
  'pumped: a failure before the commit point is thrown (%s)',
  async (word) => {
    const { text, frames } = textOf(['silence', word]);
    await expect(pumped(text)).rejects.toBe(failure);
    expect(frames.isGivenUp).toBe(word === 'break');
  },
);

test.each(WAYS)(
  '$way: an upstream nobody needs any more is given up, and the answer ends as usual',
  async ({ collect }) => {
    const { text, frames } = textOf(['a', 'enough', 'b']);
    expect(await collect(text)).toEqual(['a', '.']);
    expect(frames.isGivenUp).toBe(true);
  },
);

test.each(WAYS)(
  '$way: the first item comes again once it was put back, and the end is told once',
  async ({ collect }) => {
    const { text } = textOf(['a', 'b']);
    let ends = 0;
    text.putBack(await text.next(), () => {
      ends += 1;
    });
    expect(await collect(text)).toEqual(['a', 'b', '.']);
    expect(ends).toBe(1);
    await text.return();
    expect(ends).toBe(1);
  },
);

test('a reader who leaves gives the upstream up, and the end is told', async () => {
  const { text, frames } = textOf(['a', 'b']);
  let ends = 0;
  text.putBack(await text.next(), () => {
    ends += 1;
  });
  for await (const item of text) {
    expect(item).toBe('a');
    break;
  }
  expect(frames.isGivenUp).toBe(true);
  expect(ends).toBe(1);
  expect(await text.next()).toEqual({ done: true, value: undefined });
});

test.each([1, 2])(
  'pumped: who has enough after item %d gives the upstream up and gets no more',
  async (most) => {
    const { text, frames } = textOf(['a', 'b', 'c']);
    let ends = 0;
    text.putBack(await text.next(), () => {
      ends += 1;
    });
    const items: string[] = [];
    await text.pump(async (item) => items.push(item) < most);
    expect(items).toEqual(['a', 'b'].slice(0, most));
    expect(frames.isGivenUp).toBe(true);
    expect(ends).toBe(1);
  },
);

test.each([1, 2])(
  'pumped: what the taker of item %d throws is no failure of the answer',
  async (which) => {
    const { text, frames } = textOf(['a', 'b', 'c']);
    text.putBack(await text.next(), () => {});
    const fault = new Error('the taker broke');
    const items: string[] = [];
    const done = text.pump((item) => {
      if (items.push(item) === which) throw fault;
      return true;
    });
    await expect(done).rejects.toBe(fault);
    expect(items).toHaveLength(which);
    expect(frames.isGivenUp).toBe(true);
  },
);

test('pumped: an answer that was whole in its first item has no second ending', async () => {
  const { text } = textOf(['enough']);
  text.putBack(await text.next(), () => {});
  expect(await pumped(text)).toEqual(['.']);
});

test('an answer that is broken off says so once, and nothing comes behind', async () => {
  const { text, frames } = textOf(['a', 'b', 'c']);
  text.putBack(await text.next(), () => {});
  const behind = Promise.withResolvers<boolean>();
  const items: string[] = [];
  const done = text.pump((item) => {
    items.push(item);
    return item === 'b' ? behind.promise : true;
  });
  while (items.length < 2) await Promise.resolve();
  expect(text.breakOff(failure)).toBe('<cut>');
  behind.resolve(true);
  await done;
  expect(items).toEqual(['a', 'b']);
  expect(frames.isGivenUp).toBe(true);
  expect(text.breakOff(failure)).toBe('');
});

test('an answer whose ending is written already is not broken off any more', async () => {
  const { text } = textOf(['a']);
  text.putBack(await text.next(), () => {});
  const items: string[] = [];
  await text.pump((item) => {
    items.push(item);
    if (item === '.') expect(text.breakOff(failure)).toBe('');
    return true;
  });
  expect(items).toEqual(['a', '.']);
});
