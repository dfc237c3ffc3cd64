// What becomes of the browsers that are in when the console password becomes another.

import { afterEach, expect, test } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { startApp, type TestApp } from '../support/app.ts';

const PAGE = { 'x-isthmus-console': '1', 'sec-fetch-site': 'same-origin' } as const;

let app: TestApp;
afterEach(() => app.close());

/** A browser: it keeps the one cookie it is given. */
function openBrowser() {
  let cookie = '';
  let password: string | undefined;
  const call = async (method: string, path: string, body?: JsonObject) => {
    const answer = await fetch(`${app.url}${path}`, {
      method,
      headers: {
        ...PAGE,
        ...(cookie === '' ? {} : { cookie }),
        ...(password === undefined ? {} : { 'x-isthmus-password': encodeURIComponent(password) }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const [set] = answer.headers.getSetCookie();
    if (set !== undefined) cookie = set.split(';')[0] ?? '';
    return answer;
  };
  return {
    call,
    hasCookie: () => cookie !== '',
    signIn: (password: string) => call('POST', '/api/session', { password }),
    isIn: async () => (await call('GET', '/api/keys')).status === 200,
    /** Its person types this where the password is asked for once more. */
    knows: (next: string) => {
      password = next;
    },
    change: async (patch: JsonObject) => (await call('PATCH', '/api/config/auth', patch)).status,
  };
}

test.each([{ admin_password: 'a first password' }, { api_key: 'sk-a-first-key' }] as const)(
  'whoever first sets %o goes on, and everybody else is asked for it',
  async (patch) => {
    app = await startApp();
    const [author, other] = [openBrowser(), openBrowser()];
    expect([await author.isIn(), await other.isIn()]).toEqual([true, true]);
    expect(await author.change(patch)).toBe(200);
    expect([await author.isIn(), await other.isIn()]).toEqual([true, false]);
    expect((await other.signIn(Object.values(patch)[0] ?? '')).status).toBe(200);
    expect([await author.isIn(), await other.isIn()]).toEqual([true, true]);
  },
);

test('another password ends all sessions but that of its author', async () => {
  app = await startApp({ file: { api_key: 'sk-a-first-key', admin_password: 'one' } });
  const [author, other, stranger] = [openBrowser(), openBrowser(), openBrowser()];
  await author.signIn('one');
  await other.signIn('one');
  expect(await author.change({ admin_password: 'a second password' })).toBe(400);
  author.knows('one');
  expect(await author.change({ admin_password: 'a second password' })).toBe(200);
  expect([await author.isIn(), await other.isIn()]).toEqual([true, false]);
  // The gateway key is asked for instead, and then nothing.
  author.knows('a second password');
  expect(await author.change({ admin_password: null })).toBe(200);
  expect([await author.isIn(), await other.isIn()]).toEqual([true, false]);
  author.knows('sk-a-first-key');
  expect(await author.change({ api_key: null })).toBe(200);
  expect([await author.isIn(), await other.isIn()]).toEqual([true, true]);
  expect(await author.change({ admin_password: 'a third password' })).toBe(200);
  expect([await author.isIn(), await other.isIn()]).toEqual([true, false]);
  expect([await stranger.change({ admin_password: 'mine' }), stranger.hasCookie()]).toEqual([
    401,
    false,
  ]);
});

test('a refused change and one of something else begin no session', async () => {
  app = await startApp();
  const browser = openBrowser();
  expect(await browser.change({ admin_password: '' })).toBe(400);
  expect(await browser.change({ auth_mode: 'strict' })).toBe(200);
  expect(browser.hasCookie()).toBe(false);
});

test.each([
  ['its session ends', 'DELETE', '/api/session'],
  ['the password becomes another', 'PATCH', '/api/config/auth'],
] as const)('a browser hears nothing more once %s', async (_title, method, path) => {
  app = await startApp({ file: { admin_password: 'one' } });
  const [watcher, author] = [openBrowser(), openBrowser()];
  await watcher.signIn('one');
  await author.signIn('one');
  author.knows('one');
  const events = await watcher.call('GET', '/api/events');
  const patch = method === 'PATCH' ? { admin_password: 'a second password' } : undefined;
  expect((await author.call(method, path, patch)).ok).toBe(true);
  await askSomething();
  const heard = await events.text();
  expect(heard).not.toContain('event: request');
});

test.each([
  ['a script that shows the password', { admin_password: 'one' }],
  ['a program of this machine while none is set', {}],
] as const)('%s hears nothing more once the password is another', async (_who, file) => {
  app = await startApp({ file });
  const headers: Readonly<Record<string, string>> =
    'admin_password' in file ? { authorization: 'Bearer one' } : {};
  const events = await fetch(`${app.url}/api/events`, { headers });
  expect(events.status).toBe(200);
  const changed = await fetch(`${app.url}/api/config/auth`, {
    method: 'PATCH',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ admin_password: 'a second password' }),
  });
  expect(changed.status).toBe(200);
  // A program of this machine could be the console's page; a script that shows a password is none.
  expect(changed.headers.getSetCookie()).toHaveLength('admin_password' in file ? 0 : 1);
  await askSomething();
  expect(await events.text()).not.toContain('event: request');
});

async function askSomething(): Promise<void> {
  const ask = { model: 'alpha-3-flash', messages: [{ role: 'user', content: 'A secret matter' }] };
  await fetch(`${app.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(ask),
  });
}
