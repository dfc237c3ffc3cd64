// Accepted translations of Chat requests: what is sent upstream, to the field.

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
const TOOL = { type: 'function', function: { name: 'w' } };
const DECLARED = [{ functionDeclarations: [{ name: 'w' }] }];

describe.each(['alpha-3-flash', 'gemini-3-flash', 'claude-sonnet-4-6'])('%s', (model) => {
  const ask = (fields: JsonObject) => {
    const body = { model, messages: [{ role: 'user', content: 'Hi' }], ...fields };
    return { protocol: 'chat', body } as const;
  };
  const send = (fields: JsonObject) => translate(app.url, ask(fields));

  test('V080 system and developer messages are the system instruction, in order', async () => {
    const messages = [
      { role: 'system', content: 'S' },
      { role: 'developer', content: 'D' },
      { role: 'user', content: 'U' },
    ];
    expect((await send({ messages })).body).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'U' }] }],
      systemInstruction: { parts: [{ text: 'S' }, { text: 'D' }] },
    });
  });

  test('V081 an image in a data URI is inline data', async () => {
    const { body } = await send(imageAt('data:image/jpeg;base64,AA=='));
    expect(body.contents).toEqual([
      { role: 'user', parts: [{ inlineData: { mimeType: 'image/jpeg', data: 'AA==' } }] },
    ]);
  });

  test.each([
    'file:///etc/passwd',
    '/etc/passwd',
    'http://127.0.0.1/a.png',
    'http://localhost/a.png',
    'http://10.0.0.1/a.png',
    'http://192.168.1.1:8080/a.png',
    'http://169.254.169.254/latest',
    'http://[::1]/a.png',
    'http://0x7f000001/a.png',
    'http://[::ffff:10.0.0.1]/a.png',
  ])('V082 an image at %s is refused', async (url) => {
    const field = await refusedField(app.url, ask(imageAt(url)));
    expect(field).toBe('messages[0].content[0].image_url.url');
  });

  test.each([
    ['none', { mode: 'NONE' }],
    ['auto', { mode: 'AUTO' }],
    ['required', { mode: 'ANY' }],
    [TOOL, { mode: 'ANY', allowedFunctionNames: ['w'] }],
  ])('V084 tool_choice %j', async (choice, functionCallingConfig) => {
    expect((await send({ tools: [TOOL], tool_choice: choice })).body).toEqual({
      contents: [HI],
      tools: DECLARED,
      toolConfig: { functionCallingConfig },
    });
  });

  test('V085 a JSON object is asked for by its media type', async () => {
    expect((await send({ response_format: { type: 'json_object' } })).body).toEqual({
      contents: [HI],
      generationConfig: { responseMimeType: 'application/json' },
    });
  });

  test('V085 a JSON schema goes on cleaned', async () => {
    const schema = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: { a: { type: 'string', minLength: 1 }, b: false },
      required: ['a', 'b'],
      additionalProperties: false,
    };
    const { body } = await send({
      response_format: { type: 'json_schema', json_schema: { name: 'r', strict: true, schema } },
    });
    expect(body.generationConfig).toEqual({
      responseMimeType: 'application/json',
      responseSchema: {
        type: 'object',
        properties: { a: { type: 'string', minLength: 1 } },
        required: ['a'],
      },
    });
  });

  test.each([
    [{ stop: 'X' }, { stopSequences: ['X'] }],
    [{ n: 2 }, { candidateCount: 2 }],
    [{ max_tokens: 9 }, { maxOutputTokens: 9 }],
    [{ max_completion_tokens: 9 }, { maxOutputTokens: 9 }],
  ])('V086 %j', async (fields, generationConfig) => {
    const { body, receipt } = await send(fields);
    expect(body).toEqual({ contents: [HI], generationConfig });
    expect(receipt).toEqual([]);
  });

  test('V087 a tool without a name is left out, and the receipt says so', async () => {
    const { body, receipt } = await send({ tools: [{ type: 'function', function: {} }, TOOL] });
    expect(body.tools).toEqual(DECLARED);
    expect(receipt).toEqual([
      {
        path: 'tools[0].function',
        action: 'dropped',
        reason: expect.objectContaining({ text: expect.any(String) }),
      },
    ]);
  });

  test.each([
    ['tool', { ...TOOL, external_web_access: true }],
    ['function', { type: 'function', function: { name: 'w', external_web_access: true } }],
  ])('V087 external_web_access of a %s is left out', async (_where, tool) => {
    const { body, receipt } = await send({ tools: [tool] });
    expect(body.tools).toEqual(DECLARED);
    expect(receipt).toMatchObject([{ action: 'dropped' }]);
  });
});

function imageAt(url: string): JsonObject {
  return { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] };
}
