// Accepted translations of Messages requests: what is sent upstream, to the field.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { refusedField, translate } from '../support/translate.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const HI = { role: 'user', parts: [{ text: 'Hi' }] };
const GO = { role: 'user', content: 'go' };
const GO_UPSTREAM = { role: 'user', parts: [{ text: 'go' }] };
const LIMIT_50 = { maxOutputTokens: 50 };

describe.each(['alpha-3-flash', 'gemini-3-flash'])('%s', (model) => {
  const send = (fields: JsonObject = {}) => translateMessages({ model, ...fields });

  test('V010 a plain question is one user turn and the limit', async () => {
    expect(await send()).toEqual({
      model: 'alpha-3-flash',
      body: { contents: [HI], generationConfig: LIMIT_50 },
      receipt: [],
    });
  });

  test.each([
    ['text', 'Be brief', [{ text: 'Be brief' }]],
    [
      'blocks, without cache_control',
      [
        { type: 'text', text: 'A', cache_control: { type: 'ephemeral' } },
        { type: 'text', text: 'B' },
      ],
      [{ text: 'A' }, { text: 'B' }],
    ],
  ])('V011 system as %s', async (_form, system, parts) => {
    const { body } = await send({ system });
    expect(body).toEqual({
      contents: [HI],
      systemInstruction: { parts },
      generationConfig: LIMIT_50,
    });
  });

  test('V012 a leading system message is the system instruction', async () => {
    const messages = [
      { role: 'system', content: 'S' },
      { role: 'user', content: 'U' },
    ];
    const { body } = await send({ messages });
    expect(body).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'U' }] }],
      systemInstruction: { parts: [{ text: 'S' }] },
      generationConfig: LIMIT_50,
    });
  });

  test('V013 neighbours of one role are one turn', async () => {
    const messages = [
      { role: 'user', content: 'a' },
      { role: 'user', content: 'b' },
      { role: 'assistant', content: 'c' },
    ];
    expect((await send({ messages })).body.contents).toEqual([
      { role: 'user', parts: [{ text: 'a\n\nb' }] },
      { role: 'model', parts: [{ text: 'c' }] },
    ]);
  });

  test('V014 an empty text block is left out', async () => {
    const { body } = await send(
      userBlocks([
        { type: 'text', text: '' },
        { type: 'text', text: 'x' },
      ]),
    );
    expect(body.contents).toEqual([{ role: 'user', parts: [{ text: 'x' }] }]);
  });

  test.each([
    ['image', 'image/png'],
    ['document', 'application/pdf'],
  ])('V015 a base64 %s is inline data', async (type, mediaType) => {
    const source = { type: 'base64', media_type: mediaType, data: 'AAA=' };
    const { body } = await send(userBlocks([{ type, source }]));
    expect(body.contents).toEqual([
      { role: 'user', parts: [{ inlineData: { mimeType: mediaType, data: 'AAA=' } }] },
    ]);
  });

  test('V034 max_tokens is required', async () => {
    const body = { model, messages: [GO] };
    expect(await refusedField(app.url, { protocol: 'messages', body })).toBe('max_tokens');
    const response = await fetch(`${app.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      type: 'error',
      error: { type: 'invalid_request_error', message: expect.stringContaining('max_tokens') },
    });
  });

  test('V040 stop sequences go on as they are, none is added', async () => {
    const { body } = await send({ stop_sequences: ['END'] });
    expect(body.generationConfig).toEqual({ ...LIMIT_50, stopSequences: ['END'] });
  });
});

test.each(['beta-sonnet-4-6', 'claude-sonnet-4-6'])(
  'V035 a limit above that of %s is lowered to it, and the receipt says so',
  async (model) => {
    expect(await translateMessages({ model, max_tokens: 200_000 })).toEqual({
      model: 'beta-sonnet-4-6',
      body: { contents: [HI], generationConfig: { maxOutputTokens: 64_000 } },
      receipt: [
        {
          path: 'max_tokens',
          action: 'capped',
          reason: expect.objectContaining({ text: expect.any(String) }),
        },
      ],
    });
  },
);

describe.each(['alpha-3-flash', 'gemini-3-flash', 'claude-sonnet-4-6'])('tools of %s', (model) => {
  const send = (fields: JsonObject) => translateMessages({ model, ...fields });
  const call = { type: 'tool_use', id: 't1', name: 'get', input: { a: 1 } };
  const called = { role: 'assistant', content: [call] };
  const functionCall = { id: 't1', name: 'get', args: { a: 1 } };
  const schema = { type: 'object', properties: { c: { type: 'string' } }, required: ['c'] };
  const tool = { name: 'w', description: 'd', input_schema: schema };
  const declared = [
    { functionDeclarations: [{ name: 'w', description: 'd', parameters: schema }] },
  ];
  const search = { type: 'web_search_20250305', name: 'web_search' };

  test('V016, V017 a call and its result in an earlier turn keep id, name and content', async () => {
    const result = { type: 'tool_result', tool_use_id: 't1', content: 'ok' };
    const done = { role: 'assistant', content: 'x' };
    const messages = [GO, called, { role: 'user', content: [result] }, done, GO];
    const functionResponse = { id: 't1', name: 'get', response: { output: 'ok' } };
    expect((await send({ messages })).body.contents).toEqual([
      GO_UPSTREAM,
      { role: 'model', parts: [{ functionCall }] },
      { role: 'user', parts: [{ functionResponse }] },
      { role: 'model', parts: [{ text: 'x' }] },
      GO_UPSTREAM,
    ]);
  });

  test('V020 a call without a result gets one before the next text', async () => {
    const { body, receipt } = await send({ messages: [GO, called, GO] });
    const functionResponse = { id: 't1', name: 'get', response: expect.any(Object) };
    expect(body.contents).toEqual([
      GO_UPSTREAM,
      { role: 'model', parts: [expect.objectContaining({ functionCall })] },
      { role: 'user', parts: [{ functionResponse }, { text: 'go' }] },
    ]);
    expect(receipt).toContainEqual({
      path: 'messages',
      action: 'repaired',
      reason: expect.objectContaining({ text: expect.stringContaining('t1') }),
    });
  });

  test('V036 a tool is a function declaration with the same schema', async () => {
    expect((await send({ tools: [tool] })).body.tools).toEqual(declared);
  });

  test('V037 web search alone is the search tool', async () => {
    expect((await send({ tools: [search] })).body.tools).toEqual([{ vendoraSearch: {} }]);
  });

  test('V038 web search beside functions is left out, and the receipt says so', async () => {
    const { body, receipt } = await send({ tools: [search, tool] });
    expect(body.tools).toEqual(declared);
    expect(receipt).toEqual([
      {
        path: 'tools[0]',
        action: 'dropped',
        reason: expect.objectContaining({ text: expect.any(String) }),
      },
    ]);
  });
});

/** "Hi" with `max_tokens` 50, unless `fields` say otherwise. */
function translateMessages(fields: JsonObject) {
  const messages = [{ role: 'user', content: 'Hi' }];
  const body = { max_tokens: 50, messages, ...fields };
  return translate(app.url, { protocol: 'messages', body });
}

function userBlocks(content: JsonObject[]): JsonObject {
  return { messages: [{ role: 'user', content }] };
}
