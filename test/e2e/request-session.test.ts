// A session of requests: its calls and sums, the account it is bound to, and its tools with their results in order.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { type PoolApp, startPoolApp } from '../support/pool-app.ts';

let gateway: PoolApp;

beforeAll(async () => {
  gateway = await startPoolApp({ file: { proxy: { monitor: { bodies: true } } } });
});
afterAll(() => gateway.close());

const TOOLS = [{ name: 'read_file', input_schema: { type: 'object' } }];

const CALLED = [
  { role: 'user', content: 'Look into a.ts and b.ts, please' },
  {
    role: 'assistant',
    content: ['a.ts', 'b.ts'].map((path) => ({
      ...{ type: 'tool_use', id: `toolu_${path}`, name: 'read_file' },
      input: { path },
    })),
  },
  {
    role: 'user',
    content: [
      { type: 'tool_result', tool_use_id: 'toolu_a.ts', content: 'export const a = 1;' },
      { type: 'tool_result', tool_use_id: 'toolu_b.ts', content: 'not there', is_error: true },
    ],
  },
];

async function ask(messages: readonly object[], headers: Readonly<Record<string, string>>) {
  const answer = await fetch(`${gateway.url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'alpha-3-flash', max_tokens: 64, tools: TOOLS, messages }),
  });
  expect(answer.status).toBe(200);
  await answer.text();
}

async function read(session: string): Promise<JsonObject> {
  const path = `/api/request-session?session=${encodeURIComponent(session)}`;
  return (await gateway.api('GET', path)).body;
}

/** Once so many of its calls are saved. */
async function readSaved(session: string, requests: number): Promise<JsonObject> {
  let found: JsonObject = {};
  await expect
    .poll(async () => {
      await gateway.clock.advance(1000);
      found = await read(session);
      return found.requests;
    })
    .toBe(requests);
  return found;
}

test('the calls of a session that a header names are one run, with tools and account', async () => {
  const headers = { 'x-session-id': 'run 7' };
  await ask(CALLED.slice(0, 1), headers);
  await ask(CALLED, headers);
  const found = await readSaved('run 7', 2);
  expect(found).toMatchObject({
    ...{ session: 'run 7', errors: 0, models: [{ name: 'alpha-3-flash', count: 2 }] },
    calls: [{ outcome: 'ok' }, { outcome: 'ok', session: 'run 7' }],
    binding: { label: expect.stringContaining('run 7') },
    tools: [
      { name: 'read_file', arguments: '{"path":"a.ts"}', result: 'export const a = 1;' },
      { name: 'read_file', arguments: '{"path":"b.ts"}', result: 'not there', isError: true },
    ],
  });
  const { id } = Object(found.binding);
  expect((await gateway.api('DELETE', `/api/sessions/${id}`)).status).toBe(204);
  expect(await read('run 7')).toMatchObject({ binding: null });
});

test('a conversation that nobody names is a session too, by how it begins', async () => {
  const beginning = { role: 'user', content: 'A beginning that is of this conversation alone' };
  await ask([beginning], {});
  await ask(
    [beginning, { role: 'assistant', content: 'So?' }, { role: 'user', content: 'On' }],
    {},
  );
  await gateway.clock.advance(2000);
  const { body } = await gateway.api('GET', '/api/requests?session=text*');
  const [row] = Array.isArray(body.requests) ? body.requests : [];
  const { session } = Object(row);
  expect(session).toMatch(/^text [\w-]{43}$/);
  expect(await readSaved(String(session), 2)).toMatchObject({ binding: { detours: [] } });
  expect((await gateway.api('GET', '/api/request-session?session=nobody')).status).toBe(404);
});

test('without bodies a session is shown without its tools', async () => {
  await gateway.must('PATCH', '/api/config/monitor', { bodies: false });
  await ask(CALLED, { 'x-session-id': 'run 8' });
  expect(await readSaved('run 8', 1)).toMatchObject({ calls: [{ outcome: 'ok' }], tools: [] });
});
