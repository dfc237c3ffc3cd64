import fc from 'fast-check';
import { expect, test } from 'vitest';
import { GatewayError } from '../canonical/error.ts';
import type { CanonicalEvent, ChoiceEnd } from '../canonical/event.ts';
import { fold, type Reply } from '../canonical/fold.ts';
import { createReceipt } from '../canonical/receipt.ts';
import { TextLimit } from './limit-text.ts';

/** What came in one frame, and the count of the answer so far where the frame has one. */
interface Frame {
  readonly events: readonly CanonicalEvent[];
  readonly count?: number | undefined;
}

const open = (index: number, kind: 'text' | 'thinking' = 'text', choice = 0): CanonicalEvent => ({
  kind: 'block-start',
  index,
  choice,
  block: { kind },
});
const call = (index: number): CanonicalEvent => ({
  kind: 'block-start',
  index,
  choice: 0,
  block: { kind: 'tool-call', id: `c${index}`, name: 'w' },
});
const delta = (
  index: number,
  text: string,
  kind: 'text' | 'thinking' = 'text',
): CanonicalEvent => ({
  kind: 'block-delta',
  index,
  delta: { kind, text },
});
const json = (index: number, json: string): CanonicalEvent => ({
  kind: 'block-delta',
  index,
  delta: { kind: 'arguments', json },
});
const close = (index: number): CanonicalEvent => ({ kind: 'block-end', index });
const finish = (...ends: readonly Partial<ChoiceEnd>[]): CanonicalEvent => ({
  kind: 'finish',
  choices: ends.map((end, choice) => ({ choice, reason: 'stop', ...end })),
});
const ERROR: CanonicalEvent = {
  kind: 'error',
  error: new GatewayError({ kind: 'upstream-unavailable', source: 'upstream', message: 'cut' }),
};

function run(frames: readonly Frame[], limit: number, choices = 1) {
  const receipt = createReceipt();
  let counted: number | undefined;
  const cutter = new TextLimit({ limit, choices, receipt, counted: () => counted });
  const events: CanonicalEvent[] = [];
  const done: boolean[] = [];
  for (const frame of [{ events: [{ kind: 'start' } as const] }, ...frames]) {
    counted = 'count' in frame ? frame.count : counted;
    events.push(...cutter.cut(frame.events));
    done.push(cutter.isDone);
  }
  return { events, receipt, isDone: done.at(-1), reply: () => fold(events) };
}

/** One text in these pieces, each a frame with its count. */
function told(
  pieces: readonly (readonly [string, (number | undefined)?])[],
  end = finish({}),
): Frame[] {
  return [
    { events: [open(0)] },
    ...pieces.map(([text, count]) =>
      count === undefined ? { events: [delta(0, text)] } : { events: [delta(0, text)], count },
    ),
    { events: [close(0), end] },
  ];
}

function textOf({ choices }: Reply, choice = 0): string {
  const blocks = choices[choice]?.blocks ?? [];
  return blocks.map((block) => (block.kind === 'text' ? block.text : '')).join('');
}

test('C8: text the upstream counted beyond the limit is cut at its share, and says why', () => {
  const { reply, receipt, isDone } = run(told([['x'.repeat(20_000), 5000]]), 50);
  expect(textOf(reply())).toHaveLength(200);
  expect(reply().choices[0]?.end).toMatchObject({ reason: 'max-tokens' });
  expect(receipt.entries).toMatchObject([{ action: 'capped', path: 'max_tokens' }]);
  expect(isDone).toBe(true);
});

test.each([
  ['counted within the limit', 'x'.repeat(9000), 50],
  ['counted at the limit, one byte a token', '0'.repeat(50), 50],
  ['not counted and short', 'x'.repeat(400), undefined],
  ['counted with something else in it', 'x'.repeat(100), 3000],
] as const)('text that is %s is never cut', (_, text, count) => {
  const { events, receipt } = run(told([[text, count]]), 50);
  expect(textOf(fold(events))).toBe(text);
  expect(fold(events).choices[0]?.end.reason).toBe('stop');
  expect(receipt.entries).toEqual([]);
});

test('a running count lets each frame through that is within the limit', () => {
  const pieces = [['a'.repeat(80), 20] as const, ['b'.repeat(80), 40] as const];
  const { reply } = run(told([...pieces, ['c'.repeat(80), 60]]), 50);
  expect(textOf(reply())).toBe(`${'a'.repeat(80)}${'b'.repeat(80)}${'c'.repeat(40)}`);
});

test('text nobody counted is cut by an estimate of eight bytes a token, and read on for its counts', () => {
  const { reply, isDone } = run(told([['x'.repeat(1000)]]), 50);
  expect(textOf(reply())).toHaveLength(400);
  expect(isDone).toBe(false);
});

test('no character is cut in two', () => {
  const { reply } = run(told([['👍🏽é'.repeat(100), 1000]]), 3);
  expect(textOf(reply())).toMatch(/^(?:👍|🏽|é)+$/u);
});

test('thoughts do not count, and none comes behind the cut', () => {
  const events = [
    ...[open(0, 'thinking'), delta(0, 'x'.repeat(5000), 'thinking'), close(0)],
    ...[open(1), delta(1, 'y'.repeat(800)), close(1)],
    ...[open(2, 'thinking'), delta(2, 'z', 'thinking'), close(2), finish({})],
  ];
  const [choice] = run([{ events, count: 200 }], 50).reply().choices;
  expect(choice?.blocks).toMatchObject([
    { kind: 'thinking', text: 'x'.repeat(5000) },
    { kind: 'text', text: 'y'.repeat(200) },
  ]);
});

test('a call is whole whatever its length, and one behind the cut was never made', () => {
  const long = JSON.stringify({ a: 'x'.repeat(9000) });
  const kept = [call(0), json(0, long), close(0), finish({ reason: 'tool-calls' })];
  const [whole] = run([{ events: kept, count: 3000 }], 50).reply().choices;
  expect(whole).toMatchObject({ blocks: [{ input: { a: 'x'.repeat(9000) } }] });
  expect(whole?.end.reason).toBe('tool-calls');

  const behind = [
    ...[open(0), delta(0, 'x'.repeat(9000)), close(0)],
    ...[call(1), json(1, '{}'), close(1), finish({ reason: 'tool-calls' })],
  ];
  const [cut] = run([{ events: behind, count: 3000 }], 50).reply().choices;
  expect(cut?.blocks).toMatchObject([{ kind: 'text', text: 'x'.repeat(400) }]);
  expect(cut?.end.reason).toBe('max-tokens');
});

test('the count of several answers together cuts none of them', () => {
  const events = [
    ...[open(0), delta(0, 'x'.repeat(160)), close(0)],
    ...[open(1, 'text', 1), delta(1, 'y'.repeat(900)), close(1), finish({}, {})],
  ];
  const reply = run([{ events, count: 265 }], 50, 2).reply();
  expect(textOf(reply)).toHaveLength(160);
  expect(textOf(reply, 1)).toHaveLength(400);
  expect(reply.choices.map(({ end }) => end.reason)).toEqual(['stop', 'max-tokens']);
});

test('an answer that breaks off behind its cut ended well, one before it did not', () => {
  expect(run(told([['x'.repeat(900), 225]], ERROR), 50).reply().choices).toMatchObject([
    { end: { reason: 'max-tokens' } },
  ]);
  expect(() => run(told([['x'.repeat(90), 25]], ERROR), 50).reply()).toThrow();
});

test('nothing is opened for text that is cut before its first word, and what was whole ends once', () => {
  const events = [open(0), delta(0, 'x'.repeat(40)), close(0), open(1), delta(1, 'more'), close(1)];
  const cut = run([{ events: [...events, finish({})], count: 11 }], 10);
  expect(cut.reply().choices[0]?.blocks).toHaveLength(1);
  expect(cut.events.filter(({ kind }) => kind === 'block-start')).toHaveLength(1);
  expect(cut.events.filter(({ kind }) => kind === 'block-end')).toHaveLength(1);
});

test('citations of text that is gone go with it', () => {
  const cited = (endIndex: number) => ({ startIndex: 0, endIndex, text: '', sources: [0] });
  const grounding: CanonicalEvent = {
    ...{ kind: 'grounding', choice: 0, queries: [], sources: [{ url: 'u', title: 't' }] },
    citations: [cited(10), cited(900)],
  };
  const events = [open(0), delta(0, 'x'.repeat(900)), close(0), grounding, finish({})];
  const [choice] = run([{ events, count: 225 }], 50).reply().choices;
  expect(choice?.grounding?.citations).toEqual([cited(10)]);
});

test('where frames begin changes nothing, nor does whether they are counted evenly', () => {
  const text = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 400 });
  const cuts = fc.array(fc.nat(400), { maxLength: 8 });
  fc.assert(
    fc.property(
      text,
      cuts,
      fc.integer({ min: 1, max: 60 }),
      fc.boolean(),
      (words, at, limit, isCounted) => {
        const borders = [...new Set([0, ...at.map((place) => place % words.length), words.length])];
        borders.sort((left, right) => left - right);
        // Four bytes a token; a count is whole, so frames end where tokens do.
        const ends = isCounted
          ? borders.map((end) => Math.min(words.length, Math.ceil(end / 4) * 4))
          : borders;
        const pieces = [...new Set(ends)].slice(1).map((end, index, all) => {
          const piece = words.slice(all[index - 1] ?? 0, end);
          return [piece, isCounted ? Math.ceil(end / 4) : undefined] as const;
        });
        const streamed = run(told(pieces), limit);
        const whole = isCounted ? words.slice(0, limit * 4) : words.slice(0, limit * 8);
        if (words.length % 4 === 0 || !isCounted) expect(textOf(streamed.reply())).toBe(whole);
        expect(streamed.receipt.entries).toHaveLength(
          words.length > limit * (isCounted ? 4 : 8) ? 1 : 0,
        );
      },
    ),
  );
});
