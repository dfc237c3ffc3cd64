import { expect, test } from 'vitest';
import type { SignatureSource } from '../../canonical/signatures.ts';
import type { JsonObject, JsonValue } from '../../lib/json.ts';
import { objectOf, objectsOf } from '../../lib/read-values.ts';
import { patched } from './encode.test-support.ts';
import { createCompatibleProfile, type QuirkPreset } from './profiles.ts';

const like = (quirks: QuirkPreset) =>
  createCompatibleProfile({ baseUrl: 'http://127.0.0.1:1/v1', quirks });
const FUNCTION = { type: 'function', function: { name: 'f' } };
const unnamed = createCompatibleProfile({ baseUrl: 'http://127.0.0.1:1/v1' });

test('a body goes up as it came, but for the model', () => {
  const body = {
    temperature: 0.2,
    my_field: 1,
    messages: [{ role: 'user', content: 'hi', name: 'a' }],
  };
  expect(patched(body)).toEqual({ body: { ...body, model: 'gpt-4o' }, notes: [] });
});

test('a custom tool that is written flat, as Responses have it, is one of this wire', () => {
  const grammar = { syntax: 'lark', definition: 'start: /.+/' };
  const tools = [
    { type: 'custom', name: 'p', format: { type: 'grammar', ...grammar } },
    { type: 'custom', name: 'q', format: { type: 'text' } },
  ];
  expect(patched({ tools }).body.tools).toEqual([
    { type: 'custom', custom: { name: 'p', format: { type: 'grammar', grammar } } },
    { type: 'custom', custom: { name: 'q', format: { type: 'text' } } },
  ]);
});

test('words of this gateway stay here', () => {
  const { body, notes } = patched({ imageSize: '2K', google: {}, quality: null });
  expect(Object.keys(body).sort()).toEqual(['messages', 'model']);
  expect(notes).toEqual(['dropped imageSize', 'dropped google']);
});

test('V118 V133 what the name of the model asks for beside it goes where it is taken', () => {
  const image = { aspectRatio: '16:9', size: '4K' } as const;
  const drawing = { profile: like('openrouter'), modelId: 'google/gemini-3-pro-image' };
  expect(patched({}, { ...drawing, variant: { image } })).toMatchObject({
    body: {
      modalities: ['image', 'text'],
      image_config: { aspect_ratio: '16:9', image_size: '4K' },
    },
    notes: [],
  });
  const own = { modalities: ['image'], image_config: { image_size: '1K', strength: 1 } };
  expect(patched(own, { ...drawing, variant: { image } })).toMatchObject({
    body: { ...own, image_config: { ...own.image_config, aspect_ratio: '16:9' } },
    notes: ['approximated model'],
  });
  const searching = { modelId: 'gpt-4o-search-preview', variant: { webSearch: true } };
  expect(patched({}, searching)).toMatchObject({ body: { web_search_options: {} }, notes: [] });
  const options = { web_search_options: { search_context_size: 'low' } };
  expect(patched(options, searching)).toMatchObject({ body: options, notes: [] });
  const template = { profile: like('vllm'), variant: { thinking: 'on' } } as const;
  expect(patched({}, template)).toMatchObject({
    body: { chat_template_kwargs: { enable_thinking: true } },
    notes: [],
  });
});

test('thinking that the name asks for is said where a model thinks only then, and left out beside functions', () => {
  const said = (modelId: string, effort: 'high' | undefined, more: JsonObject = {}) => {
    const variant = effort === undefined ? ({ thinking: 'on' } as const) : { effort };
    const { body, notes } = patched(more, { modelId, variant });
    return [body.reasoning_effort, notes];
  };
  expect(said('gpt-5', undefined)).toEqual([undefined, []]);
  expect(said('gpt-5.2', undefined)).toEqual(['high', []]);
  const tools = [{ type: 'function', function: { name: 'f' } }];
  expect(said('gpt-5.2', undefined, { tools })).toEqual(['high', []]);
  for (const effort of ['high', undefined] as const) {
    expect(said('gpt-5.6', effort)).toEqual(['high', []]);
    expect(said('gpt-5.6', effort, { tools })).toEqual(['none', ['dropped reasoning_effort']]);
  }
  expect(said('gpt-6-astra', 'high', { tools })).toEqual([undefined, ['dropped reasoning_effort']]);
  // What a client says itself is between it and the service.
  expect(said('gpt-5.6', 'high', { tools, reasoning_effort: 'low' })).toEqual(['low', []]);
});

test('what the name asks for and the upstream does not have is told', () => {
  for (const variant of [{ thinking: 'on' }, { effort: 'high' }] as const) {
    const { body, notes } = patched({}, { variant });
    expect([body.reasoning_effort, notes]).toEqual([undefined, ['dropped reasoning_effort']]);
  }
  for (const variant of [{ webSearch: true }, { image: { size: '4K' } }] as const) {
    const { body, notes } = patched({}, { variant });
    expect([Object.keys(body).sort(), notes]).toEqual([['messages', 'model'], ['dropped model']]);
  }
});

test('a search that the name asks for waits for a request that rules none out', () => {
  const aim = { modelId: 'gpt-4o-search-preview', variant: { webSearch: true } };
  const { body, notes } = patched({ tool_choice: 'none', tools: [FUNCTION] }, aim);
  expect([body.web_search_options, notes]).toEqual([undefined, ['dropped model']]);
});

test("the operator's amount of thinking wins over that of the body", () => {
  const thinkingMode = { kind: 'custom', tokens: 24_576 } as const;
  const { body, notes } = patched({ reasoning_effort: 'low' }, { modelId: 'gpt-5', thinkingMode });
  expect(body.reasoning_effort).toBe('high');
  expect(notes).toContain('approximated reasoning_effort');
});

test('marks up to where the prompt is cached go where they are taken', () => {
  const mark = { cache_control: { type: 'ephemeral', ttl: '1h' } };
  const declared = { type: 'function', function: { name: 'f' } };
  const marked = {
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'Be kind.', ...mark }] },
      { role: 'user', content: 'Hi', ...mark },
    ],
    tools: [{ ...declared, ...mark }],
  };
  for (const preset of ['openrouter', 'litellm'] as const) {
    expect(patched(marked, { profile: like(preset) }).body).toMatchObject(marked);
  }
  const plain = {
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'Be kind.' }] },
      { role: 'user', content: 'Hi' },
    ],
    tools: [declared],
  };
  for (const aim of [{}, { profile: like('mistral') }]) {
    const { body, notes } = patched(marked, aim);
    expect([{ messages: body.messages, tools: body.tools }, notes]).toEqual([plain, []]);
  }
});

test('pictures the model drew earlier cannot be sent back, and the receipt says so', () => {
  const said = { role: 'assistant', content: 'A cat.' };
  const images = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }];
  const sent = (drawn: JsonObject[]) => {
    const { body, notes } = patched({ messages: [{ ...said, images: drawn }] });
    return [body.messages, notes];
  };
  expect(sent(images)).toEqual([[said], ['dropped messages']]);
  expect(sent([])).toEqual([[said], []]);
});

test('fields that one service alone has go where they are taken', () => {
  const own = { provider: { order: ['a'] }, models: ['m'], usage: { include: true } };
  expect(patched(own, { profile: like('openrouter') }).body).toMatchObject(own);
  for (const aim of [{}, { profile: like('groq') }, { profile: like('mistral') }]) {
    const { body, notes } = patched(own, aim);
    expect(Object.keys(body).sort()).toEqual(['messages', 'model']);
    expect(notes).toEqual(['dropped provider', 'dropped models', 'dropped usage']);
  }
  const grouped = { reasoning_format: 'parsed', include_domains: ['a.example'] };
  expect(patched(grouped, { profile: like('groq') }).body).toMatchObject(grouped);
  expect(patched(grouped).notes).toEqual(['dropped reasoning_format', 'dropped include_domains']);
  const searched = { search_parameters: { mode: 'auto' } };
  expect(patched(searched, { profile: like('xai') }).body).toMatchObject(searched);
  expect(patched(searched).notes).toEqual(['dropped search_parameters']);
});

test('words of Mistral’s clients are those of the upstream', () => {
  const said = { random_seed: 3, tool_choice: 'any' };
  const choice = { function: { name: 'f' } };
  const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];
  expect(patched({ ...said, tools }).body).toMatchObject({ seed: 3, tool_choice: 'required' });
  expect(patched({ ...said, tools }, { profile: like('mistral') }).body).toMatchObject({
    random_seed: 3,
  });
  expect(patched({ tools, tool_choice: choice }).body.tool_choice).toEqual({
    type: 'function',
    ...choice,
  });
  const turn = { role: 'assistant', content: 'yes' };
  const messages = [
    { role: 'user', content: 'go' },
    { ...turn, prefix: false },
    { role: 'user', content: 'and?' },
    { ...turn, prefix: true },
  ];
  const { body, notes } = patched({ messages });
  expect(objectsOf(body.messages).filter(({ role }) => role === 'assistant')).toEqual([turn, turn]);
  expect(notes).toEqual(['dropped messages']);
  expect(patched({ messages }, { profile: like('mistral') }).body.messages).toEqual(messages);
});

test('a limit beyond what the model writes goes up as that, and is told', () => {
  const { body, notes } = patched({ max_tokens: 9_999_999 });
  expect(body.max_completion_tokens).toBeLessThan(9_999_999);
  expect(notes).toEqual(['capped max_tokens']);
});

test('a schema of arguments says that they are an object, and its members', () => {
  const tools = [{ type: 'function', function: { name: 'f', parameters: {} } }];
  expect(patched({ tools }).body.tools).toMatchObject([
    { function: { parameters: { type: 'object', properties: {} } } },
  ]);
});

test('the limit stands in the field the upstream takes', () => {
  expect(patched({ max_tokens: 5 }).body).toMatchObject({ max_completion_tokens: 5 });
  const both = { max_tokens: 5, max_completion_tokens: 6 };
  expect(patched(both).notes).toEqual(['dropped max_tokens']);
  expect(patched({ max_tokens: 6, max_completion_tokens: 6 }).notes).toEqual([]);
  const { body } = patched(both, { profile: like('vllm') });
  expect(body.max_tokens).toBe(6);
  expect(body.max_completion_tokens).toBeUndefined();
});

test.each<[JsonObject, JsonObject]>([
  [{ reasoning: { effort: 'low' } }, { reasoning_effort: 'low' }],
  [{ thinking: { type: 'enabled', budget_tokens: 20_000 } }, { reasoning_effort: 'high' }],
  [{ reasoning_effort: 'medium' }, { reasoning_effort: 'medium' }],
  [{ reasoning_effort: 'ultra' }, { reasoning_effort: 'ultra' }],
])('an effort in any dialect is the upstream’s own: %j', (said, sent) => {
  const { body } = patched(said, { modelId: 'gpt-5' });
  expect(body).toMatchObject(sent);
  expect(Object.keys(body)).not.toContain('thinking');
});

test.each<[QuirkPreset | undefined, string, JsonObject, JsonObject]>([
  [undefined, 'gpt-5.1', { thinking: { type: 'enabled' } }, { reasoning_effort: 'high' }],
  [undefined, 'gpt-5.1', { reasoning: { enabled: true } }, { reasoning_effort: 'high' }],
  ['openrouter', 'm', { enable_thinking: true }, { reasoning: { enabled: true } }],
  [
    'openrouter',
    'm',
    { thinking: { type: 'enabled' }, thinking_budget: 500 },
    { reasoning: { max_tokens: 500 } },
  ],
  ['deepseek', 'm', { enable_thinking: true }, { thinking: { type: 'enabled' } }],
])(
  'a switch of another service is said in the words of this one: %s %s %j',
  (quirks, modelId, said, sent) => {
    const { body } = patched(said, { modelId, ...(quirks && { profile: like(quirks) }) });
    expect(body).toMatchObject(sent);
    expect(Object.keys(said).filter((key) => key in body && !(key in sent))).toEqual([]);
  },
);

test('a switch is told as dropped where the model does not think', () => {
  const said = { enable_thinking: true };
  expect(patched(said, { modelId: 'gpt-4.1' }).notes).toEqual(['dropped reasoning_effort']);
});

test('what is said in the upstream’s own form stays as it came', () => {
  const reasoning = { effort: 'high', exclude: true };
  expect(patched({ reasoning }, { profile: like('openrouter') }).body.reasoning).toEqual(reasoning);
  const own = { thinking: { type: 'enabled' }, reasoning_effort: 'max' };
  expect(patched(own, { profile: like('deepseek') }).body).toMatchObject(own);
});

test.each<[JsonObject, JsonObject]>([
  [{ thinking: { type: 'enabled', clear_thinking: false } }, {}],
  [{ enable_thinking: false }, { reasoning_effort: 'none' }],
  [{ thinking: { type: 'enabled' }, reasoning_effort: 'low' }, {}],
  [{ chat_template_kwargs: { enable_thinking: true } }, {}],
])(
  'a switch stays where unknown fields are passed over, as it may be the service’s own: %j',
  (said, more) => {
    const { body } = patched(said, { profile: unnamed, modelId: 'glm-4.7' });
    expect(body).toMatchObject({ ...said, ...more });
    const strict = patched(said, { profile: like('groq') }).body;
    expect(Object.keys(strict).filter((key) => key !== 'reasoning_effort' && key in said)).toEqual(
      [],
    );
  },
);

test.each([
  [{ enable_thinking: true }],
  [{ thinking: { type: 'enabled' } }],
  [{ thinking: { type: 'adaptive' } }],
  [{ reasoning: { enabled: true } }],
])('%j switches thinking on in the words of the service', (said) => {
  const sent = (quirks: QuirkPreset, more = {}) => {
    const {
      messages: _messages,
      model: _model,
      ...body
    } = patched({ ...said, ...more }, { profile: like(quirks), modelId: 'm-1' }).body;
    return body;
  };
  const template = { chat_template_kwargs: { enable_thinking: true } };
  expect(sent('vllm')).toEqual(template);
  expect(sent('openrouter')).toEqual({ reasoning: { enabled: true } });
  expect(sent('qwen')).toEqual({ enable_thinking: true });
  // As the model does by itself.
  expect(sent('mistral')).toEqual({});
  expect(sent('vllm', { reasoning_effort: 'none' })).toEqual({
    chat_template_kwargs: { enable_thinking: false },
  });
  expect(patched(said, { modelId: 'gpt-4o' }).notes).toEqual(['dropped reasoning_effort']);
  const tools = [FUNCTION];
  const told = patched({ ...said, tools }, { modelId: 'gpt-5.4' }).body;
  expect(told.reasoning_effort).toBe('none');
});

test('settings of a chat template are told as dropped where the upstream has none', () => {
  const said = { chat_template_kwargs: { enable_thinking: true } };
  expect(patched(said).notes).toEqual(['dropped chat_template_kwargs']);
});

test('tools that a service runs itself go where they are known, and where nothing is known', () => {
  const tools = [
    { type: 'openrouter:web_search', parameters: { max_uses: 1 } },
    { type: 'builtin_function', function: { name: '$web_search' } },
  ];
  expect(patched({ tools }, { profile: unnamed }).body.tools).toEqual(tools);
  const { body, notes } = patched({ tools }, { profile: like('openrouter') });
  expect([body.tools, notes]).toEqual([[tools[0]], ['dropped tools[1]']]);
  expect(patched({ tools }, { profile: like('moonshot') }).body.tools).toEqual([tools[1]]);
  expect(patched({ tools }).notes).toEqual(['dropped tools[0]', 'dropped tools[1]']);
});

test('stream options are left out where the upstream has none', () => {
  const stream_options = { include_usage: true };
  expect(patched({ stream_options }).body.stream_options).toEqual(stream_options);
  expect(
    patched({ stream_options }, { profile: like('llama-cpp-python') }).body.stream_options,
  ).toBeUndefined();
});

test('what Mistral’s coding client sends goes where it is taken', () => {
  const said = {
    metadata: { session: 's' },
    stream_options: { include_usage: true, stream_tool_calls: true },
  };
  expect(patched(said, { profile: like('mistral') })).toMatchObject({ body: said, notes: [] });
  const { body, notes } = patched(said);
  expect(body.metadata).toBeUndefined();
  expect(body.stream_options).toEqual({ include_usage: true });
  expect(notes).toEqual(['dropped stream_options.stream_tool_calls']);
  const stored = { metadata: said.metadata, store: true };
  expect(patched(stored)).toMatchObject({ body: stored, notes: [] });
});

test('a schema in Hugging Face’s words is not lost where the upstream has other formats', () => {
  const schema = { type: 'object', properties: {} };
  const sent = (response_format: JsonObject, quirks?: QuirkPreset) =>
    patched({ response_format }, quirks && { profile: like(quirks) }).body.response_format;
  const value = { type: 'json', value: schema };
  expect(sent(value, 'vllm')).toEqual(value);
  expect(sent(value)).toEqual({ type: 'json_schema', json_schema: { name: 'answer', schema } });
  expect(sent(value, 'llama-cpp-python')).toEqual({ type: 'json_object', schema });
  expect(sent({ type: 'json_schema', value: { schema } }, 'lm-studio')).toEqual({
    type: 'json_schema',
    json_schema: { name: 'answer', schema },
  });
});

test('a format that is none of JSON stays as it came, and the model is told nothing', () => {
  for (const format of [{ type: 'grammar', grammar: 'root ::= "a"' }, { type: 'structural_tag' }]) {
    for (const aim of [{ profile: unnamed }, { profile: like('vllm') }, {}]) {
      const messages = [{ role: 'user', content: 'hi' }];
      const { body, notes } = patched({ messages, response_format: format }, aim);
      expect([body.messages, body.response_format, notes]).toEqual([messages, format, []]);
    }
  }
});

test.each<[JsonValue, JsonValue | undefined]>([
  ['none', undefined],
  ['auto', undefined],
  [null, undefined],
  ['validated', undefined],
  ['required', 'required'],
  ['any', 'required'],
  [{ type: 'web_search' }, { type: 'web_search' }],
])('without tools a choice of %j is sent as %j', (choice, sent) => {
  const { body } = patched({ tools: [], tool_choice: choice, parallel_tool_calls: false });
  expect([body.tools, body.parallel_tool_calls, body.tool_choice]).toEqual([
    ...[undefined, undefined, sent],
  ]);
});

test('what stands beside the function of a tool is left out, and told', () => {
  const tools = [
    { type: 'function', function: { name: 'f' }, heliotrope: 1, defer_loading: true },
    { type: 'function', name: 'g', heliotrope: 1 },
  ];
  const { body, notes } = patched({ tools });
  expect(body.tools).toEqual([
    { type: 'function', function: { name: 'f' } },
    { type: 'function', function: { name: 'g', heliotrope: 1 } },
  ]);
  expect(notes).toEqual(['dropped tools[0].heliotrope']);
});

const CALL = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } };

test('results are put in order, thoughts in place, and our signatures out', () => {
  const extra_content = { google: { thought_signature: 'gw1:alpha:tool-call:QUJD' } };
  const { body, notes } = patched({
    messages: [
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: null,
        reasoning_content: 'hm',
        tool_calls: [
          { ...CALL, index: 0, extra_content },
          { ...CALL, id: 'b' },
        ],
      },
      { role: 'user', content: 'and?' },
      {
        role: 'tool',
        tool_call_id: 'a',
        content: [{ type: 'image_url', image_url: { url: 'https://a.example/' } }],
      },
    ],
  });
  expect(body.messages).toEqual([
    { role: 'user', content: 'go' },
    { role: 'assistant', content: null, tool_calls: [CALL, { ...CALL, id: 'b' }] },
    { role: 'tool', tool_call_id: 'a', content: 'The result is in the next message.' },
    { role: 'tool', tool_call_id: 'b', content: 'Error: no result' },
    { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a.example/' } }] },
    { role: 'user', content: 'and?' },
  ]);
  expect(notes).toContain('repaired messages');
  expect(notes).toContain('dropped messages');
});

test('an answer that comes back says its text alone', () => {
  const told = { type: 'text', text: 'yes', my_field: 2 };
  const said = { ...told, role: 'assistant', refusal: null, annotations: [] };
  const asked = { role: 'user', content: [{ type: 'text', text: 'go', my_field: 1 }] };
  const { body, notes } = patched({ messages: [asked, { role: 'assistant', content: [said] }] });
  expect(body.messages).toEqual([asked, { role: 'assistant', content: [told] }]);
  expect(notes).toEqual([]);
});

test('what an answer says beside its text goes back where its message has a place for it', () => {
  const calls = [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }];
  const text = { type: 'text', text: 'I cannot.' };
  const refusal = { type: 'refusal', refusal: 'Never.' };
  const beside = { role: 'assistant', tool_calls: calls, reasoning_content: 'hm' };
  const annotations = [{ type: 'url_citation', url_citation: { url: 'https://a.example/' } }];
  const { body, notes } = patched(
    {
      messages: [
        { role: 'user', content: 'go' },
        {
          role: 'assistant',
          content: [{ ...text, ...beside, refusal: 'No.', annotations }],
          tool_calls: calls,
        },
        { role: 'tool', tool_call_id: 'a', content: 'ok' },
        { role: 'assistant', content: [{ ...refusal, role: 'assistant', annotations: [] }] },
        { role: 'assistant', content: [{ ...text, refusal: 'No.' }], refusal: 'Nay.' },
      ],
    },
    { profile: like('deepseek') },
  );
  expect(objectsOf(body.messages).filter(({ role }) => role === 'assistant')).toEqual([
    {
      role: 'assistant',
      content: [text],
      refusal: 'No.',
      tool_calls: calls,
      reasoning_content: 'hm',
    },
    { role: 'assistant', content: [refusal] },
    { role: 'assistant', content: [text], refusal: 'Nay.' },
  ]);
  expect(notes).toEqual([
    'dropped messages[1].content[0].annotations',
    'dropped messages[4].content[0].refusal',
  ]);
});

test.each<[string, JsonValue]>([
  ['parts', [{ type: 'text', text: 'hm' }]],
  ['a text', 'hm'],
])(
  'thoughts among the parts of an answer, as %s, go where the upstream has a place for them',
  (_, thinking) => {
    const thought = { type: 'thinking', thinking };
    const text = { type: 'text', text: 'yes' };
    const messages = [
      { role: 'user', content: 'go' },
      { role: 'assistant', content: [thought, text] },
      { role: 'user', content: 'and?' },
    ];
    const sent = (quirks?: QuirkPreset) => {
      const { body, notes } = patched({ messages }, quirks && { profile: like(quirks) });
      return { answer: objectsOf(body.messages)[1], notes };
    };
    const answer = { role: 'assistant', content: [text] };
    expect(sent()).toEqual({ answer, notes: ['dropped messages'] });
    expect(sent('vllm')).toEqual({ answer: { ...answer, reasoning: 'hm' }, notes: [] });
    expect(sent('mistral')).toEqual({ answer: messages[1], notes: [] });
  },
);

test('what an answer says where it is nothing does not go back: some services refuse such fields', () => {
  const said = { role: 'assistant', content: 'Hi.' };
  const idle = { refusal: null, annotations: [], audio: null, function_call: null };
  const cited = { ...said, annotations: [{ type: 'url_citation' }] };
  const parsed = { ...said, parsed: { a: 1 } };
  const messages = [{ role: 'user', content: 'go' }, { ...said, ...idle }, cited, parsed];
  const { body, notes } = patched({ messages }, { profile: like('groq') });
  expect(body.messages).toEqual([messages[0], said, cited, said]);
  expect(notes).toEqual([]);
});

test('calls of one message that share an id get one each, and so do their results', () => {
  const messages = [
    { role: 'user', content: 'go' },
    { role: 'assistant', content: null, tool_calls: [CALL, CALL] },
    ...['first', 'second'].map((content) => ({ role: 'tool', tool_call_id: CALL.id, content })),
    { role: 'assistant', content: null, tool_calls: [CALL] },
    { role: 'tool', tool_call_id: CALL.id, content: 'third' },
  ];
  const sent = objectsOf(patched({ messages }).body.messages);
  const called = sent.flatMap((message) => objectsOf(message.tool_calls).map(({ id }) => id));
  const answered = sent.flatMap(({ tool_call_id: id, content }) => (id ? [[id, content]] : []));
  expect(new Set(called).size).toBe(3);
  expect(answered).toEqual(called.map((id, at) => [id, ['first', 'second', 'third'][at]]));
});

test('remembered thoughts stand in for those a client did not keep', () => {
  const history = { family: 'chat.openai-compatible.m', parts: [{ text: 'hm' }] };
  const recall = { lookup: () => ({ history }) };
  const messages = [
    { role: 'user', content: 'go' },
    { role: 'assistant', content: null, tool_calls: [CALL] },
    { role: 'tool', tool_call_id: 'a', content: 'ok' },
  ];
  const aim = { profile: like('deepseek'), modelId: 'm' };
  expect(patched({ messages }, { ...aim, recall }).body.messages).toMatchObject([
    {},
    { reasoning_content: 'hm' },
    {},
  ]);
  const unknown = patched({ messages }, aim);
  expect(unknown.body.messages).toMatchObject([{}, { reasoning_content: '' }, {}]);
  expect(unknown.notes).toEqual(['repaired messages']);
});

test('the switch of a service, in its own words, stays as a client said it', () => {
  const sent = (quirks: QuirkPreset, fields: JsonObject) =>
    patched(fields, { profile: like(quirks), modelId: 'm' }).body;
  const qwen = { enable_thinking: true, thinking_budget: 500 };
  expect(sent('qwen', qwen)).toMatchObject(qwen);
  expect(sent('qwen', { reasoning_effort: 'none' })).toMatchObject({ enable_thinking: false });
  const adaptive = { thinking: { type: 'adaptive' } };
  expect(sent('minimax', adaptive)).toMatchObject(adaptive);
  expect(sent('minimax', { reasoning_effort: 'low' })).toMatchObject(adaptive);
});

test('answers come with thoughts as well where functions are offered to a service that wants them', () => {
  const tools = [{ type: 'function', function: { name: 'a', parameters: { type: 'object' } } }];
  const messages = [
    { role: 'user', content: 'go' },
    { role: 'assistant', content: 'done' },
    { role: 'assistant', content: 'more', reasoning_content: 'hm' },
    { role: 'user', content: 'on' },
  ];
  const sent = (quirks: QuirkPreset, fields: JsonObject) => {
    const { body, notes } = patched(
      { messages, ...fields },
      { profile: like(quirks), modelId: 'm' },
    );
    const thoughts = objectsOf(body.messages).map((one) => one.reasoning_content);
    return { thoughts, notes };
  };
  const known = [undefined, undefined, 'hm', undefined];
  expect(sent('deepseek', { tools })).toEqual({
    thoughts: [undefined, '', 'hm', undefined],
    notes: ['repaired messages'],
  });
  expect(sent('deepseek', {})).toEqual({ thoughts: known, notes: [] });
  const off = { thinking: { type: 'disabled' } };
  expect(sent('deepseek', { tools, ...off })).toEqual({ thoughts: known, notes: [] });
  expect(sent('moonshot', { tools })).toEqual({ thoughts: known, notes: [] });
});

test('thoughts that are not known are said to be missing where an empty text is refused', () => {
  const aim = { profile: like('moonshot'), modelId: 'kimi-k3' };
  const thoughtOf = (fields: JsonObject) => {
    const call = { role: 'assistant', content: null, ...fields, tool_calls: [CALL] };
    const result = { role: 'tool', tool_call_id: 'a', content: 'ok' };
    const { body, notes } = patched({ messages: [call, result] }, aim);
    return [objectsOf(body.messages)[0]?.reasoning_content, notes];
  };
  expect(thoughtOf({ reasoning_content: 'hm' })).toEqual(['hm', []]);
  for (const fields of [{}, { reasoning_content: '' }]) {
    expect(thoughtOf(fields)).toEqual(['(not kept)', ['repaired messages']]);
  }
});

const DETAIL = { type: 'reasoning.text', text: 'hm', signature: 'c2ln', index: 0 };

test.each<[string, JsonObject, SignatureSource, JsonObject]>([
  ['whole thoughts go back as they came', DETAIL, 'carried', { reasoning_details: [DETAIL] }],
  [
    'of thoughts of which a client kept the last piece the remembered ones go back',
    { type: 'reasoning.text', signature: 'c2ln', index: 0 },
    'carried',
    { reasoning_details: [{ ...DETAIL, text: 'remembered' }] },
  ],
  [
    'refused thoughts are replaced by the remembered ones',
    DETAIL,
    'remembered',
    { reasoning_details: [{ ...DETAIL, text: 'remembered' }] },
  ],
  ['thoughts refused again go without their signatures', DETAIL, 'stripped', { reasoning: 'hm' }],
])('%s', (_name, detail, signatures, sent) => {
  const remembered = { text: 'remembered', details: [{ ...DETAIL, text: 'remembered' }] };
  const history = { family: 'chat.openai-compatible.m', parts: [remembered] };
  const said = { reasoning: 'hm', reasoning_details: [detail] };
  const messages = [
    { role: 'user', content: 'go' },
    { role: 'assistant', content: null, tool_calls: [CALL], ...said },
    { role: 'tool', tool_call_id: 'a', content: 'ok' },
  ];
  const aim = { profile: like('openrouter'), modelId: 'm', signatures };
  const { body, notes } = patched(
    { messages },
    { ...aim, recall: { lookup: () => ({ history }) } },
  );
  const { role, content, tool_calls: _calls, ...thoughts } = objectsOf(body.messages)[1] ?? {};
  expect({ role, content, thoughts }).toEqual({ role: 'assistant', content: null, thoughts: sent });
  expect(notes).toEqual(signatures === 'stripped' ? ['dropped messages'] : []);
});

test('thoughts whose words alone a client kept go back with the details they came with', () => {
  const thoughtOf = (reasoning_content: string) => {
    const history = {
      family: 'chat.openai-compatible.m',
      parts: [{ text: 'hm', details: [DETAIL] }],
    };
    const messages = [
      { role: 'user', content: 'go' },
      { role: 'assistant', content: null, tool_calls: [CALL], reasoning_content },
      { role: 'tool', tool_call_id: 'a', content: 'ok' },
    ];
    const aim = {
      profile: like('openrouter'),
      modelId: 'm',
      recall: { lookup: () => ({ history }) },
    };
    const {
      content: _content,
      tool_calls: _calls,
      ...said
    } = objectsOf(patched({ messages }, aim).body.messages)[1] ?? {};
    return said;
  };
  expect(thoughtOf('hm')).toEqual({ role: 'assistant', reasoning_details: [DETAIL] });
  expect(thoughtOf('other')).toEqual({ role: 'assistant', reasoning: 'other' });
});

test('names of who speaks are left out where the upstream refuses them', () => {
  const messages = [{ role: 'user', content: 'hi', name: 'ann' }];
  expect(patched({ messages }, { profile: like('groq') })).toMatchObject({
    body: { messages: [{ role: 'user', content: 'hi' }] },
    notes: ['dropped messages'],
  });
});

test.each([
  [undefined, 'f', undefined, []],
  [undefined, 'g', undefined, ['dropped messages']],
  ['vllm', 'f', 'f', []],
] as const)('to %s a result named %s goes with the name %s', (quirks, name, sent, noted) => {
  const result = { role: 'tool', tool_call_id: 'a', content: 'x' };
  const messages = [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: null, tool_calls: [CALL] },
    { ...result, name },
  ];
  const { body, notes } = patched({ messages }, quirks && { profile: like(quirks) });
  expect(objectsOf(body.messages)[2]).toEqual({ ...result, name: sent });
  expect(notes).toEqual(noted);
});

test('tools and choices in the form of another protocol are sent in that of this wire', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } };
  const sent = (tool: JsonObject, choice: JsonObject): JsonValue[] => {
    const { body } = patched({ tools: [tool], tool_choice: choice });
    return [body.tools ?? null, body.tool_choice ?? null];
  };
  const own = {
    tool: { type: 'function', function: { name: 'f', parameters: schema } },
    choice: { type: 'function', function: { name: 'f' } },
  };
  for (const [tool, choice] of [
    [
      { name: 'f', input_schema: schema },
      { type: 'tool', name: 'f' },
    ],
    [
      { type: 'function', name: 'f', parameters: schema },
      { type: 'function', name: 'f' },
    ],
  ] as const) {
    expect(sent(tool, choice)).toEqual([[own.tool], own.choice]);
  }
  const custom = { type: 'custom', custom: { name: 'c' } };
  expect(sent(custom, { type: 'custom', name: 'c' })).toEqual([[custom], custom]);
  // A name that services refuse is another one in both.
  const [tools, choice] = sent(
    { name: 'a.b', input_schema: schema },
    { type: 'tool', name: 'a.b' },
  );
  expect(choice).toEqual({
    type: 'function',
    function: { name: objectOf(objectsOf(tools)[0]?.function)?.name },
  });
});

test('calls of the conversation have a type and arguments in JSON', () => {
  const sent = (call: JsonObject): JsonValue[] => {
    const { body, notes } = patched({
      messages: [
        { role: 'user', content: 'go' },
        { role: 'assistant', content: null, tool_calls: [{ id: 'c1', ...call }] },
        { role: 'tool', tool_call_id: 'c1', content: 'done' },
      ],
    });
    return [objectsOf(objectsOf(body.messages)[1]?.tool_calls)[0] ?? null, [...notes]];
  };
  const whole = (given: string) => ({
    ...{ id: 'c1', type: 'function', function: { name: 'f', arguments: given } },
  });
  const named = { type: 'function', function: { name: 'f' } };
  expect(sent(named)).toEqual([whole('{}'), []]);
  for (const nothing of ['', ' ', null]) {
    expect(sent({ ...named, function: { name: 'f', arguments: nothing } })).toEqual([
      whole('{}'),
      [],
    ]);
  }
  expect(sent({ function: { name: 'f', arguments: { a: 1 } } })).toEqual([
    whole('{"a":1}'),
    ['repaired messages[1].tool_calls[0].function.arguments'],
  ]);
  const parsed = { name: 'f', arguments: '{"a":1}', parsed_arguments: { a: 1 } };
  expect(sent({ type: 'function', function: parsed })).toEqual([whole('{"a":1}'), []]);
  const custom = { type: 'custom', custom: { name: 'c', input: '' } };
  expect(sent(custom)).toEqual([{ id: 'c1', ...custom }, []]);
});

test('parts in the words of the Responses protocol are sent in those of this wire', () => {
  const url = 'data:image/png;base64,AA==';
  const { body, notes } = patched({
    messages: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'look' },
          { type: 'input_image', image_url: url, detail: 'low' },
          { type: 'image_url', image_url: url },
        ],
      },
      {
        role: 'assistant',
        content: [{ type: 'output_text', text: 'yes', annotations: [] }],
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: [{ type: 'input_text', text: 'done' }] },
    ],
  });
  expect(objectsOf(body.messages).map(({ content }) => content)).toEqual([
    [
      { type: 'text', text: 'look' },
      { type: 'image_url', image_url: { url, detail: 'low' } },
      { type: 'image_url', image_url: { url } },
    ],
    [{ type: 'text', text: 'yes' }],
    [{ type: 'text', text: 'done' }],
  ]);
  expect(notes).toEqual([]);
});

test('tools without a name and of other kinds are left out, and names made acceptable', () => {
  const { body, notes } = patched({
    tools: [
      {
        type: 'function',
        function: { name: 'a.b', parameters: { type: 'object', properties: {} } },
      },
      { type: 'image_generation' },
      { type: 'function', function: {} },
      { type: 'custom', custom: { name: 'c' } },
    ],
    tool_choice: 'validated',
  });
  const accepted = expect.stringMatching(/^a_b_[0-9a-f]{8}$/);
  expect(body.tools).toMatchObject([{ function: { name: accepted } }, { custom: { name: 'c' } }]);
  expect(body.tool_choice).toBe('auto');
  expect(notes).toEqual([
    ...['dropped tools[1]', 'dropped tools[2]', 'repaired tools'],
    // Nothing holds the calls of the first function to its schema.
    'approximated tool_choice',
  ]);
  const named = { type: 'function', function: { name: 'a.b' } };
  const chosen = patched({ tools: [named], tool_choice: named }).body;
  expect(chosen.tool_choice).toEqual({ type: 'function', function: { name: accepted } });
});

test('tools that the choice allows are named as they are declared', () => {
  const named = { type: 'function', function: { name: 'a.b' } };
  const run = { type: 'custom', custom: { name: 'run' } };
  const allowed = { mode: 'auto', tools: [named, { type: 'custom', name: 'run' }] };
  const { body } = patched({
    tools: [named, run, FUNCTION],
    tool_choice: { type: 'allowed_tools', allowed_tools: allowed },
  });
  const [declared] = objectsOf(body.tools);
  expect(objectOf(declared?.function)?.name).not.toBe('a.b');
  expect(body.tool_choice).toEqual({
    type: 'allowed_tools',
    allowed_tools: { mode: 'auto', tools: [declared, run] },
  });
});

test('where a choice cannot be limited to some tools, only those are offered', () => {
  const search = { type: 'function', function: { name: 'search' } };
  const choose = (mode: string, profile = like('deepseek')) => {
    const allowed_tools = { mode, tools: [search] };
    const tool_choice = { type: 'allowed_tools', allowed_tools };
    const { body, notes } = patched({ tools: [FUNCTION, search], tool_choice }, { profile });
    return { tools: body.tools, choice: body.tool_choice, notes };
  };
  expect(choose('auto')).toEqual({ tools: [search], choice: 'auto', notes: [] });
  expect(choose('required')).toEqual({ tools: [search], choice: 'required', notes: [] });
  expect(choose('validated')).toMatchObject({ tools: [search], choice: 'auto' });
  // It may pass the choice on to a service that takes it.
  expect(choose('auto', unnamed)).toMatchObject({ choice: { type: 'allowed_tools' } });
});

test.each([{ stop: [] }, { stop: '' }, { functions: [] }, { modalities: [] }])(
  '%j is left out: it says nothing, and some services refuse it',
  (empty) => {
    const { body, notes } = patched(empty);
    expect(Object.keys(body)).not.toContain(Object.keys(empty)[0]);
    expect(notes).toEqual([]);
  },
);

test('fields of a relayed function that are null are left out: some services refuse them', () => {
  const bare = { name: 'f', description: null, parameters: null, strict: null };
  expect(patched({ tools: [{ type: 'function', function: bare }] }).body.tools).toEqual([FUNCTION]);
});

test.each([{}, { name: '' }])('a request whose only tool is %j is refused', (declared) => {
  const tools = [{ type: 'function', function: declared }];
  expect(() => patched({ tools })).toThrow('tools[0].function.name is required.');
});

test('what clients write where they say nothing is left out', () => {
  const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } };
  const messages = [
    { role: 'system', content: 'Be kind.', name: null, tool_calls: null },
    { role: 'user', content: 'go', name: null },
    { role: 'assistant', content: [], tool_calls: [call] },
    { role: 'tool', tool_call_id: 'a', content: [] },
    ...[
      { role: 'assistant', content: null, tool_calls: [] },
      { role: 'user', content: 'on' },
    ],
    { role: 'assistant', content: null, refusal: 'No.' },
  ];
  const { body, notes } = patched({ messages });
  expect(body.messages).toEqual([
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: 'go' },
    { role: 'assistant', content: '', tool_calls: [call] },
    { role: 'tool', tool_call_id: 'a', content: '' },
    ...[
      { role: 'assistant', content: '' },
      { role: 'user', content: 'on' },
    ],
    { role: 'assistant', content: null, refusal: 'No.' },
  ]);
  expect(notes).toEqual([]);
});

test('a call without a text has an empty one where the upstream takes no null', () => {
  const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } };
  const messages = [
    { role: 'user', content: 'hello' },
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'a', content: 'ok' },
  ];
  expect(patched({ messages }, { profile: like('llama-cpp-python') }).body.messages).toMatchObject([
    {},
    { content: '', tool_calls: [call] },
    {},
  ]);
  expect(patched({ messages }).body.messages).toMatchObject([{}, { content: null }, {}]);
});
