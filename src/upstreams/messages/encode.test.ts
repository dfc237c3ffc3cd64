import { expect, test } from 'vitest';
import { assistant, requestOf, user } from '../../../test/support/canonical.ts';
import { thought } from '../../../test/support/messages-upstream.ts';
import type { ReasoningAmount } from '../../canonical/effort.ts';
import { createReceipt } from '../../canonical/receipt.ts';
import type { CanonicalRequest, MediaPart, Part } from '../../canonical/request.ts';
import { objectsOf } from '../../lib/read-values.ts';
import type { EncodeTarget } from '../upstream.ts';
import { encode } from './encode.ts';
import { capabilitiesOf } from './models.ts';
import { createAnthropicProfile } from './profiles.ts';

const MANUAL = 'claude-sonnet-4-5';
const ADAPTIVE = 'claude-opus-4-7';

function encoded(
  change: Partial<CanonicalRequest>,
  modelId = MANUAL,
  more: Partial<EncodeTarget> = {},
) {
  const receipt = createReceipt();
  const target: EncodeTarget = {
    modelId,
    capabilities: capabilitiesOf(createAnthropicProfile(), modelId),
    signatures: 'carried',
    usesPlaceholders: false,
    receipt,
    ...more,
  };
  const body = encode(requestOf({ turns: [user('Hi')], ...change }), target);
  return { body, receipt: receipt.entries.map(({ action, path }) => `${action} ${path}`) };
}

const call = (id: string, more: Partial<Extract<Part, { kind: 'tool-call' }>> = {}): Part => ({
  ...{ kind: 'tool-call', id, name: 'f', input: {} },
  ...more,
});
const result = (
  callId: string,
  more: Partial<Extract<Part, { kind: 'tool-result' }>> = {},
): Part => ({
  ...{ kind: 'tool-result', callId, content: [{ kind: 'text', text: 'ok' }], isError: false },
  ...more,
});
const TOOL = { kind: 'function', name: 'f' } as const;
const image: MediaPart = {
  ...{ kind: 'media', modality: 'image', mediaType: 'image/png' },
  source: { kind: 'base64', base64: 'iVBORw0KGgo=' },
};

test('a budget goes as one, below the limit of the answer', () => {
  const reasoning = { amount: { kind: 'budget', tokens: 9000 } } as const;
  const { body } = encoded({ reasoning, maxOutputTokens: 5000 });
  expect(body).toMatchObject({ max_tokens: 5000, thinking: { budget_tokens: 4999 } });
});

test('a limit without room for the smallest budget switches thinking off', () => {
  const reasoning = { amount: { kind: 'budget', tokens: 2000 } } as const;
  const { body, receipt } = encoded({ reasoning, maxOutputTokens: 800 });
  expect(body.thinking).toBeUndefined();
  expect(receipt).toEqual(['approximated thinking']);
});

test('thinking that is switched off is said to be off, and left alone where nobody asked', () => {
  const thinkingOf = (amount: ReasoningAmount) => encoded({ reasoning: { amount } }).body.thinking;
  expect(thinkingOf({ kind: 'off' })).toEqual({ type: 'disabled' });
  expect(thinkingOf({ kind: 'off', isUnasked: true })).toBeUndefined();
  expect(thinkingOf({ kind: 'unset' })).toBeUndefined();
});

test.each([
  [{ kind: 'adaptive' }, { thinking: { type: 'adaptive', display: 'summarized' } }, []],
  [{ kind: 'off' }, { thinking: { type: 'disabled' } }, []],
  [{ kind: 'effort', effort: 'xhigh' }, { output_config: { effort: 'xhigh' } }, []],
  [
    { kind: 'effort', effort: 'minimal' },
    { output_config: { effort: 'low' } },
    ['approximated thinking'],
  ],
  [
    { kind: 'budget', tokens: 20_000 },
    { output_config: { effort: 'high' } },
    ['approximated thinking'],
  ],
] as const)('a model that decides itself is led by an effort: %o', (amount, body, receipt) => {
  const made = encoded({ reasoning: { amount } }, ADAPTIVE);
  expect(made.body).toMatchObject(body);
  expect(made.receipt).toEqual(receipt);
});

test.each(['claude-opus-5-5', 'claude-fable-5', 'claude-mythos-5-1', 'claude-newline-12-3'])(
  'a model that cannot stop thinking thinks least: %s',
  (model) => {
    const off = encoded({ reasoning: { amount: { kind: 'off' } } }, model);
    expect(off.body).not.toHaveProperty('thinking');
    expect(off.body.output_config).toEqual({ effort: 'low' });
    expect(off.receipt).toEqual(['approximated thinking']);
    const unasked = encoded({ reasoning: { amount: { kind: 'off', isUnasked: true } } }, model);
    expect([unasked.body.output_config, unasked.receipt]).toEqual([{ effort: 'low' }, []]);
  },
);

test.each([
  [['f'], 'Answer with a call of the tool f.', ['f']],
  [[], 'Answer with a call of one of the tools.', ['f', 'g']],
] as const)(
  'a model that cannot be made to call a tool is told to: %j',
  (names, words, offered) => {
    const change = {
      tools: [TOOL, { ...TOOL, name: 'g' }],
      toolChoice: { kind: 'required', names },
    } as const;
    for (const model of ['claude-opus-5-5', 'claude-fable-5-1']) {
      const { body, receipt } = encoded(change, model);
      expect(body).not.toHaveProperty('tool_choice');
      expect(body.tools).toMatchObject(offered.map((name) => ({ name })));
      expect(body.system).toEqual([expect.objectContaining({ text: words })]);
      expect(receipt).toEqual(['approximated tool_choice']);
    }
    const { body } = encoded(change, 'claude-opus-5');
    expect(body.tool_choice).toMatchObject({ type: names.length === 0 ? 'any' : 'tool' });
  },
);

test('thoughts nobody wants to see are left out by Claude models: a text that is shown to no client cannot come back', () => {
  const hidden = (kind: 'adaptive' | 'budget', model: string) => {
    const amount = kind === 'budget' ? ({ kind, tokens: 2000 } as const) : ({ kind } as const);
    return encoded({ reasoning: { amount, showThoughts: false } }, model).body.thinking;
  };
  const display = 'omitted';
  expect(hidden('adaptive', ADAPTIVE)).toEqual({ type: 'adaptive', display });
  const enabled = { type: 'enabled', budget_tokens: 2000 };
  expect(hidden('budget', MANUAL)).toEqual({ ...enabled, display });
  expect(hidden('budget', 'some-maker-1')).toEqual(enabled);
});

test('a forced call wins over a budget, and both go where the model allows it', () => {
  const change = {
    tools: [TOOL],
    toolChoice: { kind: 'required', names: ['f'] },
    reasoning: { amount: { kind: 'effort', effort: 'high' } },
  } as const;
  const manual = encoded(change);
  expect(manual.body).toMatchObject({ tool_choice: { type: 'tool', name: 'f' } });
  expect(manual.body.thinking).toBeUndefined();
  expect(manual.receipt).toEqual(['approximated thinking']);
  expect(encoded(change, ADAPTIVE).body).toMatchObject({ thinking: { type: 'adaptive' } });
});

test('what cannot be set beside thinking is dropped', () => {
  const change = { sampling: { temperature: 0.5, topP: 0.5, topK: 3 } };
  const reasoning = { amount: { kind: 'budget', tokens: 2000 } } as const;
  const { body, receipt } = encoded({ ...change, reasoning });
  expect(body).not.toHaveProperty('temperature');
  expect(receipt).toEqual(['dropped temperature', 'dropped top_p', 'dropped top_k']);
});

test('newer models take a temperature or top_p, and none above 1', () => {
  const sampling = { temperature: 1.5, topP: 0.5, seed: 4, presencePenalty: 1 };
  const { body, receipt } = encoded({ sampling });
  expect(body).toMatchObject({ temperature: 1 });
  expect(receipt).toEqual([
    ...['dropped seed', 'dropped presence_penalty', 'capped temperature', 'dropped top_p'],
  ]);
  const other = encoded({ sampling: { temperature: 0.5, topP: 0.5 } }, 'glm-4.6');
  expect(other.body).toMatchObject({ temperature: 0.5, top_p: 0.5 });
});

test('hints of the client are the only marks where it gives any', () => {
  const system = [{ kind: 'text', text: 'Be kind.', cacheHint: true }] as const;
  const { body } = encoded({ system, tools: [TOOL] });
  expect(JSON.stringify(body).split('cache_control')).toHaveLength(2);
  expect(body.system).toMatchObject([{ cache_control: { type: 'ephemeral' } }]);
});

test('a hint that asks for an hour is a mark for an hour', () => {
  const system = [{ kind: 'text', text: 'Be kind.', cacheHint: '1h' }] as const;
  const { body } = encoded({ system, turns: [user('Hi')] });
  expect(body.system).toMatchObject([{ cache_control: { type: 'ephemeral', ttl: '1h' } }]);
});

test('of more marks than the wire takes the last ones stay, and the last of the instructions', () => {
  const system = ['a', 'b'].map((text) => ({ kind: 'text', text, cacheHint: true }) as const);
  const turns = ['1', '2', '3', '4'].flatMap((text) => [
    { role: 'user', parts: [{ kind: 'text', text, cacheHint: true }] } as const,
    assistant(text),
  ]);
  const { body, receipt } = encoded({ system, turns: [...turns, user('5')] });
  expect(body.system).toEqual([
    { type: 'text', text: 'a' },
    { type: 'text', text: 'b', cache_control: { type: 'ephemeral' } },
  ]);
  const marks = objectsOf(body.messages)
    .filter(({ role }) => role === 'user')
    .map(({ content }) => objectsOf(content)[0]?.cache_control !== undefined);
  expect(marks).toEqual([false, true, true, true, false]);
  expect(receipt).toEqual(['dropped cache_control']);
});

test('without hints tools, instructions and the last two user turns are marked', () => {
  const turns = ['1', '2', '3'].flatMap((word) => [user(word), assistant(word)]);
  const { body } = encoded({
    ...{ turns: [...turns, user('4')], tools: [TOOL, { ...TOOL, name: 'g' }] },
    system: [{ kind: 'text', text: 'Be kind.' }],
  });
  expect(JSON.stringify(body).split('cache_control')).toHaveLength(5);
  expect(body.tools).toMatchObject([{ name: 'f' }, { name: 'g', cache_control: {} }]);
});

test('results stand first, media of a failed one behind them', () => {
  const turns = [
    user('Go'),
    assistant(call('a'), call('b')),
    user(
      { kind: 'text', text: 'and now?' },
      result('a', { isError: true, content: [{ kind: 'text', text: 'no' }, image] }),
      result('b', { content: [image] }),
    ),
  ];
  const { body, receipt } = encoded({ turns, tools: [TOOL] });
  expect(receipt).toEqual(['approximated messages']);
  expect(body.messages).toMatchObject([
    {},
    {},
    {
      content: [
        { type: 'tool_result', tool_use_id: 'a', content: 'no', is_error: true },
        { type: 'tool_result', tool_use_id: 'b', content: [{ type: 'image' }] },
        { type: 'text', text: 'and now?' },
        { type: 'image' },
      ],
    },
  ]);
});

test('ids of calls are of a form the wire takes, and each is there once', () => {
  const turns = [
    ...[user('Go'), assistant(call('functions.f:0')), user(result('functions.f:0'))],
    ...[assistant(call('functions.f:0')), user(result('functions.f:0'))],
  ];
  const { body } = encoded({ turns, tools: [TOOL] });
  const ids = JSON.stringify(body.messages).match(/toolu_[\w-]+/g) ?? [];
  expect(ids).toHaveLength(4);
  expect(ids[0]).toBe(ids[1]);
  expect(ids[2]).toBe(ids[3]);
  expect(ids[0]).not.toBe(ids[2]);
});

test('what was remembered of a call leads its step, in place of what the client shows of it', () => {
  const search = { type: 'server_tool_use', id: 's', name: 'web_search', input: {} };
  const trace = { family: 'anthropic', parts: [thought('Hm.'), search] };
  const { value } = { value: 'c2ln' };
  const turns = [
    user('Go'),
    assistant(
      { kind: 'thinking', text: 'Hm.', signature: { value, family: 'anthropic' } },
      { kind: 'text', text: 'Look:' },
      call('a', { trace }),
    ),
    user(result('a')),
  ];
  const { body } = encoded({ turns, tools: [TOOL] });
  expect(body.messages).toMatchObject([
    {},
    { content: [thought('Hm.'), { text: 'Look:' }, search, { type: 'tool_use', id: 'a' }] },
    {},
  ]);
});

test('a step whose thought is lost is answered without manual thinking', () => {
  const turns = [user('Go'), assistant(call('a')), user(result('a'))];
  const reasoning = { amount: { kind: 'budget', tokens: 2000 } } as const;
  const { body, receipt } = encoded({ turns, tools: [TOOL], reasoning });
  expect(body.thinking).toBeUndefined();
  expect(receipt).toEqual(['approximated thinking']);
  const later = [...turns, assistant('Done.'), user('And now?')];
  expect(encoded({ turns: later, tools: [TOOL], reasoning }).body.thinking).toBeDefined();
});

test('an upstream that misses thoughts is asked without thinking', () => {
  const reasoning = { amount: { kind: 'budget', tokens: 2000 } } as const;
  const { body } = encoded({ reasoning }, MANUAL, { usesPlaceholders: true });
  expect(body.thinking).toBeUndefined();
});

test('a text in the pieces of its stream is one block, with those that are blank', () => {
  const turns = [user('Go'), assistant('One', '\n\n', 'two', ' ', 'three'), user('Go')];
  expect(encoded({ turns }).body.messages).toMatchObject([
    {},
    { content: [{ type: 'text', text: 'One\n\ntwo three' }] },
    {},
  ]);
});

test('texts of white space stay out, and no turn becomes empty', () => {
  const turns = [user(' '), assistant(' '), assistant('Yes.'), user('Go')];
  const { body, receipt } = encoded({ turns });
  expect(body.messages).toMatchObject([
    { content: [{ text: '…' }] },
    { content: [{ text: 'Yes.' }] },
    { content: [{ text: 'Go' }] },
  ]);
  expect(receipt).toEqual(['approximated messages']);
});

test('words to go on from end without white space, or are followed by a user turn', () => {
  const turns = [user('Go'), assistant('One, ')];
  expect(encoded({ turns }).body.messages).toMatchObject([{}, { content: [{ text: 'One,' }] }]);
  const newer = encoded({ turns }, ADAPTIVE);
  expect(newer.body.messages).toMatchObject([{}, {}, { role: 'user' }]);
  expect(newer.receipt).toEqual(['approximated messages']);
  const reasoning = { amount: { kind: 'budget', tokens: 2000 } } as const;
  const thinking = encoded({ turns, reasoning, maxOutputTokens: 5000 });
  expect(thinking.body.messages).toMatchObject([{}, {}, { role: 'user' }]);
  expect(thinking.body.thinking).toMatchObject({ budget_tokens: 2000 });
});

test('stop sequences of white space are left to the gateway', () => {
  const { body, receipt } = encoded({ stopSequences: ['\n\n', 'END'] });
  expect(body.stop_sequences).toEqual(['END']);
  expect(receipt).toEqual(['approximated stop']);
});

test('a format is sent closed, with bounds in words; a free one is told', () => {
  const property = { type: 'integer', minimum: 1 };
  const schema = { type: 'object', properties: { n: property } };
  const { body } = encoded({ outputFormat: { kind: 'json-schema', schema } });
  expect(body.output_config).toEqual({
    format: {
      type: 'json_schema',
      schema: {
        type: 'object',
        properties: { n: { type: 'integer', description: '{minimum: 1}' } },
        additionalProperties: false,
      },
    },
  });
  const free = { type: 'object', additionalProperties: { type: 'string' } };
  const told = encoded({ outputFormat: { kind: 'json-schema', schema: free } });
  expect(told.body.output_config).toBeUndefined();
  expect(told.receipt).toEqual(['approximated response_format']);
});

test('a search has its domains and place', () => {
  const search = {
    kind: 'web-search',
    allowedDomains: ['a.test'],
    userLocation: { city: 'Oslo' },
  } as const;
  expect(encoded({ tools: [search] }).body.tools).toMatchObject([
    {
      ...{ type: 'web_search_20250305', name: 'web_search', allowed_domains: ['a.test'] },
      user_location: { type: 'approximate', city: 'Oslo' },
    },
  ]);
});

test('strict tools are held to their schema where it is closed', () => {
  const closed = { type: 'object', properties: {}, additionalProperties: false };
  const tools = [
    { ...TOOL, strict: true, parameters: closed },
    { ...TOOL, name: 'g', strict: true, parameters: { type: 'object', properties: { a: {} } } },
  ];
  const { body, receipt } = encoded({ tools });
  expect(body.tools).toMatchObject([{ strict: true }, { name: 'g' }]);
  expect(receipt).toEqual(['approximated tools[1]']);
});

test.each<[string, MediaPart, string]>([
  ['sound', { ...image, modality: 'audio', mediaType: 'audio/wav' }, 'takes no audio/wav here'],
  ['a picture of another kind', { ...image, mediaType: 'image/heic' }, 'takes no image/heic here'],
  [
    'a document of another kind',
    { ...image, modality: 'document', mediaType: 'text/plain' },
    'takes no text/plain here',
  ],
  ['a stored file', { ...image, source: { kind: 'file', uri: 'files/1' } }, 'send its bytes'],
  [
    'a plain address',
    { ...image, source: { kind: 'url', url: 'http://a.test/a.png' } },
    'only https addresses are; send its bytes as base64',
  ],
])('%s is refused in words that say why', (_name, media, why) => {
  expect(() => encoded({ turns: [user(media)] })).toThrow(/^messages: /);
  expect(() => encoded({ turns: [user(media)] })).toThrow(why);
});

test('a picture is told to be missing where the list of models says that it cannot be shown', () => {
  const listed = { id: MANUAL, refusesMedia: ['image'] } as const;
  const capabilities = capabilitiesOf(createAnthropicProfile(), MANUAL, listed);
  const { body, receipt } = encoded({ turns: [user(image)] }, MANUAL, { capabilities });
  expect(body.messages).toMatchObject([
    { content: [{ type: 'text', text: '[image left out: it cannot be shown to this model]' }] },
  ]);
  expect(receipt).toEqual(['dropped messages']);
});

test.each<[Partial<CanonicalRequest>, string]>([
  [{ cachedContent: 'caches/1' }, 'cachedContent: this upstream keeps no cached contents'],
  [{ mustDraw: true }, 'draws'],
])('what no words can stand for is refused: %j', (change, why) => {
  expect(() => encoded(change)).toThrow(why);
});

test('what has no word on this wire is told', () => {
  const { receipt } = encoded({
    ...{ serviceTier: 'flex', mediaResolution: 'low', imageDrafts: 1 },
    safety: [{ category: 'a', threshold: 'b' }],
  });
  expect(receipt).toEqual([
    ...['dropped partial_images', 'dropped media_resolution'],
    ...['dropped safety_settings', 'dropped service_tier'],
  ]);
});
