import { expect, test } from 'vitest';
import type { CanonicalEvent, GroundingEvent } from '../../../canonical/event.ts';
import { createHold } from './write-events.ts';

const start = (index: number, kind: 'text' | 'thinking'): CanonicalEvent => ({
  kind: 'block-start',
  index,
  choice: 0,
  block: { kind },
});
const call: CanonicalEvent = {
  kind: 'block-start',
  index: 1,
  choice: 0,
  block: { kind: 'tool-call', id: 'c', name: 'f' },
};
const words = (index: number): CanonicalEvent => ({
  kind: 'block-delta',
  index,
  delta: { kind: 'text', text: 'a' },
});
const close = (index: number): CanonicalEvent => ({ kind: 'block-end', index });
const grounding: GroundingEvent = {
  kind: 'grounding',
  choice: 0,
  queries: ['q'],
  sources: [],
  citations: [],
};
const finish: CanonicalEvent = { kind: 'finish', choices: [{ choice: 0, reason: 'stop' }] };

/** What comes out after each event. */
function pass(events: readonly CanonicalEvent[]): (readonly string[])[] {
  const hold = createHold({ drafts: 0, mayCite: true }, {});
  return events.map((event) => (hold?.(event) ?? []).map(({ kind }) => kind));
}

test('text goes through as it comes, also in several blocks', () => {
  const events = [start(0, 'thinking'), start(1, 'text'), words(1), close(1), start(2, 'text')];
  expect(pass(events)).toEqual(events.map(({ kind }) => [kind]));
});

test('what would close the message waits for the citations', () => {
  expect(pass([start(0, 'text'), words(0), close(0), call, close(1), grounding, finish])).toEqual([
    ['block-start'],
    ['block-delta'],
    ['block-end'],
    [],
    [],
    ['grounding', 'block-start', 'block-end'],
    ['finish'],
  ]);
});

test('a message that begins with code waits as one that begins with text', () => {
  const code: CanonicalEvent = {
    kind: 'block-start',
    index: 0,
    choice: 0,
    block: { kind: 'code', language: 'python', code: 'print(1)' },
  };
  expect(pass([code, close(0), call, close(1), grounding]).slice(2)).toEqual([
    [],
    [],
    ['grounding', 'block-start', 'block-end'],
  ]);
});

test('an answer that ends without citations loses nothing', () => {
  expect(pass([start(0, 'text'), call, finish]).at(-1)).toEqual(['block-start', 'finish']);
});

test('citations known beforehand hold nothing back', () => {
  expect(pass([grounding, start(0, 'text'), call])).toEqual([
    ['grounding'],
    ['block-start'],
    ['block-start'],
  ]);
});

test('a search known beforehand without what it found holds no less back', () => {
  const early: CanonicalEvent = { ...grounding, isEarly: true };
  expect(pass([early, start(0, 'text'), close(0), call, grounding])).toEqual([
    ['grounding'],
    ['block-start'],
    ['block-end'],
    [],
    ['grounding', 'block-start'],
  ]);
});
