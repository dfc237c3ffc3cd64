// The neutral words and the vendors' own words work alike, in names, headers and tool keys.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KEY, STRICT, startApp, type TestApp } from '../support/app.ts';
import { PROTOCOL_CALLS, readAnswer, send } from '../support/protocol-calls.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ environment: STRICT });
});
afterAll(() => app.close());

const AUTHORIZED = { authorization: `Bearer ${KEY}` };
const [, , generate] = PROTOCOL_CALLS;

describe.each(PROTOCOL_CALLS)('$name', (call) => {
  test.each([
    ['alpha-3-flash', 'alpha-3-flash'],
    ['gemini-3-flash', 'alpha-3-flash'],
    ['beta-sonnet-4-6', 'beta-sonnet-4-6'],
    ['claude-sonnet-4-6', 'beta-sonnet-4-6'],
    ['claude-opus-4-6-thinking', 'beta-opus-4-6-thinking'],
    ['models/gemini-3-flash', 'alpha-3-flash'],
  ])('%s is answered by %s', async (model, target) => {
    const answer = await send(app.url, call, { model, headers: AUTHORIZED });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-isthmus-model')).toBe(target);
    expect(answer.text).toContain(`${target} received 1 turn`);
  });
});

test.each([
  ['anthropic-version', 'anthropic-beta', 'claude-code-20250219'],
  ['vendorb-version', 'vendorb-beta', 'beta-code-20250219'],
])('%s makes /v1/models the Messages list, %s is ignored', async (version, beta, flag) => {
  const headers = { ...AUTHORIZED, [version]: '2023-06-01', [beta]: flag };
  const { body } = await readAnswer(await fetch(`${app.url}/v1/models`, { headers }));
  expect(body).toMatchObject({ has_more: false, data: expect.any(Array) });
  expect(body).toMatchObject({ data: expect.arrayContaining([{ type: 'model' }].map(contains)) });
});

test.each(['x-goog-api-key', 'x-vendora-api-key'])(
  '%s makes /v1/models the Generate-Content list',
  async (name) => {
    const headers = { [name]: KEY };
    const { body } = await readAnswer(await fetch(`${app.url}/v1/models`, { headers }));
    expect(body).toMatchObject({ models: expect.any(Array) });
  },
);

test('without such headers /v1/models is the Chat list', async () => {
  const answer = await readAnswer(await fetch(`${app.url}/v1/models`, { headers: AUTHORIZED }));
  expect(answer.body).toMatchObject({ object: 'list' });
});

test.each(['claude', 'beta'])('/v1/models/%s is the list of that family', async (family) => {
  const url = `${app.url}/v1/models/${family}`;
  const { body } = await readAnswer(await fetch(url, { headers: AUTHORIZED }));
  expect(JSON.stringify(body)).toContain('beta-sonnet-4-6');
  expect(JSON.stringify(body)).not.toContain('alpha-3-flash');
});

test.each([
  'vendoraSearch',
  'vendora_search',
  'googleSearch',
  'google_search',
  'googleSearchRetrieval',
  'google_search_retrieval',
])('the tool key %s turns search on', async (key) => {
  if (generate === undefined) throw new Error('The protocol is missing.');
  const body = generate.body({ model: '', text: 'Look it up', stream: false });
  const rawBody = JSON.stringify({ ...body, tools: [{ [key]: {} }] });
  const answer = await send(app.url, generate, { rawBody, headers: AUTHORIZED });
  expect(answer.status).toBe(200);
  expect(answer.text).toContain('"groundingMetadata"');
});

function contains(fields: object): unknown {
  return expect.objectContaining(fields);
}
