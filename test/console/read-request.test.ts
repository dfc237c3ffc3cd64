// A recorded request as the playground begins with it: what is written from it again says the same.

import { expect, test } from 'vitest';
import { startFrom } from '../../console/src/pages/playground/start-from.ts';
import { readRequest } from '../../console/src/wire/read-request.ts';
import { type Draft, writeRequest } from '../../console/src/wire/write-request.ts';

const PICTURE = { name: 'file', type: 'image/png', base64: 'AAAA' };
const DRAFT: Draft = {
  protocol: 'chat',
  model: 'm',
  system: 'Be brief.',
  turns: [
    { role: 'user', text: 'Look', files: [PICTURE] },
    { role: 'assistant', text: 'I see.', calls: [{ id: 'c', name: 'get', text: '{"a":1}' }] },
    { role: 'user', text: '', results: [{ id: 'c', name: 'get', text: '42' }] },
  ],
  tools: [{ name: 'get', description: 'Gets.', parameters: { type: 'object' } }],
  stream: true,
  maxTokens: 100,
  temperature: 0.5,
  thinkingTokens: undefined,
  size: '',
  quality: '',
  count: 1,
};

test.each(['chat', 'messages', 'generate', 'responses'] as const)(
  'what is read out of a request of %s writes the same request',
  (protocol) => {
    const { body } = writeRequest({ ...DRAFT, protocol });
    const read = readRequest(protocol, 'm', JSON.stringify(body));
    expect(read).toMatchObject({
      draft: { protocol, model: 'm', system: 'Be brief.', maxTokens: 100, temperature: 0.5 },
    });
    const turns = read?.turns ?? [];
    expect(turns[0]).toEqual(DRAFT.turns[0]);
    expect(turns.flatMap(({ calls = [] }) => calls)).toEqual(DRAFT.turns[1]?.calls);
    const results = turns.flatMap((turn) => turn.results ?? []);
    expect(results).toMatchObject([{ id: 'c', text: expect.stringContaining('42') }]);
    expect(JSON.parse(read?.tools ?? '')).toEqual(body.tools);
  },
);

test('the last message waits to be sent, and what was not recorded is told', () => {
  const text = JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }] });
  const request = { protocol: 'chat', surface: 'chat/completions', model: 'm' } as const;
  expect(startFrom({ ...request, clientRequest: { text, isWhole: true } })).toMatchObject({
    turns: [],
    next: { role: 'user', text: 'Hello' },
    isInPart: false,
  });
  expect(startFrom(request)).toEqual({
    draft: { protocol: 'chat', model: 'm' },
    turns: [],
    isInPart: true,
  });
  const cut = { ...request, clientRequest: { text: '{"mess', isWhole: false } };
  expect(startFrom(cut)).toMatchObject({ turns: [], isInPart: true });
});

test.each(['chat', 'messages', 'generate', 'responses'] as const)(
  'the thinking that a request of %s asks for is kept',
  (protocol) => {
    for (const thinkingTokens of [8192, 16_384, 24_576]) {
      const { body } = writeRequest({ ...DRAFT, protocol, thinkingTokens });
      const { draft } = readRequest(protocol, 'm', JSON.stringify(body)) ?? {};
      expect(draft).toMatchObject({ thinkingTokens, maxTokens: 100 });
    }
  },
);

test.each([
  ['chat', { reasoning_effort: 'minimal' }, 8192],
  ['chat', { reasoning_effort: 'none' }, undefined],
  ['responses', { reasoning: { effort: 'xhigh' } }, 24_576],
  ['messages', { thinking: { type: 'enabled', budget_tokens: 20_000 } }, 16_384],
  ['messages', { thinking: { type: 'adaptive' }, output_config: { effort: 'max' } }, 24_576],
  ['messages', { thinking: { type: 'disabled' } }, undefined],
  ['generate', { generationConfig: { thinkingConfig: { thinkingLevel: 'LOW' } } }, 8192],
  ['generate', { generationConfig: { thinkingConfig: { thinkingBudget: 0 } } }, undefined],
] as const)('thinking of %s in words or tokens is the step below: %o', (protocol, body, tokens) => {
  const { draft } = readRequest(protocol, 'm', JSON.stringify(body)) ?? {};
  expect(draft?.thinkingTokens).toBe(tokens);
});

const CALLS = [
  { id: 'c1', name: 'get', text: '{"a":1}' },
  { id: 'c2', name: 'put', text: '{"b":2}' },
];

test.each(['chat', 'messages', 'generate', 'responses'] as const)(
  'parallel calls of %s are one turn, and their named results wait to be sent',
  (protocol) => {
    const results = CALLS.map(({ id, name }) => ({ id, name, text: `of ${name}` }));
    const turns = [
      { role: 'user', text: 'Do both' },
      { role: 'assistant', text: '', calls: CALLS },
      { role: 'user', text: '', results },
    ] as const;
    const { body } = writeRequest({ ...DRAFT, protocol, turns });
    const surface = protocol === 'responses' ? 'responses' : protocol;
    const request = { protocol: protocol === 'responses' ? 'chat' : protocol, surface, model: 'm' };
    const clientRequest = { text: JSON.stringify(body), isWhole: true };
    const start = startFrom({ ...request, clientRequest });
    expect(start.turns).toEqual(turns.slice(0, 2));
    expect(start.next).toMatchObject({
      role: 'user',
      results: CALLS.map(({ id, name }) => ({
        ...{ id, name, text: expect.stringContaining(`of ${name}`) },
      })),
    });
  },
);
