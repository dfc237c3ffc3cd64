import { expect, test } from 'vitest';
import { read } from '../../../test/support/messages.ts';
import type { JsonObject } from '../../lib/json.ts';

const WEATHER = {
  name: 'w',
  description: 'd',
  input_schema: { type: 'object', properties: { c: { type: 'string' } }, required: ['c'] },
};
const SEARCH = { type: 'web_search_20250305', name: 'web_search' };

test('V036 client tools keep name, description and schema', () => {
  const { request, receipt } = read({
    tools: [
      { ...WEATHER, cache_control: { type: 'ephemeral' }, eager_input_streaming: true },
      { ...WEATHER, name: 'x', type: 'custom', strict: true, defer_loading: true },
    ],
  });
  expect(request.tools).toMatchObject([
    { kind: 'function', name: 'w', description: 'd', parameters: WEATHER.input_schema },
    {
      kind: 'function',
      name: 'x',
      description: 'd',
      parameters: WEATHER.input_schema,
      strict: true,
      path: 'tools[1]',
      parametersPath: 'tools[1].input_schema',
    },
  ]);
  expect(receipt).toEqual([]);
});

test('V037 P054 server tools are recognised by prefix, whatever their date, and without one', () => {
  const { request, receipt } = read({
    tools: [
      {
        ...{ ...SEARCH, type: 'web_search_20991231', max_uses: 8 },
        ...{ allowed_domains: ['a.com'], blocked_domains: ['b.com'] },
      },
      { type: 'web_fetch_20250910', name: 'web_fetch', max_content_tokens: 9 },
      { type: 'code_execution', name: 'code_execution' },
      { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' },
      { type: 'advisor_20260301', name: 'advisor', model: 'm' },
    ],
  });
  expect(request.tools).toMatchObject([
    { kind: 'web-search', allowedDomains: ['a.com'], blockedDomains: ['b.com'] },
    { kind: 'url-context' },
    { kind: 'code-execution' },
  ]);
  expect(receipt).toEqual([
    'dropped tools[0].max_uses',
    'dropped tools[1].max_content_tokens',
    'dropped tools[3]',
    'dropped tools[4]',
  ]);
});

test('a search is told where the user is', () => {
  const user_location = { type: 'approximate', city: 'Oslo', region: null, country: 'NO' };
  const { request, receipt } = read({ tools: [{ ...SEARCH, user_location }] });
  expect(request.tools).toMatchObject([
    { userLocation: { path: 'tools[0].user_location', city: 'Oslo', country: 'NO' } },
  ]);
  expect(receipt).toEqual([]);
});

test('what limits the fetches of a tool is told, for the upstream cannot be held to it', () => {
  const { receipt } = read({
    tools: [
      {
        ...{ type: 'web_fetch_20260318', name: 'web_fetch', blocked_domains: ['b.com'] },
        ...{ url_sources: { user_input: { type: 'none' } }, citations: { enabled: true } },
        use_cache: false,
      },
    ],
  });
  expect(receipt).toEqual([
    'dropped tools[0].blocked_domains',
    'dropped tools[0].url_sources',
    'dropped tools[0].citations',
    'dropped tools[0].use_cache',
  ]);
});

test.each(['custom_v2', 'customer', 'web_searching', 'bashful_20250124'])(
  'a type that only begins like a known one is refused, not lost: %s',
  (type) => {
    expect(() => read({ tools: [{ ...WEATHER, type }] })).toThrow(
      `tools.0.type: Input tag "${type}"`,
    );
  },
);

test('client tools declared by type get a built-in schema', () => {
  const { request } = read({
    tools: [
      { type: 'bash_20250124', name: 'bash' },
      { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool' },
    ],
  });
  expect(request.tools).toMatchObject([
    { kind: 'function', name: 'bash', parameters: { properties: { command: {} } } },
    {
      kind: 'function',
      name: 'str_replace_based_edit_tool',
      parameters: { required: ['command', 'path'] },
    },
  ]);
});

const refused: readonly (readonly [JsonObject, string])[] = [
  [{ name: 'a' }, 'tools.1.input_schema: Field required'],
  [{ name: 'a', input_schema: 'x' }, 'tools.1.input_schema: Input should be'],
  [{ type: 'computer_20250124', name: 'computer' }, 'tools.1.type: Input tag "computer_20250124"'],
  [{ type: 'mcp_toolset', mcp_server_name: 's' }, 'tools.1.type: Input tag "mcp_toolset"'],
  [{ ...WEATHER }, 'tools: Tool names must be unique'],
];

test.each(refused)('P040 the tool %j is refused naming its index', (tool, message) => {
  expect(() => read({ tools: [WEATHER, tool] })).toThrow(message);
});

const choices: readonly (readonly [JsonObject, JsonObject])[] = [
  [{ type: 'auto' }, { kind: 'auto', names: [] }],
  [{ type: 'any' }, { kind: 'required', names: [] }],
  [
    { type: 'tool', name: 'w' },
    { kind: 'required', names: ['w'] },
  ],
  [{ type: 'none' }, { kind: 'none' }],
];

test.each(choices)('the choice %j is read as %j', (choice, expected) => {
  const { request } = read({ tools: [WEATHER], tool_choice: choice });
  expect(request.toolChoice).toEqual(expected);
  expect(request.parallelToolCalls).toBeUndefined();
});

test('disable_parallel_tool_use asks for one call at most', () => {
  const { request } = read({
    tools: [WEATHER],
    tool_choice: { type: 'auto', disable_parallel_tool_use: true },
  });
  expect(request.parallelToolCalls).toBe(false);
});

test('a forced web search goes alone and the choice is dropped', () => {
  const tool_choice = { type: 'tool', name: 'web_search' };
  const alone = read({ tools: [SEARCH], tool_choice });
  expect(alone.request).toMatchObject({
    tools: [{ kind: 'web-search' }],
    toolChoice: { kind: 'auto' },
  });
  expect(alone.receipt).toEqual([]);
  const beside = read({ tools: [WEATHER, SEARCH], tool_choice });
  expect(beside.request.tools).toMatchObject([{ kind: 'web-search' }]);
  expect(beside.receipt).toEqual(['dropped tools']);
});

test('a choice of a missing tool or of an unknown type is refused', () => {
  const tools = [WEATHER];
  expect(() => read({ tools, tool_choice: { type: 'tool', name: 'x' } })).toThrow(
    'tool_choice.name',
  );
  expect(() => read({ tools, tool_choice: { type: 'some' } })).toThrow('tool_choice.type');
  expect(() => read({ tools, tool_choice: 'auto' })).toThrow('tool_choice: Input should be');
  expect(() => read({ tool_choice: { type: 'any' } })).toThrow('tool_choice: Tools are needed');
});

test('requiring any call of server tools alone is approximated', () => {
  const { request, receipt } = read({ tools: [SEARCH], tool_choice: { type: 'any' } });
  expect(request.toolChoice).toEqual({ kind: 'auto', names: [] });
  expect(receipt).toEqual(['approximated tool_choice']);
});

test('examples of input stand in the description, also of the tools clients run by a dated type', () => {
  const examples = [{ c: 'Oslo' }, { c: 'Rome' }];
  const bash = {
    type: 'bash_20250124',
    name: 'bash',
    strict: true,
    input_examples: [{ command: 'ls' }],
  };
  const { request, receipt } = read({ tools: [{ ...WEATHER, input_examples: examples }, bash] });
  expect(request.tools).toMatchObject([
    { description: `${WEATHER.description}\n\nExamples of its input:\n{"c":"Oslo"}\n{"c":"Rome"}` },
    {
      description: expect.stringMatching(/\n\nExamples of its input:\n\{"command":"ls"\}$/),
      strict: true,
    },
  ]);
  expect(receipt).toEqual([
    'approximated tools[0].input_examples',
    'approximated tools[1].input_examples',
  ]);
  const bare = { name: 'x', input_schema: { type: 'object' }, input_examples: [{}] };
  expect(read({ tools: [bare] }).request.tools).toMatchObject([
    { description: 'Examples of its input:\n{}' },
  ]);
});

test('a tool that only code may call is told to be called by the model', () => {
  const inCode = { ...WEATHER, allowed_callers: ['code_execution_20260521'] };
  const both = { ...WEATHER, name: 'b', allowed_callers: ['direct', 'code_execution_20260521'] };
  expect(read({ tools: [inCode, both] }).receipt).toEqual([
    'approximated tools[0].allowed_callers',
  ]);
});

test('a demanded advisor is refused, one that is only offered is left out', () => {
  const tools = [WEATHER, { type: 'advisor_20260301', name: 'advisor', model: 'm' }];
  expect(read({ tools }).receipt).toEqual(['dropped tools[1]']);
  expect(() => read({ tools, tool_choice: { type: 'tool', name: 'advisor' } })).toThrow(
    'tool_choice.name',
  );
});

test('a choice of a tool that was left out is on the receipt', () => {
  const search = { type: 'tool_search_tool_regex_20251119', name: 'find' };
  const tools = [WEATHER, search];
  const { request, receipt } = read({ tools, tool_choice: { type: 'tool', name: 'find' } });
  expect(request).toMatchObject({ tools: [{ name: 'w' }], toolChoice: { kind: 'auto' } });
  expect(receipt).toEqual(['dropped tools[1]', 'dropped tool_choice']);
});

test('C1: a tool without a name is left out where others are left, and refused alone', () => {
  for (const nameless of [{ input_schema: {} }, { name: '', input_schema: {} }]) {
    const { request, receipt } = read({ tools: [nameless, WEATHER] });
    expect(request.tools).toMatchObject([{ name: 'w', path: 'tools[1]' }]);
    expect(receipt).toEqual(['dropped tools[0]']);
    expect(() => read({ tools: [nameless, nameless] })).toThrow('tools.0.name: ');
  }
});
