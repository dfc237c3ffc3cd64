// Sessions and the accounts they are bound to, over a restart of the whole gateway.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PoolApp, startPoolApp } from '../support/pool-app.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.ts';

const MODEL = 'gemini-3-flash-preview';

let upstream: ScriptedUpstream;
let gateway: PoolApp;
beforeAll(async () => {
  upstream = await startScriptedUpstream([MODEL]);
  let seed = 1;
  gateway = await startPoolApp({
    environment: {
      UPSTREAM_PROFILE: 'generic',
      ISTHMUS_UPSTREAM_VOCABULARY: 'real',
      UPSTREAM_BASE_URL: upstream.url,
      UPSTREAM_API_KEYS: 'key.one,key.two,key.three,key.four',
    },
    random: () => {
      seed = (seed * 16_807) % 2_147_483_647;
      return seed / 2_147_483_647;
    },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

/** One session of each kind there is. */
const KINDS: readonly (readonly [path: string, headers: Record<string, string>, body: object])[] = [
  ...['a', 'b', 'c'].map((name) => ['/v1/chat/completions', { 'x-session-id': name }, {}] as const),
  ['/v1/chat/completions', {}, { prompt_cache_key: 'cache' }],
  ['/v1/chat/completions', {}, { user: 'somebody' }],
  ['/v1/chat/completions', {}, { messages: [{ role: 'user', content: 'A text that is long.' }] }],
  ['/v1/messages', {}, { max_tokens: 9, metadata: { user_id: 'user_1_account__session_2' } }],
  ['/v1beta/models/gemini-3-flash-preview:generateContent', { 'x-session-id': 'g' }, {}],
];

/** The account that was asked for each of them. */
async function accountsAsked(): Promise<readonly string[]> {
  const before = upstream.calls.length;
  for (const [path, headers, body] of KINDS) {
    const question = path.startsWith('/v1beta')
      ? { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }
      : { model: MODEL, messages: [{ role: 'user', content: 'Hi' }] };
    const response = await fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ ...question, ...body }),
    });
    expect(response.status, await response.text()).toBe(200);
  }
  return upstream.calls.slice(before).map(({ account }) => account);
}

test('C3: sessions of every kind keep their accounts over a restart', async () => {
  const before = await accountsAsked();
  expect(before).toHaveLength(KINDS.length);
  expect(new Set(before).size).toBeGreaterThan(1);
  await gateway.restart();
  expect((await gateway.must('GET', '/api/sessions')).sessions).toHaveLength(KINDS.length);
  expect(await accountsAsked()).toEqual(before);
});
