// More functions than upstreams take: a 400 that says so, in the shape of each protocol.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type JsonObject, parseJson } from '../../src/lib/json.ts';
import { startApp, type TestApp } from '../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const model = 'alpha-3-flash';
const parameters = { type: 'object', properties: { a: { type: 'string' } } };
const message = 'tools: 600 functions are too many; the model takes at most 512 in one request.';
const messages = [{ role: 'user', content: 'Hi' }];

const functions = (count: number) => Array.from({ length: count }, (_, index) => `f${index}`);

/** For each protocol a request with so many functions, and the refusal of 600. */
const SURFACES: readonly (readonly [string, (count: number) => JsonObject, JsonObject])[] = [
  [
    '/v1/chat/completions',
    (count) => ({
      model,
      messages,
      tools: functions(count).map((name) => ({ type: 'function', function: { name, parameters } })),
    }),
    { error: { message, type: 'invalid_request_error', param: 'tools' } },
  ],
  [
    '/v1/responses',
    (count) => ({
      model,
      input: 'Hi',
      tools: functions(count).map((name) => ({ type: 'function', name, parameters })),
    }),
    { error: { message, type: 'invalid_request_error', param: 'tools' } },
  ],
  [
    '/v1/messages',
    (count) => ({
      model,
      max_tokens: 50,
      messages,
      tools: functions(count).map((name) => ({ name, input_schema: parameters })),
    }),
    { type: 'error', error: { message, type: 'invalid_request_error' } },
  ],
  [
    `/v1beta/models/${model}:generateContent`,
    (count) => ({
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      // The limit is that of the request, in however many elements the functions come.
      tools: functions(count).map((name) => ({ functionDeclarations: [{ name, parameters }] })),
    }),
    { error: { message, code: 400, status: 'INVALID_ARGUMENT' } },
  ],
];

describe.each(SURFACES)('%s', (path, requestOf, refusal) => {
  const ask = async (target: string, body: JsonObject) => {
    const answer = await fetch(`${app.url}${target}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: parseJson(await answer.text()) };
  };
  const [streamPath, streamed] = path.includes(':')
    ? [path.replace(':generate', ':streamGenerate'), {}]
    : [path, { stream: true }];

  test('600 functions are refused with the number that is too many', async () => {
    expect(await ask(path, requestOf(600))).toMatchObject({ status: 400, body: refusal });
  });
  test('a stream is refused in the same way', async () => {
    const body = { ...requestOf(600), ...streamed };
    const answer = await ask(streamPath, body);
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).toContain(message);
  });
  test('512 functions are sent', async () => {
    expect((await ask(path, requestOf(512))).status).toBe(200);
  });
});
