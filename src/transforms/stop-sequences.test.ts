import fc from 'fast-check';
import { expect, test } from 'vitest';
import { contextOf, requestOf } from '../../test/support/canonical.ts';
import { GatewayError } from '../canonical/error.ts';
import type { CanonicalEvent } from '../canonical/event.ts';
import { fold } from '../canonical/fold.ts';
import { NO_USAGE } from '../canonical/usage.ts';
import { enforcedStops, StopCutter, sentStops } from './stop-sequences.ts';

const SEVEN = ['1', '2', '3', '4', '5', 'END', 'FIN'];
const ERROR: CanonicalEvent = {
  kind: 'error',
  error: new GatewayError({ kind: 'upstream-unavailable', source: 'upstream', message: 'cut' }),
};

const open = (index: number, choice = 0): CanonicalEvent => ({
  kind: 'block-start',
  index,
  choice,
  block: { kind: 'text' },
});
const words = (index: number, ...pieces: readonly string[]): CanonicalEvent[] =>
  pieces.map((text) => ({ kind: 'block-delta', index, delta: { kind: 'text', text } }));
const close = (index: number): CanonicalEvent => ({ kind: 'block-end', index });
const finish = (...choices: readonly number[]): CanonicalEvent[] => [
  { kind: 'usage', usage: NO_USAGE },
  {
    kind: 'finish',
    choices: choices.map((choice) => ({ choice, reason: 'stop', rawReason: 'STOP' })),
  },
];

function cut(events: readonly CanonicalEvent[], stops = ['END', 'FIN'], choices = 1) {
  return new StopCutter(stops, choices).cut([{ kind: 'start' }, ...events]);
}

/** An answer of one text block in these pieces. */
const answerOf = (...pieces: readonly string[]): CanonicalEvent[] => [
  open(0),
  ...words(0, ...pieces),
  close(0),
  ...finish(0),
];

function textOf(events: readonly CanonicalEvent[], choice = 0) {
  const blocks = fold(events).choices[choice]?.blocks ?? [];
  return blocks.map((block) => (block.kind === 'text' ? block.text : `<${block.kind}>`)).join('');
}

test('an upstream that takes five gets the first five stop sequences, the gateway looks for all of them', () => {
  const request = requestOf({ stopSequences: SEVEN });
  const { receipt } = contextOf();
  expect(sentStops(request, 5, receipt)).toEqual(['1', '2', '3', '4', '5']);
  expect(enforcedStops(request)).toEqual(SEVEN);
  expect(receipt.entries).toMatchObject([{ action: 'approximated', path: 'stop' }]);
});

test('up to five different ones are all sent, and one the upstream lets through is cut here', () => {
  const { receipt } = contextOf();
  const five = requestOf({ stopSequences: SEVEN.slice(0, 5) });
  expect(sentStops(five, 5, receipt)).toEqual(five.stopSequences);
  expect(enforcedStops(five)).toEqual(five.stopSequences);
  const repeated = requestOf({ stopSequences: ['a', 'a', 'b', 'a', 'b', 'a', 'b'] });
  expect(sentStops(repeated, 5, receipt)).toEqual(['a', 'b']);
  expect(enforcedStops(repeated)).toEqual(['a', 'b']);
  expect(enforcedStops(requestOf({}))).toEqual([]);
  expect(receipt.entries).toEqual([]);
});

test('an answer ends before the sequence, with its reason and name', () => {
  const events = cut(answerOf('one E', 'N', 'D two FIN'));
  expect(textOf(events)).toBe('one ');
  expect(fold(events).choices[0]?.end).toEqual({
    choice: 0,
    reason: 'stop-sequence',
    rawReason: 'STOP',
    stopSequence: 'END',
  });
});

test('only what may begin a sequence is held back, and it comes when it does not', () => {
  const cutter = new StopCutter(['END']);
  const texts = (events: readonly CanonicalEvent[]): string[] =>
    events.flatMap((event) =>
      event.kind === 'block-delta' && event.delta.kind === 'text' ? [event.delta.text] : [],
    );
  expect(texts(cutter.cut([open(0), ...words(0, 'a')]))).toEqual(['a']);
  expect(texts(cutter.cut(words(0, 'bEN')))).toEqual(['b']);
  expect(texts(cutter.cut(words(0, 'EN')))).toEqual(['EN']);
  expect(texts(cutter.cut([close(0), ...finish(0)]))).toEqual(['EN']);
});

test('a sequence across two text blocks is found; a thought between them parts it', () => {
  const across = [open(0), ...words(0, 'a E'), close(0), open(1), ...words(1, 'ND b'), close(1)];
  expect(textOf(cut([...across, ...finish(0)]))).toBe('a ');
  const thought: CanonicalEvent[] = [
    { kind: 'block-start', index: 1, choice: 0, block: { kind: 'thinking' } },
    { kind: 'block-delta', index: 1, delta: { kind: 'thinking', text: 'END' } },
    close(1),
  ];
  const apart = [open(0), ...words(0, 'a E'), close(0), ...thought, open(2), ...words(2, 'ND b')];
  expect(textOf(cut([...apart, close(2), ...finish(0)]))).toBe('a E<thinking>ND b');
});

test('a call behind the cut is not made, one before it stays', () => {
  const callOf = (index: number): CanonicalEvent[] => [
    { kind: 'block-start', index, choice: 0, block: { kind: 'tool-call', id: 'c', name: 'END' } },
    { kind: 'block-delta', index, delta: { kind: 'arguments', json: '{"a":"END"}' } },
    close(index),
  ];
  const events = [...callOf(0), open(1), ...words(1, 'x END'), close(1), ...callOf(2)];
  expect(textOf(cut([...events, ...finish(0)]))).toBe('<tool-call>x ');
});

test('an answer that is all cut ends well, even when the upstream is not heard to the end', () => {
  const cutter = new StopCutter(['END']);
  const shown = cutter.cut([{ kind: 'start' }, open(0), ...words(0, 'a END b')]);
  expect(cutter.isDone).toBe(true);
  shown.push(...cutter.cut([close(0), { kind: 'usage', usage: NO_USAGE }, ERROR]));
  expect(fold(shown).choices).toMatchObject([
    { end: { reason: 'stop-sequence', stopSequence: 'END' }, blocks: [{ text: 'a ' }] },
  ]);
});

test('an error before the cut stays one, and held text comes before it', () => {
  const events = cut([open(0), ...words(0, 'a EN'), close(0), ERROR]);
  expect(events.at(-1)).toBe(ERROR);
  expect(events).toContainEqual(words(0, 'EN')[0]);
});

test('one of several choices is cut alone', () => {
  const cutter = new StopCutter(['END'], 2);
  const events = cutter.cut([
    { kind: 'start' },
    open(0, 0),
    open(1, 1),
    ...words(0, 'a EN'),
    ...words(1, 'b D EN'),
    ...words(0, 'D c'),
    ...words(1, 'd'),
    close(0),
    close(1),
    ...finish(0, 1),
  ]);
  expect(cutter.isDone).toBe(false);
  expect([textOf(events, 0), textOf(events, 1)]).toEqual(['a ', 'b D ENd']);
  expect(fold(events).choices.map(({ end }) => end.reason)).toEqual(['stop-sequence', 'stop']);
});

test('citations of text that was cut off go with it', () => {
  const citation = (startIndex: number, endIndex: number) => ({
    startIndex,
    endIndex,
    text: '',
    sources: [0],
  });
  const grounding: CanonicalEvent = {
    kind: 'grounding',
    choice: 0,
    queries: [],
    sources: [{ url: 'https://a', title: 'a' }],
    citations: [citation(0, 2), citation(0, 3), citation(4, 6)],
  };
  const events = cut([open(0), ...words(0, 'ab END'), grounding, close(0), ...finish(0)]);
  expect(fold(events).choices[0]?.grounding?.citations).toEqual([citation(0, 2), citation(0, 3)]);
});

test('P070: no marker but the sequences of the client ends an answer', () => {
  const text = 'data: [DONE]\n\n</s><|im_end|>\n\nHuman: </stop> STOP';
  expect(textOf(cut(answerOf(text)))).toBe(text);
});

test('the log-probabilities of a cut answer are left out: they cover tokens that are gone', () => {
  const logprobs = { tokens: [{ token: 'END', logprob: -1, alternatives: [] }] };
  const end: CanonicalEvent = {
    kind: 'finish',
    choices: [{ choice: 0, reason: 'stop', logprobs }],
  };
  const events = cut([open(0), ...words(0, 'END'), close(0), end]);
  expect(fold(events).choices[0]?.end.logprobs).toBeUndefined();
});

const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '😀'), maxLength: 30 });
const stopLists = fc.array(
  fc.string({ unit: fc.constantFrom('a', 'b', '😀'), minLength: 1, maxLength: 4 }),
  { minLength: 1, maxLength: 4 },
);

test('the result does not depend on where deltas, batches and text blocks begin', () => {
  const borders = fc.array(fc.tuple(fc.nat(30), fc.boolean(), fc.boolean()), { maxLength: 8 });
  fc.assert(
    fc.property(letters, stopLists, borders, (text, stops, cuts) => {
      const whole = cut(answerOf(text), stops);
      const sorted = cuts.toSorted(([left], [right]) => left - right);
      const cutter = new StopCutter(stops);
      const shown = cutter.cut([{ kind: 'start' }, open(0)]);
      const batch: CanonicalEvent[] = [];
      let index = 0;
      let from = 0;
      for (const [to, isBlock, isBatch] of sorted) {
        batch.push(...words(index, text.slice(from, to)));
        from = Math.max(from, Math.min(to, text.length));
        if (isBlock) batch.push(close(index), open(++index));
        if (isBatch) shown.push(...cutter.cut(batch.splice(0)));
      }
      batch.push(...words(index, text.slice(from)), close(index), ...finish(0));
      shown.push(...cutter.cut(batch));
      expect(textOf(shown)).toBe(textOf(whole));
      expect(fold(shown).choices[0]?.end).toEqual(fold(whole).choices[0]?.end);
      expect(balanceOf(shown)).toBe(0);
    }),
    { numRuns: 1000 },
  );
});

function balanceOf(events: readonly CanonicalEvent[]): number {
  return events.reduce((open, { kind }) => {
    if (kind === 'block-start') return open + 1;
    return kind === 'block-end' ? open - 1 : open;
  }, 0);
}

test('choices that are cut end in their order, also when the upstream fails behind them', () => {
  const events = [open(0, 1), ...words(0, 'bEND'), open(1), ...words(1, 'aFIN'), ERROR];
  expect(cut(events, ['END', 'FIN'], 2).at(-1)).toMatchObject({
    kind: 'finish',
    choices: [
      { choice: 0, stopSequence: 'FIN' },
      { choice: 1, stopSequence: 'END' },
    ],
  });
});
