import { expect, test } from 'vitest';
import { MINIMAL, read, readCall, routeAt, routeInput } from '../../../test/support/messages.ts';
import { GatewayError } from '../../canonical/error.ts';
import { type JsonObject, type JsonValue, parseJson } from '../../lib/json.ts';
import captured from './__fixtures__/captured-requests.json' with { type: 'json' };
import { writeError } from './errors.ts';

/** The message of the 400 a body is refused with. */
function refusal(fields: JsonObject): string {
  try {
    const call = readCall({ ...MINIMAL, ...fields });
    call.request;
  } catch (error) {
    if (error instanceof GatewayError && error.kind === 'invalid-request') return error.message;
    throw error;
  }
  throw new Error('the body was accepted');
}

test('V010 a plain question is one user turn with its limit and nothing else set', () => {
  const { request, receipt } = read({});
  expect(request).toEqual({
    clientNames: expect.any(Object),
    system: [],
    turns: [{ role: 'user', parts: [{ kind: 'text', text: 'Hi' }] }],
    tools: [],
    toolChoice: { kind: 'auto', names: [] },
    sampling: {},
    maxOutputTokens: 50,
    stopSequences: [],
    choices: 1,
    reasoning: { amount: { kind: 'unset' } },
    outputFormat: { kind: 'text' },
    safety: [],
  });
  expect(receipt).toEqual([]);
});

test('V011 a system string or system blocks become system parts in order', () => {
  expect(read({ system: 'Be brief' }).request.system).toEqual([{ kind: 'text', text: 'Be brief' }]);
  const blocks = [
    { type: 'text', text: 'A', cache_control: { type: 'ephemeral' } },
    { type: 'text', text: 'B' },
  ];
  const { request, receipt } = read({ system: blocks });
  expect(request.system).toEqual([
    { kind: 'text', text: 'A', cacheHint: true },
    { kind: 'text', text: 'B' },
  ]);
  expect(receipt).toEqual([]);
});

test('V012 P061 leading system messages join the system parts, later ones keep their place', () => {
  const { request } = read({
    system: 'S0',
    messages: [
      { role: 'system', content: 'S1' },
      { role: 'user', content: 'U' },
      { role: 'system', content: [{ type: 'text', text: 'S2' }] },
      { role: 'assistant', content: 'A' },
    ],
  });
  expect(request.system.map((part) => part.text)).toEqual(['S0', 'S1']);
  expect(request.turns.map((turn) => turn.role)).toEqual(['user', 'system', 'assistant']);
});

test('V013 neighbours of one role stay apart here', () => {
  const messages = [
    { role: 'user', content: 'a' },
    { role: 'user', content: 'b' },
  ];
  expect(read({ messages }).request.turns).toHaveLength(2);
});

test('a system message cleared at the next user message is left out once there is one', () => {
  const cleared = { role: 'system', content: 'S', clear_at: 'next_user_message' };
  const user = { role: 'user', content: 'U' };
  expect(read({ messages: [user, cleared] }).request.turns).toHaveLength(2);
  expect(read({ messages: [user, cleared, user] }).request.turns).toHaveLength(2);
  const blocks = { ...cleared, content: [{ type: 'text', text: 'S' }] };
  expect(read({ messages: [user, blocks] }).request.turns).toHaveLength(2);
  expect(read({ messages: [user, blocks, user] }).request.turns).toHaveLength(2);
});

test('tools added in mid-conversation are declared and announced', () => {
  const definition = { name: 'late', input_schema: { type: 'object' } };
  const { request } = read({
    messages: [
      { role: 'user', content: 'U' },
      {
        role: 'system',
        content: [
          { type: 'tool_addition', tool: { type: 'tool_definition', definition } },
          { type: 'tool_removal', tool: { type: 'tool_reference', name: 'early' } },
        ],
      },
    ],
  });
  expect(request.tools.map((tool) => 'name' in tool && tool.name)).toEqual(['late']);
  expect(request.turns[1]?.parts).toEqual([
    { kind: 'text', text: 'Tool late is now available.' },
    { kind: 'text', text: 'Tool early is no longer available.' },
  ]);
});

/** A mid-conversation system message. */
const changes = (...content: JsonObject[]): JsonObject[] => [
  { role: 'user', content: 'U' },
  { role: 'system', content },
];
const definition = (name: string, description: string): JsonObject => ({
  name,
  description,
  input_schema: { type: 'object' },
});
const adds = (tool: JsonObject): JsonObject => ({ type: 'tool_addition', tool });
const removes = (name: string): JsonObject => ({
  type: 'tool_removal',
  tool: { type: 'tool_reference', name },
});
const defines = (name: string, description: string): JsonObject =>
  adds({ type: 'tool_definition', definition: definition(name, description) });
const described = (fields: JsonObject): unknown[] =>
  read(fields).request.tools.map((tool) =>
    tool.kind === 'function' ? `${tool.name}: ${tool.description}` : tool.kind,
  );

test('a tool defined anew in mid-conversation takes the place of the one before', () => {
  const tools = [definition('a', 'first'), definition('b', 'other')];
  const anew = changes(removes('a'), defines('a', 'second'));
  expect(described({ tools, messages: anew })).toEqual(['a: second', 'b: other']);
  const twice = changes(defines('c', 'first'), defines('c', 'second'));
  expect(described({ tools, messages: twice })).toEqual(['a: first', 'b: other', 'c: second']);
  expect(refusal({ tools: [...tools, definition('a', 'third')] })).toContain('unique');
});

test('a tool removed in mid-conversation can be called again only when it came back', () => {
  const tools = [definition('a', 'first'), definition('b', 'other')];
  expect(described({ tools, messages: changes(removes('a')) })).toEqual(['b: other']);
  const back = changes(removes('a'), adds({ type: 'tool_reference', name: 'a' }));
  expect(described({ tools, messages: back })).toEqual(['a: first', 'b: other']);
  const ofServer = { type: 'mcp_tool_reference', server_name: 's', name: 'a' };
  const elsewhere = changes({ type: 'tool_removal', tool: ofServer });
  expect(described({ tools, messages: elsewhere })).toEqual(['a: first', 'b: other']);
  const choice = { type: 'tool', name: 'a' };
  expect(refusal({ tools, tool_choice: choice, messages: changes(removes('a')) })).toContain(
    'tool_choice.name',
  );
});

test('V034 V040 sampling, limits and stop sequences are read as they are', () => {
  const { request } = read({
    temperature: 0.7,
    top_p: 0.95,
    top_k: 40,
    stop_sequences: ['END'],
    max_tokens: 200000,
  });
  expect(request.sampling).toEqual({ temperature: 0.7, topP: 0.95, topK: 40 });
  expect(request.stopSequences).toEqual(['END']);
  expect(request.maxOutputTokens).toBe(200000);
  expect(() => readCall({ model: 'm', messages: [{ role: 'user', content: 'x' }] })).toThrow(
    'max_tokens: Field required',
  );
});

test('hints on caching are read in both lengths, with fields of later dates, and null is none', () => {
  const ttls: JsonValue[] = ['5m', '1h', null];
  for (const ttl of ttls) {
    const cache_control = { type: 'ephemeral', ttl, scope: 'global' };
    const content = [{ type: 'text', text: 'x', cache_control }];
    const { request } = read({ cache_control: null, messages: [{ role: 'user', content }] });
    const cacheHint = ttl === '1h' ? '1h' : true;
    expect(request.turns[0]?.parts).toEqual([{ kind: 'text', text: 'x', cacheHint }]);
  }
});

test('a top_k of 0 sets no limit', () => {
  expect(read({ top_k: 0 }).request.sampling.topK).toBeUndefined();
});

const refused: readonly (readonly [JsonObject, string])[] = [
  [{ model: null }, 'model: Field required'],
  [{ model: 7 }, 'model: Input should be a valid string'],
  [{ model: '' }, 'model: String should have at least 1 character'],
  [{ messages: null }, 'messages: Field required'],
  [{ messages: {} }, 'messages: Input should be a valid list'],
  [{ messages: [] }, 'messages: at least one message is required'],
  [{ messages: [{ role: 'system', content: 'x' }] }, 'messages: at least one message is required'],
  [{ messages: ['x'] }, 'messages.0: Input should be a valid dictionary'],
  [{ messages: [{ content: 'x' }] }, 'messages.0.role: Field required'],
  [
    { messages: [{ role: 'tool', content: 'x' }] },
    "messages.0.role: Input should be 'user', 'assistant' or 'system'",
  ],
  [{ messages: [{ role: 'user' }] }, 'messages.0.content: Field required'],
  [
    { messages: [{ role: 'user', content: 7 }] },
    'messages.0.content: Input should be a valid string or a valid list',
  ],
  [
    {
      messages: [
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 7 }] },
      ],
    },
    'messages.0.content.0.content: Input should be a valid string or a valid list',
  ],
  [{ max_tokens: '5' }, 'max_tokens: Input should be a valid number'],
  [{ max_tokens: -1 }, 'max_tokens: Input should be greater than or equal to 0'],
  [{ max_tokens: 1.5 }, 'max_tokens: Input should be a valid integer'],
  [{ max_tokens: parseJson('1e999') }, 'max_tokens: Input should be a valid integer'],
  [{ temperature: 1.1 }, 'temperature: Input should be less than or equal to 1'],
  [{ top_p: -0.1 }, 'top_p: Input should be greater than or equal to 0'],
  [{ top_k: -1 }, 'top_k: Input should be greater than or equal to 0'],
  [{ stream: 'yes' }, 'stream: Input should be a valid boolean'],
  [{ stop_sequences: Array(65).fill('a') }, 'stop_sequences: List should have at most 64 items'],
  [{ stop_sequences: ['a', 1] }, 'stop_sequences.1: Input should be a valid string'],
  [{ stop_sequences: ['a', ''] }, 'stop_sequences.1: A stop sequence should not be empty'],
  [{ system: 1 }, 'system: Input should be a valid string or a valid list'],
  [{ system: [{ type: 'image' }] }, 'system.0.type: Input tag "image" is not supported'],
  [{ metadata: 'x' }, 'metadata: Input should be a valid dictionary'],
  [{ mcp_servers: [{ url: 'x' }] }, 'mcp_servers: MCP servers cannot be called from here'],
  [{ cache_control: true }, 'cache_control: Input should be a valid dictionary'],
  [{ cache_control: {} }, 'cache_control.type: Field required'],
  [{ cache_control: { type: 'persistent' } }, "cache_control.type: Input should be 'ephemeral'"],
  [
    { system: [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral', ttl: '2h' } }] },
    "system.0.cache_control.ttl: Input should be '5m' or '1h'",
  ],
  [
    { messages: [{ role: 'user', content: [{ type: 'text', text: 'x', cache_control: 'on' }] }] },
    'messages.0.content.0.cache_control: Input should be a valid dictionary',
  ],
  [
    { tools: [{ name: 'f', input_schema: { type: 'object' }, cache_control: { type: 5 } }] },
    'tools.0.cache_control.type: Input should be a valid string',
  ],
  [
    { tools: [{ name: 'bash', type: 'bash_20250124', cache_control: [] }] },
    'tools.0.cache_control: Input should be a valid dictionary',
  ],
  [{ tools: {} }, 'tools: Input should be a valid list'],
  [{ thread: { type: 'fork' } }, 'thread: Send the whole conversation'],
];

test.each([
  { type: 'image', source: { type: 'url', url: 'http://10.0.0.1/a.png' } },
  { type: 'document', source: { type: 'url', url: 'file:///etc/passwd' } },
  {
    type: 'tool_result',
    tool_use_id: 't',
    content: [{ type: 'image', source: { type: 'url', url: 'https://nas.local/a.png' } }],
  },
])('V082 an address inside some network is refused before it is relayed: %j', (block) => {
  const messages = [{ role: 'user', content: [block] }];
  expect(() => readCall({ ...MINIMAL, messages })).toThrow(
    /^messages\.0\.content\.0\..*source\.url: Input should be a public http or https address$/,
  );
});

test.each(refused)('%j is refused with a message naming the field', (fields, message) => {
  expect(refusal(fields)).toContain(message);
});

test('the error names the field in bracket form, the message in dotted form', () => {
  const body = { ...MINIMAL, messages: [{ role: 'user', content: [{ type: 'audio' }] }] };
  const error = (() => {
    try {
      return readCall(body).request;
    } catch (caught) {
      return caught;
    }
  })();
  expect(error).toMatchObject({ field: 'messages[0].content[0].type', reason: 'invalid-value' });
  expect(error).toHaveProperty('message', expect.stringContaining('messages.0.content.0.type: '));
});

test('null counts as absent and unknown fields are on the receipt alone', () => {
  const { receipt } = read({
    system: null,
    tools: null,
    tool_choice: null,
    thinking: null,
    metadata: null,
    stop_sequences: null,
    thread: null,
    some_new_field: { a: 1 },
    context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
    container: null,
    service_tier: 'auto',
    cache_control: { type: 'ephemeral' },
  });
  expect(receipt).toEqual(['dropped some_new_field']);
});

test('edits that would clear something, and a container, are not lost in silence', () => {
  const { receipt } = read({
    context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] },
    container: 'c',
  });
  expect(receipt).toEqual(['dropped context_management.edits[0]', 'dropped container']);
});

test('a call that only warms a cache asks for the smallest answer', () => {
  const { request, receipt } = read({ max_tokens: 0 });
  expect(request.maxOutputTokens).toBe(1);
  expect(receipt).toEqual(['approximated max_tokens']);
});

test('citations and the settings of a single message are not lost in silence', () => {
  const { receipt } = read({
    messages: [
      {
        role: 'user',
        output_config: { effort: 'low' },
        content: [
          {
            type: 'document',
            source: { type: 'text', media_type: 'text/plain', data: 'd' },
            citations: { enabled: true },
          },
        ],
      },
      {
        role: 'assistant',
        content: [
          {
            type: 'text',
            text: 'x',
            citations: [{ type: 'char_location', cited_text: 'd', document_index: 0 }],
          },
        ],
      },
      { role: 'user', content: [{ type: 'text', text: 'y', citations: [] }] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'n', input: {} }] },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 't',
            content: [
              {
                type: 'document',
                source: { type: 'text', media_type: 'text/plain', data: 'd' },
                citations: { enabled: true },
              },
            ],
          },
        ],
      },
    ],
  });
  expect(receipt).toEqual([
    'dropped messages[0].output_config',
    'dropped messages[0].content[0].citations',
    'dropped messages[1].content[0].citations',
    'dropped messages[4].content[0].content[0].citations',
  ]);
});

test('known fields without a counterpart are on the receipt', () => {
  const { receipt } = read({
    speed: 'fast',
    fallbacks: [{ model: 'x' }],
    safeguards: [{ type: 'dangerous_tool_use' }],
    output_config: { task_budget: { type: 'tokens', total: 9 } },
  });
  expect(receipt).toEqual([
    'dropped fallbacks',
    'dropped safeguards',
    'dropped speed',
    'dropped output_config.task_budget',
  ]);
});

test('the model loses a leading models/', () => {
  expect(readCall({ ...MINIMAL, model: 'models/alpha-3-flash' }).model).toBe('alpha-3-flash');
});

test.each([
  ['{"device_id":"d","account_uuid":"","session_id":"s-1"}', 's-1'],
  ['{"session_id":7}', undefined],
  ['{not json', undefined],
  ['user_abc_account__session_0f2c-11', '0f2c-11'],
  ['u', undefined],
])('metadata.user_id %s names the session %s', (userId, session) => {
  const call = readCall({ ...MINIMAL, metadata: { user_id: userId } });
  expect(call.bodySession).toBe(session);
});

test('a created thread is answered, a continued one is not found, so that SDKs replay', () => {
  expect(read({ thread: { type: 'create' } }).receipt).toEqual(['dropped thread']);
  let error: unknown;
  try {
    read({ thread: { type: 'continue', previous_message_id: 'msg_1' } });
  } catch (caught) {
    error = caught;
  }
  if (!(error instanceof GatewayError)) throw new Error('the thread was continued');
  const reply = writeError(error, { requestId: 'req_1' });
  expect(reply.status).toBe(404);
  expect(reply.body).toMatchObject({
    type: 'error',
    error: { type: 'not_found_error', details: { error_code: 'thread_not_found' } },
  });
});

test('counting tokens takes the same body without max_tokens', () => {
  const { max_tokens: _, ...body } = MINIMAL;
  const call = routeAt('count-tokens', '/v1/messages/count_tokens').readCall(routeInput(body));
  expect(call.request.turns).toHaveLength(1);
  expect(call.writeCount(42)).toEqual({ input_tokens: 42 });
});

test('image options of the extension follow the product rules', () => {
  const image = (fields: JsonObject) => read(fields).request.image;
  expect(image({})).toBeUndefined();
  expect(image({ size: '1280x720', quality: 'hd' })).toEqual({
    ...{ aspectRatio: '16:9', size: '4K' },
    ...{ pixels: '1280x720', quality: 'hd' },
  });
  expect(image({ imageSize: '4K', quality: 'standard' })).toEqual({ size: '4K' });
  expect(image({ size: '2560x1080' })).toMatchObject({ aspectRatio: '21:9' });
  expect(image({ size: '600x800' })).toMatchObject({ aspectRatio: '3:4' });
  expect(read({ size: 'abc x def' })).toMatchObject({
    request: { image: { aspectRatio: '1:1' } },
    receipt: ['approximated size'],
  });
  expect(image({ size: ' 1280 X 720 ', quality: 'High' })).toEqual({
    ...{ aspectRatio: '16:9', size: '2K' },
    ...{ pixels: '1280x720', quality: 'high' },
  });
  expect(image({ size: '4:1', imageSize: '2k' })).toEqual({ aspectRatio: '4:1', size: '2K' });
  expect(image({ quality: 'auto' })).toBeUndefined();
  expect(refusal({ quality: 'fine' })).toContain("quality: Input should be 'standard', ");
  expect(refusal({ size: '7:5' })).toContain('size: ');
  expect(refusal({ size: 512 })).toContain('size: Input should be a valid string');
});

const readable = captured.filter((capture) => capture.name !== 'sdk-anthropic-20');

test.each(readable)('the captured request $name is read', ({ path, body }) => {
  const input = routeInput(parseJson(JSON.stringify(body)) as JsonObject);
  const call =
    path === '/v1/messages'
      ? routeAt('generate', path).readCall(input)
      : routeAt('count-tokens', path).readCall(input);
  const request = call.request;
  expect(request.turns.length).toBeGreaterThan(0);
  expect(request.tools.length).toBeLessThanOrEqual(body.tools?.length ?? 0);
});

test.each(['models/', ' '])('the model name %j is none', (model) => {
  expect(refusal({ model })).toBe('model: Input should be the name of a model');
});

test('a prefill beside thinking is refused as the real service does; without it, it is read', () => {
  const messages = [
    { role: 'user', content: 'JSON' },
    { role: 'assistant', content: '{' },
  ];
  const adaptive = { type: 'adaptive' };
  expect(() => read({ messages, thinking: adaptive })).toThrow(/prefill with thinking/);
  expect(() => read({ messages, thinking: { type: 'disabled' } })).not.toThrow();
  const emptied = [messages[0] ?? {}, { role: 'assistant', content: '' }];
  expect(() => read({ messages: emptied, thinking: adaptive })).not.toThrow();
});

test('a turn that paused at a search is no prefill, and goes on with thinking', () => {
  const thinking = { type: 'adaptive' };
  const text = { type: 'text', text: 'Let me look.' };
  const paused = [
    text,
    { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'q' } },
    { type: 'web_search_tool_result', tool_use_id: 's1', content: [] },
  ];
  const after = (content: JsonObject[]): JsonObject => ({
    thinking,
    messages: [
      { role: 'user', content: 'U' },
      { role: 'assistant', content },
    ],
  });
  expect(() => read(after(paused))).not.toThrow();
  expect(() => read(after([...paused, text]))).toThrow(/prefill with thinking/);
  const thought = { type: 'thinking', thinking: 'hm', signature: '' };
  expect(() => read(after([text, thought]))).toThrow(/prefill with thinking/);
});

test('receipts and errors of rules are named in the words of this protocol', () => {
  expect(read({ thinking: { type: 'adaptive' } }).request.clientNames).toMatchObject({
    stop: 'stop_sequences',
    thinking: 'thinking',
  });
  const format = { type: 'json_schema', schema: {} };
  expect(read({ output_config: { effort: 'low', format } }).request.clientNames).toMatchObject({
    thinking: 'output_config.effort',
    response_format: 'output_config.format',
  });
});

test('unknown fields are told wherever they stand, known hints are not', () => {
  const { receipt } = read({
    system: [{ type: 'text', text: 's', zz: 1, cache_control: { type: 'ephemeral' } }],
    thinking: { type: 'adaptive', zz: 1 },
    output_config: { format: { type: 'json_schema', schema: { zz: 1 }, zz: 1 } },
    tools: [
      { name: 'w', input_schema: { type: 'object', zz: 1 }, defer_loading: true, zz: 1 },
      { type: 'web_search_20250305', name: 'web_search', external_web_access: true },
    ],
    tool_choice: { type: 'auto', zz: 1 },
    messages: [
      { role: 'user', content: 'go', zz: 1 },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 't', name: 'w', input: { zz: 1 }, caller: {}, zz: 1 }],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'r', zz: 1 }] },
        ],
      },
    ],
  });
  expect(receipt.toSorted()).toEqual([
    'dropped messages[0].zz',
    'dropped messages[1].content[0].zz',
    'dropped messages[2].content[0].content[0].zz',
    'dropped output_config.format.zz',
    'dropped system[0].zz',
    'dropped thinking.zz',
    'dropped tool_choice.zz',
    'dropped tools[0].zz',
    'dropped tools[1].external_web_access',
  ]);
});
