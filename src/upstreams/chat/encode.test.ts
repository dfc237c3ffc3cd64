import { expect, test } from 'vitest';
import { assistant, call, requestOf, result, text, user } from '../../../test/support/canonical.ts';
import type { CanonicalRequest, MediaPart, Tool } from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import { objectOf } from '../../lib/read-values.ts';
import { type Made, made, OPENAI } from './encode.test-support.ts';
import { createCompatibleProfile, type QuirkPreset } from './profiles.ts';

const like = (quirks: QuirkPreset) =>
  createCompatibleProfile({ baseUrl: 'http://127.0.0.1:1/v1', quirks });
const compatible = createCompatibleProfile({ baseUrl: 'http://127.0.0.1:1/v1' });

const asked = (change: Partial<CanonicalRequest>) =>
  requestOf({ turns: [user('hello there')], ...change });
const messagesOf = (body: JsonObject) => body.messages;

test('instructions stand in front, and keep their place in mid-conversation', () => {
  const { body, notes } = made(
    asked({
      system: [text('Be brief.'), text('Be kind.')],
      turns: [
        user('a'),
        assistant('b'),
        { role: 'system', parts: [text('Now rhyme.')] },
        user('c'),
      ],
    }),
  );
  expect(messagesOf(body)).toEqual([
    { role: 'system', content: 'Be brief.\n\nBe kind.' },
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'b' },
    { role: 'system', content: 'Now rhyme.' },
    { role: 'user', content: 'c' },
  ]);
  expect(notes).toEqual([]);
  const reasoner = made(asked({ system: [text('Be brief.')] }), { modelId: 'o3-mini' });
  expect(messagesOf(reasoner.body)).toMatchObject([{ role: 'developer' }, { role: 'user' }]);
});

test('results stand right behind their calls, their pictures in a user message behind them', () => {
  const picture: MediaPart = {
    kind: 'media',
    modality: 'image',
    mediaType: 'image/png',
    source: { kind: 'base64', base64: 'AAAA' },
  };
  const { body, notes } = made(
    asked({
      turns: [
        user('go'),
        assistant('Looking.', call('a'), call('b')),
        user('and?', { ...result('b'), content: [picture], isError: true }, result('a', 'A')),
      ],
    }),
  );
  expect(messagesOf(body)).toEqual([
    { role: 'user', content: 'go' },
    {
      role: 'assistant',
      content: 'Looking.',
      tool_calls: ['a', 'b'].map((id) => ({
        id,
        type: 'function',
        function: { name: `tool_${id}`, arguments: `{"id":"${id}"}` },
      })),
    },
    { role: 'tool', tool_call_id: 'a', content: 'A' },
    { role: 'tool', tool_call_id: 'b', content: 'Error: The result is in the next message.' },
    {
      role: 'user',
      content: [
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        { type: 'text', text: 'and?' },
      ],
    },
  ]);
  expect(notes).toEqual(['approximated messages', 'approximated messages']);
});

test('a failed result whose text says that it failed says it once', () => {
  const { body } = made(
    asked({
      turns: [
        user('go'),
        assistant(call('a'), call('b')),
        user(
          { ...result('a', 'Error: no such file'), isError: true },
          { ...result('b', 'no such file'), isError: true },
        ),
      ],
    }),
  );
  expect(messagesOf(body)).toMatchObject([
    {},
    {},
    { tool_call_id: 'a', content: 'Error: no such file' },
    { tool_call_id: 'b', content: 'Error: no such file' },
  ]);
});

test('a result that is JSON is told as its text', () => {
  const json = { ...result('a'), content: [{ kind: 'json' as const, value: { files: 2 } }] };
  const { body } = made(asked({ turns: [user('go'), assistant(call('a')), user(json)] }));
  expect(messagesOf(body)).toMatchObject([{}, {}, { role: 'tool', content: '{"files":2}' }]);
});

test('a long id of a call is a short one upstream, the same for call and result', () => {
  const id = `toolu_${'x'.repeat(60)}`;
  const turns = [user('go'), assistant(call(id)), user(result(id))];
  const [, made1, back] = messagesOf(made(asked({ turns })).body) as JsonObject[];
  const [sent] = (made1?.tool_calls ?? []) as JsonObject[];
  expect(String(sent?.id).length).toBeLessThanOrEqual(40);
  expect(back?.tool_call_id).toBe(sent?.id);
  const nine = made(asked({ turns }), { profile: like('mistral') });
  expect(JSON.stringify(nine.body)).toMatch(/"tool_call_id":"[a-z0-9]{9}"/);
});

const FUNCTION: Tool = {
  kind: 'function',
  name: 'weather',
  description: 'of a city',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

test('functions, free text and what the upstream does not run', () => {
  const { body, notes } = made(
    asked({
      tools: [
        FUNCTION,
        { kind: 'freeform', name: 'patch', grammar: { syntax: 'lark', definition: 'start: "x"' } },
        { kind: 'function', name: 'bare' },
        { kind: 'code-execution', path: 'tools[3]' },
      ],
    }),
  );
  expect(body.tools).toMatchObject([
    { type: 'function', function: { name: 'weather', parameters: { required: ['city'] } } },
    { function: { name: 'patch', parameters: { required: ['input'] } } },
    { function: { name: 'bare' } },
  ]);
  expect(JSON.stringify(body.tools)).toContain('lark grammar');
  expect(body.tool_choice).toBeUndefined();
  expect(notes).toEqual(['approximated tools[1]', 'dropped tools[3]']);
});

test('functions are too many where the service is known to take fewer alone', () => {
  const tools = Array.from(
    { length: 129 },
    (_, at): Tool => ({ kind: 'function', name: `f${at}` }),
  );
  for (const profile of [OPENAI, like('groq'), like('deepseek')]) {
    expect(() => made(asked({ tools }), { profile })).toThrow(
      'tools: 129 functions are too many; the upstream takes at most 128 in one request.',
    );
    expect(made(asked({ tools: tools.slice(1) }), { profile }).body.tools).toHaveLength(128);
  }
  for (const profile of [compatible, like('vllm')]) {
    expect(made(asked({ tools }), { profile }).body.tools).toHaveLength(129);
  }
});

test('tools of free text stay such where the model takes them, with grammar, choice and earlier calls', () => {
  const grammar = { syntax: 'lark', definition: 'start: "a"' };
  const patch: Tool = { kind: 'freeform', name: 'patch', description: 'Patches', grammar };
  const other: Tool = { kind: 'function', name: 'other', parameters: { type: 'object' } };
  const request = asked({
    tools: [patch, other],
    toolChoice: { kind: 'required', names: ['patch'] },
    turns: [
      user('go'),
      assistant({ ...call('a'), name: 'patch', input: { input: '*** a' } }),
      user(result('a', 'done')),
    ],
  });
  const { body, notes } = made(request, { modelId: 'gpt-5.1' });
  expect(body.tools).toMatchObject([
    {
      type: 'custom',
      custom: { name: 'patch', description: 'Patches', format: { type: 'grammar', grammar } },
    },
    { type: 'function', function: { name: 'other' } },
  ]);
  expect(body.tool_choice).toEqual({ type: 'custom', custom: { name: 'patch' } });
  expect(messagesOf(body)).toMatchObject([
    {},
    { tool_calls: [{ id: 'a', type: 'custom', custom: { name: 'patch', input: '*** a' } }] },
    { role: 'tool', tool_call_id: 'a' },
  ]);
  expect(notes).toEqual([]);
  for (const aim of [{ modelId: 'gpt-4o' }, { profile: compatible, modelId: 'gpt-5.1' }]) {
    const plain = made(request, aim);
    expect(plain.body.tool_choice).toMatchObject({ type: 'function' });
    expect(plain.notes).toEqual(['approximated tools[0]']);
  }
});

test('what a client marks for the cache is marked where the upstream has marks, and is one text elsewhere', () => {
  const marked = { kind: 'text', text: 'Be kind.', cacheHint: true } as const;
  const call = { kind: 'tool-call', id: 'a', name: 'f', input: {} } as const;
  const content = [{ kind: 'text', text: '4 °C' }] as const;
  const result = {
    kind: 'tool-result',
    callId: 'a',
    content,
    isError: false,
    cacheHint: '1h',
  } as const;
  const request = asked({
    system: [{ kind: 'text', text: 'You help.' }, marked],
    turns: [
      { role: 'user', parts: [{ kind: 'text', text: 'Hi' }, marked] },
      { role: 'assistant', parts: [call] },
      { role: 'user', parts: [result] },
    ],
  });
  const mark = { cache_control: { type: 'ephemeral' } };
  const hour = { cache_control: { type: 'ephemeral', ttl: '1h' } };
  const two = (first: string) => [
    { type: 'text', text: first },
    { type: 'text', text: 'Be kind.', ...mark },
  ];
  expect(messagesOf(made(request, { profile: like('openrouter') }).body)).toMatchObject([
    { role: 'system', content: two('You help.') },
    { role: 'user', content: two('Hi') },
    { role: 'assistant' },
    { role: 'tool', content: [{ type: 'text', text: '4 °C', ...hour }] },
  ]);
  expect(messagesOf(made(request).body)).toMatchObject([
    { content: 'You help.\n\nBe kind.' },
    { content: 'Hi\n\nBe kind.' },
    {},
    { content: '4 °C' },
  ]);
});

test('tier, length of the answer and cache are said where the upstream has words for them', () => {
  const request = asked({ serviceTier: 'FLEX', verbosity: 'low', cacheKey: 'k' });
  const newer = made(request, { modelId: 'gpt-5.1' });
  expect(newer.body).toMatchObject({
    ...{ service_tier: 'flex', verbosity: 'low', prompt_cache_key: 'k' },
  });
  expect(newer.notes).toEqual([]);
  const older = made(request, { modelId: 'gpt-4o' });
  expect([older.body.verbosity, older.notes]).toEqual([undefined, ['dropped verbosity']]);
  const other = made(request, { profile: compatible, modelId: 'm' });
  expect(other.body).not.toHaveProperty('service_tier');
  expect(other.body).not.toHaveProperty('prompt_cache_key');
  const session = (cacheKey: string) =>
    made(asked({ cacheKey }), { profile: like('openrouter') }).body.session_id;
  expect([session('k'), session('k'.repeat(257))]).toEqual(['k', undefined]);
  expect(other.notes).toEqual(['dropped verbosity', 'dropped service_tier']);
  const usual = made(asked({ serviceTier: 'standard_only' }));
  expect([usual.body.service_tier, usual.notes]).toEqual(['default', []]);
});

test('a model that refuses efforts beside functions is told not to think, or nothing', () => {
  const amount = { kind: 'effort', effort: 'high' } as const;
  const tools: Tool[] = [{ kind: 'function', name: 'f', parameters: { type: 'object' } }];
  const thinking = asked({ tools, reasoning: { amount, showThoughts: true } });
  const said = (request: CanonicalRequest, modelId: string) => {
    const { body, notes } = made(request, { modelId });
    return [body.reasoning_effort, notes];
  };
  expect(said(thinking, 'gpt-5.2')).toEqual(['high', []]);
  expect(said(thinking, 'gpt-5.6')).toEqual(['none', ['dropped thinking']]);
  expect(said(thinking, 'gpt-6-astra')).toEqual([undefined, ['dropped thinking']]);
  expect(said(asked({ tools }), 'gpt-5.6')).toEqual(['none', []]);
  expect(said({ ...thinking, tools: [] }, 'gpt-5.6')).toEqual(['high', []]);
});

test('a search that the model does not run is told at the tool that asked for it', () => {
  const search = asked({ tools: [{ kind: 'web-search', path: 'tools[2].googleSearch' }] });
  expect(made(search, { modelId: 'gpt-4o-search-preview' })).toMatchObject({
    body: { web_search_options: {} },
    notes: [],
  });
  const placed = asked({ tools: [{ kind: 'web-search', userLocation: { city: 'Oslo' } }] });
  expect(made(placed, { modelId: 'gpt-4o-search-preview' }).body.web_search_options).toEqual({
    user_location: { type: 'approximate', approximate: { city: 'Oslo' } },
  });
  const { body, notes } = made(search, { modelId: 'gpt-4.1' });
  expect(body.web_search_options).toBeUndefined();
  expect(notes).toEqual(['dropped tools[2].googleSearch']);
});

test('schemas of other dialects are said in the words of this one', () => {
  const parameters: JsonObject = {
    type: 'OBJECT',
    properties: {
      list: { type: 'ARRAY' },
      maybe: { type: 'STRING', nullable: true },
      pair: { type: 'array', items: [{ type: 'string' }, { type: 'number' }] },
      some: { type: 'ARRAY', items: { type: 'STRING', maxLength: '9' }, minItems: '1' },
      part: { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: '1', multipleOf: 'x' },
      whole: { exclusiveMaximum: true, maximum: 5, exclusiveMinimum: false, minimum: 1 },
      any: { type: 'TYPE_UNSPECIFIED', description: 'x' },
      words: { type: ['STRING', 'NULL', 'huh'], enum: [] },
      python: { type: 'dict', properties: { on: { type: 'bool' } } },
    },
  };
  const { body } = made(asked({ tools: [{ kind: 'function', name: 'f', parameters }] }));
  const said = {
    type: 'object',
    properties: {
      list: { type: 'array', items: {} },
      maybe: { type: ['string', 'null'] },
      pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: {} },
      some: { type: 'array', items: { type: 'string', maxLength: 9 }, minItems: 1 },
      part: { type: 'number', exclusiveMinimum: 0, maximum: 1 },
      whole: { exclusiveMaximum: 5, minimum: 1 },
      any: { description: 'x' },
      words: { type: ['string', 'null'] },
      python: { type: 'object', properties: { on: { type: 'boolean' } } },
    },
  };
  expect(body.tools).toEqual([{ type: 'function', function: { name: 'f', parameters: said } }]);
});

test('keywords without a meaning are left out of a schema, which the upstream would refuse', () => {
  const parameters: JsonObject = {
    type: 'object',
    properties: {
      any: { type: 'any', description: null, pattern: 5 },
      none: { type: 'object', properties: null, required: null },
      one: { type: 'string', required: true, format: {}, minLength: -1 },
      choice: { anyOf: [], allOf: [], oneOf: 'x' },
      list: { type: 'array', items: null, additionalItems: false },
      pair: { items: [{ type: 'string' }], additionalItems: false },
      gone: null,
    },
    required: ['one', null, 'one'],
    $defs: [],
  };
  const { body } = made(asked({ tools: [{ kind: 'function', name: 'f', parameters }] }));
  const said = {
    type: 'object',
    properties: {
      any: {},
      none: { type: 'object' },
      one: { type: 'string' },
      choice: {},
      list: { type: 'array', items: {}, additionalItems: false },
      pair: { prefixItems: [{ type: 'string' }], items: false },
      gone: {},
    },
    required: ['one'],
  };
  expect(body.tools).toEqual([{ type: 'function', function: { name: 'f', parameters: said } }]);
});

test('the object of an answer says what it holds, also where the client leaves it open', () => {
  const answer = (schema: JsonObject) =>
    made(asked({ outputFormat: { kind: 'json-schema', schema } })).body.response_format;
  const schemaOf = (schema: JsonObject) => ({ json_schema: { schema } });
  expect(answer({ type: 'OBJECT' })).toMatchObject(schemaOf({ type: 'object', properties: {} }));
  const free = { type: 'object', additionalProperties: { type: 'string' } };
  expect(answer(free)).toHaveProperty('json_schema.schema', free);
});

test('a schema is strict where it follows the rules of strict ones', () => {
  const strict = (parameters: JsonObject): Tool => ({ ...FUNCTION, parameters, strict: true });
  const closed = {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  };
  const good = made(asked({ tools: [strict(closed)] }));
  expect(good.body.tools).toMatchObject([{ function: { strict: true } }]);
  const open = made(asked({ tools: [strict({ type: 'object', properties: {} })] }));
  expect(JSON.stringify(open.body.tools)).not.toContain('strict');
  const text = { type: 'string' };
  for (const odd of [
    { type: 'array', prefixItems: [text] },
    { type: 'array', items: text, uniqueItems: true },
    { type: 'array', items: text, contains: text },
    { ...closed, minProperties: 1 },
    { ...closed, propertyNames: { pattern: '^a' } },
    { ...closed, dependentSchemas: { a: closed } },
  ]) {
    const parameters = { ...closed, properties: { a: odd }, required: ['a'] };
    const { body } = made(asked({ tools: [strict(parameters)] }));
    expect(JSON.stringify(body.tools)).not.toContain('strict');
  }
  expect(open.notes).toEqual(['approximated tools[0]']);
  const none = made(asked({ tools: [strict(closed)] }), { profile: compatible });
  expect(none.notes).toEqual(['approximated tools[0]']);
});

test.each<[Partial<CanonicalRequest>, JsonObject[string] | undefined]>([
  [{ toolChoice: { kind: 'none' } }, 'none'],
  [{ toolChoice: { kind: 'required', names: [] } }, 'required'],
  [{ toolChoice: { kind: 'validated', names: [] } }, 'auto'],
  [
    { toolChoice: { kind: 'required', names: ['weather'] } },
    { type: 'function', function: { name: 'weather' } },
  ],
  [
    { toolChoice: { kind: 'auto', names: ['weather'] } },
    {
      type: 'allowed_tools',
      allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'weather' } }] },
    },
  ],
])('a choice of tools: %j', (change, choice) => {
  const tools: Tool[] = [FUNCTION, { kind: 'function', name: 'other' }];
  expect(made(asked({ tools, ...change })).body.tool_choice).toEqual(choice);
});

test('where a choice cannot be limited, only the allowed tools are offered', () => {
  const tools: Tool[] = [FUNCTION, { kind: 'function', name: 'other' }];
  const toolChoice = { kind: 'auto', names: ['weather'] } as const;
  const { body } = made(asked({ tools, toolChoice }), { profile: compatible });
  expect(body.tools).toHaveLength(1);
});

test('one call at a time is a switch of the wire, where it has it', () => {
  const serial = asked({ tools: [FUNCTION], parallelToolCalls: false });
  expect(made(serial)).toMatchObject({ body: { parallel_tool_calls: false }, notes: [] });
  const told = made(serial, { profile: like('ollama') });
  expect(told.body.parallel_tool_calls).toBeUndefined();
  expect(told.notes).toEqual(['approximated parallel_tool_calls']);
  expect(JSON.stringify(told.body.messages)).toContain('at most one function');
  const reasoner = made(serial, { modelId: 'o4-mini' });
  expect(reasoner.body.parallel_tool_calls).toBeUndefined();
  expect(reasoner.notes).toEqual(['approximated parallel_tool_calls']);
});

const SAMPLED = asked({
  sampling: { temperature: 0.3, topP: 0.9, topK: 5, seed: 7, presencePenalty: 1 },
  stopSequences: ['END'],
  maxOutputTokens: 100,
});

test('sampling is said in the names of the upstream; what it has not is told', () => {
  expect(made(SAMPLED)).toMatchObject({
    body: {
      ...{ temperature: 0.3, top_p: 0.9, seed: 7, presence_penalty: 1, stop: ['END'] },
      max_completion_tokens: 100,
    },
    notes: ['dropped top_k'],
  });
  const mistral = made(SAMPLED, { profile: like('mistral') });
  expect(mistral.body).toMatchObject({ max_tokens: 100, random_seed: 7 });
  expect(mistral.body.seed).toBeUndefined();
});

test('models that reason refuse settings of sampling, unless they are told not to think', () => {
  const { body, notes } = made(SAMPLED, { modelId: 'gpt-5-mini' });
  expect(Object.keys(body).sort()).toEqual(['max_completion_tokens', 'messages', 'model', 'seed']);
  expect(notes).toEqual([
    ...['dropped temperature', 'dropped top_p', 'dropped presence_penalty', 'dropped top_k'],
    // The gateway cuts the answer at them.
    'approximated stop',
  ]);
  const still = asked({ sampling: { temperature: 0.3 }, reasoning: { amount: { kind: 'off' } } });
  expect(made(still, { modelId: 'gpt-5.1' }).body).toMatchObject({
    temperature: 0.3,
    reasoning_effort: 'none',
  });
});

type Amount = CanonicalRequest['reasoning']['amount'];

test('an id of the public API says what its model takes, at any service that nothing else is known of', () => {
  const said = asked({
    maxOutputTokens: 100,
    sampling: { temperature: 0.3 },
    reasoning: { amount: { kind: 'effort', effort: 'low' } },
  });
  const fields = ({ body: { messages: _messages, model: _model, ...rest } }: Made) => rest;
  const reasoner = made(said, { profile: compatible, modelId: 'openai/gpt-5' });
  expect(fields(reasoner)).toEqual({ max_completion_tokens: 100, reasoning_effort: 'low' });
  expect(reasoner.notes).toEqual(['dropped temperature']);
  for (const modelId of ['gpt-4.1', 'gpt-3.5-turbo', 'chatgpt-4o-latest', 'gpt-5-chat']) {
    const plain = made(said, { profile: compatible, modelId });
    expect(fields(plain)).toEqual({ max_tokens: 100, temperature: 0.3 });
    expect(plain.notes).toEqual(['dropped thinking']);
  }
  for (const modelId of ['qwen3-32b', 'gpt-oss-120b', 'olmo-2']) {
    const unknown = made(said, { profile: compatible, modelId });
    const effort = { reasoning_effort: 'low' };
    expect(fields(unknown)).toEqual({ max_tokens: 100, temperature: 0.3, ...effort });
  }
  // A service that is named takes what it documents, whatever its ids.
  const named = made(said, { profile: like('openrouter'), modelId: 'openai/gpt-5' });
  const effort = { reasoning: { effort: 'low' } };
  expect(fields(named)).toEqual({ max_tokens: 100, temperature: 0.3, ...effort });
});

test.each<[string, Amount, string | undefined]>([
  ['gpt-5', { kind: 'budget', tokens: 2048 }, 'low'],
  ['gpt-5', { kind: 'effort', effort: 'max' }, 'high'],
  ['gpt-5', { kind: 'off' }, 'minimal'],
  ['gpt-5.2', { kind: 'effort', effort: 'max' }, 'xhigh'],
  ['openai/o4-mini', { kind: 'off', isUnasked: true }, 'low'],
  ['o3', { kind: 'effort', effort: 'minimal' }, 'low'],
  ['gpt-7', { kind: 'off' }, 'low'],
  ['gpt-5', { kind: 'adaptive' }, undefined],
  // They think only if they are told to.
  ['gpt-5.1', { kind: 'adaptive' }, 'high'],
  ['openai/gpt-5.4-mini', { kind: 'adaptive' }, 'high'],
  ['gpt-6-astra', { kind: 'adaptive' }, undefined],
  ['gpt-4o', { kind: 'effort', effort: 'high' }, undefined],
  ['gpt-5-chat-latest', { kind: 'effort', effort: 'high' }, undefined],
])('%s is asked for %j with %s', (modelId, amount, word) => {
  expect(made(asked({ reasoning: { amount } }), { modelId }).body.reasoning_effort).toBe(word);
});

test.each<[QuirkPreset, Amount, JsonObject]>([
  ['openrouter', { kind: 'budget', tokens: 2048 }, { reasoning: { max_tokens: 2048 } }],
  ['openrouter', { kind: 'off' }, { reasoning: { effort: 'none' } }],
  [
    'deepseek',
    { kind: 'effort', effort: 'medium' },
    { thinking: { type: 'enabled' }, reasoning_effort: 'high' },
  ],
  ['deepseek', { kind: 'off' }, { thinking: { type: 'disabled' } }],
  [
    'zai',
    { kind: 'effort', effort: 'medium' },
    { thinking: { type: 'enabled' }, reasoning_effort: 'high' },
  ],
  ['vllm', { kind: 'off' }, { chat_template_kwargs: { enable_thinking: false } }],
  ['ollama', { kind: 'effort', effort: 'minimal' }, { reasoning_effort: 'low' }],
  ['openrouter', { kind: 'adaptive' }, { reasoning: { enabled: true } }],
  ['deepseek', { kind: 'adaptive' }, { thinking: { type: 'enabled' } }],
  ['vllm', { kind: 'adaptive' }, { chat_template_kwargs: { enable_thinking: true } }],
  ['minimax', { kind: 'effort', effort: 'high' }, { thinking: { type: 'adaptive' } }],
  ['minimax', { kind: 'off' }, { thinking: { type: 'disabled' }, reasoning_split: true }],
  ['qwen', { kind: 'effort', effort: 'high' }, { enable_thinking: true }],
  ['qwen', { kind: 'off' }, { enable_thinking: false }],
])('%s is told %j as %j', (preset, amount, fields) => {
  const { body } = made(asked({ reasoning: { amount } }), { profile: like(preset), modelId: 'm' });
  expect(body).toMatchObject(fields);
});

test('who wants to see thoughts has thinking switched on where there is a switch', () => {
  const reasoning = { amount: { kind: 'unset' }, showThoughts: true } as const;
  const bodyOf = (preset: QuirkPreset) =>
    made(asked({ reasoning }), { profile: like(preset), modelId: 'm' }).body;
  expect(bodyOf('openrouter').reasoning).toEqual({ enabled: true });
  expect(Object.keys(bodyOf('groq')).toSorted()).toEqual(['messages', 'model']);
});

test('a schema that knows no other members than its own is closed, in the order it names', () => {
  const inner = { type: 'OBJECT', properties: { x: { type: 'STRING' } }, required: ['x'] };
  const members: JsonObject = { a: { type: 'ARRAY', items: inner }, b: { type: 'INTEGER' } };
  const schemaOf = (properties: JsonObject): JsonObject => {
    const required = Object.keys(properties);
    const schema = { type: 'OBJECT', propertyOrdering: ['b'], required, properties };
    const outputFormat = { kind: 'json-schema', schema, isClosed: true } as const;
    const { response_format: format } = made(asked({ outputFormat })).body;
    return objectOf(objectOf(format)?.json_schema) ?? {};
  };
  const { strict, schema } = schemaOf(members);
  expect(strict).toBe(true);
  expect(JSON.stringify(schema)).toContain('"properties":{"b":{"type":"integer"},"a":');
  expect(schema).toMatchObject({
    additionalProperties: false,
    properties: { a: { items: { additionalProperties: false } } },
  });
  expect(schema).not.toHaveProperty('propertyOrdering');
  expect(schemaOf({ ...members, any: { type: 'OBJECT' } })).not.toHaveProperty('strict');
});

test('formats go up as schemas, as JSON, or in words', () => {
  const schema: JsonObject = { type: 'object', properties: { a: { type: 'string' } } };
  const wanted = asked({ outputFormat: { kind: 'json-schema', schema, strict: true } });
  expect(made(wanted)).toMatchObject({
    body: { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } } },
    notes: ['approximated response_format'],
  });
  const object = made(wanted, { profile: like('deepseek') });
  expect(object.body.response_format).toEqual({ type: 'json_object' });
  expect(JSON.stringify(object.body.messages)).toContain('JSON Schema');
  expect(made(wanted, { profile: like('llama-cpp-python') })).toMatchObject({
    body: { response_format: { type: 'json_object', schema } },
    notes: [],
  });
  const list = asked({ outputFormat: { kind: 'json-schema', schema: { type: 'array' } } });
  expect(made(list).body.response_format).toBeUndefined();
  const bare = made(asked({ outputFormat: { kind: 'json' }, system: [text('Be brief.')] }));
  expect(bare.body.messages).toMatchObject([
    { role: 'system', content: expect.stringMatching(/^Be brief\.\n\n.*JSON/s) },
    { role: 'user' },
  ]);
  expect(
    made(asked({ outputFormat: { kind: 'json' } }), { profile: like('lm-studio') }).body,
  ).toMatchObject({
    response_format: { type: 'json_schema' },
  });
});

test.each<[Partial<CanonicalRequest>, string]>([
  [{ cachedContent: 'caches/1' }, 'cached_content: the cache of another upstream'],
  [{ mustDraw: true }, 'tool_choice demands a picture'],
  [
    { tools: [FUNCTION], toolChoice: { kind: 'required', names: ['other'] } },
    'tool_choice: "other" is not among the tools.',
  ],
])('what no words can stand for is refused: %j', (change, why) => {
  expect(() => made(asked(change))).toThrow(why);
});

test('media go up where the upstream takes them, and are told to be missing where not', () => {
  const media = (modality: MediaPart['modality'], mediaType: string): MediaPart => ({
    kind: 'media',
    modality,
    mediaType,
    source: { kind: 'base64', base64: 'AAAA' },
  });
  const request = asked({
    turns: [user(media('document', 'application/pdf'), media('audio', 'audio/wav'), 'Well?')],
  });
  expect(made(request).body.messages).toMatchObject([
    {
      content: [
        { type: 'file', file: { file_data: 'data:application/pdf;base64,AAAA' } },
        { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
        { type: 'text', text: 'Well?' },
      ],
    },
  ]);
  const blind = made(request, { profile: like('deepseek') });
  expect(JSON.stringify(blind.body.messages)).toContain('[document left out');
  expect(blind.notes).toEqual(['dropped messages', 'dropped messages']);
});

test.each([
  ['audio/wav', 'deepseek', 'hears nothing; name a model'],
  ['audio/m4a', 'openrouter', 'hears no audio/m4a; send wav or mp3'],
] as const)(
  'a recording of %s to write down is refused where %s does not take it, never made up',
  (mediaType, quirks, why) => {
    const source = { kind: 'base64', base64: 'AAAA' } as const;
    const request = asked({
      turns: [user({ kind: 'media', modality: 'audio', mediaType, source }, 'Write it down.')],
      transcription: { task: 'transcribe', languages: [], keywords: [], times: 'nothing' },
    });
    expect(() => made(request, { profile: like(quirks) })).toThrow(why);
  },
);

test('an address is sent where it is read, and refused where it is not', () => {
  const part: MediaPart = {
    kind: 'media',
    modality: 'image',
    source: { kind: 'url', url: 'https://a.example/x.png', path: 'messages[0]' },
  };
  const request = asked({ turns: [user(part)] });
  expect(JSON.stringify(made(request).body)).toContain('"url":"https://a.example/x.png"');
  expect(() => made(request, { profile: like('ollama') })).toThrow('messages[0]: this image URL');
});

test('thoughts go back to who wants them, in its own field, and signatures of others nowhere', () => {
  const family = 'chat.openai-compatible.m';
  const details = [{ type: 'reasoning.text', text: 'hm', signature: 'S' }];
  const value = Buffer.from(JSON.stringify(details)).toString('base64url');
  const turns = (signature: { value: string; family: string }) => [
    user('a'),
    assistant({ kind: 'thinking', text: 'hm', signature: { ...signature, on: 'thinking' } }, 'b'),
    user('c'),
  ];
  const sent = (quirks: QuirkPreset, signature: { value: string; family: string }) =>
    made(asked({ turns: turns(signature) }), { profile: like(quirks), modelId: 'm' });
  expect(sent('openrouter', { value, family }).body.messages).toMatchObject([
    {},
    { role: 'assistant', content: 'b', reasoning_details: details },
    {},
  ]);
  expect(sent('deepseek', { value: 'cmVhc29uaW5n', family }).body.messages).toMatchObject([
    {},
    { reasoning_content: 'hm' },
    {},
  ]);
  const foreign = sent('openrouter', { value, family: 'alpha' });
  expect(JSON.stringify(foreign.body)).not.toContain('reasoning');
  expect(foreign.notes).toContain('dropped messages');
  const silent = made(asked({ turns: turns({ value, family: 'chat.openai.gpt' }) }), {
    profile: OPENAI,
  });
  expect(silent.notes).toEqual(['dropped messages']);
});

test('what the operator adds to every request wins', () => {
  const profile = createCompatibleProfile({
    baseUrl: 'http://127.0.0.1:1',
    quirks: { preset: 'vllm', extraBody: { chat_template_kwargs: { x: 1 }, temperature: 0 } },
  });
  const request = asked({ sampling: { temperature: 1 }, reasoning: { amount: { kind: 'off' } } });
  expect(made(request, { profile }).body).toMatchObject({
    temperature: 0,
    chat_template_kwargs: { enable_thinking: false, x: 1 },
  });
});

test('a model that draws is asked for pictures in the words of OpenRouter, and for none unasked', () => {
  const profile = like('openrouter');
  const drawing = (change: Partial<CanonicalRequest>) =>
    made(asked(change), { profile, modelId: 'google/gemini-2.5-flash-image' });
  const image = { aspectRatio: '16:9', size: '2K' } as const;
  const { body, notes } = drawing({ image });
  expect(body).toMatchObject({
    modalities: ['image', 'text'],
    image_config: { aspect_ratio: '16:9', image_size: '2K' },
  });
  expect(notes).toEqual([]);
  expect(drawing({ mustDraw: true }).body).toMatchObject({ modalities: ['image', 'text'] });
  expect(drawing({}).body).not.toHaveProperty('modalities');
});
