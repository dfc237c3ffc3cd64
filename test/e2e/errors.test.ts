// Errors in each protocol's own shape, for every status and for paths that do not exist.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { PROTOCOL_CALLS, type ProtocolCall, readAnswer, send } from '../support/protocol-calls.ts';

const MAX_BODY_BYTES = 2000;

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ environment: { ABV_MAX_BODY_SIZE: String(MAX_BODY_BYTES) } });
});
afterAll(() => app.close());

describe.each(PROTOCOL_CALLS)('$name', (call) => {
  test.each([
    ['no JSON', '{"model":', 'invalid_json'],
    ['no object', '[]', 'invalid_type'],
    ['no UTF-8', Buffer.from([0x22, 0xff, 0x22]).toString('latin1'), undefined],
  ])('400 for a body that is %s', async (_what, rawBody, chat) => {
    const answer = await send(app.url, call, { rawBody });
    expect(answer.status).toBe(400);
    const words = { messages: 'invalid_request_error', generate: 'INVALID_ARGUMENT' };
    const code = chat ?? expect.any(String);
    expect(answer.body).toEqual(call.error({ status: 400, chat: code, ...words }));
    expect(answer.headers.get('x-should-retry')).toBe('false');
  });

  test('404 for a model nobody knows', async () => {
    const answer = await send(app.url, call, { model: 'no-such-model' });
    expect(answer.status).toBe(404);
    const words = { chat: 'model_not_found', messages: 'not_found_error', generate: 'NOT_FOUND' };
    expect(answer.body).toEqual(call.error({ status: 404, ...words }));
    expect(answer.text).toContain('no-such-model');
  });

  test('405 for another method, naming the right one', async () => {
    const response = await fetch(`${app.url}${call.path(call.model, false)}`, { method: 'PUT' });
    const answer = await readAnswer(response);
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toContain('POST');
    const words = {
      chat: 'method_not_supported',
      messages: 'invalid_request_error',
      generate: 'UNIMPLEMENTED',
    };
    expect(answer.body).toEqual(call.error({ status: 405, ...words }));
  });

  test('413 above ABV_MAX_BODY_SIZE, 200 up to it', async () => {
    const empty = sizeOf(call, '');
    const fits = 'x'.repeat(MAX_BODY_BYTES - empty);
    expect((await send(app.url, call, { text: fits })).status).toBe(200);
    const answer = await send(app.url, call, { text: `${fits}x` });
    expect(answer.status).toBe(413);
    const words = {
      chat: 'request_too_large',
      messages: 'request_too_large',
      generate: 'INVALID_ARGUMENT',
    };
    expect(answer.body).toEqual(call.error({ status: 413, ...words }));
  });

  test.each([
    ['a text', { 'content-type': 'text/plain' }],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['a compressed body', { 'content-encoding': 'gzip' }],
  ])('415 for %s', async (_what, headers) => {
    const answer = await send(app.url, call, { headers });
    expect(answer.status).toBe(415);
    const words = {
      chat: 'unsupported_content_type',
      messages: 'invalid_request_error',
      generate: 'INVALID_ARGUMENT',
    };
    expect(answer.body).toEqual(call.error({ status: 415, ...words }));
  });
});

test.each([
  ['/', 'chat'],
  ['/v2/anything', 'chat'],
  ['/v1/nothing', 'chat'],
  ['/v1/chat/nothing', 'chat'],
  ['/v1/messages/nothing', 'messages'],
  ['/v1/messages/batches', 'messages'],
  ['/v1beta', 'generate'],
  ['/v1beta/cachedContents', 'generate'],
  ['/v1beta/models/alpha-3-flash:nothing', 'generate'],
  ['/v1/models/alpha-3-flash:nothing', 'generate'],
])('POST %s is a 404 in the shape of %s', async (path, name) => {
  const answer = await readAnswer(await fetch(`${app.url}${path}`, { method: 'POST' }));
  expect(answer.status).toBe(404);
  const call = PROTOCOL_CALLS.find((one) => one.name === name);
  const words = { chat: 'not_found', messages: 'not_found_error', generate: 'NOT_FOUND' };
  expect(answer.body).toEqual(call?.error({ status: 404, ...words }));
});

test.each([
  ['/chat/completions', '/v1/chat/completions'],
  ['/messages', '/v1/messages'],
  ['/v1/v1/messages', '/v1/messages'],
  ['/v1/v1beta/models/alpha-3-flash:generateContent', '/v1beta/models/alpha-3-flash'],
  ['/v1/chat/completions/chat/completions', '/v1/chat/completions'],
  ['/anthropic/v1/messages', '/v1/messages'],
])('a client with a wrong base address learns the right path: %s', async (path, meant) => {
  const answer = await readAnswer(await fetch(`${app.url}${path}`, { method: 'POST' }));
  expect(answer.status).toBe(404);
  expect(answer.text).toContain(`The right path is ${meant}`);
});

test.each([
  ['/v1/cachedContents', 'x-goog-api-key', 'generate'],
  ['/v1/files', 'anthropic-version', 'messages'],
])('%s is a 404 in the shape of the client that sends %s', async (path, header, name) => {
  const headers = { [header]: 'any' };
  const answer = await readAnswer(await fetch(`${app.url}${path}`, { method: 'POST', headers }));
  const call = PROTOCOL_CALLS.find((one) => one.name === name);
  const words = { chat: 'not_found', messages: 'not_found_error', generate: 'NOT_FOUND' };
  expect(answer.body).toEqual(call?.error({ status: 404, ...words }));
});

test('a target that is no plain path is a 400', async () => {
  const answer = await readAnswer(await fetch(`${app.url}/v1/%2e%2e%2fmodels`));
  expect(answer.status).toBe(400);
});

function sizeOf(call: ProtocolCall, text: string): number {
  return JSON.stringify(call.body({ model: call.model, text, stream: false })).length;
}
