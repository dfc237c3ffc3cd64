// Every admin route of the whole gateway with every role, and what a role must not reach by a route it may use.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { includesRole, ROLES, type Role } from '../../src/access/people.ts';
import { plainCookieName } from '../../src/server/admin-route.ts';
import { KEY, STRICT, startApp, type TestApp } from '../support/app.ts';

const PASSWORD = 'the password of the console';
const PROMPT = 'a prompt that is nobody else’s business';
const BROWSER = { address: '127.0.0.1', cookie: undefined };

let app: TestApp;
let cookies: Readonly<Record<Role, string>>;

beforeAll(async () => {
  app = await startApp({
    environment: { ...STRICT, WEB_PASSWORD: PASSWORD },
    file: { proxy: { monitor: { bodies: true } } },
  });
  cookies = {
    viewer: await signedIn('viewer'),
    operator: await signedIn('operator'),
    owner: await signedIn('owner'),
  };
});
afterAll(() => app.close());

/** The cookie of a person of that role. */
async function signedIn(role: Role): Promise<string> {
  const { login, people } = app.app.access;
  const person = await people.add({ name: role, role, passwordHash: PASSWORD });
  const { secret } = await login.beginFor(person, BROWSER);
  return `${plainCookieName(login.cookieTag)}=${secret}`;
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

async function ask(role: Role, method: string, path: string, body?: object): Promise<Answer> {
  const answer = await fetch(app.url + path, {
    method,
    redirect: 'manual',
    headers: {
      ...{ cookie: cookies[role], 'x-isthmus-console': '1', 'x-forwarded-for': '203.0.113.9' },
      'x-isthmus-password': encodeURIComponent(PASSWORD),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  // Events go on for ever: that they begin is enough.
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream');
  if (isStream) await answer.body?.cancel();
  return { status: answer.status, text: isStream ? '' : await answer.text() };
}

const FORBIDDEN = { error: { code: 'forbidden', message: { text: expect.any(String) } } };

test.each(ROLES)('as %s every route answers as its least role says', async (role) => {
  const routes = app.app.server.routes.routes.flatMap(({ kind, method, path, access }) => {
    if (kind !== 'admin' || access === 'public') return [];
    return [{ method, path: path.replaceAll(/\{\w+\}/g, 'x'), access }];
  });
  expect(routes.length).toBeGreaterThan(60);
  for (const { method, path, access } of routes) {
    // Signs out whoever asks; it is tried by itself.
    if (`${method} ${path}` === 'DELETE /api/session') continue;
    const body = method === 'GET' || method === 'DELETE' ? undefined : {};
    const { status, text } = await ask(role, method, path, body);
    if (includesRole(role, access)) {
      expect([method, path, status]).not.toEqual([method, path, 401]);
      expect([method, path, status]).not.toEqual([method, path, 403]);
    } else {
      expect([method, path, status]).toEqual([method, path, 403]);
      expect(JSON.parse(text)).toMatchObject(FORBIDDEN);
    }
  }
});

test('a viewer sees that bodies were kept, and nothing of them, by no way', async () => {
  const answer = await fetch(`${app.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'alpha-pro', messages: [{ role: 'user', content: PROMPT }] }),
  });
  await answer.arrayBuffer();
  const word = encodeURIComponent('nobody else');
  const detail = `/api/requests/${answer.headers.get('x-request-id')}`;
  const [seen, hidden] = [await ask('operator', 'GET', detail), await ask('viewer', 'GET', detail)];
  expect(seen.text).toContain(PROMPT);
  expect(JSON.parse(hidden.text)).toMatchObject({ keepsBodies: true });
  expect(hidden.text).not.toContain(PROMPT);
  const list = `/api/requests?search=${word}`;
  await expect
    .poll(async () => JSON.parse((await ask('operator', 'GET', list)).text).requests)
    .toHaveLength(1);
  expect(JSON.parse((await ask('viewer', 'GET', list)).text).requests).toHaveLength(0);
  const file = `/api/export/requests?format=json&search=${word}`;
  expect(JSON.parse((await ask('operator', 'GET', file)).text)).toHaveLength(1);
  expect(JSON.parse((await ask('viewer', 'GET', file)).text)).toHaveLength(0);
  expect((await ask('viewer', 'POST', `${detail}/replay`, {})).status).toBe(403);
});

test('an operator runs the gateway, and decides neither who comes in nor where credentials go', async () => {
  expect((await ask('operator', 'PATCH', '/api/config/pool', {})).status).toBe(200);
  for (const [path, body] of [
    ['/api/config/auth', { admin_password: 'another password' }],
    ['/api/config/auth', { auth_mode: 'off' }],
    ['/api/config/console', {}],
    ['/api/config/network', { outbound_proxy: 'http://127.0.0.1:9' }],
  ] as const) {
    const { status, text } = await ask('operator', 'PATCH', path, body);
    expect([path, status]).toEqual([path, 403]);
    expect(JSON.parse(text)).toMatchObject(FORBIDDEN);
  }
  const invited = { name: 'Zoe', role: 'viewer' };
  const made = await ask('owner', 'POST', '/api/invitations/person', invited);
  expect(made.status).toBe(201);
  const { invitation } = JSON.parse(made.text);
  const path = `/api/invitations/${invitation.id}`;
  expect((await ask('operator', 'DELETE', path)).status).toBe(403);
  expect((await ask('owner', 'DELETE', path)).status).toBe(204);
});

test('who becomes less than an answer that goes on needs reads it no further', async () => {
  const { people } = app.app.access;
  const person = people.findByName('operator');
  const answer = await fetch(`${app.url}/api/events`, { headers: { cookie: cookies.operator } });
  await people.change(person?.id ?? '', { role: 'viewer' });
  // The next event finds that they are no longer who they were.
  await ask('owner', 'POST', '/api/keys', { name: 'new' });
  const text = await answer.text();
  expect(text).not.toContain('"id"');
  await people.change(person?.id ?? '', { role: 'operator' });
});

test('signing out ends the sessions of who asks, and of nobody else', async () => {
  expect((await ask('viewer', 'DELETE', '/api/session')).status).toBe(204);
  expect((await ask('viewer', 'GET', '/api/overview')).status).toBe(401);
  expect((await ask('operator', 'GET', '/api/overview')).status).toBe(200);
});
