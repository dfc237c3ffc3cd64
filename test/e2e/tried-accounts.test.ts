// Accounts are tried before they are called usable, and shown as their last requests went.

import { afterEach, beforeEach, expect, test } from 'vitest';
import { isJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { PROTOCOL_CALLS, send } from '../support/protocol-calls.ts';

let app: TestApp;
beforeEach(async () => {
  app = await startApp();
});
afterEach(() => app.close());

async function call(method: string, path: string, body?: JsonObject) {
  const init = { method, headers: { 'content-type': 'application/json' } };
  const answer = await fetch(
    `${app.url}${path}`,
    body === undefined ? init : { ...init, body: JSON.stringify(body) },
  );
  const value: unknown = await answer.json();
  if (!isJsonObject(value)) throw new Error('No object came back.');
  return { status: answer.status, body: value };
}

async function accounts(): Promise<readonly JsonObject[]> {
  const { body } = await call('GET', '/api/accounts');
  return Array.isArray(body.accounts) ? body.accounts.filter(isJsonObject) : [];
}

test('B3: a key that the upstream refuses is not stored unless that is wanted', async () => {
  const wrong = { upstream: 'sandbox', kind: 'api-key', key: 'a-wrong-key', label: 'wrong' };
  const refused = await call('POST', '/api/accounts', wrong);
  expect(refused.status).toBe(400);
  const message = { text: expect.stringContaining('the upstream refuses it') };
  expect(refused.body.error).toMatchObject({ code: 'key-refused', field: 'key', message });
  expect((await accounts()).map(({ label }) => label)).not.toContain('wrong');
  const added = await call('POST', '/api/accounts', { ...wrong, addAnyway: true });
  expect(added.status).toBe(201);
  expect(added.body.condition).toMatchObject({ state: 'failing', trial: { isGood: false } });
});

test('B3: a key is tried with its model list, and with a one-token answer where that is agreed to', async () => {
  const key = {
    upstream: 'sandbox',
    kind: 'api-key',
    key: app.sandbox.authorization.authorization?.slice(7) ?? '',
  };
  const listed = await call('POST', '/api/accounts', { ...key, label: 'listed' });
  expect(listed.body.condition).toMatchObject({
    state: 'untried',
    trial: { what: 'models', isGood: true },
  });
  const generated = async () =>
    (await app.sandbox.requests()).filter(({ path }) => String(path).includes(':generateContent'));
  expect(await generated()).toEqual([]);
  const answered = await call('POST', '/api/accounts', { ...key, label: 'asked', generate: true });
  expect(answered.body.condition).toMatchObject({
    state: 'healthy',
    trial: { what: 'answer', isGood: true, durationMs: expect.any(Number) },
  });
  expect(await generated()).toMatchObject([{ body: { generationConfig: { maxOutputTokens: 1 } } }]);
});

test('B3: an account is not tried yet, then as its last requests went', async () => {
  const states = async () =>
    (await accounts()).map(({ condition }) => isJsonObject(condition) && condition.state);
  expect(await states()).toEqual(['untried', 'untried']);
  const [chat] = PROTOCOL_CALLS;
  if (chat === undefined) throw new Error('The protocol is missing.');
  const headers = { 'x-preferred-account': 'key-1@env' };
  expect((await send(app.url, chat, { headers })).status).toBe(200);
  expect(await states()).toEqual(['healthy', 'untried']);
});

test('the last failure of an account is told in words, also where the upstream said none', async () => {
  await app.sandbox.addFault({ cutAfterEvents: 1, count: 100 });
  const [chat] = PROTOCOL_CALLS;
  if (chat === undefined) throw new Error('The protocol is missing.');
  const headers = { 'x-preferred-account': 'key-1@env' };
  await send(app.url, chat, { headers, stream: true });
  const [first] = await accounts();
  expect(first?.condition).toMatchObject({
    state: 'failing',
    reason: { text: 'The upstream cut its answer off. (other side closed)' },
  });
});

test('B3: the test of an account asks for an answer where that is agreed to', async () => {
  const [first] = await accounts();
  const path = `/api/accounts/${String(first?.id)}/test`;
  const names = async (body?: JsonObject) => {
    const { steps } = (await call('POST', path, body)).body;
    return Array.isArray(steps) ? steps.map((step) => isJsonObject(step) && step.name) : [];
  };
  expect(await names()).toEqual(['credential', 'models', 'quota']);
  expect(await names({ generate: true })).toEqual(['credential', 'models', 'answer', 'quota']);
});

test('B3: while every request is refused the overview says why', async () => {
  await app.sandbox.addFault({ status: 401, reason: 'API_KEY_INVALID', count: 1000 });
  const [chat] = PROTOCOL_CALLS;
  if (chat === undefined) throw new Error('The protocol is missing.');
  for (let turn = 0; turn < 3; turn += 1) expect((await send(app.url, chat)).status).not.toBe(200);
  const { body } = await call('GET', '/api/overview');
  expect(body.status).toBe('trouble');
  expect(body.attention).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        kind: 'all-refused',
        message: expect.stringMatching(
          /^Every request of the last 5 minutes was rejected: key-1@env: /,
        ),
      }),
    ]),
  );
});

test('B3: a new key is judged by itself, whatever the old one met', async () => {
  const key = app.sandbox.authorization.authorization?.slice(7) ?? '';
  const wrong = { upstream: 'sandbox', kind: 'api-key', key: 'a-wrong-key', addAnyway: true };
  const { body } = await call('POST', '/api/accounts', { ...wrong, label: 'mended' });
  const headers = { 'x-preferred-account': 'mended' };
  const [chat] = PROTOCOL_CALLS;
  if (chat === undefined) throw new Error('The protocol is missing.');
  expect((await send(app.url, chat, { headers })).status).toBe(200);
  const path = `/api/accounts/${String(body.id)}`;
  expect((await call('GET', path)).body.condition).toMatchObject({ state: 'failing', attempts: 1 });
  expect((await call('PATCH', path, { key })).body.condition).toMatchObject({
    ...{ state: 'untried', attempts: 0 },
    trial: { what: 'models', isGood: true },
  });
});
