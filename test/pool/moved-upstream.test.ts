// An upstream whose address or profile is changed is another service: what was known of its accounts says nothing of it.

import { afterEach, expect, test } from 'vitest';
import { startChatUpstream } from '../support/chat-upstream.ts';
import { type ApiAnswer, type PoolApp, startPoolApp } from '../support/pool-app.ts';

const running: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of running.splice(0).toReversed()) await close();
});

async function startService(models: readonly string[]) {
  const upstream = await startChatUpstream(models);
  running.push(() => upstream.close());
  return upstream;
}

const ask = (app: PoolApp, model: string): Promise<ApiAnswer> =>
  app.api('POST', '/v1/chat/completions', { model, messages: [{ role: 'user', content: 'Hi' }] });

test('the next request after a change of the address goes by the models and the health there', async () => {
  const [old, latest] = [await startService(['old', 'both']), await startService(['new', 'both'])];
  const error = { message: 'You exceeded your current quota.', code: 'insufficient_quota' };
  old.answer(() => ({ kind: 'status', status: 429, body: { error } }));
  const own = { profile: 'openai-compatible', base_url: old.url };
  const limits = { both: { requests: 1, window_minutes: 600 } };
  const app = await startPoolApp({ file: { upstreams: { own: { ...own, limits } } } });
  running.push(() => app.close());
  await app.must('POST', '/api/accounts', { upstream: 'own', kind: 'api-key', key: 'up-key-0123' });
  expect((await ask(app, 'both')).status).toBe(429);
  expect((await ask(app, 'new')).status).toBe(404);
  await app.must('PATCH', '/api/config/upstreams', { own: { base_url: latest.url } });
  expect((await ask(app, 'new')).status).toBe(200);
  expect((await ask(app, 'both')).status).toBe(200);
  expect((await ask(app, 'old')).status).toBe(404);
});
