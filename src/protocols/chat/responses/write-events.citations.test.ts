import { expect, test } from 'vitest';
import type { CanonicalEvent } from '../../../canonical/event.ts';
import type { GroundingEvent } from '../../../canonical/grounding.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { objectOf } from '../../../lib/read-values.ts';
import type { ReplyContext } from '../../writers.ts';
import { createContext, framesOf, read } from './responses.test-support.ts';
import { ResponsesWriter } from './write-events.ts';

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

/** The items that begin after each event; `…` where a text goes on. */
function pass(
  events: readonly CanonicalEvent[],
  context: Partial<ReplyContext> = {},
  tools: readonly JsonObject[] = [{ type: 'web_search' }],
): (readonly string[])[] {
  const { settings } = read({ input: 'x', tools: [...tools] });
  const writer = new ResponsesWriter({ ...createContext(), ...context }, settings);
  return events.map((event) =>
    framesOf(writer.write(event)).flatMap(({ type, item }) => {
      if (type === 'response.output_text.delta') return '…';
      return type === 'response.output_item.added' ? `${objectOf(item)?.type}` : [];
    }),
  );
}

test('text goes through as it comes, also in several blocks', () => {
  const events = [start(0, 'thinking'), start(1, 'text'), words(1), close(1), start(2, 'text')];
  expect(pass([...events, words(2)])).toEqual([['reasoning'], ['message'], ['…'], [], [], ['…']]);
});

test('what would close the message waits for the citations', () => {
  expect(pass([start(0, 'text'), words(0), close(0), call, close(1), grounding, finish])).toEqual([
    ...[['message'], ['…'], [], [], []],
    ...[['web_search_call', 'function_call'], []],
  ]);
});

test('answers wait for citations when the request or the model’s name asks for a search', () => {
  const events = [start(0, 'text'), call, finish];
  const [atOnce, late] = [
    [['message'], ['function_call'], []],
    [['message'], [], ['function_call']],
  ];
  expect(pass(events)).toEqual(late);
  expect(pass(events, {}, [])).toEqual(atOnce);
  expect(pass(events, { isSearchNamed: true }, [])).toEqual(late);
  expect(pass(events, { isSearchNamed: false }, [])).toEqual(atOnce);
});

test('a message that begins with code waits as one that begins with text', () => {
  const code: CanonicalEvent = {
    kind: 'block-start',
    index: 0,
    choice: 0,
    block: { kind: 'code', language: 'python', code: 'print(1)' },
  };
  expect(pass([code, close(0), call, close(1), grounding]).slice(2)).toEqual([
    ...[[], [], ['web_search_call', 'function_call']],
  ]);
});

test('citations known beforehand hold nothing back', () => {
  expect(pass([grounding, start(0, 'text'), call])).toEqual([
    ...[[], ['web_search_call', 'message'], ['function_call']],
  ]);
});

test('a search known beforehand without what it found holds no less back', () => {
  const early: CanonicalEvent = { ...grounding, isEarly: true };
  expect(pass([early, start(0, 'text'), close(0), call, grounding])).toEqual([
    ...[[], ['web_search_call', 'message'], [], []],
    ['function_call'],
  ]);
});
