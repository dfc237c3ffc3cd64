import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import { createReceipt } from '../../canonical/receipt.ts';
import type { SignatureKey } from '../../canonical/signatures.ts';
import type { JsonObject, JsonValue } from '../../lib/json.ts';
import { objectsOf } from '../../lib/read-values.ts';
import { SignatureCache } from '../../signatures/cache.ts';
import type { PatchTarget } from '../upstream.ts';
import { patch } from './native-body.ts';
import { patchTarget } from './patch.test-support.ts';
import { createAnthropicProfile, createMessagesProfile, type MessagesProfile } from './profiles.ts';

const MANUAL = 'claude-sonnet-4-5';
const ADAPTIVE = 'claude-opus-4-7';
const TOOL = { name: 'f', input_schema: { type: 'object' } };
const thinking = (signature: string): JsonObject => ({
  type: 'thinking',
  thinking: 'Hm.',
  signature,
});
const call: JsonObject = { type: 'tool_use', id: 'a', name: 'f', input: {} };
const result: JsonObject = { type: 'tool_result', tool_use_id: 'a', content: 'ok' };

interface More extends Partial<PatchTarget> {
  readonly profile?: MessagesProfile;
}

function patched(
  change: JsonObject,
  modelId = MANUAL,
  { profile = createAnthropicProfile(), ...more }: More = {},
) {
  const receipt = createReceipt();
  const target = patchTarget({ profile, modelId }, { receipt, ...more });
  const given = {
    model: 'm',
    max_tokens: 8000,
    messages: [{ role: 'user', content: 'Hi' }],
    ...change,
  };
  const before = JSON.stringify(given);
  const body = patch(given, target, profile);
  expect(JSON.stringify(given)).toBe(before);
  return { body, given, receipt: receipt.entries.map(({ action, path }) => `${action} ${path}`) };
}

const step = (...content: JsonValue[]): JsonObject => ({
  messages: [
    { role: 'user', content: 'Go' },
    { role: 'assistant', content },
    { role: 'user', content: [result] },
  ],
  tools: [TOOL],
});

test('a line that changes with each request stays with the service that reads it', () => {
  const line = { type: 'text', text: 'x-anthropic-billing-header: cc_version=2; cch=0aaa9;' };
  const rest = [{ type: 'text', text: 'You help.', cache_control: { type: 'ephemeral' } }];
  const system = [line, ...rest];
  expect(patched({ system })).toMatchObject({ body: { system }, receipt: [] });
  const profile = createMessagesProfile({ baseUrl: 'https://models.example' });
  const other = patched({ system }, MANUAL, { profile });
  expect([other.body.system, other.receipt]).toEqual([rest, ['dropped system']]);
  expect(patched({ system: [line] }, MANUAL, { profile }).body).not.toHaveProperty('system');
  expect(patched({ system: rest }, MANUAL, { profile }).body.system).toBe(rest);
  expect(patched({ system: 'You help.' }, MANUAL, { profile }).body.system).toBe('You help.');
  const joined = patched({ system: `${line.text}\nYou help.` }, MANUAL, { profile });
  expect([joined.body.system, joined.receipt]).toEqual(['You help.', ['dropped system']]);
});

test('a thread goes on at the service that keeps it, and nowhere else', () => {
  const thread = { type: 'create' };
  const later = { thread: { type: 'continue', previous_message_id: 'msg_1' } };
  expect(patched({ thread })).toMatchObject({ body: { thread }, receipt: [] });
  expect(patched(later)).toMatchObject({ body: later, receipt: [] });
  const profile = createMessagesProfile({ baseUrl: 'https://models.example' });
  const other = patched({ thread }, MANUAL, { profile });
  expect([other.body.thread, other.receipt]).toEqual([undefined, ['dropped thread']]);
  // What it holds alone is no conversation, and most services answer it as one.
  expect(() => patched(later, MANUAL, { profile })).toThrow(
    expect.objectContaining({ kind: 'not-found', reason: 'thread-not-found', field: 'thread' }),
  );
});

test('V012 P061 instructions before the first question stand with those of the request', () => {
  const question = { role: 'user', content: 'Hi' };
  const later = { role: 'system', content: 'Be brief.' };
  const lead = (content: JsonValue): JsonObject => ({ role: 'system', content });
  const text = (said: string): JsonObject => ({ type: 'text', text: said });
  const messages = [lead('S1'), lead([text('S2')]), lead(' '), question, later];
  expect(patched({ messages }).body).toMatchObject({
    system: [text('S1'), text('S2')],
    messages: [question, later],
  });
  expect(patched({ system: 'S0', messages }).body.system).toEqual(['S0', 'S1', 'S2'].map(text));
  const other = lead([{ type: 'tool_addition', tool: { type: 'tool_reference', tool_name: 'f' } }]);
  const timed = { ...lead('S1'), clear_at: 'next_user_message' };
  for (const first of [other, timed]) {
    expect(patched({ messages: [first, question] }).body.messages).toEqual([first, question]);
  }
  expect(patched({ messages: [lead('S1')] }).body.messages).toEqual([lead('S1')]);
});

test('a body that suits keeps everything but the name of its model', () => {
  const fields = {
    ...{
      metadata: { user_id: 'u' },
      context_management: { edits: [] },
      mcp_servers: [{ name: 'a' }],
    },
    ...{ thinking: { type: 'enabled', budget_tokens: 2000, display: 'omitted' } },
    ...step({ type: 'some_new_block' }, thinking('c2ln'), call),
  };
  const { body, given, receipt } = patched({ ...fields, thinking: { type: 'disabled' } });
  expect(body).toEqual({ ...given, model: MANUAL });
  expect(body.messages).toBe(given.messages);
  expect(receipt).toEqual([]);
});

test('a carrier of its own family is opened, one of another goes with its thought', () => {
  const own = patched(step(thinking('gw1:anthropic:thinking:c2ln'), call)).body;
  expect(own.messages).toMatchObject([{}, { content: [{ signature: 'c2ln' }, call] }, {}]);
  const other = patched(step(thinking('gw1:alpha:thinking:c2ln'), call));
  expect(other.body.messages).toMatchObject([{}, { content: [call] }, {}]);
  expect(other.receipt).toEqual(['dropped messages']);
});

test('P011 a signed thought whose empty text the client left out gets it back', () => {
  const { thinking: _empty, ...bare } = thinking('c2ln');
  const { body } = patched(step(bare, call));
  expect(body.messages).toMatchObject([{}, { content: [{ ...bare, thinking: '' }, call] }, {}]);
});

test('a call whose empty input the client left out gets it back', () => {
  const { input: _empty, ...bare } = call;
  for (const given of [bare, { ...bare, input: null }]) {
    const { body } = patched(step(given));
    expect(body.messages).toMatchObject([{}, { content: [{ ...bare, input: {} }] }, {}]);
  }
});

test('a thought without an answer behind it stays here: cut answers leave it in histories', () => {
  const text = { type: 'text', text: 'So' };
  const ended = patched(step(text, thinking('c2ln')));
  expect(ended.body.messages).toMatchObject([{}, { content: [text] }, {}]);
  expect(ended.receipt).toEqual(['dropped messages']);
  const alone = patched(step(thinking('c2ln')));
  expect(alone.body.messages).toMatchObject([{ role: 'user' }, { role: 'user' }]);
  expect(alone.receipt).toEqual(['dropped messages']);
});

test('a thought stays where the next message goes on with its turn: some clients send each block alone', () => {
  const alone = (block: JsonObject): JsonObject => ({ role: 'assistant', content: [block] });
  const messages = [
    { role: 'user', content: 'Go' },
    ...[thinking('c2ln'), call].map(alone),
    { role: 'user', content: [result] },
  ];
  const enabled = { type: 'enabled', budget_tokens: 2000 };
  const { body, given, receipt } = patched({ messages, tools: [TOOL], thinking: enabled });
  expect(body.messages).toBe(given.messages);
  expect(body.thinking).toBe(enabled);
  expect(receipt).toEqual([]);
});

test('a bare signature is judged by who is known to have issued it', () => {
  const issuedBy = (family: string) => ({
    recall: {
      lookup: (key: SignatureKey) =>
        key.kind === 'value' ? { signature: { value: key.value, family } } : undefined,
    },
  });
  const body = step(thinking('c2ln'), call);
  expect(patched(body, MANUAL, issuedBy('anthropic')).receipt).toEqual([]);
  expect(patched(body, MANUAL, issuedBy('own')).receipt).toEqual(['dropped messages']);
  expect(patched(body).receipt).toEqual([]);
});

test('a thought that came back without its signature gets the one it was issued with', () => {
  const keeper = new SignatureCache({ clock: createFakeClock() });
  const recall = { lookup: (key: SignatureKey) => keeper.lookup('', key) };
  const family = 'anthropic';
  const signature = { value: 'c2ln', family, on: 'thinking' } as const;
  keeper.remember('', { kind: 'thought', text: 'Hm.', family }, { signature });
  const { signature: _lost, ...unsigned } = thinking('');
  for (const block of [unsigned, thinking(''), thinking('skip_thought_signature_validator')]) {
    expect(patched(step(block, call), MANUAL, { recall })).toMatchObject({
      body: { messages: step(thinking('c2ln'), call).messages },
      receipt: [],
    });
  }
  const other = step({ ...unsigned, thinking: 'Ha.' }, call);
  expect(patched(other, MANUAL, { recall }).receipt).toEqual(['dropped messages']);
  const refused = { recall, signatures: 'stripped' } as const;
  expect(patched(step(unsigned, call), MANUAL, refused).receipt).toEqual(['dropped messages']);
});

test.each(['hm', ''])(
  'a signature that reads like a carrier goes back where this upstream gave it, as a gateway does: with the thought %j',
  (text) => {
    const keeper = new SignatureCache({ clock: createFakeClock() });
    const recall = { lookup: (key: SignatureKey) => keeper.lookup('', key) };
    const values = ['gw1:alpha:tool-call:c2ln', 'gw1:alpha:thinking:b3RoZXI='];
    for (const value of values) {
      const signature = { value, family: 'anthropic', on: 'thinking' } as const;
      keeper.remember('', { kind: 'thought', text, family: 'anthropic' }, { signature });
    }
    const thoughts = values.map((value) => ({ ...thinking(value), thinking: text }));
    const body = step(...thoughts, call);
    expect(patched(body, MANUAL, { recall })).toMatchObject({
      body: { messages: body.messages },
      receipt: [],
    });
    const other = step(thinking('gw1:alpha:thinking:c2ln'), call);
    expect(patched(other, MANUAL, { recall }).receipt).toEqual(['dropped messages']);
  },
);

test('ids of calls that the wire refuses are others there, each once in the conversation', () => {
  const step = (ids: readonly string[]) => [
    { role: 'assistant', content: ids.map((id) => ({ ...call, id })) },
    {
      role: 'user',
      content: ids.map((id, at) => ({ ...result, tool_use_id: id, content: `${at}` })),
    },
  ];
  const messages = [
    { role: 'user', content: 'Go' },
    ...step(['a', 'functions.f:0']),
    ...step(['a', 'a']),
  ];
  const { body, receipt } = patched({ messages, tools: [TOOL] });
  const blocks = objectsOf(body.messages).flatMap(({ content }) => objectsOf(content));
  const ids = blocks.flatMap(({ type, id }) => (type === 'tool_use' ? id : []));
  const answered = blocks.flatMap(({ tool_use_id: id, content }) => (id ? [[id, content]] : []));
  expect(ids).toEqual(['a', expect.stringMatching(/^toolu_\w{24}$/), 'a-2', 'a-3']);
  expect(answered).toEqual(ids.map((id, at) => [id, `${at % 2}`]));
  expect(receipt).toEqual([]);
  expect(patched(body).body.messages).toBe(body.messages);
});

test('behind a refusal no signature goes, and no thinking that would miss it', () => {
  const body = {
    ...step(thinking('c2ln'), call),
    thinking: { type: 'enabled', budget_tokens: 2000 },
  };
  const made = patched(body, MANUAL, { signatures: 'stripped' });
  expect(made.body.messages).toMatchObject([{}, { content: [call] }, {}]);
  expect(made.body.thinking).toBeUndefined();
  expect(made.receipt).toEqual(['dropped messages', 'approximated thinking']);
  const redacted = step({ type: 'redacted_thinking', data: 'x' }, call);
  const hidden = patched(redacted, MANUAL, { signatures: 'stripped' });
  expect(hidden.body.messages).toMatchObject([{}, { content: [call] }, {}]);
  expect(hidden.receipt).toEqual(['dropped messages']);
  expect(patched(redacted).body.messages).toBe(redacted.messages);
});

test('a step without its thought is in progress, also where a message of its own follows the results', () => {
  const messages = objectsOf(step(call).messages);
  const thinking = { type: 'enabled', budget_tokens: 2000 };
  const more = { role: 'user', content: 'And be brief.' };
  const made = patched({ messages: [...messages, more], thinking }, MANUAL);
  expect(made.body).not.toHaveProperty('thinking');
  expect(made.receipt).toEqual(['approximated thinking']);
  const next = [...messages, { role: 'assistant', content: 'Done.' }, more];
  expect(patched({ messages: next, thinking }, MANUAL).body.thinking).toBe(thinking);
});

test('an upstream that misses thoughts is asked without a budget for them', () => {
  const thinking = { type: 'enabled', budget_tokens: 2000 };
  const { body, receipt } = patched({ thinking }, MANUAL, { usesPlaceholders: true });
  expect(body).not.toHaveProperty('thinking');
  expect(receipt).toEqual(['approximated thinking']);
});

test('what this gateway alone understands is taken out', () => {
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aa' } };
  const { body, receipt } = patched({
    ...{ size: '1:1', quality: 'hd', imageSize: '2K' },
    ...step(image, { ...call, signature: 'gw1:alpha:tool-call:c2ln' }),
  });
  expect(Object.keys(body)).toEqual(['model', 'max_tokens', 'messages', 'tools']);
  expect(body.messages).toMatchObject([{}, { content: [call] }, {}]);
  expect(body.messages).not.toMatchObject([{}, { content: [{ signature: 'x' }] }, {}]);
  expect(receipt).toHaveLength(4);
});

test('a search this gateway wrote for another upstream is taken out, a real one stays', () => {
  const search = (encrypted_content: string): JsonValue[] => [
    { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
    {
      ...{ type: 'web_search_tool_result', tool_use_id: 's' },
      content: [{ type: 'web_search_result', url: 'u', title: 't', encrypted_content }],
    },
    { type: 'text', text: 'So.', citations: [{ encrypted_index: encrypted_content }] },
  ];
  const turn = (content: JsonValue[]): JsonObject => ({
    messages: [
      { role: 'user', content: 'Go' },
      { role: 'assistant', content },
      { role: 'user', content: 'On' },
    ],
  });
  expect(patched(turn(search('x'))).receipt).toEqual([]);
  expect(patched(turn(search(''))).body.messages).toEqual([
    { role: 'user', content: 'Go' },
    { role: 'assistant', content: [{ type: 'text', text: 'So.' }] },
    { role: 'user', content: 'On' },
  ]);
});

test('a turn of which nothing is left goes', () => {
  const messages = [
    { role: 'user', content: 'Go' },
    { role: 'assistant', content: [thinking('gw1:alpha:thinking:c2ln')] },
    { role: 'user', content: 'On' },
  ];
  expect(patched({ messages }).body.messages).toMatchObject([{ content: 'Go' }, { content: 'On' }]);
});

test('a limit over that of the model is capped, and the budget with it', () => {
  const { body, receipt } = patched({
    ...{ max_tokens: 128_000, thinking: { type: 'enabled', budget_tokens: 100_000 } },
  });
  expect(body).toMatchObject({ max_tokens: 64_000, thinking: { budget_tokens: 31_999 } });
  expect(receipt).toEqual(['capped max_tokens', 'approximated thinking']);
});

test.each<[string, string, JsonObject, JsonObject]>([
  [
    'a model without the adaptive mode gets a budget',
    MANUAL,
    { thinking: { type: 'adaptive' } },
    { thinking: { type: 'enabled', budget_tokens: 3999 } },
  ],
  [
    'one that has it keeps it',
    ADAPTIVE,
    { thinking: { type: 'adaptive' } },
    { thinking: { type: 'adaptive' } },
  ],
  [
    'a budget that the limit of the answer does not hold is an effort where the model takes one (P016, P020)',
    'claude-opus-4-6',
    { thinking: { type: 'enabled', budget_tokens: 8192, display: 'omitted' } },
    { thinking: { type: 'adaptive', display: 'omitted' }, output_config: { effort: 'low' } },
  ],
  [
    'an effort beside such a budget stays',
    'claude-opus-4-6',
    {
      thinking: { type: 'enabled', budget_tokens: 24_576 },
      output_config: { effort: 'medium' },
    },
    { thinking: { type: 'adaptive' }, output_config: { effort: 'medium' } },
  ],
  [
    'one that the limit holds stays',
    'claude-opus-4-6',
    { thinking: { type: 'enabled', budget_tokens: 7999 } },
    { thinking: { type: 'enabled', budget_tokens: 7999 } },
  ],
  [
    'a budget on a model that refuses it is an effort',
    ADAPTIVE,
    { thinking: { type: 'enabled', budget_tokens: 4000, display: 'omitted' } },
    { thinking: { type: 'adaptive', display: 'omitted' }, output_config: { effort: 'low' } },
  ],
  [
    'a model that cannot stop thinking thinks least',
    'claude-opus-5-5',
    { thinking: { type: 'disabled' } },
    { output_config: { effort: 'low' } },
  ],
  [
    'one that can is told to',
    'claude-opus-5',
    { thinking: { type: 'disabled' } },
    { thinking: { type: 'disabled' } },
  ],
  [
    'an effort beside it stays',
    ADAPTIVE,
    { thinking: { type: 'enabled', budget_tokens: 4000 }, output_config: { effort: 'max' } },
    { thinking: { type: 'adaptive' }, output_config: { effort: 'max' } },
  ],
  [
    'a model of another maker is left alone',
    'glm-4.6',
    { thinking: { type: 'adaptive' } },
    { thinking: { type: 'adaptive' } },
  ],
  [
    'an effort of this product becomes one of the wire',
    ADAPTIVE,
    { thinking: { type: 'adaptive', effort: 'high' } },
    { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
  ],
  [
    'without a budget, which the wire demands, a model that has the adaptive mode decides by the effort',
    'claude-sonnet-4-6',
    { thinking: { type: 'enabled', effort: 'low', display: 'omitted' } },
    { thinking: { type: 'adaptive', display: 'omitted' }, output_config: { effort: 'low' } },
  ],
  [
    'one without that mode gets the budget of the effort',
    MANUAL,
    { max_tokens: 32_000, thinking: { type: 'enabled', effort: 'low' } },
    { thinking: { type: 'enabled', budget_tokens: 8192 } },
  ],
  ...(['budgetTokens', 'max_tokens', 'thinkingBudget', 'budget'] as const).map(
    (name): [string, string, JsonObject, JsonObject] => [
      `a budget that a client library calls ${name} is one (P021)`,
      'claude-sonnet-4-6',
      { thinking: { type: 'enabled', [name]: 2000 } },
      { thinking: { type: 'enabled', budget_tokens: 2000 } },
    ],
  ),
  [
    'the budget in the own words of the wire comes first (P021)',
    MANUAL,
    { thinking: { type: 'enabled', budget_tokens: 2000, budget: 3000 } },
    { thinking: { type: 'enabled', budget_tokens: 2000, budget: 3000 } },
  ],
  [
    'a level is an effort (P021)',
    ADAPTIVE,
    { thinking: { type: 'adaptive', thinkingLevel: 'HIGH' } },
    { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
  ],
  [
    'the level of a model without efforts is a budget (P021)',
    MANUAL,
    { max_tokens: 32_000, thinking: { type: 'enabled', level: 'low' } },
    { thinking: { type: 'enabled', budget_tokens: 8192 } },
  ],
  [
    'the level none is no thinking (P021)',
    MANUAL,
    { thinking: { type: 'enabled', level: 'none' } },
    { thinking: { type: 'disabled' } },
  ],
  [
    'a model of another maker gets a budget as well',
    'glm-4.6',
    { thinking: { type: 'enabled' } },
    { thinking: { type: 'enabled', budget_tokens: 3999 } },
  ],
  [
    'an effort the model lacks becomes the nearest',
    'claude-sonnet-4-6',
    { output_config: { effort: 'xhigh' } },
    { output_config: { effort: 'max' } },
  ],
])('%s', (_name, model, change, body) => {
  const made = patched(change, model).body;
  expect({ thinking: made.thinking, output_config: made.output_config }).toEqual({
    ...{ thinking: undefined, output_config: undefined },
    ...body,
  });
});

test('a search of the service that found nothing goes back as it came', () => {
  const searched = (id: string): JsonObject[] => [
    { type: 'server_tool_use', id, name: 'web_search', input: { query: 'q' } },
    { type: 'web_search_tool_result', tool_use_id: id, content: [] },
  ];
  const said = { type: 'text', text: 'Nothing.' };
  const messages = (id: string): JsonObject[] => [
    { role: 'user', content: 'Search.' },
    { role: 'assistant', content: [...searched(id), said] },
    { role: 'user', content: 'And?' },
  ];
  const own = messages('srvtoolu_018XeYGFXEDdBdM89F7qNocD');
  expect(patched({ messages: own }).body.messages).toEqual(own);
  const foreign = patched({ messages: messages('srvtoolu_a-b') });
  expect(foreign.body.messages).toMatchObject([{}, { content: [said] }, {}]);
  expect(foreign.receipt[0]).toBe('dropped messages');
});

const page = (data: string): JsonObject => ({
  ...{ type: 'web_fetch_result', url: 'u' },
  content: { type: 'document', source: { type: 'text', media_type: 'text/plain', data } },
});
const unread = { type: 'web_fetch_tool_result_error', error_code: 'unavailable' };

test.each<[string, JsonObject, boolean]>([
  ['srvtoolu_1', page('words'), true],
  ['srvtoolu_1', unread, true],
  ['srvtoolu_1', page(''), false],
  ['srvtoolu_a-b', unread, false],
])(
  'an opened page of the service goes back, none that stands for one: %s %j',
  (id, content, isOwn) => {
    const opened: JsonObject[] = [
      { type: 'server_tool_use', id, name: 'web_fetch', input: { url: 'u' } },
      { type: 'web_fetch_tool_result', tool_use_id: id, content },
    ];
    const said = { type: 'text', text: 'Read.' };
    const messages: JsonObject[] = [
      { role: 'user', content: 'Read it.' },
      { role: 'assistant', content: [...opened, said] },
      { role: 'user', content: 'And?' },
    ];
    const { body, receipt } = patched({ messages });
    expect(body.messages).toEqual([
      ...[messages[0], { role: 'assistant', content: isOwn ? [...opened, said] : [said] }],
      messages[2],
    ]);
    expect(receipt).toEqual(isOwn ? [] : ['dropped messages']);
  },
);

test('a model that does not think is not asked to', () => {
  const change = { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } };
  const { body, receipt } = patched(change, 'claude-3-5-haiku');
  expect(Object.keys(body)).toEqual(['model', 'max_tokens', 'messages']);
  expect(receipt).toEqual(['dropped output_config.effort', 'dropped thinking']);
});

test('the name of the model speaks only where the body is silent', () => {
  const variant = { webSearch: true, thinking: 'on' } as const;
  const silent = patched({}, MANUAL, { variant }).body;
  expect(silent).toMatchObject({
    ...{ thinking: { type: 'enabled' }, tools: [{ type: 'web_search_20250305' }] },
  });
  const said = patched({ thinking: { type: 'disabled' } }, MANUAL, { variant }).body;
  expect(said.thinking).toEqual({ type: 'disabled' });
});

test.each([
  ['the adaptive amount', { max_tokens: 30_000, thinking: { type: 'adaptive' } }, 'auto', 24_576],
  ['its half where it does not', { thinking: { type: 'adaptive' } }, 'auto', 3999],
  [
    "the operator's",
    { thinking: { type: 'enabled', budget_tokens: 2000 } },
    { kind: 'custom', tokens: 6000 } as const,
    6000,
  ],
] as const)(
  'thinking that the limit of the answer holds is not cut: %s',
  (_what, change, mode, budget) => {
    const thinkingMode = mode === 'auto' ? ({ kind: 'auto' } as const) : mode;
    const { body } = patched(change, MANUAL, { thinkingMode });
    expect(body.thinking).toMatchObject({ type: 'enabled', budget_tokens: budget });
  },
);

test.each([MANUAL, 'claude-opus-4-6'])(
  'where the name asks for thinking, %s gets no sampling that cannot be set beside it',
  (modelId) => {
    const variant = { webSearch: false, thinking: 'on' } as const;
    const odd = patched({ temperature: 0.2, top_k: 5 }, modelId, { variant });
    expect(odd.body).not.toHaveProperty('temperature');
    expect(odd.body).not.toHaveProperty('top_k');
    expect(odd.receipt).toEqual(expect.arrayContaining(['dropped temperature', 'dropped top_k']));
    expect(patched({ top_p: 0.5 }, modelId, { variant }).body).not.toHaveProperty('top_p');
    expect(patched({ temperature: 1 }, modelId, { variant }).body).toMatchObject({
      temperature: 1,
    });
    const own = { temperature: 0.2, thinking: { type: 'disabled' } };
    expect(patched(own, modelId, { variant }).body).toMatchObject(own);
  },
);

test('the name of the model asks for no thinking where the client has begun the answer', () => {
  const variant = { webSearch: false, thinking: 'on' } as const;
  const messages = [
    { role: 'user', content: 'A poem.' },
    { role: 'assistant', content: 'Roses' },
  ];
  const { body, receipt } = patched({ messages }, MANUAL, { variant });
  expect(body.thinking).toBeUndefined();
  expect(body.messages).toEqual(messages);
  expect(receipt).toEqual(['approximated thinking']);
});

test.each([
  [{ thinking: 'on' }, 500, 24_576, 25_076],
  [{ effort: 'low' }, 500, 8192, 8692],
  [{ effort: 'high' }, 30_000, 24_576, 30_000],
  [{ effort: 'max' }, 60_000, 47_616, 60_000],
] as const)(
  'the limit of the answer is raised over the thinking that the name asks for: %j',
  (asked, limit, budget, raised) => {
    const variant = { webSearch: false, ...asked };
    const { body, receipt } = patched({ max_tokens: limit }, MANUAL, { variant });
    expect(body).toMatchObject({ max_tokens: raised, thinking: { budget_tokens: budget } });
    expect(receipt).toEqual(raised === limit ? [] : ['approximated max_tokens']);
  },
);

test('that a model does not think as its name asks is told', () => {
  for (const asked of [{ thinking: 'on' }, { effort: 'low' }] as const) {
    const variant = { webSearch: false, ...asked };
    const { body, receipt } = patched({}, 'claude-3-5-haiku', { variant });
    expect(body).not.toHaveProperty('thinking');
    expect(receipt).toEqual(['dropped thinking']);
  }
});

test("the operator's amount wins over that of the name, too", () => {
  const variant = { webSearch: false, effort: 'high' } as const;
  const custom = { kind: 'custom', tokens: 3000 } as const;
  const { body, receipt } = patched({}, MANUAL, { variant, thinkingMode: custom });
  expect(body.thinking).toMatchObject({ budget_tokens: 3000 });
  expect(receipt).toEqual(['approximated thinking']);
  const adaptive = patched({}, ADAPTIVE, { variant, thinkingMode: { kind: 'adaptive' } }).body;
  expect(adaptive).not.toHaveProperty('output_config');
});

test.each([MANUAL, 'claude-opus-4-6'])(
  "passthrough sends a client's own budget to %s as it is",
  (modelId) => {
    const thinkingMode = { kind: 'passthrough' } as const;
    for (const budget_tokens of [2000, 6000, 20_000]) {
      const thinking = { type: 'enabled', budget_tokens };
      const { body, receipt } = patched({ thinking }, modelId, { thinkingMode });
      expect([body.thinking, body.max_tokens, receipt]).toEqual([thinking, 8000, []]);
    }
  },
);

test("the operator's amount wins", () => {
  const thinkingMode = { kind: 'custom', tokens: 3000 } as const;
  const change = { thinking: { type: 'enabled', budget_tokens: 2000 } };
  expect(patched(change, MANUAL, { thinkingMode }).body.thinking).toMatchObject({
    budget_tokens: 3000,
  });
  const adaptive = (modelId: string) =>
    patched(change, modelId, { thinkingMode: { kind: 'adaptive' } }).body.thinking;
  expect(adaptive(ADAPTIVE)).toEqual({ type: 'adaptive' });
  // As in translation: few makers have the mode.
  expect(adaptive('glm-5')).toEqual({ type: 'enabled', budget_tokens: 3999 });
});

// agent-framework writes the choice beside an output format.
test.each(['auto', 'none'])('the choice %s goes where there is nothing to choose among', (type) => {
  const tool_choice = { type };
  expect(patched({ tool_choice }).body).not.toHaveProperty('tool_choice');
  expect(patched({ tool_choice, tools: [] }).body).not.toHaveProperty('tool_choice');
  expect(patched({ tool_choice, tools: [TOOL] }).body).toMatchObject({ tool_choice });
  expect(patched({ tool_choice: { type: 'any' } }).body).toHaveProperty('tool_choice');
});

test('a failed tool that said nothing is told to have no result', () => {
  const blank = { type: 'text', text: '' };
  const failed = { ...result, is_error: true };
  const messages = [
    { role: 'user', content: 'Go' },
    { role: 'assistant', content: [call] },
    { role: 'user', content: [{ ...failed, content: [blank] }] },
  ];
  expect(patched({ messages, tools: [TOOL] }).body.messages).toMatchObject([
    ...[{}, {}],
    { content: [{ ...failed, content: 'no result' }] },
  ]);
});

test('P120 a picture that is called something else goes as what its bytes are', () => {
  const picture = (media_type: string, data: string): JsonObject => ({
    type: 'image',
    source: { type: 'base64', media_type, data },
  });
  const jpeg = '/9j/4AAQSkZJRgABAQAAAQABAAA=';
  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ';
  const shot = { ...result, content: [picture('image/jpg', jpeg)] };
  const messages = [
    { role: 'user', content: [picture('image/png', jpeg), picture('image/png', png)] },
    { role: 'assistant', content: [call] },
    { role: 'user', content: [shot] },
  ];
  const { body, receipt } = patched({ messages });
  expect(body.messages).toEqual([
    { role: 'user', content: [picture('image/jpeg', jpeg), picture('image/png', png)] },
    messages[1],
    { role: 'user', content: [{ ...result, content: [picture('image/jpeg', jpeg)] }] },
  ]);
  expect(receipt).toEqual(['repaired messages']);
  const odd = [
    picture('image/png', png),
    picture('image/png', '~~ no base64 ~~'),
    { type: 'image' },
  ];
  const kept = patched({ messages: [{ role: 'user', content: odd }] });
  expect([kept.body.messages, kept.receipt]).toEqual([kept.given.messages, []]);
});

test('P062 texts that are blank, and messages of nothing else, are left out', () => {
  const blank = { type: 'text', text: ' \n', cache_control: { type: 'ephemeral' } };
  const said = { type: 'text', text: 'So.' };
  const results = [{ ...result, content: [{ type: 'text', text: '' }, said] }];
  const messages = [
    { role: 'user', content: [blank, { type: 'text' }, said] },
    ...[
      { role: 'assistant', content: '' },
      { role: 'user', content: [blank] },
    ],
    { role: 'assistant', content: [{ type: 'text', text: '' }, call] },
    ...[
      { role: 'user', content: results },
      { role: 'assistant', content: [] },
    ],
  ];
  const { body, receipt } = patched({ messages, system: [blank, said], tools: [TOOL] });
  expect(body.system).toEqual([said]);
  expect(body.messages).toEqual([
    { role: 'user', content: [said] },
    { role: 'assistant', content: [call] },
    { role: 'user', content: [{ ...result, content: [said] }] },
  ]);
  expect(receipt).toEqual([]);
  expect(patched({ system: ' ' }).body).not.toHaveProperty('system');
  const nothing = [{ role: 'user', content: '' }];
  expect(patched({ messages: nothing }).body.messages).toBe(nothing);
});

test('patching a patched body changes nothing', () => {
  const block = fc.constantFrom(
    ...[thinking('c2ln'), thinking('gw1:anthropic:thinking:c2ln'), thinking('gw1:a:thinking:c2ln')],
    ...[thinking(''), call, { ...call, signature: 'x' }, { type: 'text', text: 'So.' }],
  );
  const modes = fc.constantFrom(undefined, 'enabled', 'adaptive', 'disabled');
  fc.assert(
    fc.property(fc.array(block, { maxLength: 4 }), modes, fc.boolean(), (content, mode, isNew) => {
      const budget = mode === 'enabled' ? { budget_tokens: 20_000 } : {};
      const model = isNew ? ADAPTIVE : MANUAL;
      const change = {
        ...step(...content),
        ...(mode === undefined ? {} : { thinking: { type: mode, ...budget } }),
      };
      const once = patched(change, model).body;
      expect(patched(once, model).body).toEqual(once);
    }),
  );
});

test('an input in the words of an older draft is said in those of the wire', () => {
  const $schema = 'http://json-schema.org/draft-07/schema#';
  const pair = { type: 'array', items: [{ type: 'string' }, { type: 'number' }], minItems: 2 };
  const input_schema = { $schema, type: 'object', properties: { pair, mode: { const: 'fast' } } };
  const { body, receipt } = patched({ tools: [{ name: 'f', input_schema }, TOOL] });
  expect(body.tools).toEqual([
    {
      name: 'f',
      input_schema: {
        type: 'object',
        properties: {
          pair: {
            type: 'array',
            prefixItems: [{ type: 'string' }, { type: 'number' }],
            minItems: 2,
          },
          mode: { const: 'fast' },
        },
      },
    },
    TOOL,
  ]);
  expect(receipt).toEqual(['repaired tools[0].input_schema']);
});

test('of two ways to sample the temperature is kept, where the model takes one', () => {
  const both = patched({ temperature: 0.5, top_p: 0.9 });
  expect(both.body).toMatchObject({ temperature: 0.5 });
  expect(both.body.top_p).toBeUndefined();
  expect(both.receipt).toEqual(['dropped top_p']);
  expect(patched({ top_p: 0.9 }).body.top_p).toBe(0.9);
});

test.each<[string, string, JsonObject, number | undefined]>([
  ['manual', MANUAL, { type: 'enabled', budget_tokens: 2048 }, undefined],
  ['adaptive', ADAPTIVE, { type: 'adaptive' }, undefined],
  ['no', ADAPTIVE, { type: 'disabled' }, 0.2],
  ['another maker’s', 'glm-4.6', { type: 'enabled', budget_tokens: 2048 }, 0.2],
])(
  'sampling that the wire refuses beside thinking is left out: %s thinking',
  (_name, model, thinking, left) => {
    const { body, receipt } = patched({ thinking, temperature: 0.2 }, model);
    expect(body.temperature).toBe(left);
    expect(receipt).toEqual(left === undefined ? ['dropped temperature'] : []);
    const fitting = { thinking, temperature: 1 };
    expect(patched(fitting, model).body).toMatchObject(fitting);
  },
);

test('edits that clear thoughts go with the thinking that is left out, and stay with one that is not', () => {
  const clearing = { type: 'clear_thinking_20251015', keep: 'all' };
  const other = { type: 'clear_tool_uses_20250919' };
  const thinking = { type: 'enabled', budget_tokens: 2048 };
  const asked = (edits: JsonObject[], type = 'auto') =>
    patched({ thinking, context_management: { edits }, tool_choice: { type } }, MANUAL);
  expect(asked([clearing], 'any').body.context_management).toBeUndefined();
  const both = asked([clearing, other], 'any');
  expect(both.body.context_management).toEqual({ edits: [other] });
  expect(both.receipt).toContain('dropped context_management.edits');
  expect(asked([clearing]).body).toMatchObject({ context_management: { edits: [clearing] } });
});

test.each<[string, string, JsonObject, JsonObject, boolean]>([
  ['a budget goes', MANUAL, { type: 'enabled', budget_tokens: 2048 }, { type: 'any' }, true],
  [
    'a budget of a model that has the adaptive mode goes',
    'claude-opus-4-6',
    { type: 'enabled', budget_tokens: 2048 },
    { type: 'tool', name: 'f' },
    true,
  ],
  ['the adaptive mode stays', ADAPTIVE, { type: 'adaptive' }, { type: 'any' }, false],
  [
    'a free choice is none',
    MANUAL,
    { type: 'enabled', budget_tokens: 2048 },
    { type: 'auto' },
    false,
  ],
  [
    'another maker’s stays',
    'glm-4.6',
    { type: 'enabled', budget_tokens: 2048 },
    { type: 'any' },
    false,
  ],
])(
  'manual thinking is off before a forced call, which the wire refuses beside it: %s',
  (_name, model, thinking, tool_choice, isOff) => {
    const { body, receipt } = patched({ tools: [TOOL], tool_choice, thinking }, model);
    expect(body.tool_choice).toEqual(tool_choice);
    expect(body.thinking).toEqual(isOff ? undefined : thinking);
    expect(receipt).toEqual(isOff ? ['approximated thinking'] : []);
  },
);

test('a relayed demand for a call is told in words to a model that does not take it', () => {
  const tools = [TOOL, { ...TOOL, name: 'g' }];
  const named = { type: 'tool', name: 'g', disable_parallel_tool_use: true };
  const made = patched({ tools, tool_choice: named, system: 'Be kind.' }, 'claude-opus-5-5');
  expect(made.body).toMatchObject({
    tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    tools: [{ name: 'g' }],
    system: [{ text: 'Be kind.' }, { text: 'Answer with a call of the tool g.' }],
  });
  expect(made.body.tool_choice).not.toHaveProperty('name');
  expect(made.receipt).toEqual(['approximated tool_choice']);
  const any = patched({ tools, tool_choice: { type: 'any' } }, 'claude-sonnet-5-5').body;
  expect(any).toMatchObject({ tool_choice: { type: 'auto' }, tools });
  expect(any.system).toMatchObject([{ text: 'Answer with a call of one of the tools.' }]);
  const older = { tools, tool_choice: named };
  expect(patched(older, 'claude-opus-5').body).toMatchObject(older);
});
