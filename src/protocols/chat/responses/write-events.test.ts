import { expect, test } from 'vitest';
import { checkStreamText } from '../../../../test/support/stream-grammar/check-stream-text.ts';
import { GatewayError } from '../../../canonical/error.ts';
import type { CanonicalEvent } from '../../../canonical/event.ts';
import { fold } from '../../../canonical/fold.ts';
import { unfold } from '../../../canonical/unfold.ts';

import { isJsonObject, type JsonObject } from '../../../lib/json.ts';
import { type Block, eventsOf } from '../answers.test-support.ts';
import type { ResponseSettings } from './read-request.ts';
import { createContext, framesOf, officialClient, read, stream } from './responses.test-support.ts';
import { ResponsesWriter, writeResponse } from './write-events.ts';

const { settings } = read({
  input: 'x',
  reasoning: { summary: 'auto' },
  store: false,
  tools: [
    { type: 'function', name: 'w' },
    { type: 'custom', name: 'patch' },
    {
      ...{ type: 'namespace', name: 'ns' },
      tools: [
        { type: 'function', name: 'f' },
        { type: 'custom', name: 'run' },
      ],
    },
    { type: 'local_shell' },
    { type: 'tool_search', execution: 'client' },
    { type: 'shell', environment: { type: 'local' } },
    { type: 'apply_patch' },
  ],
});

const SIGNATURE = 'sig';

const ANSWERS: Readonly<Record<string, Block[]>> = {
  text: [{ kind: 'text', pieces: ['Hel', 'lo é😀\n', '"quoted"'] }],
  'thoughts, text and parallel calls': [
    { kind: 'thinking', pieces: ['think ', 'more'] },
    { kind: 'text', pieces: ['Looking.'] },
    { kind: 'call', id: 'call_1', name: 'w', json: ['{"c":', '"P"}'], signature: SIGNATURE },
    { kind: 'call', id: 'call_2', name: 'w', json: [] },
  ],
  'calls of every form': [
    { kind: 'call', id: 'c1', name: 'patch', json: ['{"input":"a\\nb"}'] },
    { kind: 'call', id: 'c2', name: 'ns__f', json: ['{"x":1}'] },
    { kind: 'call', id: 'c3', name: 'local_shell', json: ['{"type":"exec","command":["ls"]}'] },
    { kind: 'call', id: 'c4', name: 'tool_search', json: ['{"query":"q"}'] },
    { kind: 'call', id: 'c5', name: 'undeclared', json: [] },
    { kind: 'call', id: 'c6', name: 'shell', json: ['{"commands":["ls"]}'] },
    {
      kind: 'call',
      id: 'c7',
      name: 'apply_patch',
      json: ['{"type":"delete_file","path":"a"}'],
    },
    { kind: 'call', id: 'c8', name: 'ns__run', json: ['{"input":"b"}'] },
  ],
  'text after a call, pictures and code': [
    { kind: 'text', pieces: ['before'] },
    { kind: 'call', id: 'c1', name: 'w', json: [] },
    { kind: 'text', pieces: ['after'] },
    { kind: 'image', base64: 'AA==' },
    { kind: 'code', code: 'print(1)' },
    { kind: 'text', pieces: ['end'] },
  ],
  nothing: [],
  'thoughts alone': [{ kind: 'thinking', pieces: ['hm'] }],
};

const CASES = Object.entries(ANSWERS);

test.each(CASES)('the stream of %s keeps every rule of the protocol', (_name, blocks) => {
  checkStreamText('responses', stream(eventsOf([blocks]), settings));
});

test('what is held until the end is counted, with the pictures', () => {
  const blocks: Block[] = [
    { kind: 'thinking', pieces: ['think ', 'more'] },
    { kind: 'text', pieces: ['é😀'] },
    { kind: 'call', id: 'c1', name: 'w', json: ['{"c":', '"P"}'] },
    { kind: 'image', base64: 'AA==' },
  ];
  const bare = blocks.map((block) => ({ ...block, pieces: [], json: [], base64: '' }));
  const heldOf = (given: Block[], change: Partial<ResponseSettings> = {}): number => {
    const writer = new ResponsesWriter(createContext(), { ...settings, ...change });
    for (const event of eventsOf([given])) writer.write(event);
    return writer.heldBytes;
  };
  expect(heldOf(bare)).toBeGreaterThan(4 * 500);
  expect(heldOf(blocks) - heldOf(bare)).toBe(10 + 6 + 9 + 4);
  const hidden = { showsThoughts: false };
  expect(heldOf(blocks, hidden) - heldOf(bare, hidden)).toBe(6 + 9 + 4);
});

test.each(CASES)('the unary answer with %s equals the end of its stream', (_name, blocks) => {
  const events = eventsOf([blocks]);
  const last = framesOf(stream(events, settings)).at(-1)?.response;
  expect(writeResponse(fold(events), new ResponsesWriter(createContext(), settings))).toEqual(last);
});

test.each(CASES)('an answer with %s is the same after unfolding', (_name, blocks) => {
  const reply = fold(eventsOf([blocks]));
  expect(fold(unfold(reply))).toEqual(reply);
});

test('the life of a text: created, in progress, item, part, deltas, and all of them done', () => {
  const types = framesOf(stream(eventsOf([[{ kind: 'text', pieces: ['Hi'] }]]), settings)).map(
    ({ type }) => String(type).replace('response.', ''),
  );
  expect(types).toEqual([
    'created',
    'in_progress',
    'output_item.added',
    'content_part.added',
    'output_text.delta',
    'output_text.done',
    'content_part.done',
    'output_item.done',
    'completed',
  ]);
});

test('calls are items of the kind that was declared, with name and namespace', () => {
  expect(outputOf(ANSWERS['calls of every form'] ?? [])).toMatchObject([
    { type: 'custom_tool_call', call_id: 'c1', name: 'patch', input: 'a\nb', status: 'completed' },
    { type: 'function_call', call_id: 'c2', name: 'f', namespace: 'ns', arguments: '{"x":1}' },
    { type: 'local_shell_call', call_id: 'c3', action: { type: 'exec', command: ['ls'] } },
    { type: 'tool_search_call', call_id: 'c4', execution: 'client', arguments: { query: 'q' } },
    { type: 'function_call', call_id: 'c5', name: 'undeclared', arguments: '{}' },
    { type: 'shell_call', call_id: 'c6', action: { commands: ['ls'], timeout_ms: null } },
    { type: 'apply_patch_call', call_id: 'c7', operation: { type: 'delete_file', path: 'a' } },
    { type: 'custom_tool_call', call_id: 'c8', name: 'run', namespace: 'ns', input: 'b' },
  ]);
});

test("a call's proof stands on a reasoning item before it when nothing is kept", () => {
  const call: Block = { kind: 'call', id: 'c', name: 'w', json: [], signature: SIGNATURE };
  const proof = 'gw1:fam:tool-call:sig';
  expect(outputOf([call])).toMatchObject([
    { type: 'reasoning', summary: [], encrypted_content: proof },
    { type: 'function_call', call_id: 'c' },
  ]);
  const stored = { ...settings, carriesReasoning: false };
  expect(outputOf([call], stored)).toMatchObject([{ type: 'function_call', call_id: 'c' }]);
});

test('thoughts nobody asked a summary of are not told, their proof is', () => {
  const signature = { value: SIGNATURE, family: 'fam', on: 'thinking' } as const;
  const events = eventsOf([
    [
      { kind: 'thinking', pieces: ['hm'] },
      { kind: 'text', pieces: ['Hi'] },
    ],
  ]).map((event) =>
    event.kind === 'block-end' && event.index === 0 ? { ...event, signature } : event,
  );
  const silent = { ...settings, showsThoughts: false };
  const text = stream(events, silent);
  checkStreamText('responses', text);
  expect(text).not.toContain('hm');
  const response = framesOf(text).at(-1)?.response;
  expect(response).toEqual(responseOf(events, silent));
  expect(response).toMatchObject({
    output: [
      { type: 'reasoning', summary: [], encrypted_content: 'gw1:fam:thinking:sig' },
      { type: 'message' },
    ],
  });
});

test('an answer that ran out of tokens, was filtered or is blank is incomplete (P105)', () => {
  const text: Block[] = [{ kind: 'text', pieces: ['Hi'] }];
  const endOf = (blocks: Block[], reason: 'stop' | 'max-tokens' | 'safety'): unknown => {
    const { status, incomplete_details: details } = responseOf(eventsOf([blocks], [reason]));
    return { status, details };
  };
  expect(endOf(text, 'stop')).toEqual({ status: 'completed', details: null });
  expect(endOf(text, 'max-tokens')).toEqual({
    status: 'incomplete',
    details: { reason: 'max_output_tokens' },
  });
  expect(endOf(text, 'safety')).toEqual({
    status: 'incomplete',
    details: { reason: 'content_filter' },
  });
  const space: Block[] = [{ kind: 'text', pieces: [' ', '\n'] }];
  for (const blank of [ANSWERS.nothing ?? [], ANSWERS['thoughts alone'] ?? [], space]) {
    expect(endOf(blank, 'stop')).toEqual({
      status: 'incomplete',
      details: { reason: 'max_output_tokens' },
    });
  }
});

test.each([
  ['with text before it', [{ kind: 'text', pieces: ['Hi'] }]],
  ['without a word', []],
] satisfies [string, Block[]][])(
  'an answer withheld %s says why, behind all else',
  async (_name, blocks) => {
    const events = withheld(eventsOf([blocks], ['safety']), 'Too dangerous.');
    const text = stream(events, settings);
    checkStreamText('responses', text);
    const response = framesOf(text).at(-1)?.response;
    expect(response).toEqual(responseOf(events));
    expect(response).toMatchObject({ status: 'incomplete' });
    const content = [{ type: 'refusal', refusal: 'Too dangerous.' }];
    expect(listOutput(events).at(-1)).toMatchObject({
      type: 'message',
      role: 'assistant',
      content,
    });
    expect(listOutput(events)).toHaveLength(blocks.length + 1);
    const client = officialClient(text, 'text/event-stream');
    const final = await client.responses.stream({ model: 'm', input: 'x' }).finalResponse();
    expect(final.output.at(-1)).toMatchObject({ content });
    expect(final.output_text).toBe(blocks.length === 0 ? '' : 'Hi');
  },
);

test('an answer more than was asked for is not mixed into the first', () => {
  const text = (word: string): Block => ({ kind: 'text', pieces: [word] });
  const events = eventsOf([
    [text('A')],
    [text('B'), { kind: 'call', id: 'c', name: 'w', json: [] }],
  ]);
  expect(responseOf(events).output).toMatchObject([{ content: [{ text: 'A' }] }]);
  expect(framesOf(stream(events, settings)).at(-1)?.response).toEqual(responseOf(events));
});

test('an unasked answer that ends in the middle of the first one does not end its item', () => {
  const [start, ...first] = eventsOf([[{ kind: 'thinking', pieces: ['a', 'b'] }]]);
  const other: CanonicalEvent[] = [
    { kind: 'block-start', index: 1, choice: 1, block: { kind: 'thinking' } },
    { kind: 'block-delta', index: 1, delta: { kind: 'thinking', text: 'X' } },
    { kind: 'block-end', index: 1 },
  ];
  if (start === undefined) throw new Error('An answer has a start.');
  const mixed = [start, ...first.slice(0, 2), ...other, ...first.slice(2)];
  expect(framesOf(stream(mixed, settings)).at(-1)?.response).toMatchObject({
    output: [{ type: 'reasoning', summary: [{ text: 'ab' }] }],
  });
});

test.each([
  ['rate-limited', 'rate_limit_exceeded', 'Too fast. Please try again in 2s.'],
  ['quota-exhausted', 'insufficient_quota', 'Too fast.'],
  ['overloaded', 'server_is_overloaded', 'Too fast.'],
  ['internal', 'server_error', 'Too fast.'],
  ['upstream-rejected', 'invalid_prompt', 'Too fast.'],
  ['not-found', 'invalid_prompt', 'Too fast.'],
] as const)('a failure of the kind %s has the code that coding CLIs act on', (kind, code, said) => {
  const error = new GatewayError({
    ...{ kind, source: 'upstream', message: 'Too fast.', retryAfterMs: 1500 },
  });
  const frames = framesOf(stream([{ kind: 'start' }, { kind: 'error', error }], settings));
  expect(frames.at(-1)).toMatchObject({ response: { error: { code, message: said } } });
});

test('a failure that the request is to blame for names its field, as a refusal does', () => {
  const said = { kind: 'upstream-rejected', source: 'upstream', field: 'temperature' } as const;
  const error = new GatewayError({ ...said, message: 'Too hot.' });
  const frames = framesOf(stream([{ kind: 'start' }, { kind: 'error', error }], settings));
  expect(frames.at(-1)?.response).toMatchObject({
    error: { message: 'Too hot.', type: 'invalid_request_error', param: 'temperature' },
  });
});

test('a late failure ends the stream as failed, one before the beginning as an error', () => {
  const message = 'The answer broke off.';
  const error = new GatewayError({ kind: 'upstream-unavailable', source: 'upstream', message });
  const begun = eventsOf([ANSWERS.text ?? []]).slice(0, 3);
  const frames = framesOf(stream([...begun, { kind: 'error', error }], settings));
  expect(frames.at(-1)).toMatchObject({
    type: 'response.failed',
    response: { status: 'failed', error: { code: 'server_error', message } },
  });
  expect(framesOf(stream([{ kind: 'error', error }], settings))).toMatchObject([
    { type: 'error', sequence_number: 0, message },
  ]);
});

test('a failed response holds what was said of the item that was open, which is not done', () => {
  const error = new GatewayError({ kind: 'timeout', source: 'upstream', message: 'Late.' });
  const broken = (events: readonly CanonicalEvent[]) =>
    framesOf(stream([{ kind: 'start' }, ...events, { kind: 'error', error }], settings));
  const opened = (kind: 'text' | 'thinking', ...pieces: readonly string[]): CanonicalEvent[] => [
    { kind: 'block-start', index: 0, choice: 0, block: { kind } },
    ...pieces.map(
      (text): CanonicalEvent => ({ kind: 'block-delta', index: 0, delta: { kind, text } }),
    ),
  ];
  const text = broken(opened('text', 'So ', 'far'));
  const part = { type: 'output_text', text: 'So far', annotations: [], logprobs: [] };
  expect(text.at(-1)?.response).toMatchObject({
    status: 'failed',
    output: [{ type: 'message', status: 'incomplete', role: 'assistant', content: [part] }],
  });
  expect(text.some(({ type }) => type === 'response.output_item.done')).toBe(false);
  expect(broken(opened('thinking', 'Hm')).at(-1)?.response).toMatchObject({
    output: [{ type: 'reasoning', status: 'incomplete', summary: [{ text: 'Hm' }] }],
  });
  for (const silent of [opened('text'), opened('thinking')]) {
    expect(broken(silent).at(-1)?.response).toMatchObject({ output: [] });
  }
  const call: CanonicalEvent = {
    kind: 'block-start',
    index: 0,
    choice: 0,
    block: { kind: 'tool-call', id: 'c', name: 'w' },
  };
  expect(broken([call]).at(-1)?.response).toMatchObject({ output: [] });
});

const GROUNDING: CanonicalEvent = {
  kind: 'grounding',
  choice: 0,
  queries: ['q1', 'q2'],
  sources: [{ url: 'https://a.example/', title: 'A' }],
  citations: [{ startIndex: 0, endIndex: 2, text: 'Hi', sources: [0] }],
};

test('a search is an item, and its sources are citations of the text', () => {
  const events = eventsOf([[{ kind: 'text', pieces: ['Hi there'] }]]);
  const late = [...events.slice(0, -2), GROUNDING, ...events.slice(-2)];
  const text = stream(late, { ...settings, namesSources: true });
  checkStreamText('responses', text);
  const response = framesOf(text).at(-1)?.response;
  const citation = {
    type: 'url_citation',
    start_index: 0,
    end_index: 2,
    url: 'https://a.example/',
    title: 'A',
  };
  expect(response).toMatchObject({
    output: [
      { type: 'message', content: [{ annotations: [citation] }] },
      {
        type: 'web_search_call',
        status: 'completed',
        action: { type: 'search', query: 'q1', queries: ['q1', 'q2'], sources: [{ type: 'url' }] },
      },
    ],
  });
  expect(writeResponse(fold(late), new ResponsesWriter(createContext(), settings))).toMatchObject({
    output: [{ type: 'web_search_call' }, { type: 'message' }],
  });
});

test('what a search found is listed for clients that ask for it', () => {
  const events = eventsOf([[{ kind: 'text', pieces: ['Hi there'] }]]);
  const late = [...events.slice(0, -2), GROUNDING, ...events.slice(-2)];
  const response = (include: string[]) => {
    const asking = read({ input: 'x', tools: [{ type: 'web_search' }], include }).settings;
    return framesOf(stream(late, asking)).at(-1)?.response;
  };
  const results = [{ url: 'https://a.example/', title: 'A' }];
  expect(response(['web_search_call.results'])).toMatchObject({
    output: [{ type: 'message' }, { type: 'web_search_call', results }],
  });
  expect(JSON.stringify(response([]))).not.toContain('"results"');
});

test('searches that are told before the text stand before it with what they found, each once', () => {
  const [start, ...rest] = eventsOf([[{ kind: 'text', pieces: ['Hi there'] }]]);
  if (start === undefined) throw new Error('An answer has a start.');
  const sources = ['a', 'b', 'c'].map((name) => ({ url: `https://${name}.example/`, title: name }));
  const early = (queries: string[], found: number): CanonicalEvent => ({
    ...GROUNDING,
    ...{ queries, sources: sources.slice(0, found), citations: [], isEarly: true },
  });
  const whole: CanonicalEvent = { ...GROUNDING, queries: ['q1', 'q2', 'q3'], sources };
  const events: CanonicalEvent[] = [
    ...[start, early(['q1'], 0), early(['q1'], 1), early(['q1', 'q2'], 1), early(['q1', 'q2'], 2)],
    ...[...rest.slice(0, -2), early(['q1', 'q2', 'q3'], 3), whole, ...rest.slice(-2)],
  ];
  const text = stream(events, { ...settings, namesSources: true });
  checkStreamText('responses', text);
  const named = (queries: string[], ...urls: (string | undefined)[]) => ({
    type: 'web_search_call',
    action: { queries, sources: urls.map((url) => ({ url })) },
  });
  expect(framesOf(text).at(-1)?.response).toMatchObject({
    output: [
      named(['q1', 'q2'], sources[0]?.url, sources[1]?.url),
      { type: 'message' },
      named(['q3'], sources[2]?.url),
    ],
  });
});

test('the search itself names its sources where the message that cites them was done before', () => {
  const call: Block = { kind: 'call', id: 'c1', name: 'w', json: [] };
  const events = eventsOf([[{ kind: 'text', pieces: ['Hi there'] }, call]]);
  const late = [...events.slice(0, -2), { ...GROUNDING, queries: [] }, ...events.slice(-2)];
  const text = stream(late, settings);
  checkStreamText('responses', text);
  const action = { sources: [{ type: 'url', url: 'https://a.example/' }] };
  expect(framesOf(text).at(-1)?.response).toMatchObject({
    output: [{ type: 'message' }, { type: 'function_call' }, { type: 'web_search_call', action }],
  });
});

test('the searches of an answer are counted beside its usage', () => {
  const events = eventsOf([[{ kind: 'text', pieces: ['Hi there'] }]]);
  const found = [...events.slice(0, -2), GROUNDING, ...events.slice(-2)];
  const usage = { web_search: { num_requests: 2 } };
  expect(responseOf(found)).toMatchObject({ tool_usage: usage });
  expect(framesOf(stream(found, settings)).at(-1)?.response).toMatchObject({ tool_usage: usage });
  expect(responseOf(events)).not.toHaveProperty('tool_usage');
});

test('each message has the citations of its own text, at their places in it', () => {
  const call: Block = { kind: 'call', id: 'c1', name: 'w', json: [] };
  const text = (word: string): Block => ({ kind: 'text', pieces: [word] });
  const [start, ...rest] = eventsOf([[text('Hi there'), call, text('And you')]]);
  const citations = [
    { startIndex: 0, endIndex: 2, text: 'Hi', sources: [0] },
    { startIndex: 12, endIndex: 15, text: 'you', sources: [0] },
  ];
  if (start === undefined) throw new Error('An answer has a start.');
  const events: CanonicalEvent[] = [start, { ...GROUNDING, citations }, ...rest];
  const places = (start_index: number, end_index: number) => [
    { annotations: [{ start_index, end_index }] },
  ];
  const output = [
    { type: 'web_search_call' },
    { type: 'message', content: places(0, 2) },
    { type: 'function_call' },
    { type: 'message', content: places(4, 7) },
  ];
  expect(responseOf(events).output).toMatchObject(output);
  expect(framesOf(stream(events, settings)).at(-1)?.response).toMatchObject({ output });
});

test.each(CASES)('the official stream helper reads %s', async (_name, blocks) => {
  const text = stream(eventsOf([blocks]), settings);
  const client = officialClient(text, 'text/event-stream');
  const final = await client.responses.stream({ model: 'm', input: 'x' }).finalResponse();
  const { output } = responseOf(eventsOf([blocks]));
  expect(final.output.map(({ type }) => type)).toEqual(listTypes(output));
});

test('the official client takes the unary answer and sums its text up', async () => {
  const events = eventsOf([ANSWERS['thoughts, text and parallel calls'] ?? []]);
  const body = JSON.stringify(responseOf(events));
  const client = officialClient(body, 'application/json');
  const response = await client.responses.create({ model: 'm', input: 'x' });
  expect(response.output_text).toBe('Looking.');
  expect(response.usage?.total_tokens).toBe(60);
});

function responseOf(
  events: readonly CanonicalEvent[],
  own: ResponseSettings = settings,
): JsonObject {
  return writeResponse(fold(events), new ResponsesWriter(createContext(), own));
}

function outputOf(blocks: Block[], own?: ResponseSettings): unknown {
  return responseOf(eventsOf([blocks]), own).output;
}

function listOutput(events: readonly CanonicalEvent[]): unknown[] {
  const { output } = responseOf(events);
  return Array.isArray(output) ? output : [];
}

/** The same answer, ended with these words of the upstream. */
function withheld(events: readonly CanonicalEvent[], message: string): CanonicalEvent[] {
  return events.map((event) =>
    event.kind === 'finish'
      ? { ...event, choices: event.choices.map((end) => ({ ...end, message })) }
      : event,
  );
}

function listTypes(output: unknown): unknown[] {
  return Array.isArray(output) ? output.filter(isJsonObject).map(({ type }) => type) : [];
}
