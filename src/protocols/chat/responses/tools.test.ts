import { expect, test } from 'vitest';
import type { Tool } from '../../../canonical/request.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { type Block, eventsOf } from '../answers.test-support.ts';
import { framesOf, read, stream } from './responses.test-support.ts';

function namesOf(tools: readonly Tool[]): readonly string[] {
  return tools.map((tool) => ('name' in tool ? tool.name : tool.kind));
}

const F = { type: 'function', name: 'f' };
const IN_N: JsonObject = { type: 'namespace', name: 'n', tools: [F] };

test('two tools with one plain name go up under two names, and calls come back as their own', () => {
  const flat = { type: 'function', name: 'n__f' };
  const exec = ['function', 'custom'].map((type) => ({ type, name: 'exec' }));
  const { canonical, settings } = read({ input: 'x', tools: [IN_N, flat, ...exec] });
  expect(namesOf(canonical.tools)).toEqual(['n__f', 'n__f_2', 'exec', 'exec_2']);
  const called: Block[] = namesOf(canonical.tools).map((name) => ({
    kind: 'call',
    id: `c-${name}`,
    name,
    json: ['{"input":"a"}'],
  }));
  const { response } = framesOf(stream(eventsOf([called]), settings)).at(-1) ?? {};
  expect(response).toMatchObject({
    output: [
      { type: 'function_call', name: 'f', namespace: 'n' },
      { type: 'function_call', name: 'n__f' },
      { type: 'function_call', name: 'exec' },
      { type: 'custom_tool_call', name: 'exec', input: 'a' },
    ],
  });
});

test('a tool in the form of Chat Completions is read, also where it is chosen (P040)', () => {
  const tool = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } };
  const choice = { type: 'function', function: { name: 'f' } };
  const { canonical, notes } = read({ input: 'x', tools: [tool], tool_choice: choice });
  expect(canonical.tools).toMatchObject([
    { kind: 'function', name: 'f', path: 'tools[0].function', parameters: { type: 'object' } },
  ]);
  expect(canonical.toolChoice).toEqual({ kind: 'required', names: ['f'] });
  expect(notes).toEqual([]);
});

test('an interpreter of code is run by the upstream, without files and containers of the vendor', () => {
  const interpreter = (container: JsonObject | string) => {
    const tool = { type: 'code_interpreter', container };
    const { canonical, notes } = read({ input: 'x', tools: [tool], max_tool_calls: 2 });
    expect(canonical.tools).toEqual([{ kind: 'code-execution', path: 'tools[0]' }]);
    return notes.map(({ action, path }) => `${action} ${path}`);
  };
  const unlimited = 'dropped max_tool_calls';
  expect(interpreter({ type: 'auto' })).toEqual([unlimited]);
  expect(interpreter({ type: 'auto', file_ids: ['file-1'] })).toEqual([
    'dropped tools[0].container.file_ids',
    unlimited,
  ]);
  expect(interpreter('cntr_1')).toEqual(['dropped tools[0].container', unlimited]);
});

test('calls of the history go by the names their tools go by', () => {
  const { canonical } = read({
    tools: [
      { type: 'function', name: 'shell' },
      { type: 'shell' },
      { type: 'function', name: 'n__f' },
      IN_N,
    ],
    input: [
      { role: 'user', content: 'x' },
      { type: 'shell_call', call_id: 'a', action: { commands: [] } },
      { type: 'function_call', call_id: 'b', name: 'f', namespace: 'n', arguments: '{}' },
      // Of clients that leave out what they do not know.
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
      { type: 'function_call', call_id: 'd', name: 'g', namespace: 'gone', arguments: '{}' },
    ],
  });
  const calls = canonical.turns.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.kind === 'tool-call' ? part.name : [])),
  );
  expect(calls).toEqual(['shell_2', 'n__f_2', 'n__f_2', 'gone__g']);
});

test('a tool of a namespace can be demanded by its name alone, where there is but one', () => {
  const choose = (tools: JsonObject[], choice: JsonObject) =>
    read({ input: 'x', tools, tool_choice: choice }).canonical.toolChoice;
  const choice = { type: 'function', name: 'f' };
  expect(choose([IN_N], choice)).toEqual({ kind: 'required', names: ['n__f'] });
  expect(choose([IN_N, F], choice)).toEqual({ kind: 'required', names: ['f'] });
  expect(choose([F, IN_N], { ...choice, namespace: 'n' })).toMatchObject({ names: ['n__f'] });
  expect(() => choose([IN_N, { ...IN_N, name: 'm' }], choice)).toThrow('names "f"');
});

test('what is said of a namespace stands before its first tool', () => {
  const described = { ...F, description: 'Finds one.' };
  const tools = [{ ...IN_N, description: 'Customers and orders.', tools: [described, F] }];
  expect(read({ input: 'x', tools }).canonical.tools).toMatchObject([
    { name: 'n__f', description: 'All tools of "n": Customers and orders.\n\nFinds one.' },
    { name: 'n__f' },
  ]);
  const bare = [{ ...IN_N, description: 'Customers.' }];
  expect(read({ input: 'x', tools: bare }).canonical.tools).toMatchObject([
    { description: 'All tools of "n": Customers.' },
  ]);
});

test('a search is told its domains and where the user is', () => {
  const filters = { allowed_domains: ['a.com'], blocked_domains: ['b.com'], kept_domains: ['c'] };
  const user_location = { type: 'approximate', city: 'Oslo', timezone: 'Europe/Oslo' };
  const search_content_types = ['text'];
  const search = { type: 'web_search', filters, user_location, search_content_types };
  const { canonical, notes } = read({ input: 'x', tools: [search] });
  expect(canonical.tools).toEqual([
    {
      kind: 'web-search',
      path: 'tools[0]',
      allowedDomains: ['a.com'],
      blockedDomains: ['b.com'],
      userLocation: { path: 'tools[0].user_location', city: 'Oslo', timezone: 'Europe/Oslo' },
    },
  ]);
  expect(notes).toMatchObject([{ action: 'dropped', path: 'tools[0].filters.kept_domains' }]);
  const wrong = { type: 'web_search', filters: { allowed_domains: [3] } };
  expect(() => read({ input: 'x', tools: [wrong] })).toThrow(
    'tools[0].filters.allowed_domains[0] must be a string.',
  );
});

test.each([{}, { execution: 'server' }])(
  'a search of tools the server would run (%j) is not offered: nobody would answer the call',
  (fields) => {
    const tools = [{ type: 'tool_search', ...fields }, F];
    const { canonical, notes } = read({ input: 'x', tools });
    expect(namesOf(canonical.tools)).toEqual(['f']);
    expect(notes).toMatchObject([{ action: 'approximated', path: 'tools[0]' }]);
  },
);

test('of a search the server ran only the tools it found are read', () => {
  const execution = 'server';
  const found = { ...IN_N, tools: [{ ...F, defer_loading: true }] };
  const { canonical, notes } = read({
    input: [
      { role: 'user', content: 'x' },
      { type: 'tool_search_call', id: 'tsc_1', call_id: null, execution, arguments: {} },
      { type: 'tool_search_output', id: 'tso_1', call_id: null, execution, tools: [found] },
      { type: 'function_call', call_id: 'b', name: 'f', namespace: 'n', arguments: '{}' },
      { type: 'function_call_output', call_id: 'b', output: 'y' },
    ],
  });
  expect(namesOf(canonical.tools)).toEqual(['n__f']);
  expect(notes).toEqual([]);
  expect(canonical.turns.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
});

test.each([{ tool_choice: { type: 'image_generation' } }, { tool_choice: 'required' }])(
  'a picture can be demanded of a model that draws: %j',
  (fields) => {
    const { canonical } = read({ input: 'x', tools: [{ type: 'image_generation' }], ...fields });
    expect(canonical).toMatchObject({
      toolChoice: { kind: 'auto' },
      mustDraw: true,
      outputModalities: ['image'],
    });
  },
);

test('a picture cannot be demanded without its tool', () => {
  expect(() => read({ input: 'x', tool_choice: { type: 'image_generation' } })).toThrow(
    expect.objectContaining({ field: 'tool_choice' }),
  );
});

test('fields of a tool that have no effect are told, whatever kind of tool it is', () => {
  const skills = [{ name: 's', description: 'd', path: '/s' }];
  const format = { type: 'grammar', syntax: 'lark', definition: 'x' };
  const tools = [
    { type: 'custom', name: 'c', format, defer_loading: true, async: true },
    { type: 'apply_patch', allowed_callers: ['programmatic'] },
    { type: 'shell', environment: { type: 'local', skills } },
    { type: 'local_shell', cwd: '/' },
    { type: 'tool_search', execution: 'client', parameters: {}, description: 'd', limit: 3 },
  ];
  const { notes } = read({ input: 'x', tools });
  expect(notes.map(({ action, path }) => `${action} ${path}`)).toEqual([
    'dropped tools[0].async',
    'dropped tools[1].allowed_callers',
    'dropped tools[2].environment.skills',
    'dropped tools[3].cwd',
    'dropped tools[4].limit',
  ]);
});

test('C1: a tool without a name is left out where others are left, and refused alone', () => {
  const { canonical, notes } = read({ input: 'x', tools: [{ type: 'function' }, F] });
  expect(namesOf(canonical.tools)).toEqual(['f']);
  expect(notes).toMatchObject([{ action: 'dropped', path: 'tools[0]' }]);
  for (const type of ['function', 'custom']) {
    expect(() => read({ input: 'x', tools: [{ type }] })).toThrow('tools[0].name');
  }
});
