import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { GatewayError } from '../canonical/error.ts';
import { createReceipt } from '../canonical/receipt.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../lib/json.ts';
import { objectOf } from '../lib/read-values.ts';
import { CHAT_FIELDS } from './chat/errors.ts';
import { conflictsOf } from './chat/fit.ts';
import { createCompatibleProfile, type QuirkPreset } from './chat/profiles.ts';
import { MESSAGES_FIELDS } from './messages/errors.ts';
import { type FieldRules, RefusedFields } from './refused-fields.ts';
import type { UpstreamCall } from './upstream.ts';

const HOUR_MS = 3_600_000;

const isUnsupported = (field: string): string =>
  `Unsupported parameter: '${field}' is not supported with this model.`;

/** What a service says of a body that it does not take. */
type Refuse = (body: JsonObject) => string | undefined;

/** A service that refuses these fields, each in its words. */
function service(
  refused: Readonly<Record<string, string>> | Refuse,
  rules: FieldRules = CHAT_FIELDS,
  details?: JsonObject,
) {
  let time = 0;
  const sent: JsonObject[] = [];
  const fields = new RefusedFields(rules, { monotonic: () => time });
  const send = async ({ body }: UpstreamCall): Promise<JsonObject> => {
    sent.push(body);
    const detail =
      typeof refused === 'function'
        ? refused(body)
        : Object.entries(refused).find(([field]) => body[field] !== undefined)?.[1];
    if (detail === undefined) return body;
    const failure = { kind: 'rejected', detail } as const;
    const wireDetails = details && { wire: rules.wire, members: details };
    const fault = { kind: 'internal', source: 'upstream', message: detail } as const;
    throw new GatewayError({ ...fault, failure, wireDetails });
  };
  const ask = async (body: JsonObject, clientHeaders?: UpstreamCall['clientHeaders']) => {
    const receipt = createReceipt();
    const answer = fields.open({ ...callOf(body, receipt), clientHeaders }, send);
    return { body: await answer, notes: receipt.entries.map((one) => `${one.action} ${one.path}`) };
  };
  const pass = (ms: number): void => {
    time += ms;
  };
  return { fields, send, sent, ask, pass };
}

/** As an upstream of this service has them. */
function chatRules(quirks: QuirkPreset | undefined): FieldRules {
  const profile = createCompatibleProfile({ baseUrl: 'http://a.example', quirks });
  return { ...CHAT_FIELDS, conflicts: conflictsOf(profile.quirks) };
}

function callOf(body: JsonObject, receipt?: UpstreamCall['receipt']): UpstreamCall {
  return {
    ...{ modelId: 'm', body, stream: false, receipt },
    access: { accountId: 'a', credential: 'k', credentialKind: 'api-key' },
    signal: new AbortController().signal,
  };
}

test('a limit goes under its other name, from then on for an hour', async () => {
  const limit = `${isUnsupported('max_tokens')} Use 'max_completion_tokens' instead.`;
  const { ask, sent, pass } = service({ max_tokens: limit });
  const named = { body: { max_completion_tokens: 9 }, notes: [] };
  expect(await ask({ max_tokens: 9 })).toEqual(named);
  expect(await ask({ max_tokens: 9 })).toEqual(named);
  expect(sent).toHaveLength(3);
  pass(HOUR_MS);
  expect(await ask({ max_tokens: 9 })).toEqual(named);
  expect(sent).toHaveLength(5);
});

test.each([
  [
    'temperature',
    "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
    'temperature',
  ],
  ['top_p', isUnsupported('top_p'), 'top_p'],
  ['reasoning_effort', 'Unrecognized request argument supplied: reasoning_effort', 'thinking'],
  ['temperature', 'invalid temperature: only 1 is allowed for this model', 'temperature'],
  ['reasoning_effort', "Unknown parameter: 'reasoning_effort'.", 'thinking'],
  ['reasoning_effort', 'non-reasoning model does not support reasoning_effort', 'thinking'],
  ['enable_search', 'This model does not support enable_search.', 'enable_search'],
  ['seed', "Extra inputs are not permitted, field: 'seed', value: 5", 'seed'],
  ['seed', 'Invalid JSON payload received. Unknown name "seed": Cannot find field.', 'seed'],
  [
    'seed',
    "litellm.UnsupportedParamsError: openai does not support parameters: ['seed', 'top_p'], for model=m. To drop these, set `litellm.drop_params=True`",
    'seed',
  ],
])('%s is left out where it is refused: %s', async (field, words, path) => {
  const { ask, sent } = service({ [field]: words });
  const left = { body: { n: 1 }, notes: [`dropped ${path}`] };
  expect(await ask({ [field]: 'x', n: 1 })).toEqual(left);
  expect(await ask({ [field]: 'x', n: 1 })).toEqual(left);
  expect(sent).toHaveLength(3);
});

const LIST = "'low', 'medium', and 'high'";

test.each([
  [
    'minimal',
    `Unsupported value: 'reasoning_effort' does not support 'minimal' with this model. Supported values are: ${LIST}.`,
    'low',
  ],
  ['xhigh', '`reasoning_effort` must be one of `low`, `medium`, or `high`', 'high'],
  [
    'max',
    'Failed to deserialize the JSON body into the target type: reasoning_effort: unknown variant `max`, expected one of `high`, `low` at line 1 column 75',
    'high',
  ],
  [
    'none',
    `Unsupported value: 'reasoning_effort' does not support 'none' with this model. Supported values are: ${LIST}.`,
    'low',
  ],
  ['minimal', "body.reasoning_effort: Input should be 'low', 'medium' or 'high'", 'low'],
  [
    'max',
    'reasoning_effort: Invalid option: expected one of "xhigh"|"high"|"medium"|"low"|"minimal"|"none"',
    'xhigh',
  ],
])(
  'the effort %s becomes the nearest of those that are taken: %s',
  async (effort, words, taken) => {
    const { ask, sent } = service((body) => (body.reasoning_effort === effort ? words : undefined));
    const nearest = { body: { reasoning_effort: taken }, notes: ['approximated thinking'] };
    expect(await ask({ reasoning_effort: effort })).toEqual(nearest);
    expect(await ask({ reasoning_effort: effort })).toEqual(nearest);
    expect(await ask({ reasoning_effort: taken })).toMatchObject({ notes: [] });
    expect(sent).toHaveLength(4);
  },
);

test('an effort is left out where only words are taken that say none', async () => {
  const { ask } = service({
    reasoning_effort: '`reasoning_effort` must be one of `none` or `default`',
  });
  expect(await ask({ reasoning_effort: 'high' })).toEqual({
    body: {},
    notes: ['dropped thinking'],
  });
});

test('stop sequences are left out, at which translated answers are cut here', async () => {
  const { ask } = service({ stop: isUnsupported('stop') });
  expect(await ask({ stop: ['END'] })).toEqual({ body: {}, notes: ['approximated stop'] });
  expect(await ask({ stop: ['END'] }, {})).toEqual({ body: {}, notes: ['dropped stop'] });
});

test.each([
  ["Unknown parameter: 'messages[2].source'."],
  [
    "'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property 'source' is unsupported, did you mean 'role'?)]",
  ],
  ['messages.2.assistant.source: Extra inputs are not permitted'],
  ["Extra inputs are not permitted, field: 'messages[2].source', value: 800"],
  [
    "[{'type': 'extra_forbidden', 'loc': ('body', 'messages', 2, 'source'), 'msg': 'Extra inputs are not permitted', 'input': 800}]",
  ],
])('what only one client knows is left out of all messages: %s', async (words) => {
  const isMarked = (message: JsonValue) => isJsonObject(message) && 'source' in message;
  const { ask, sent } = service(({ messages }) =>
    Array.isArray(messages) && messages.some(isMarked) ? words : undefined,
  );
  const said = [
    { role: 'user', content: 'a', source: 'x' },
    { role: 'user', content: 'b' },
    { role: 'assistant', content: 'c', source: { y: 1 } },
  ];
  const left = {
    body: { messages: said.map(({ role, content }) => ({ role, content })) },
    notes: ['dropped messages[].source'],
  };
  expect(await ask({ messages: said }, {})).toEqual(left);
  expect(await ask({ messages: said }, {})).toEqual(left);
  expect(sent).toHaveLength(3);
  expect(said[0]).toHaveProperty('source');
});

test.each([
  [
    'messages[0].tool_calls[0].index',
    { messages: [{ tool_calls: [{ id: 'a', index: 0 }] }] },
    { messages: [{ tool_calls: [{ id: 'a' }] }] },
  ],
  [
    'messages[0].content[0].mark',
    { messages: [{ content: [{ type: 'text', text: 'a', mark: 1 }] }] },
    { messages: [{ content: [{ type: 'text', text: 'a' }] }] },
  ],
  // Strands and LiteLLM say the type of a picture there.
  [
    'messages[0].content[0].image_url.format',
    { messages: [{ content: [{ type: 'image_url', image_url: { url: 'a', format: 'b' } }] }] },
    { messages: [{ content: [{ type: 'image_url', image_url: { url: 'a' } }] }] },
  ],
  [
    'stream_options.include_usage',
    { stream_options: { include_usage: true } },
    { stream_options: {} },
  ],
  ['tools[0].mark', { tools: [{ type: 'function', mark: 1 }] }, { tools: [{ type: 'function' }] }],
])('%s is left out where it is unknown', async (path, body, left) => {
  const { ask } = service((now) =>
    isDeepStrictEqual(now, left) ? undefined : `Unknown parameter: '${path}'.`,
  );
  expect((await ask(body)).body).toEqual(left);
});

test.each([
  ['messages[0].content', { messages: [{ content: 'a' }] }],
  ['messages[0].content[0].text', { messages: [{ content: [{ type: 'text', text: 'a' }] }] }],
  [
    'messages[0].content[0].image_url.url',
    { messages: [{ content: [{ type: 'image_url', image_url: { url: 'a' } }] }] },
  ],
  ['messages[0].tool_calls', { messages: [{ tool_calls: [] }] }],
  ['tools[0].function', { tools: [{ type: 'function', function: {} }] }],
  [
    'tools[0].function.parameters.format',
    { tools: [{ function: { parameters: { format: 'x' } } }] },
  ],
  ['response_format.json_schema', { response_format: { json_schema: {} } }],
  ['__proto__', { n: 1 }],
  ['', { n: 1 }],
])('%s is never left out', async (path, body) => {
  const words = `Unknown parameter: '${path}'.`;
  const { ask, sent } = service(() => words);
  await expect(ask(body)).rejects.toThrow(words);
  expect(sent).toHaveLength(1);
});

test('the name of a field may be another spelling of it', async () => {
  const { ask } = service({
    presence_penalty: 'Argument not supported on this model: presencePenalty',
  });
  expect((await ask({ presence_penalty: 1 })).body).toEqual({});
});

test('nothing is remembered of a refusal that quotes a client', async () => {
  const quoting = service(({ word }) => (word === undefined ? undefined : `${word}`));
  const words = "Unknown parameter: 'temperature'.";
  await expect(quoting.ask({ word: words, temperature: 1 })).rejects.toThrow(words);
  expect((await quoting.ask({ temperature: 1 })).body).toEqual({ temperature: 1 });
});

test('a service that refuses ever more is asked nine times', async () => {
  const body = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`f${at}`, at]));
  const { ask, sent } = service((now) => `Unknown parameter: '${Object.keys(now)[0]}'.`);
  await expect(ask(body)).rejects.toThrow('Unknown');
  expect(sent).toHaveLength(9);
});

test('several are left out one after the other', async () => {
  const refused = ['temperature', 'top_p', 'max_tokens'];
  const { ask } = service(
    Object.fromEntries(refused.map((field) => [field, isUnsupported(field)])),
  );
  expect((await ask({ temperature: 1, top_p: 1, max_tokens: 9 })).body).toEqual({
    max_completion_tokens: 9,
  });
});

test.each([
  ['what the answer depends on', 'tools', isUnsupported('tools')],
  ['a form of answer', 'response_format', isUnsupported('response_format')],
  [
    'an effort nobody knows',
    'reasoning_effort',
    "Invalid value: 'x'. Unsupported value: 'reasoning_effort' does not support 'x' with this model. Supported values are: 'low'.",
  ],
  [
    'a word that no model takes',
    'verbosity',
    "Invalid value: 'x'. Supported values are: 'low', 'medium', and 'high'.",
  ],
  ['a tier that is none', 'service_tier', '`service_tier` must be one of `auto`, `flex`'],
  ['what nobody sent', 'n', isUnsupported('temperature')],
  ['something else', 'n', 'No.'],
])('a refusal of %s stays one', async (_what, field, words) => {
  const { ask, sent } = service({ [field]: words });
  await expect(ask({ [field]: 'x' })).rejects.toThrow(words);
  expect(sent).toHaveLength(1);
});

test('how many alternatives are wanted is left out with the log-probabilities', async () => {
  const { ask, sent } = service({ logprobs: isUnsupported('logprobs') });
  const left = { body: { n: 1 }, notes: ['dropped logprobs'] };
  expect(await ask({ logprobs: true, top_logprobs: 2, n: 1 })).toEqual(left);
  expect(sent).toHaveLength(2);
});

test('a service that takes neither name says so, and a call without a receipt is sent as it came', async () => {
  const names = ['max_tokens', 'max_completion_tokens'];
  const { ask, fields, send, sent } = service(
    Object.fromEntries(names.map((field) => [field, isUnsupported(field)])),
  );
  await expect(ask({ max_tokens: 9 })).rejects.toThrow('max_tokens');
  const before = sent.length;
  await expect(fields.open(callOf({ max_tokens: 9 }), send)).rejects.toThrow('max_tokens');
  expect(sent.slice(before)).toEqual([{ max_tokens: 9 }]);
});

const extra = (path: string): string => `${path}: Extra inputs are not permitted`;

test.each([
  ['context_management: Extra inputs are not permitted', { context_management: {} }, {}],
  ['`temperature` is deprecated for this model.', { temperature: 0.2 }, {}],
  [
    '`temperature` and `top_p` cannot both be specified for this model. Please use only one.',
    { temperature: 0.2, top_p: 0.5 },
    { temperature: 0.2 },
  ],
  [
    extra('system.1.cache_control.ephemeral.scope'),
    {
      system: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b', cache_control: { type: 'ephemeral', scope: 'x' } },
      ],
    },
    {
      system: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b', cache_control: { type: 'ephemeral' } },
      ],
    },
  ],
  [
    extra('messages.0.content.0.tool_use.text'),
    {
      messages: [
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'a', name: 'b', input: {}, text: '' }],
        },
      ],
    },
    {
      messages: [
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'b', input: {} }] },
      ],
    },
  ],
  [
    extra('thinking.disabled.display'),
    { thinking: { type: 'disabled', display: 'omitted' } },
    { thinking: { type: 'disabled' } },
  ],
  [
    extra('tools.0.custom.defer_loading'),
    { tools: [{ name: 'a', input_schema: {}, defer_loading: true }] },
    { tools: [{ name: 'a', input_schema: {} }] },
  ],
])(
  'a Messages service is asked again without what it does not know: %s',
  async (words, body, left) => {
    const { ask, sent } = service(
      (now) => (isDeepStrictEqual(now, left) ? undefined : words),
      MESSAGES_FIELDS,
    );
    expect((await ask(body, {})).body).toEqual(left);
    expect((await ask(body, {})).body).toEqual(left);
    expect(sent).toHaveLength(3);
  },
);

test.each<[string, JsonObject, JsonObject]>([
  [
    'Thinking may not be enabled when tool_choice forces tool use.',
    { thinking: { type: 'adaptive' }, tool_choice: { type: 'any' } },
    { tool_choice: { type: 'any' } },
  ],
  [
    '"thinking.type.disabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort".',
    { thinking: { type: 'disabled' } },
    {},
  ],
])(
  'thinking that a request cannot have is left to the model, in it alone: %s',
  async (words, body, left) => {
    const isRefused = (now: JsonObject): boolean =>
      isDeepStrictEqual(now.thinking, body.thinking) && now.free !== true;
    const { ask, sent } = service((now) => (isRefused(now) ? words : undefined), MESSAGES_FIELDS);
    for (const notes of [['approximated thinking'], ['approximated thinking']]) {
      expect(await ask(body, {})).toEqual({ body: left, notes });
    }
    expect(sent).toHaveLength(4);
    const other = { ...body, free: true };
    expect(await ask(other, {})).toEqual({ body: other, notes: [] });
  },
);

const ALWAYS_THINKS = 'Reasoning is mandatory for this endpoint and cannot be disabled.';
const THINKS_BY_WORDS =
  'This model always engages in thinking and cannot be disabled; please use low, high, or max';

test.each<[QuirkPreset | undefined, string, JsonObject, JsonObject]>([
  [
    'openrouter',
    ALWAYS_THINKS,
    { reasoning: { effort: 'none' } },
    { reasoning: { effort: 'minimal' } },
  ],
  [
    'openrouter',
    ALWAYS_THINKS,
    { reasoning: { enabled: false } },
    { reasoning: { effort: 'minimal' } },
  ],
  [
    'zai',
    THINKS_BY_WORDS,
    { thinking: { type: 'disabled' } },
    { thinking: { type: 'enabled' }, reasoning_effort: 'low' },
  ],
  [undefined, THINKS_BY_WORDS, { reasoning_effort: 'none' }, { reasoning_effort: 'low' }],
])(
  'a model of %s that cannot stop thinking thinks least: %s',
  async (quirks, words, off, least) => {
    const { ask, sent } = service(
      (body) => (isDeepStrictEqual(body, off) ? words : undefined),
      chatRules(quirks),
    );
    expect(await ask(off)).toEqual({ body: least, notes: ['approximated thinking'] });
    expect(await ask(off, {})).toEqual({ body: least, notes: ['approximated reasoning_effort'] });
    expect(sent).toHaveLength(3);
    const more = { reasoning_effort: 'high' };
    expect(await ask(more)).toEqual({ body: more, notes: [] });
  },
);

const FORCED = { tool_choice: { type: 'function', function: { name: 'a' } } };

test.each<[QuirkPreset | undefined, string, JsonObject, JsonObject]>([
  [
    'deepseek',
    'Thinking mode does not support this tool_choice',
    {},
    { thinking: { type: 'disabled' } },
  ],
  [
    'moonshot',
    "tool_choice 'specified' is incompatible with thinking enabled",
    { reasoning_effort: 'high' },
    { thinking: { type: 'disabled' } },
  ],
  [
    'openrouter',
    'Thinking mode does not support this tool_choice',
    { reasoning: { effort: 'high' } },
    { reasoning: { effort: 'none' } },
  ],
  [
    undefined,
    '<400> InternalError.Algo.InvalidParameter: The tool_choice parameter does not support being set to required or object in thinking mode',
    { reasoning_effort: 'high' },
    { thinking: { type: 'disabled' }, enable_thinking: false },
  ],
])('a call that is forced is made without thinking at %s: %s', async (quirks, words, said, off) => {
  const { ask, sent } = service(
    (body) =>
      body.tool_choice !== undefined && !isDeepStrictEqual(body, { ...FORCED, ...off })
        ? words
        : undefined,
    chatRules(quirks),
  );
  const called = { body: { ...FORCED, ...off }, notes: ['approximated thinking'] };
  expect(await ask({ ...said, ...FORCED })).toEqual(called);
  expect(await ask({ ...said, ...FORCED })).toEqual(called);
  expect(sent).toHaveLength(3);
  expect(await ask({ ...said, n: 1 })).toEqual({ body: { ...said, n: 1 }, notes: [] });
});

test.each([
  'Failed to deserialize the JSON body into the target type: messages[1]: unknown variant `image_url`, expected `text` at line 1 column 80',
  "Model only supports text input; received unsupported content type 'image_url'.",
  'Model do not support image input. Request id: 1',
  'm is not a multimodal model',
])('a model that reads text alone is told of the pictures that are missing: %s', async (words) => {
  const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
  const turns = (content: JsonValue) => ({
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content },
    ],
  });
  const { ask, sent } = service(
    (body) => (JSON.stringify(body).includes('image_url') ? words : undefined),
    chatRules('deepseek'),
  );
  const missing = turns('What?\n\n[image left out: it cannot be shown to this model]');
  const shown = turns([{ type: 'text', text: 'What?' }, picture]);
  expect(await ask(shown)).toEqual({ body: missing, notes: ['dropped messages'] });
  expect(await ask(shown, {})).toEqual({ body: missing, notes: ['dropped messages'] });
  expect(sent).toHaveLength(3);
  const plain = turns('Hello');
  expect(await ask(plain)).toEqual({ body: plain, notes: [] });
});

test('a Messages service makes a forced call without thinking where it thinks unasked', async () => {
  const forced = { tool_choice: { type: 'tool', name: 'a' } };
  const off = { ...forced, thinking: { type: 'disabled' } };
  const { ask, sent } = service(
    (body) =>
      body.tool_choice !== undefined && !isDeepStrictEqual(body, off)
        ? 'Thinking mode does not support this tool_choice'
        : undefined,
    MESSAGES_FIELDS,
  );
  for (const headers of [undefined, {}]) {
    expect(await ask(forced, headers)).toEqual({ body: off, notes: ['approximated thinking'] });
  }
  expect(sent).toHaveLength(3);
  expect((await ask({ max_tokens: 9 })).body).toEqual({ max_tokens: 9 });
});

test.each([
  'parameter.enable_thinking must be set to false for non-streaming calls',
  'This model only support stream mode, please enable the stream parameter to access the model. ',
  'enable thinking can not be support when `stream=False`.',
])('a whole answer of a model that answers in streams alone is put together: %s', async (words) => {
  const rules = chatRules(undefined);
  const { ask, sent } = service((body) => (body.stream === true ? undefined : words), rules);
  const streamed = { stream: true, stream_options: { include_usage: true } };
  expect(await ask({ n: 1 })).toEqual({ body: { n: 1, ...streamed }, notes: ['repaired stream'] });
  expect(await ask({ n: 1 })).toEqual({ body: { n: 1, ...streamed }, notes: ['repaired stream'] });
  expect(sent).toHaveLength(3);
  expect(await ask(streamed)).toEqual({ body: streamed, notes: [] });
});

const said = (role: string, content: JsonValue, more: JsonObject = {}) => ({
  ...{ role, content },
  ...more,
});
const MARKED = '<system-instruction>\nBe brief.\n</system-instruction>';
const CALLED = said('assistant', null, { tool_calls: [{ id: 'a' }] });
const RESULT = said('tool', '4', { tool_call_id: 'a' });

test.each<[string, string, readonly JsonObject[], readonly JsonObject[], string]>([
  [
    'a question behind a tool result has an answer before it',
    "Unexpected role 'user' after role 'tool'",
    [said('user', 'a'), CALLED, RESULT, said('user', 'b')],
    [said('user', 'a'), CALLED, RESULT, said('assistant', 'OK.'), said('user', 'b')],
    'approximated',
  ],
  [
    'user messages in a row are one',
    'Conversation roles must alternate user/assistant/user/assistant/...',
    [said('user', 'a'), said('user', [{ type: 'text', text: 'b' }]), said('assistant', 'c')],
    [said('user', 'a\n\nb'), said('assistant', 'c')],
    'approximated',
  ],
  [
    'a picture in such a row stays one',
    'After the optional system message, conversation roles must alternate user and assistant roles',
    [said('user', 'a'), said('user', [{ type: 'image_url' }])],
    [said('user', [{ type: 'text', text: 'a' }, { type: 'image_url' }])],
    'approximated',
  ],
  [
    'instructions stand first, and as marked text of the user later',
    'jinja template rendering failed. System message must be at the beginning.',
    [said('system', 'x'), said('system', 'y'), said('user', 'a'), said('system', 'Be brief.')],
    [said('system', 'x\n\ny'), said('user', 'a'), said('user', MARKED)],
    'approximated',
  ],
  [
    'the beginning of an answer is marked',
    'Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant',
    [said('user', 'a'), said('assistant', 'It is')],
    [said('user', 'a'), said('assistant', 'It is', { prefix: true })],
    'repaired',
  ],
])('where the order of messages is refused, %s', async (_name, words, before, after, action) => {
  const isOf = (body: JsonObject) => isDeepStrictEqual(body.messages, before);
  const { ask, sent } = service((body) => (isOf(body) ? words : undefined), chatRules(undefined));
  const fitted = { body: { messages: after }, notes: [`${action} messages`] };
  for (const headers of [undefined, {}]) {
    expect(await ask({ messages: [...before] }, headers)).toEqual(fitted);
  }
  expect(sent).toHaveLength(3);
  const fine = { messages: [said('system', 'x'), said('user', 'a'), said('assistant', 'b')] };
  if (action === 'approximated') expect(await ask(fine)).toEqual({ body: fine, notes: [] });
});

test.each<[string, string, FieldRules, JsonObject]>([
  ['Messages', 'content[].thinking', MESSAGES_FIELDS, { thinking: { type: 'disabled' } }],
  ['Chat', 'reasoning_content', chatRules('openrouter'), { reasoning: { effort: 'none' } }],
])(
  'a %s service that misses thoughts nobody kept is told not to think, in that request alone',
  async (_wire, field, rules, off) => {
    const words = `The \`${field}\` in the thinking mode must be passed back to the API.`;
    const lost = { messages: [{ role: 'assistant', content: 'a' }] };
    const { ask, sent } = service(
      (body) => (isDeepStrictEqual(body, lost) ? words : undefined),
      rules,
    );
    const answered = { body: { ...lost, ...off }, notes: ['approximated thinking'] };
    expect(await ask(lost)).toEqual(answered);
    expect(await ask(lost)).toEqual(answered);
    expect(sent).toHaveLength(4);
    expect(await ask({ max_tokens: 9 })).toEqual({ body: { max_tokens: 9 }, notes: [] });
  },
);

test('what one kind of block lacks stays on the others', async () => {
  const mark = { cache_control: { type: 'ephemeral' } };
  const said = { type: 'text', text: 'a', ...mark };
  const body = (...content: JsonObject[]) => ({ messages: [{ role: 'assistant', content }] });
  const thought = { type: 'thinking', thinking: 'b', signature: 'c' };
  const { ask } = service(
    (now) =>
      isDeepStrictEqual(now, body(thought, said))
        ? undefined
        : extra('messages.0.content.0.thinking.cache_control'),
    MESSAGES_FIELDS,
  );
  expect(await ask(body({ ...thought, ...mark }, said), {})).toEqual({
    body: body(thought, said),
    notes: ['dropped messages[].content[].cache_control'],
  });
});

test.each([
  ['thread', { thread: { id: 'a' } }],
  ['mcp_servers', { mcp_servers: [] }],
  ['output_config', { output_config: { format: { type: 'json_schema' } } }],
  ['output_config.format', { output_config: { format: {} } }],
  ['messages.0.content.0.text.text', { messages: [{ content: [{ type: 'text', text: 'a' }] }] }],
  [
    'messages.0.content.0.tool_use.input.a',
    { messages: [{ content: [{ type: 'tool_use', input: { a: 1 } }] }] },
  ],
  ['tools.0.custom.input_schema', { tools: [{ input_schema: {} }] }],
  [
    'tools.0.web_search_20250305.allowed_domains',
    { tools: [{ type: 'web_search_20250305', allowed_domains: ['a.example'] }] },
  ],
])('%s is never left out of a Messages request', async (path, body) => {
  const { ask, sent } = service(() => extra(path), MESSAGES_FIELDS);
  await expect(ask(body, {})).rejects.toThrow(path);
  expect(sent).toHaveLength(1);
});

test('a Messages service that does not know a way to show thoughts shows summaries, and keeps the ways that it names', async () => {
  const ways = ['summarized', 'omitted'];
  const { ask, sent } = service((now) => {
    const display = objectOf(now.thinking)?.display;
    const isKnown = display === undefined || ways.includes(String(display));
    return isKnown
      ? undefined
      : "thinking.enabled.display: Input should be 'summarized' or 'omitted'";
  }, MESSAGES_FIELDS);
  const thinking = { type: 'enabled', budget_tokens: 2048 };
  const shown = { thinking: { ...thinking, display: 'summarized' } };
  const near = { body: shown, notes: ['approximated thinking.display'] };
  expect(await ask({ thinking: { ...thinking, display: 'updates' } }, {})).toEqual(near);
  expect(await ask({ thinking: { ...thinking, display: 'updates' } }, {})).toEqual(near);
  expect(sent).toHaveLength(3);
  const known = { thinking: { ...thinking, display: 'omitted' } };
  expect(await ask(known, {})).toEqual({ body: known, notes: [] });
});

const INVALID = "Invalid value: 'xhigh'. Supported values are: 'low', and 'medium'.";

test.each<readonly [string, JsonObject, string, JsonObject | undefined]>([
  [
    'an effort with words',
    { param: 'reasoning_effort', code: 'invalid_value' },
    INVALID,
    { reasoning_effort: 'medium' },
  ],
  [
    'an effort without words',
    { param: 'reasoning_effort', code: 'invalid_type' },
    'Invalid type.',
    undefined,
  ],
  [
    'a hint by its code',
    { param: 'verbosity', code: 'unsupported_value' },
    'No.',
    { reasoning_effort: 'xhigh' },
  ],
  ['a hint with a wrong word', { param: 'verbosity', code: 'invalid_value' }, INVALID, undefined],
])('a refusal may name the field apart from its words: %s', async (_what, details, words, left) => {
  const body = {
    reasoning_effort: 'xhigh',
    ...(details.param === 'verbosity' && { verbosity: 'x' }),
  };
  const { ask } = service(
    (now) => (isDeepStrictEqual(now, left) ? undefined : words),
    CHAT_FIELDS,
    details,
  );
  if (left === undefined) await expect(ask(body)).rejects.toThrow(words);
  else expect((await ask(body)).body).toEqual(left);
});
