import { afterEach, beforeEach, expect, test } from 'vitest';
import type { JsonObject } from '../lib/json.ts';
import { addTo, startAdmin, type TestAdmin } from './admin.test-support.ts';

let admin: TestAdmin;

beforeEach(async () => {
  admin = await startAdmin();
});
afterEach(() => admin.close());

async function start(body: JsonObject = {}): Promise<string> {
  const answer = await admin.call('POST', '/api/oauth/start', {
    body: { upstream: 'main', ...body },
  });
  expect(answer.status).toBe(201);
  return String(answer.body.state);
}

const complete = (body: JsonObject) => admin.call('POST', '/api/oauth/complete', { body });
const callback = (query: string, method = 'GET') =>
  admin.call(method, `/oauth/callback${query}`, { headers: { authorization: '' } });
const count = () => admin.options.book.list().length;

test('a pasted address completes a sign-in once', async () => {
  const state = await start();
  expect((await admin.call('GET', `/api/oauth/${state}`)).body.status).toBe('pending');
  const url = `http://127.0.0.1:8045/oauth/callback?code=c0de&state=${state}`;
  const done = await complete({ url });
  expect(done.body).toMatchObject({ status: 'done', account: { label: `${state}@example.com` } });
  const { body } = await admin.call('GET', `/api/oauth/${state}`);
  expect(body).toMatchObject({ status: 'done', account: { kind: 'oauth' } });
  const again = await complete({ url });
  expect(again.status).toBe(400);
  expect((await admin.call('GET', `/api/oauth/${state}`)).body.status).toBe('done');
  expect(count()).toBe(1);
});

test('a pasted code needs its state', async () => {
  const state = await start({ redirect: 'manual' });
  expect((await complete({ code: 'c0de' })).status).toBe(400);
  expect((await complete({})).status).toBe(400);
  expect((await complete({ code: 'c0de', url: 'http://x/?code=c&state=s' })).status).toBe(400);
  expect((await complete({ code: 'c0de', state })).status).toBe(200);
});

test('of two answers to one sign-in at the same moment, one counts', async () => {
  const state = await start();
  const answers = await Promise.all([
    complete({ code: 'a', state }),
    complete({ code: 'b', state }),
  ]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
  expect((await admin.call('GET', `/api/oauth/${state}`)).body.status).toBe('done');
});

test('a cancelled sign-in takes no answer any more', async () => {
  const state = await start();
  expect((await admin.call('DELETE', `/api/oauth/${state}`)).status).toBe(204);
  expect((await admin.call('DELETE', `/api/oauth/${state}`)).status).toBe(404);
  expect((await complete({ code: 'c', state })).status).toBe(400);
  expect((await callback(`?code=c&state=${state}`)).headers.get('location')).toContain('unknown');
  expect(count()).toBe(0);
});

test('a sign-in begins only where it can end', async () => {
  const other = await addTo(admin, { credential: { kind: 'api-key', key: 'k' } });
  const refused = [
    { upstream: 'none' },
    { upstream: 'main', redirect: 'public' },
    { upstream: 'main', redirect: 'elsewhere' },
    { upstream: 'main', accountId: other.record.id },
  ];
  for (const body of refused) {
    expect((await admin.call('POST', '/api/oauth/start', { body })).status).toBe(400);
  }
});

test('the browser comes back without a credential, and the code leaves the address', async () => {
  const state = await start();
  const answer = await callback(`?state=${state}&code=c0de&scope=a+b`);
  expect(answer.status).toBe(303);
  expect(answer.headers.get('location')).toBe('/oauth/callback?result=done');
  expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
  expect(count()).toBe(1);
  const page = await callback('?result=done');
  expect(page.status).toBe(200);
  expect(page.text).toContain('Signed in');
  expect(page.headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
  );
  expect(page.headers.get('cache-control')).toBe('no-store');
  expect(page.headers.get('x-frame-options')).toBe('DENY');
  const path = '/oauth/callback?result=done';
  for (const [languages, tag, title] of [
    ['fr, zh-CN;q=0.9, en;q=0.8', 'zh-CN', '已登录'],
    ['ja-JP, ja;q=0.9, zh;q=0.8', 'ja', 'サインインしました'],
  ] as const) {
    const headers = { 'accept-language': languages };
    const translated = await admin.call('GET', path, { headers });
    expect(translated.text).toContain(`<html lang="${tag}">`);
    expect(translated.text).toContain(title);
  }
  const replayed = await callback(`?state=${state}&code=c0de`);
  expect(replayed.headers.get('location')).toBe('/oauth/callback?result=unknown');
});

test.each([
  ['nothing', ''],
  ['no state', '?code=c0de'],
  ['a foreign state', '?code=c0de&state=foreign'],
  ['two states', '?code=c0de&state=state-1&state=state-1'],
  ['two codes', '?code=c0de&code=c0de&state=state-1'],
  ['code and error', '?code=c0de&error=x&state=state-1'],
  ['a made-up result', '?result=__proto__'],
  ['a result with more', '?result=done&state=state-1'],
])('a browser that comes with %s adds nothing', async (_what, query) => {
  await start();
  const answer = await callback(query);
  expect(answer.headers.get('location')).toBe('/oauth/callback?result=unknown');
  expect(count()).toBe(0);
  expect((await admin.call('GET', '/api/oauth/state-1')).body.status).toBe('pending');
});

test('a look at the address uses no code up', async () => {
  const state = await start();
  expect((await callback(`?state=${state}&code=c0de`, 'HEAD')).status).toBe(200);
  expect(count()).toBe(0);
  expect((await callback(`?state=${state}&code=c0de`)).headers.get('location')).toContain('done');
});

test('a refusal at the provider ends the sign-in and tells nobody else why', async () => {
  const state = await start();
  const answer = await callback(`?state=${state}&error=access_denied&error_description=<script>`);
  expect(answer.headers.get('location')).toBe('/oauth/callback?result=denied');
  const { body } = await admin.call('GET', `/api/oauth/${state}`);
  expect(body).toEqual({ status: 'failed', message: 'The sign-in was declined.' });
  expect((await callback('?result=denied')).text).toContain('refused at the provider');
});
