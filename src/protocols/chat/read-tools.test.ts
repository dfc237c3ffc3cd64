import { describe, expect, test } from 'vitest';
import type { CanonicalRequest } from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import { canonical, notes, read, refusal, TOOL } from './reading.test-support.ts';

describe('V084 tool choice', () => {
  const cases: [string, JsonObject['x'], CanonicalRequest['toolChoice']][] = [
    ['none', 'none', { kind: 'none' }],
    ['auto', 'auto', { kind: 'auto', names: [] }],
    ['required', 'required', { kind: 'required', names: [] }],
    ['validated', 'validated', { kind: 'validated', names: [] }],
    [
      'a function',
      { type: 'function', function: { name: 'w' } },
      { kind: 'required', names: ['w'] },
    ],
    [
      'allowed tools',
      { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [TOOL] } },
      { kind: 'auto', names: ['w'] },
    ],
  ];
  test.each(cases)('%s', (_name, tool_choice, expected) => {
    expect(canonical({ tools: [TOOL], tool_choice: tool_choice ?? null }).toolChoice).toEqual(
      expected,
    );
  });
  test('a tool that is not there cannot be chosen', () => {
    const tool_choice = { type: 'function', function: { name: 'x' } };
    expect(refusal({ tools: [TOOL], tool_choice }).field).toBe('tool_choice');
    expect(refusal({ tool_choice: 'required' }).field).toBe('tool_choice');
  });
});

test('a tool in the form of Messages keeps its schema', () => {
  const input_schema = { type: 'object', properties: { city: { type: 'string' } } };
  const { tools } = canonical({ tools: [{ name: 'w', input_schema }] });
  const parametersPath = 'tools[0].input_schema';
  expect(tools).toMatchObject([
    { kind: 'function', name: 'w', parameters: input_schema, parametersPath },
  ]);
  expect(notes({ tools: [{ name: 'w', input_schema }] })).toEqual([]);
});

test('V087 P040 a nameless tool and unknown tool fields are left out with a receipt', () => {
  const fields = {
    tools: [
      { type: 'function', function: {} },
      { type: 'function', function: { name: 'w' }, external_web_access: true },
      { type: 'code_interpreter' },
    ],
  };
  expect(canonical(fields).tools).toEqual([
    {
      kind: 'function',
      name: 'w',
      path: 'tools[1].function',
      parametersPath: 'tools[1].function.parameters',
    },
  ]);
  expect(notes(fields)).toEqual([
    'dropped tools[0].function',
    'dropped tools[1].external_web_access',
    'dropped tools[2]',
  ]);
});

test('web search is asked for by options, by tool type and by the native tool key', () => {
  for (const fields of [
    { web_search_options: {} },
    { tools: [{ type: 'web_search_preview' }] },
    { tools: [{ googleSearch: {} }] },
    { tools: [{ type: 'vendora_search' }] },
  ]) {
    expect(canonical(fields).tools).toMatchObject([{ kind: 'web-search' }]);
  }
});

describe('the options of a search', () => {
  const OSLO = { city: 'Oslo', region: null, country: 'NO', timezone: ' ' };
  const search = (fields: JsonObject) =>
    canonical(fields).tools.find(({ kind }) => kind === 'web-search');

  test.each([
    { type: 'approximate', approximate: OSLO },
    { type: 'approximate', ...OSLO },
  ])('the place of the user is read, whichever surface its form is of: %j', (user_location) => {
    expect(search({ web_search_options: { user_location } })).toEqual({
      kind: 'web-search',
      path: 'web_search_options',
      userLocation: { path: 'web_search_options.user_location', city: 'Oslo', country: 'NO' },
    });
    expect(notes({ web_search_options: { user_location } })).toEqual([]);
  });

  test('a place without a word is none', () => {
    const user_location = { type: 'approximate', approximate: { city: '' } };
    expect(search({ web_search_options: { user_location } })).not.toHaveProperty('userLocation');
  });

  test('options join the search that tools declare, which comes first', () => {
    const user_location = { type: 'approximate', city: 'Oslo' };
    const fields = { tools: [TOOL, { type: 'web_search' }], web_search_options: { user_location } };
    expect(canonical(fields).tools).toMatchObject([
      { kind: 'function' },
      { kind: 'web-search', path: 'tools[1]', userLocation: { city: 'Oslo' } },
    ]);
  });

  test('what asks for what happens anyway is not worth a word, all else without a counterpart is', () => {
    expect(notes({ web_search_options: { search_context_size: 'medium' } })).toEqual([]);
    const user_location = { approximate: { city: 'Oslo', street: 'x' } };
    expect(notes({ web_search_options: { search_context_size: 'low', user_location } })).toEqual([
      'dropped web_search_options.search_context_size',
      'dropped web_search_options.user_location.approximate.street',
    ]);
    expect(notes({ tools: [{ googleSearch: { timeRangeFilter: { startTime: 't' } } }] })).toEqual([
      'dropped tools[0].googleSearch.timeRangeFilter',
    ]);
    expect(notes({ tools: [{ type: 'web_search', external_web_access: true }] })).toEqual([]);
    expect(notes({ tools: [{ type: 'web_search', external_web_access: false }] })).toEqual([
      'dropped tools[0].external_web_access',
    ]);
  });

  test('a place of another type is the client’s mistake', () => {
    const wrong = { web_search_options: { user_location: { approximate: { city: 3 } } } };
    expect(refusal(wrong).field).toBe('web_search_options.user_location.approximate.city');
  });
});

test('custom tools carry their grammar', () => {
  const grammar = { syntax: 'lark', definition: 'start: "x"' };
  const tools = [{ type: 'custom', custom: { name: 'p', format: { type: 'grammar', grammar } } }];
  expect(canonical({ tools }).tools).toMatchObject([{ kind: 'freeform', name: 'p', grammar }]);
  expect([...read({ tools }).answer.freeformTools]).toEqual(['p']);
});

test('a hosted search alone cannot be demanded, and the receipt says so', () => {
  const fields = { web_search_options: {}, tool_choice: 'required' };
  expect(canonical(fields).toolChoice).toEqual({ kind: 'auto', names: [] });
  expect(notes(fields)).toEqual(['approximated tool_choice']);
});

describe('a search that is chosen by its type', () => {
  const SEARCH = { kind: 'auto', names: [], serverTools: ['web-search'] };
  test.each(['web_search', 'web_search_preview', 'web_search_2025_08_26'])(
    '%s leaves the search alone, which cannot be demanded',
    (type) => {
      const tool_choice = { type };
      for (const offered of [
        { tools: [TOOL, { type }] },
        { tools: [{ type }] },
        { tools: [TOOL], web_search_options: {} },
      ]) {
        expect(canonical({ ...offered, tool_choice }).toolChoice).toEqual(SEARCH);
        expect(notes({ ...offered, tool_choice })).toEqual(['approximated tool_choice']);
      }
    },
  );
  test('it is allowed among others, or alone', () => {
    const tools = [TOOL, { type: 'web_search' }];
    const allowed = (mode: string, listed: JsonObject['x']) => ({
      tools,
      tool_choice: { type: 'allowed_tools', allowed_tools: { mode, tools: listed ?? [] } },
    });
    const both = allowed('required', [TOOL, { type: 'web_search' }]);
    expect(canonical(both).toolChoice).toEqual({ ...SEARCH, kind: 'required', names: ['w'] });
    expect(notes(both)).toEqual([]);
    const alone = allowed('auto', [{ type: 'web_search' }]);
    expect(canonical(alone).toolChoice).toEqual(SEARCH);
    expect(notes(alone)).toEqual([]);
  });
  test('one that is not offered is refused, and so is a tool of another kind', () => {
    expect(refusal({ tools: [TOOL], tool_choice: { type: 'web_search' } }).field).toBe(
      'tool_choice',
    );
    const hosted = { tools: [TOOL, { type: 'file_search' }], tool_choice: { type: 'file_search' } };
    expect(refusal(hosted).field).toBe('tool_choice.type');
  });
});

test('a search beside the tools stays with a choice among them, and goes when none may be called', () => {
  const among = { tools: [TOOL], web_search_options: {} };
  const named = { type: 'function', function: { name: 'w' } };
  expect(canonical({ ...among, tool_choice: named }).toolChoice).toMatchObject({
    kind: 'required',
    serverTools: ['web-search'],
  });
  expect(notes({ ...among, tool_choice: 'none' })).toEqual(['dropped web_search_options']);
  const tools = [TOOL, { type: 'web_search' }];
  expect(canonical({ tools, tool_choice: named }).toolChoice.serverTools).toBeUndefined();
  expect(notes({ tools, tool_choice: 'none' })).toEqual([]);
});

test('a custom tool that is written flat, as Responses have it, is one', () => {
  const format = { type: 'grammar', syntax: 'lark', definition: 'start: /.+/' };
  const tools = [{ type: 'custom', name: 'p', description: 'd', format }];
  const grammar = { syntax: 'lark', definition: 'start: /.+/' };
  expect(canonical({ tools }).tools).toMatchObject([
    { kind: 'freeform', name: 'p', description: 'd', grammar },
  ]);
});

test('what a custom tool says beyond its name, words and format is told (P063)', () => {
  const format = { type: 'grammar', grammar: { syntax: 'lark', definition: 'x', start: 'a' } };
  const custom = { name: 'c', description: 'd', format, strict: true };
  expect(
    notes({ tools: [{ type: 'custom', custom, cache_control: { type: 'ephemeral' } }] }),
  ).toEqual(['dropped tools[0].custom.format.grammar.start', 'dropped tools[0].custom.strict']);
});

test('C1: tools of which none has a name are refused, naming the field', () => {
  expect(refusal({ tools: [{ type: 'function' }] }).field).toBe('tools[0].name');
  expect(refusal({ tools: [{ type: 'function', function: {} }] }).field).toBe(
    'tools[0].function.name',
  );
  expect(refusal({ functions: [{ description: 'd' }] }).field).toBe('functions[0].name');
  const tool_choice = { type: 'function', function: { name: '' } };
  expect(refusal({ tools: [TOOL, { type: 'function' }], tool_choice }).field).toBe(
    'tool_choice.function.name',
  );
});
