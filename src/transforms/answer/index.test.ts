import { expect, test } from 'vitest';
import { assistant, call, contextOf, requestOf, user } from '../../../test/support/canonical.ts';
import type { CanonicalEvent } from '../../canonical/event.ts';
import { createReceipt } from '../../canonical/receipt.ts';
import type { CanonicalRequest, FunctionTool } from '../../canonical/request.ts';
import { acceptToolNames } from '../tools.ts';
import { type AnswerTransform, createAnswerRules } from './index.ts';

const READ: FunctionTool = {
  kind: 'function',
  name: 'Read',
  parameters: {
    type: 'object',
    properties: { file_path: { type: 'string' }, limit: { type: 'integer' } },
    required: ['file_path'],
  },
};
const FREE: FunctionTool = { kind: 'function', name: 'Free' };

function transformOf(
  change: Partial<CanonicalRequest>,
  receipt = createReceipt(),
): AnswerTransform {
  let issued = 0;
  return createAnswerRules({
    request: requestOf(change),
    receipt,
    createId: (prefix) => {
      issued += 1;
      return `${prefix}new${issued}`;
    },
  }).transform;
}

function callEvents(
  { index = 0, choice = 0, id = 'c', name = 'Read' },
  ...pieces: readonly string[]
): CanonicalEvent[] {
  const deltas = pieces.map(
    (json): CanonicalEvent => ({ kind: 'block-delta', index, delta: { kind: 'arguments', json } }),
  );
  return [
    { kind: 'block-start', index, choice, block: { kind: 'tool-call', id, name } },
    ...deltas,
    { kind: 'block-end', index },
  ];
}

/** Name, id and arguments of the calls the client sees. */
function callsIn(events: readonly CanonicalEvent[]): string[] {
  return events.flatMap((event) => {
    if (event.kind === 'block-start' && event.block.kind === 'tool-call') {
      return [`${event.block.name} ${event.block.id}`];
    }
    return event.kind === 'block-delta' && event.delta.kind === 'arguments'
      ? [event.delta.json]
      : [];
  });
}

const TEXT: readonly CanonicalEvent[] = [
  { kind: 'start' },
  { kind: 'block-start', index: 0, choice: 0, block: { kind: 'text' } },
  { kind: 'block-delta', index: 0, delta: { kind: 'text', text: 'x' } },
  { kind: 'block-end', index: 0 },
  { kind: 'finish', choices: [{ choice: 0, reason: 'stop' }] },
];

test('batches without a call come back as the same array', () => {
  expect(transformOf({ tools: [READ], parallelToolCalls: false })(TEXT)).toBe(TEXT);
});

test('without callable tools nothing is looked at', () => {
  const events = callEvents({ id: 'odd id' }, '{}');
  expect(transformOf({ tools: [{ kind: 'web-search' }] })(events)).toBe(events);
});

test('arguments in pieces, over several batches, are repaired as one before the call ends', () => {
  const transform = transformOf({ tools: [READ] });
  const [start, first, second, end] = callEvents({}, '{"path":"a",', '"limit":"5"}');
  const seen = [[start], [first], [second], [end]].map((batch) =>
    transform(batch.filter((event) => event !== undefined)),
  );
  expect(seen.map((events) => events.length)).toEqual([1, 0, 0, 2]);
  expect(callsIn(seen.flat())).toEqual(['Read c', '{"file_path":"a","limit":5}']);
});

test('arguments that need no repair keep every byte', () => {
  const json = '{ "limit": 5.0, "file_path" : "\\u0061" }';
  expect(callsIn(transformOf({ tools: [READ] })(callEvents({}, json)))).toEqual(['Read c', json]);
});

test('pieces for a tool whose schema says nothing pass as they come', () => {
  const events = callEvents({ name: 'Free' }, '{"a":', '1}');
  expect(transformOf({ tools: [FREE] })(events)).toEqual(events);
});

test('what stands beside a call in one batch goes out as it came', () => {
  const text: CanonicalEvent[] = [
    { kind: 'block-start', index: 1, choice: 0, block: { kind: 'text' } },
    { kind: 'block-delta', index: 1, delta: { kind: 'text', text: 'Done.' } },
    { kind: 'block-end', index: 1 },
  ];
  const events = [...callEvents({ name: 'Free' }, '{}'), ...text];
  expect(transformOf({ tools: [FREE] })(events)).toEqual(events);
});

test('a call without arguments stays without', () => {
  const events = callEvents({});
  expect(transformOf({ tools: [READ] })(events)).toEqual(events);
});

test('a call by a near name is repaired by the schema of the tool that was meant', () => {
  const events = callEvents({ name: 'read' }, '{"path":"a"}');
  expect(callsIn(transformOf({ tools: [READ] })(events))).toEqual(['Read c', '{"file_path":"a"}']);
});

test('two parallel calls stay two calls with their own arguments (P047)', () => {
  const events = [
    ...callEvents({ index: 0, id: 'a' }, '{"file_path":"1"}'),
    ...callEvents({ index: 1, id: 'b' }, '{"file_path":"2"}'),
  ];
  expect(transformOf({ tools: [READ] })(events)).toEqual(events);
});

test('one call a choice for clients that want one; the hidden one is told in the receipt alone', () => {
  const receipt = createReceipt();
  const transform = transformOf({ tools: [READ], parallelToolCalls: false }, receipt);
  const shown = transform([
    ...callEvents({ index: 0, id: 'a' }, '{"file_path":"1"}'),
    ...callEvents({ index: 1, id: 'b' }, '{"file_path":"2"}'),
    ...callEvents({ index: 2, id: 'c', choice: 1 }, '{"file_path":"3"}'),
  ]);
  expect(callsIn(shown).filter((line) => line.startsWith('Read'))).toEqual(['Read a', 'Read c']);
  expect(new Set(shown.map((event) => ('index' in event ? event.index : -1)))).toEqual(
    new Set([0, 2]),
  );
  expect(transform(TEXT)).toBe(TEXT);
  expect(receipt.entries).toMatchObject([{ action: 'dropped', path: 'tool_calls' }]);
});

test.each(['has space', 'dotted.id', 'x'.repeat(65), 'früh'])(
  'the id %s, which not every client can carry, is replaced (P045)',
  (id) => {
    const events = callEvents({ id }, '{"file_path":"1"}');
    expect(callsIn(transformOf({ tools: [READ] })(events))[0]).toBe('Read call_new1');
  },
);

test('an id that already stands in the conversation is replaced, others are kept (P045, P046)', () => {
  const turns = [user('go'), assistant(call('call_0'))];
  const transform = transformOf({ tools: [READ], turns });
  expect(callsIn(transform(callEvents({ id: 'call_0' }, '{"file_path":"1"}')))[0]).toBe(
    'Read call_new1',
  );
  expect(callsIn(transform(callEvents({ index: 1, id: 'call_1' })))[0]).toBe('Read call_1');
});

test('what stood on the opening stays on it', () => {
  const signature = { value: 'S', family: 'alpha', on: 'tool-call' } as const;
  const block = { kind: 'tool-call', id: 'odd id', name: 'read', signature } as const;
  const [shown] = transformOf({ tools: [READ] })([
    { kind: 'block-start', index: 0, choice: 0, block },
  ]);
  expect(shown).toMatchObject({ block: { name: 'Read', id: 'call_new1', signature } });
});

test('a call of a tool that went upstream under another name comes back under its own', () => {
  const own = 'files/read all';
  const tool: FunctionTool = { ...READ, name: own };
  const { tools } = acceptToolNames(requestOf({ tools: [tool] }), contextOf());
  const [sent] = tools;
  const name = sent?.kind === 'function' ? sent.name : '';
  expect(name).not.toBe(own);
  const transform = transformOf({ tools: [tool] });
  // The arguments are repaired by the schema of the tool that was meant.
  const events = transform(callEvents({ name }, '{"file_path":"a","limit":"3"}'));
  expect(callsIn(events)).toEqual([`${own} c`, '{"file_path":"a","limit":3}']);
});

test('code the upstream ran stands in no answer of a given form, and in every other', () => {
  const events: CanonicalEvent[] = [
    { kind: 'start' },
    {
      kind: 'block-start',
      index: 0,
      choice: 0,
      block: { kind: 'code', language: 'python', code: '1' },
    },
    { kind: 'block-end', index: 0 },
    {
      kind: 'block-start',
      index: 1,
      choice: 0,
      block: { kind: 'code-result', outcome: 'ok', output: '1' },
    },
    { kind: 'block-end', index: 1 },
    { kind: 'block-start', index: 2, choice: 0, block: { kind: 'text' } },
    { kind: 'block-delta', index: 2, delta: { kind: 'text', text: '{}' } },
    { kind: 'block-end', index: 2 },
  ];
  const tools: CanonicalRequest['tools'] = [{ kind: 'code-execution' }];
  expect(transformOf({ tools })(events)).toBe(events);
  const receipt = createReceipt();
  const { transform } = createAnswerRules({
    request: requestOf({ tools, outputFormat: { kind: 'json' } }),
    receipt,
    createId: (prefix) => prefix,
  });
  const shown = events.flatMap((event) => transform([event]));
  expect(shown.map((event) => ('index' in event ? event.index : event.kind))).toEqual([
    'start',
    2,
    2,
    2,
  ]);
  expect(receipt.entries).toMatchObject([{ action: 'dropped', path: 'answer' }]);
});
