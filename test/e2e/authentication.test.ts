// Who is let in: every credential form on every protocol, in every mode.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KEY, STRICT, startApp, type TestApp } from '../support/app.ts';
import { PROTOCOL_CALLS, readAnswer, type SendOptions, send } from '../support/protocol-calls.ts';

/** Every way a key can be sent. */
const formsOf = (key: string): [string, SendOptions][] => [
  ['Authorization: Bearer', { headers: { authorization: `Bearer ${key}` } }],
  ['x-api-key', { headers: { 'x-api-key': key } }],
  ['x-goog-api-key', { headers: { 'x-goog-api-key': key } }],
  ['x-vendora-api-key', { headers: { 'x-vendora-api-key': key } }],
  ['?key=', { query: `key=${key}` }],
];
const NO_KEY: [string, SendOptions] = ['no key', {}];
const UNAUTHENTICATED = {
  status: 401,
  chat: 'invalid_api_key',
  messages: 'authentication_error',
  generate: 'UNAUTHENTICATED',
};

describe.each(PROTOCOL_CALLS)('V161 in strict mode, $name', (call) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp({ environment: STRICT });
  });
  afterAll(() => app.close());

  test.each(formsOf(KEY))('takes the key as %s', async (_form, options) => {
    expect((await send(app.url, call, options)).status).toBe(200);
  });

  test.each([NO_KEY, ...formsOf('sk-wrong')])('refuses %s', async (_form, options) => {
    const answer = await send(app.url, call, options);
    expect(answer.status).toBe(401);
    expect(answer.body).toEqual(call.error(UNAUTHENTICATED));
    expect(answer.headers.get('www-authenticate')).toContain('Bearer');
    expect(answer.text).not.toContain('sk-wrong');
  });

  test('answers OPTIONS without a key', async () => {
    const answer = await fetch(`${app.url}${call.path(call.model, false)}`, { method: 'OPTIONS' });
    expect(answer.status).toBe(204);
  });
});

describe.each(PROTOCOL_CALLS)('in auto mode, $name', (call) => {
  test('a local program needs no key, and any key will do while none is configured', async () => {
    const app = await startApp();
    expect((await send(app.url, call)).status).toBe(200);
    const headers = { authorization: 'Bearer anything' };
    expect((await send(app.url, call, { headers })).status).toBe(200);
    await app.close();
  });

  test('a wrong key is refused as soon as one is configured', async () => {
    const app = await startApp({ environment: { API_KEY: KEY } });
    expect((await send(app.url, call)).status).toBe(200);
    const headers = { authorization: 'Bearer anything' };
    expect((await send(app.url, call, { headers })).status).toBe(401);
    await app.close();
  });

  test('a forwarded request and a web page of elsewhere are not local', async () => {
    const app = await startApp();
    const forwarded = { 'x-forwarded-for': '192.0.2.1' };
    expect((await send(app.url, call, { headers: forwarded })).status).toBe(401);
    const page = { origin: 'https://elsewhere.example' };
    expect((await send(app.url, call, { headers: page })).status).toBe(401);
    await app.close();
  });
});

test('P171 the health paths need no key', async () => {
  const app = await startApp({ environment: STRICT });
  app.app.start();
  for (const path of ['/health', '/healthz', '/livez', '/readyz']) {
    const answer = await readAnswer(await fetch(`${app.url}${path}`));
    expect(answer).toMatchObject({ status: 200, body: { status: 'ok', version: app.app.version } });
  }
  await app.close();
});
