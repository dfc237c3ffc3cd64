// Every route of the whole gateway, and what each asks of whoever comes without a right to it.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { plainCookieName } from '../../src/server/admin-route.ts';
import { KEY, STRICT, startApp, type TestApp } from '../support/app.ts';

const PASSWORD = 'the password of the console';
/** What anybody may ask for; the files of the console stand beside them. */
const PUBLIC = [
  ...['/api/invitations/accept', '/api/invitations/open', '/api/session', '/api/session/provider'],
  ...['/health', '/healthz', '/livez', '/oauth/callback', '/readyz', '/sign-in'],
  '/sign-in/callback',
];

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ environment: { ...STRICT, WEB_PASSWORD: PASSWORD } });
});
afterAll(() => app.close());

type Headers = Readonly<Record<string, string>>;

interface Route {
  readonly method: string;
  readonly path: string;
  readonly access: string;
  readonly kind: string;
}

function routes(): readonly Route[] {
  const all = app.app.server.routes.routes.map(({ method, path, access, kind }) => {
    return { method, path: path.replaceAll(/\{\w+\}/g, 'x'), access, kind };
  });
  expect(all.length).toBeGreaterThan(80);
  return all;
}

async function ask({ method, path }: Route, headers: Headers): Promise<number> {
  const takesBody = method !== 'GET' && method !== 'DELETE';
  const answer = await fetch(app.url + path, {
    method,
    redirect: 'manual',
    headers: { ...(takesBody ? { 'content-type': 'application/json' } : {}), ...headers },
    ...(takesBody ? { body: '{}' } : {}),
  });
  await answer.arrayBuffer();
  return answer.status;
}

/** `METHOD path status` of every route that said something other than these. */
async function others(
  wanted: readonly number[],
  chosen: readonly Route[],
  headers: Headers,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const route of chosen) {
    const status = await ask(route, headers);
    if (!wanted.includes(status)) found.push(`${route.method} ${route.path} ${status}`);
  }
  return found;
}

test('a few named paths are public, and whoever shows nothing gets 401 or 403 from all others', async () => {
  const open = routes().filter(({ access }) => access === 'public');
  expect([...new Set(open.map(({ path }) => path))].sort()).toEqual(PUBLIC);
  const rest = routes().filter(({ access }) => access !== 'public');
  // Figures are for this machine too: from elsewhere they are asked for like the rest.
  const away = { 'x-forwarded-for': '203.0.113.9' };
  expect(await others([401, 403], rest, away)).toEqual([]);
  expect(await others([401, 403], rest, {})).toEqual(['GET /metrics 200']);
});

test('the key of a client opens no route of the console, the password of the console no model', async () => {
  const admin = routes().filter(
    ({ kind, access, path }) => kind === 'admin' && access !== 'public' && path !== '/metrics',
  );
  const models = routes().filter(({ access }) => access === 'client');
  expect(admin.length).toBeGreaterThan(40);
  // Guesses are counted: after a few nothing is looked at any more.
  expect(await others([401, 429], admin, { authorization: `Bearer ${KEY}` })).toEqual([]);
  expect(await others([401], models, { authorization: `Bearer ${PASSWORD}` })).toEqual([]);
});

test('no change and no sign-in is taken from a page of elsewhere, whatever cookie comes with it', async () => {
  const cookie = await signedIn();
  const writes = routes().filter(
    ({ access, path, method }) =>
      path.startsWith('/api/') && method !== 'GET' && access !== 'client',
  );
  expect(writes.length).toBeGreaterThan(25);
  const console = { cookie, 'x-isthmus-console': '1' };
  for (const headers of [
    { ...console, origin: 'https://evil.example' },
    { ...console, origin: 'http://127.0.0.1:1' },
    { ...console, origin: 'null' },
    { ...console, 'sec-fetch-site': 'cross-site' },
    { ...console, 'sec-fetch-site': 'same-site' },
    { cookie },
  ]) {
    expect(await others([403], writes, headers)).toEqual([]);
  }
  // The cookie itself was good.
  const session = await fetch(`${app.url}/api/session`, { headers: { cookie } });
  expect(await session.json()).toMatchObject({ signedIn: true });
});

test('nothing is changed by looking: a GET for a change is refused', async () => {
  const cookie = await signedIn();
  const readable = new Set(
    routes()
      .filter(({ method }) => method === 'GET')
      .map(({ path }) => path),
  );
  const writes = routes().filter(
    ({ path, method }) => path.startsWith('/api/') && method !== 'GET' && !readable.has(path),
  );
  const looks = writes.map((route) => ({ ...route, method: 'GET' }));
  expect(await others([404, 405], looks, { cookie })).toEqual([]);
});

test('from a page of elsewhere no route answers a question about what it takes', async () => {
  for (const { path } of routes()) {
    const answer = await fetch(app.url + path, {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    });
    const allowed = [...answer.headers.keys()].filter((name) => name.startsWith('access-control'));
    expect([path, answer.status, allowed]).toEqual([path, 204, []]);
  }
});

/** The cookie of a browser. */
async function signedIn(): Promise<string> {
  const { login } = app.app.access;
  const begun = await login.redeemLink(login.createLink(), {
    address: '127.0.0.1',
    cookie: undefined,
  });
  if (begun === undefined) throw new Error('The link of a moment ago does not work.');
  return `${plainCookieName(login.cookieTag)}=${begun.secret}`;
}
