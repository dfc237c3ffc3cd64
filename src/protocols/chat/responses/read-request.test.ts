import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../../lib/json.ts';
import { read } from './responses.test-support.ts';

test('instructions are the system text and a string input is one message of the user', () => {
  const { canonical } = read({ input: 'Hi', instructions: 'S' });
  expect(canonical.system).toEqual([{ kind: 'text', text: 'S' }]);
  expect(canonical.turns).toEqual([{ role: 'user', parts: [{ kind: 'text', text: 'Hi' }] }]);
});

test('what helpers of SDKs parsed an answer into comes back beside it without a word', () => {
  const call = { type: 'function_call', call_id: 'c1', name: 'w', arguments: '{"a":1}' };
  const text = { type: 'output_text', text: '{"a":1}', annotations: [], parsed: { a: 1 } };
  const { notes } = read({
    input: [
      { role: 'user', content: 'Hi' },
      { type: 'message', role: 'assistant', content: [text] },
      { ...call, parsed_arguments: { a: 1 } },
      { type: 'function_call_output', call_id: 'c1', output: 'ok' },
    ],
  });
  expect(notes).toEqual([]);
});

test('leading developer items follow the instructions, later ones keep their place', () => {
  const { canonical } = read({
    instructions: 'one',
    input: [
      { role: 'developer', content: [{ type: 'input_text', text: 'two' }] },
      { role: 'user', content: 'Hi' },
      { type: 'message', role: 'system', content: 'three' },
    ],
  });
  expect(canonical.system.map(({ text }) => text)).toEqual(['one', 'two']);
  expect(canonical.turns.map(({ role }) => role)).toEqual(['user', 'system']);
});

test('text, pictures and files are read with their own field names', () => {
  const { canonical } = read({
    input: [
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'a' },
          { type: 'input_image', image_url: 'data:image/png;base64,AA==', detail: 'high' },
          { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==' },
        ],
      },
    ],
  });
  expect(canonical.turns[0]?.parts).toMatchObject([
    { kind: 'text', text: 'a' },
    { kind: 'media', modality: 'image', mediaType: 'image/png', resolution: 'high' },
    { kind: 'text', text: 'a.pdf' },
    { kind: 'media', modality: 'document', mediaType: 'application/pdf' },
  ]);
});

test.each([
  [{ type: 'input_image', file_id: 'file_1' }, 'input[0].content[0].file_id'],
  [{ type: 'input_file', file_id: 'file_1' }, 'input[0].content[0].file_id'],
  [{ type: 'input_file', filename: 'a' }, 'input[0].content[0].file_data'],
  [{ type: 'input_image' }, 'input[0].content[0].image_url'],
  [{ type: 'nonsense' }, 'input[0].content[0].type'],
])('a part that cannot be read names its field: %j', (part, field) => {
  expect(() => read({ input: [{ role: 'user', content: [part] }] })).toThrow(
    expect.objectContaining({ field }),
  );
});

test('calls and outputs of every kind are paired by their call id', () => {
  const { canonical } = read({
    input: [
      { role: 'user', content: 'go' },
      { type: 'function_call', call_id: 'c1', name: 'f', namespace: 'n', arguments: '{"a":1}' },
      { type: 'function_call_output', call_id: 'c1', output: 'done' },
      { type: 'custom_tool_call', call_id: 'c2', name: 'exec', input: 'print(1)' },
      {
        type: 'custom_tool_call_output',
        call_id: 'c2',
        output: [{ type: 'input_text', text: '1' }],
      },
      { type: 'local_shell_call', id: 'x', call_id: 'c3', action: { type: 'exec', command: [] } },
      { type: 'local_shell_call_output', id: 'c3', output: 'ok' },
      { type: 'tool_search_call', call_id: 'c4', execution: 'client', arguments: { q: 'x' } },
      { type: 'tool_search_output', call_id: 'c4', tools: [{ type: 'function', name: 'found' }] },
      { type: 'shell_call', call_id: 'c5', action: { commands: ['ls'] } },
      { type: 'shell_call_output', call_id: 'c5', output: [{ stdout: 'a', stderr: '' }] },
      { type: 'apply_patch_call', call_id: 'c6', operation: { type: 'delete_file', path: 'a' } },
      { type: 'apply_patch_call_output', call_id: 'c6', status: 'failed', output: 'no such file' },
    ],
  });
  const parts = canonical.turns.flatMap((turn) => turn.parts);
  expect(parts.slice(1)).toMatchObject([
    { kind: 'tool-call', id: 'c1', name: 'n__f', input: { a: 1 } },
    { kind: 'tool-result', callId: 'c1', content: [{ kind: 'text', text: 'done' }] },
    { kind: 'tool-call', id: 'c2', name: 'exec', input: { input: 'print(1)' } },
    { kind: 'tool-result', callId: 'c2', content: [{ kind: 'text', text: '1' }] },
    { kind: 'tool-call', id: 'c3', name: 'local_shell', input: { type: 'exec', command: [] } },
    { kind: 'tool-result', callId: 'c3', content: [{ kind: 'text', text: 'ok' }] },
    { kind: 'tool-call', id: 'c4', name: 'tool_search', input: { q: 'x' } },
    { kind: 'tool-result', callId: 'c4', content: [{ kind: 'json' }] },
    { kind: 'tool-call', id: 'c5', name: 'shell', input: { commands: ['ls'] } },
    { kind: 'tool-result', callId: 'c5', content: [{ kind: 'json' }] },
    { kind: 'tool-call', id: 'c6', name: 'apply_patch', input: { path: 'a' } },
    { kind: 'tool-result', callId: 'c6', isError: true },
  ]);
  expect(canonical.tools).toMatchObject([{ kind: 'function', name: 'found' }]);
});

test('a reasoning item gives back the thoughts and the proof they came with', () => {
  const { canonical } = read({
    input: [
      { role: 'user', content: 'go' },
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'think' }],
        content: null,
        encrypted_content: 'gw1:gemini:tool-call:abc',
      },
    ],
  });
  expect(canonical.turns[1]).toEqual({
    role: 'assistant',
    parts: [
      {
        kind: 'thinking',
        text: 'think',
        signature: { value: 'abc', family: 'gemini', on: 'tool-call' },
      },
    ],
  });
});

test('tools of all kinds are declared flat, namespaces becoming part of the name', () => {
  const { canonical, settings } = read({
    input: 'x',
    tools: [
      { type: 'function', name: 'f', parameters: { type: 'object' }, strict: false },
      {
        type: 'custom',
        name: 'patch',
        format: { type: 'grammar', syntax: 'lark', definition: 'g' },
      },
      { type: 'namespace', name: 'n', description: '', tools: [{ type: 'function', name: 'f' }] },
      { type: 'local_shell' },
      { type: 'tool_search', execution: 'client', parameters: { type: 'object' } },
      { type: 'web_search', external_web_access: false },
    ],
  });
  expect(canonical.tools.map((tool) => ('name' in tool ? tool.name : tool.kind))).toEqual([
    'f',
    'patch',
    'n__f',
    'local_shell',
    'tool_search',
    'web-search',
  ]);
  expect(settings.directory.find('n__f')).toEqual({ form: 'function', name: 'f', namespace: 'n' });
  expect(canonical.tools[1]).toMatchObject({ grammar: { syntax: 'lark', definition: 'g' } });
});

test('tools declared inside the input are offered like the others', () => {
  const tools = [
    { type: 'namespace', name: 'functions', tools: [{ type: 'custom', name: 'exec' }] },
  ];
  const { canonical, settings } = read({
    input: [
      { type: 'additional_tools', role: 'developer', tools },
      { role: 'user', content: 'x' },
    ],
  });
  expect(canonical.tools).toMatchObject([{ kind: 'freeform', name: 'functions__exec' }]);
  expect(settings.directory.find('functions__exec')?.form).toBe('custom');
});

test('a tool that a later item declares anew replaces the earlier one, in its place', () => {
  const declare = (...tools: JsonObject[]): JsonObject => ({
    type: 'additional_tools',
    role: 'developer',
    tools: [{ type: 'namespace', name: 'functions', tools }],
  });
  const exec = { type: 'custom', name: 'exec', description: 'old' };
  const { canonical } = read({
    input: [
      declare(exec, { type: 'function', name: 'wait' }),
      { role: 'user', content: 'x' },
      declare({ ...exec, description: 'new' }, { type: 'function', name: 'sleep' }),
      { role: 'user', content: 'y' },
    ],
  });
  expect(canonical.tools).toMatchObject([
    { name: 'functions__exec', description: 'new' },
    { name: 'functions__wait' },
    { name: 'functions__sleep' },
  ]);
});

test('of two tools of one name in one list both are read, so that one is left out with a note', () => {
  const tools = [
    { type: 'function', name: 'f', description: 'first' },
    { type: 'function', name: 'f', description: 'second' },
  ];
  const { canonical } = read({
    input: [
      { type: 'additional_tools', role: 'developer', tools },
      { role: 'user', content: 'x' },
    ],
  });
  expect(canonical.tools).toMatchObject([{ description: 'first' }, { description: 'second' }]);
});

test('a hosted tool that nobody demands is left out with a note, a demanded one refused', () => {
  const tools = [{ type: 'file_search', vector_store_ids: [] }];
  const { canonical, notes } = read({ input: 'x', tools });
  expect(canonical.tools).toEqual([]);
  expect(notes).toMatchObject([{ action: 'dropped', path: 'tools[0]' }]);
  expect(() => read({ input: 'x', tools, tool_choice: { type: 'file_search' } })).toThrow(
    expect.objectContaining({ field: 'tool_choice' }),
  );
});

test.each([
  ['auto', { kind: 'auto', names: [] }],
  ['none', { kind: 'none' }],
  ['required', { kind: 'required', names: [] }],
  [
    { type: 'function', name: 'f' },
    { kind: 'required', names: ['f'] },
  ],
  [
    { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'f' }] },
    { kind: 'auto', names: ['f'] },
  ],
])('tool_choice %j is understood', (choice, expected) => {
  const tools = [{ type: 'function', name: 'f' }];
  expect(read({ input: 'x', tools, tool_choice: choice }).canonical.toolChoice).toEqual(expected);
});

test('effort, summary, format and limits reach the canonical request', () => {
  const { canonical } = read({
    input: 'x',
    reasoning: { effort: 'low', summary: 'auto' },
    max_output_tokens: 99,
    temperature: 0.5,
    text: { format: { type: 'json_schema', name: 's', schema: { type: 'object' }, strict: true } },
  });
  expect(canonical).toMatchObject({
    reasoning: { amount: { kind: 'effort', effort: 'low' }, showThoughts: true },
    maxOutputTokens: 99,
    sampling: { temperature: 0.5 },
    outputFormat: { kind: 'json-schema', name: 's', strict: true },
  });
});

test.each([
  [{}, 'input'],
  [{ input: [] }, 'input'],
  [{ input: 'x', background: true, store: false }, 'background'],
  [{ input: 'x', background: 'yes' }, 'background'],
  [{ input: 'x', prompt: { id: 'p' } }, 'prompt'],
  [{ input: 'x', conversation: {} }, 'conversation.id'],
  [{ input: 'x', truncation: 'middle' }, 'truncation'],
  [{ input: 'x', max_tool_calls: 0 }, 'max_tool_calls'],
  [{ input: 'x', metadata: { a: 1 } }, 'metadata.a'],
  [{ input: 'x', metadata: { ['k'.repeat(65)]: '' } }, 'metadata'],
  [
    { input: 'x', metadata: Object.fromEntries([...Array(17).keys()].map((key) => [key, ''])) },
    'metadata',
  ],
  [{ input: [{ type: 'wonder' }] }, 'input[0].type'],
  [{ input: [{ content: 'x' }] }, 'input[0].type'],
  [{ input: 'x', reasoning: { effort: 'huge' } }, 'reasoning.effort'],
  [{ input: 'x', text: { format: { type: 'json_schema', name: 'n' } } }, 'text.format.schema'],
  [{ input: [{ type: 'item_reference', id: 'msg_9' }] }, 'input[0].id'],
])('what cannot be answered is refused by the name of its field: %j', (body, field) => {
  expect(() => read(body)).toThrow(expect.objectContaining({ field }));
});

test.each([
  [{ input: 5 }, 'input must be a string or an array of items.'],
  [{ input: { role: 'user', content: 'x' } }, 'input must be a string or an array of items.'],
  [{ input: [{ type: 'function_call_output', output: 'x' }] }, 'input[0].call_id is required.'],
])('the refusal of %j says what would do', (body, message) => {
  expect(() => read(body)).toThrow(message);
});

test('references to kept items are the items; to thoughts that are gone, nothing', () => {
  const kept: JsonObject = { type: 'message', role: 'assistant', content: 'earlier' };
  const { canonical, notes } = read(
    {
      input: [
        { type: 'item_reference', id: 'rs_gone' },
        { type: 'item_reference', id: 'msg_1' },
        { role: 'user', content: 'go on' },
      ],
    },
    { history: [], session: undefined, findItem: (id) => (id === 'msg_1' ? kept : undefined) },
  );
  expect(canonical.turns[0]).toEqual({
    role: 'assistant',
    parts: [{ kind: 'text', text: 'earlier' }],
  });
  expect(notes).toMatchObject([{ action: 'dropped', path: 'input[0]' }]);
});

test('items of features that only the vendor hosts are left out with a note', () => {
  const { canonical, notes } = read({
    input: [
      { type: 'mcp_list_tools', id: 'm' },
      { type: 'compaction', id: 'c' },
      { type: 'context_compaction', encrypted_content: 'x' },
      { type: 'multi_agent_call', action: 'list_agents', arguments: '{}', call_id: 'c' },
      { role: 'user', content: 'x' },
    ],
  });
  expect(canonical.turns).toHaveLength(1);
  expect(notes.map(({ path }) => path)).toEqual(['input[0]', 'input[1]', 'input[2]', 'input[3]']);
});

const CAPTURES = new URL('../../../../test/golden/requests/responses/', import.meta.url);

test.each(readdirSync(CAPTURES).filter((name) => /^client-.*\.json$/.test(name)))(
  'the captured request %s loses nothing but what is known',
  (name) => {
    const captured = parseJson(readFileSync(new URL(name, CAPTURES), 'utf8'));
    const body = isJsonObject(captured) ? captured.body : undefined;
    if (!isJsonObject(body)) throw new Error('The fixture is not an object.');
    const { canonical, notes } = read(body);
    expect(canonical.turns.length).toBeGreaterThan(0);
    const known = /verbosity|tools\[\d+\](?:\.\w+)*$|service_tier/;
    expect(notes.filter(({ path }) => !known.test(path))).toEqual([]);
  },
);

test('a shell in a container of the vendor is no tool of the client', () => {
  const container = { type: 'shell', environment: { type: 'container_auto' } };
  const { canonical, notes } = read({ input: 'x', tools: [container, { type: 'shell' }] });
  expect(canonical.tools).toMatchObject([{ kind: 'function', name: 'shell', path: 'tools[1]' }]);
  expect(notes).toMatchObject([{ path: 'tools[0]', action: 'dropped' }]);
});

test.each([
  [{ type: 'shell' }, 'shell'],
  [{ type: 'apply_patch' }, 'apply_patch'],
  [{ type: 'local_shell' }, 'local_shell'],
])('a tool that clients run can be demanded by its type: %j', (tool, name) => {
  const { canonical } = read({ input: 'x', tools: [tool], tool_choice: tool });
  expect(canonical.toolChoice).toEqual({ kind: 'required', names: [name] });
});

test('a response tells the tier that serves it, not the one it was asked with', () => {
  for (const service_tier of ['flex', 'auto', null]) {
    expect(read({ input: 'x', service_tier }).settings.echo.service_tier).toBe('default');
  }
});

test('a response repeats how to write and to think in full, whichever part the request names', () => {
  const echoOf = (asked: JsonObject) => read({ input: 'x', ...asked }).settings.echo;
  const format = { type: 'text' };
  const reasoning = { effort: 'low', summary: null };
  expect(echoOf({ text: { verbosity: 'low' }, reasoning: { effort: 'low' } })).toMatchObject({
    ...{ text: { format, verbosity: 'low' }, reasoning },
  });
  expect(echoOf({ text: { format: null }, reasoning: {} })).toMatchObject({
    ...{ text: { format }, reasoning: { effort: null, summary: null } },
  });
  expect(echoOf({ text: { format: { type: 'json_object' } } })).toMatchObject({
    text: { format: { type: 'json_object' } },
  });
});

test('hints that change no answer are taken; what has no counterpart is noted', () => {
  const { canonical, settings, notes } = read({
    input: 'x',
    include: ['something.new', 'reasoning.encrypted_content', 'file_search_call.results'],
    metadata: { a: 'b' },
    max_tool_calls: 3,
    truncation: 'auto',
    stream_options: { include_obfuscation: true },
    text: { verbosity: 'low' },
  });
  expect(canonical.dropsOldest).toBe(true);
  expect(settings.carriesReasoning).toBe(true);
  expect(settings.echo).toMatchObject({ metadata: { a: 'b' }, max_tool_calls: 3 });
  expect(canonical.verbosity).toBe('low');
  expect(notes.map(({ path }) => path)).toEqual([
    ...['include[0]', 'stream_options.include_obfuscation'],
  ]);
});

test('proofs travel where nothing is kept, summaries are shown where one is wanted', () => {
  const carries = (fields: JsonObject) => read({ input: 'x', ...fields }).settings.carriesReasoning;
  expect([carries({}), carries({ store: true }), carries({ store: false })]).toEqual([
    ...[false, false, true],
  ]);
  const shows = (reasoning: JsonObject) => {
    const { canonical, settings } = read({ input: 'x', reasoning });
    return [canonical.reasoning.showThoughts, settings.showsThoughts];
  };
  for (const quiet of [{}, { effort: 'low' }, { effort: 'low', summary: null }]) {
    expect(shows(quiet)).toEqual([false, false]);
  }
  expect(shows({ summary: 'none' })).toEqual([false, false]);
  expect(shows({ effort: 'none', summary: 'auto' })).toEqual([false, false]);
  expect(shows({ summary: 'auto' })).toEqual([true, true]);
  expect(shows({ generate_summary: 'concise' })).toEqual([true, true]);
});

test('what a hosted search cannot be told is noted', () => {
  const search = { type: 'web_search' };
  const noted = (fields: JsonObject) => {
    const { canonical, notes } = read({ input: 'x', tools: [search], ...fields });
    return [canonical.toolChoice.kind, ...notes.map(({ action, path }) => `${action} ${path}`)];
  };
  expect(noted({ max_tool_calls: 3 })).toEqual(['auto', 'dropped max_tool_calls']);
  expect(noted({ tool_choice: search })).toEqual(['auto', 'approximated tool_choice']);
  const tool_choice = { type: 'allowed_tools', mode: 'required', tools: [search] };
  expect(noted({ tool_choice })).toEqual(['auto', 'approximated tool_choice']);
  expect(noted({ tool_choice: 'required' })).toEqual(['auto', 'approximated tool_choice']);
});

test('a chosen search leaves the functions out, and chosen functions the search', () => {
  const f = { type: 'function', name: 'f' };
  const search = { type: 'web_search' };
  const choice = (tool_choice: JsonValue) =>
    read({ input: 'x', tools: [search, f], tool_choice }).canonical.toolChoice;
  const allowed = (mode: string, ...tools: JsonObject[]) =>
    choice({ type: 'allowed_tools', mode, tools });
  const alone = { kind: 'auto', names: [], serverTools: ['web-search'] };
  expect(choice(search)).toEqual(alone);
  expect(allowed('auto', search)).toEqual(alone);
  expect(allowed('required', search)).toEqual(alone);
  expect(allowed('auto', f)).toEqual({ kind: 'auto', names: ['f'] });
  expect(allowed('required', search, f)).toEqual({ ...alone, kind: 'required', names: ['f'] });
});

test('what the answer is for belongs to its schema; what its format cannot say is noted', () => {
  const format = { type: 'json_schema', name: 's', description: 'A city.', schema: {}, max: 1 };
  const { canonical, notes } = read({ input: 'x', text: { format, tone: 'dry' } });
  expect(canonical.outputFormat).toMatchObject({ schema: { description: 'A city.' } });
  const both = { ...format, schema: { description: 'Its name.' } };
  expect(read({ input: 'x', text: { format: both } }).canonical.outputFormat).toMatchObject({
    schema: { description: 'A city.\n\nIts name.' },
  });
  expect(notes.map(({ action, path }) => [action, path])).toEqual([
    ['dropped', 'text.format.max'],
    ['dropped', 'text.tone'],
  ]);
});

test('thoughts that come as content are read before the summary', () => {
  const item = {
    type: 'reasoning',
    id: 'rs_1',
    summary: [],
    encrypted_content: 'gw1:f:thinking:s',
  };
  const content = [{ type: 'reasoning_text', text: 'raw' }];
  const { canonical } = read({
    input: [
      { role: 'user', content: 'x' },
      { ...item, content },
    ],
  });
  expect(canonical.turns[1]?.parts).toMatchObject([{ kind: 'thinking', text: 'raw' }]);
  const summary = ['a', 'b'].map((text) => ({ type: 'summary_text', text }));
  const shown = read({
    input: [
      { role: 'user', content: 'x' },
      { ...item, summary },
    ],
  }).canonical;
  expect(shown.turns[1]?.parts).toMatchObject([{ kind: 'thinking', text: 'a\n\nb' }]);
});

test('what is refused in a part is named in the words of this surface', () => {
  const ask = (part: JsonObject) => () => read({ input: [{ role: 'user', content: [part] }] });
  expect(ask({ type: 'hologram' })).toThrow(/must be one of: input_text, output_text, input_image/);
  expect(ask({ type: 'input_file', file_url: 'http://127.0.0.1/a.pdf' })).toThrow(
    /input\[0\]\.content\[0\]\.file_url/,
  );
});

test('unknown fields are told wherever they stand, names and states of items are not', () => {
  const zz = 1;
  const { notes } = read({
    reasoning: { effort: 'low', zz },
    tools: [{ type: 'function', name: 'w' }],
    tool_choice: { type: 'function', name: 'w', zz },
    input: [
      { role: 'user', content: [{ type: 'input_text', text: 'q', zz }] },
      { type: 'reasoning', id: 'rs_1', status: 'completed', summary: [], zz },
      { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'w', arguments: '{}', zz },
      {
        type: 'function_call_output',
        call_id: 'c',
        output: [{ type: 'input_text', text: 'r', zz }],
      },
    ],
  });
  expect(notes.map(({ path }) => path).toSorted()).toEqual([
    'input[0].content[0].zz',
    'input[1].zz',
    'input[2].zz',
    'input[3].output[0].zz',
    'reasoning.zz',
    'tool_choice.zz',
  ]);
});

test('P021 a budget is read under the names other libraries give it', () => {
  const amountOf = (reasoning: JsonObject) =>
    read({ input: 'x', reasoning }).canonical.reasoning.amount;
  expect(amountOf({ max_tokens: 4000 })).toEqual({ kind: 'budget', tokens: 4000 });
  expect(amountOf({ thinkingLevel: 'LOW' })).toEqual({ kind: 'effort', effort: 'low' });
});

test('of an effort and a budget the official field wins, and the receipt says so', () => {
  const { canonical, notes } = read({ input: 'x', reasoning: { effort: 'low', max_tokens: 4000 } });
  expect(canonical.reasoning.amount).toEqual({ kind: 'effort', effort: 'low' });
  expect(notes.map(({ action, path }) => [action, path])).toEqual([
    ['dropped', 'reasoning.max_tokens'],
  ]);
});

test.each([
  [{ effort: 'low' }, 'reasoning.effort'],
  [{ max_tokens: 4000 }, 'reasoning.max_tokens'],
])('%j is known by its own name in what is told of thinking', (reasoning, path) => {
  expect(read({ input: 'x', reasoning }).canonical.clientNames).toMatchObject({ thinking: path });
});

test('C2: penalties are read, and echoed as they were asked for', () => {
  const { canonical, settings } = read({
    input: 'x',
    presence_penalty: 0.5,
    frequency_penalty: -1,
  });
  expect(canonical.sampling).toMatchObject({ presencePenalty: 0.5, frequencyPenalty: -1 });
  expect(settings.echo).toMatchObject({ presence_penalty: 0.5, frequency_penalty: -1 });
  expect(read({ input: 'x' }).settings.echo).toMatchObject({
    presence_penalty: 0,
    frequency_penalty: 0,
  });
});

test('C2: functions are echoed flat and with every field their type has', () => {
  const f = { type: 'function', name: 'f' };
  const nested = { type: 'function', function: { name: 'g', strict: true, parameters: {} } };
  const { echo } = read({
    input: 'x',
    tools: [f, nested, { type: 'namespace', name: 'n', tools: [f] }, { type: 'web_search' }],
  }).settings;
  const shown = { ...f, description: null, parameters: null, strict: false };
  expect(echo.tools).toEqual([
    shown,
    { type: 'function', name: 'g', description: null, parameters: {}, strict: true },
    { type: 'namespace', name: 'n', tools: [shown] },
    { type: 'web_search' },
  ]);
});
