import { expect, test } from 'vitest';
import type { CanonicalEvent, FinishReason } from '../../../canonical/event.ts';
import { NO_USAGE } from '../../../canonical/usage.ts';
import { isJsonObject, type JsonValue } from '../../../lib/json.ts';
import { framesOf, read, stream } from './responses.test-support.ts';

const USER = { role: 'user', content: 'Long words.' };
const TRIGGER = { type: 'compaction_trigger' };
const TOOL = { type: 'function', name: 'f', parameters: { type: 'object', properties: {} } };

/** Thoughts and a text, which ends for this reason. */
function answer(text: string, reason: FinishReason = 'stop'): CanonicalEvent[] {
  return [
    { kind: 'start' },
    { kind: 'block-start', index: 0, choice: 0, block: { kind: 'thinking' } },
    { kind: 'block-delta', index: 0, delta: { kind: 'thinking', text: 'hm' } },
    { kind: 'block-end', index: 0 },
    { kind: 'block-start', index: 1, choice: 0, block: { kind: 'text' } },
    { kind: 'block-delta', index: 1, delta: { kind: 'text', text } },
    { kind: 'block-end', index: 1 },
    { kind: 'usage', usage: NO_USAGE },
    { kind: 'finish', choices: [{ choice: 0, reason }] },
  ];
}

/** The terminal event of the answer to a request for a summary, and the kinds of all of its events. */
function summarize(events: readonly CanonicalEvent[]) {
  const { settings } = read({ input: [USER, TRIGGER] });
  const frames = framesOf(stream(events, settings));
  const response: Record<string, JsonValue> = Object(frames.at(-1)?.response);
  return { kinds: frames.map(({ type }) => type), response };
}

test('a trigger asks the model for a summary in words, and for no call', () => {
  const { canonical, notes } = read({
    input: [USER, TRIGGER],
    tools: [TOOL],
    tool_choice: 'required',
    text: { format: { type: 'json_object' } },
  });
  expect(canonical.turns).toHaveLength(2);
  expect(canonical.turns[1]).toMatchObject({
    role: 'user',
    parts: [{ text: expect.stringContaining('summarize') }],
  });
  expect(canonical).toMatchObject({ toolChoice: { kind: 'none' }, outputFormat: { kind: 'text' } });
  expect(notes).toMatchObject([{ action: 'approximated', path: 'input' }]);
});

test('the answer is exactly one compaction item, which stands for the words of the summary later', () => {
  const { kinds, response } = summarize(answer('All is done — or not.'));
  expect(kinds).toEqual([
    'response.created',
    'response.in_progress',
    'response.output_item.added',
    'response.output_item.done',
    'response.completed',
  ]);
  expect(response.output).toMatchObject([{ type: 'compaction' }]);
  const output = Array.isArray(response.output) ? response.output : [];
  const { canonical, notes } = read({ input: [...output, USER] });
  expect(canonical.turns[0]).toMatchObject({
    role: 'user',
    parts: [{ text: expect.stringContaining('All is done — or not.') }],
  });
  expect(notes).toEqual([]);
});

test.each<[string, CanonicalEvent[]]>([
  ['cut', answer('All is', 'max-tokens')],
  ['blank', answer(' \n')],
])('a summary that was %s is none', (_name, events) => {
  const { response } = summarize(events);
  expect(response).toMatchObject({ status: 'incomplete', output: [] });
});

test('a trigger before other items, and a summary only its issuer can read, are left out', () => {
  const sealed = { type: 'compaction', encrypted_content: 'gAAAAABo' };
  const { canonical, settings, notes } = read({ input: [sealed, TRIGGER, USER] });
  expect(settings.isSummary).toBe(false);
  expect(canonical.turns).toHaveLength(1);
  expect(notes.map(({ path }) => path)).toEqual(['input[0]', 'input[1]']);
});

test('a kept conversation goes on from its summary; its instructions and tools stay', () => {
  const { response } = summarize(answer('All is done.'));
  const output = Array.isArray(response.output) ? response.output.filter(isJsonObject) : [];
  const history = [
    { role: 'developer', content: 'Be brief.' },
    { type: 'additional_tools', role: 'developer', tools: [TOOL] },
    USER,
    { role: 'assistant', content: 'Yes.' },
    TRIGGER,
    ...output,
  ];
  const earlier = { history, session: 'body resp_1', findItem: () => undefined };
  const { canonical, notes } = read({ previous_response_id: 'resp_2', input: 'Next.' }, earlier);
  expect(canonical.turns).toMatchObject([
    { role: 'user', parts: [{ text: expect.stringContaining('All is done.') }] },
    { role: 'user', parts: [{ text: 'Next.' }] },
  ]);
  expect(canonical).toMatchObject({ system: [{ text: 'Be brief.' }], tools: [{ name: 'f' }] });
  expect(notes).toEqual([]);
});

test('a kept conversation that could not be summarized stays whole, and its trigger says nothing', () => {
  const earlier = { history: [USER, TRIGGER], session: 'body resp_1', findItem: () => undefined };
  const { canonical, notes } = read({ previous_response_id: 'resp_1', input: 'Next.' }, earlier);
  expect(canonical.turns).toHaveLength(2);
  expect(notes).toEqual([]);
});
