import { expect, test } from 'vitest';
import { GatewayError } from '../../canonical/error.ts';
import type { CanonicalEvent } from '../../canonical/event.ts';
import { fold } from '../../canonical/fold.ts';
import { createReceipt } from '../../canonical/receipt.ts';
import { answerRule, TextRewriter } from './structured-text.ts';

const FINISH: CanonicalEvent = { kind: 'finish', choices: [{ choice: 0, reason: 'stop' }] };
const ERROR: CanonicalEvent = {
  kind: 'error',
  error: new GatewayError({ kind: 'upstream-unavailable', source: 'upstream', message: 'cut' }),
};

function createRewriter(): TextRewriter {
  const rule = answerRule({ kind: 'json' }, { receipt: createReceipt(), isTyped: false });
  if (rule === undefined) throw new Error('An answer in JSON has a rule.');
  return new TextRewriter(rule);
}

function eventsOf(pieces: readonly string[]): CanonicalEvent[] {
  return [
    { kind: 'start' },
    { kind: 'block-start', index: 0, choice: 0, block: { kind: 'text' } },
    ...pieces.map(
      (text): CanonicalEvent => ({ kind: 'block-delta', index: 0, delta: { kind: 'text', text } }),
    ),
    { kind: 'block-end', index: 0 },
    FINISH,
  ];
}

function textAfter(pieces: readonly string[]): string {
  const strip = createRewriter();
  const events = eventsOf(pieces).flatMap((event) => strip.rewrite([event]));
  const [block] = fold(events).choices[0]?.blocks ?? [];
  return block?.kind === 'text' ? block.text : '';
}

test.each([
  ['```json\n{"a":1}\n```', '{"a":1}'],
  ['```\n{"a":1}\n```', '{"a":1}'],
  ['\n```json\r\n{"a":1}\r\n```\n', '{"a":1}'],
  ['```json\n{"a":"```"}\n```', '{"a":"```"}'],
  ['{"a":1}', '{"a":1}'],
  ['```json\n{"a":1}', '```json\n{"a":1}'],
  ['```json\n{"a":1}\n```\nThat is it.', '```json\n{"a":1}\n```\nThat is it.'],
  ['Here:\n```json\n{}\n```', 'Here:\n```json\n{}\n```'],
  ['``', '``'],
])('%j is given as %j, however it is cut', (given, expected) => {
  expect(textAfter([given])).toBe(expected);
  expect(textAfter([...given])).toBe(expected);
});

test.each([
  ['  ```json \r\n{"a":1}\r\n\t ```', '{"a":1}'],
  ['```json\n{"a":1}\n\n```', '{"a":1}\n'],
  ['```json\n{"a":1}```', '{"a":1}'],
  ['```json {"a":1}\n```', '```json {"a":1}\n```'],
  ['````\n{}\n````', '````\n{}\n````'],
  ['```\n```', ''],
  ['```json\n``', '```json\n``'],
])('of %j is left %j', (given, expected) => {
  expect(textAfter([given])).toBe(expected);
  expect(textAfter([...given])).toBe(expected);
});

test('runs of blanks without end, which models write for JSON, keep nothing busy', () => {
  const blanks = ' '.repeat(1_000_000);
  for (const text of [`\`\`\`json\n{${blanks}`, `\`\`\`json\n{}\n\`\`\`${blanks}x`]) {
    expect(textAfter([text])).toBe(text);
  }
  expect(textAfter([`\`\`\`\n{}${blanks}\n\`\`\``])).toBe(`{}${blanks}`);
});

test('blanks before the text are not waited for long', () => {
  const strip = createRewriter();
  const pieces = Array.from({ length: 80 }, () => ' ');
  const shown = eventsOf([...pieces, '```json\n{}\n```']).map(
    (event) => strip.rewrite([event]).length,
  );
  expect(shown.slice(0, 66)).toEqual([1, 1, ...Array(64).fill(0)]);
  expect(shown.slice(66, 68)).toEqual([1, 1]);
  expect(textAfter([...pieces, '```json\n{}\n```'])).toBe(
    `${' '.repeat(80)}\`\`\`json\n{}\n\`\`\``,
  );
});

test('a text that begins otherwise is not held back', () => {
  const strip = createRewriter();
  const [start, open, first] = eventsOf([' {"a"', ':1}']);
  const shown = [start, open, first].map((event) => (event ? strip.rewrite([event]).length : 0));
  expect(shown).toEqual([1, 1, 1]);
});

test('positions of citations move with the text', () => {
  const strip = createRewriter();
  const events = eventsOf(['```json\n{"a":1}\n```']);
  const grounding: CanonicalEvent = {
    kind: 'grounding',
    choice: 0,
    queries: ['q'],
    sources: [{ url: 'https://a.test', title: 'A' }],
    citations: [
      { startIndex: 0, endIndex: 3, text: '```', sources: [0] },
      { startIndex: 0, endIndex: 15, text: '```json\n{"a":1}', sources: [0] },
      { startIndex: 8, endIndex: 15, text: '{"a":1}', sources: [0] },
    ],
  };
  const shown = [...events.slice(0, 3), grounding, ...events.slice(3)].flatMap((event) =>
    strip.rewrite([event]),
  );
  expect(shown.find(({ kind }) => kind === 'grounding')).toMatchObject({
    citations: [{ startIndex: 0, endIndex: 7, text: '{"a":1}' }],
  });
});

test.each([FINISH, ERROR])('an answer that breaks off keeps what came of it', (end) => {
  const strip = createRewriter();
  const events = eventsOf(['```json\n{"a"']).slice(0, 3);
  const shown = [...events, end].flatMap((event) => strip.rewrite([event]));
  expect(shown).toEqual([...events, end]);
});

test('a text that waits for its end counts as held until then', () => {
  const rewriter = createRewriter();
  const delta = (text: string) =>
    rewriter.rewrite([{ kind: 'block-delta', index: 0, delta: { kind: 'text', text } }]);
  rewriter.rewrite([{ kind: 'block-start', index: 0, choice: 0, block: { kind: 'text' } }]);
  delta('```json\n');
  for (let n = 0; n < 10; n += 1) expect(delta('1'.repeat(10_000))).toEqual([]);
  expect(rewriter.heldBytes).toBe(100_008);
  const [whole] = rewriter.rewrite([{ kind: 'block-end', index: 0 }]);
  expect(whole).toMatchObject({ delta: { text: `\`\`\`json\n${'1'.repeat(100_000)}` } });
  expect(rewriter.heldBytes).toBe(0);
});
