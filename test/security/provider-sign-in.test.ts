// Signing in to the console at a real OpenID Connect provider, and every way to come in without one's word.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { isJsonObject, type JsonObject, parseJson } from '../../src/lib/json.ts';
import { STRICT, startApp, type TestApp } from '../support/app.ts';
import { CLIENT, startProvider, type TestProvider } from '../support/oidc-provider.ts';

const PASSWORD = 'the password of the console';
const CONSOLE = { 'x-isthmus-console': '1' };

let app: TestApp;
let provider: TestProvider;

beforeAll(async () => {
  app = await startApp({ environment: { ...STRICT, WEB_PASSWORD: PASSWORD } });
  provider = await startProvider(`${app.url}/sign-in/callback`);
});
afterAll(async () => {
  await app.close();
  await provider.close();
});
beforeEach(async () => {
  provider.person = {
    id: 'ann',
    claims: { email: 'ann@example.com', groups: ['gateway-operators'] },
  };
  await set({});
});
afterEach(async () => {
  provider.forge = undefined;
  for (const { id } of app.app.access.people.list()) await app.app.access.people.remove(id);
});

/** As an owner writes them, so that the secret is sealed. */
async function set(change: JsonObject): Promise<void> {
  const answer = await fetch(`${app.url}/api/config/sign_in`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${PASSWORD}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ issuer: provider.issuer, client_id: CLIENT.id, client_secret: CLIENT.secret },
      ...{ role_claim: 'groups', operators: ['gateway-operators'], owners: ['gateway-owners'] },
      ...{ viewers: [], default_role: 'none', allowed_domains: [], label: 'Example' },
      ...change,
    }),
  });
  expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)]);
}

const cookieOf = (answer: Response): string =>
  answer.headers.get('set-cookie')?.split(';')[0] ?? '';

interface Begun {
  readonly url: string;
  readonly cookie: string;
}

async function begin(more: object = {}): Promise<Begun> {
  const answer = await fetch(`${app.url}/api/session/provider`, {
    method: 'POST',
    headers: { ...CONSOLE, 'content-type': 'application/json' },
    body: JSON.stringify({ origin: app.url, ...more }),
  });
  const body = parseJson(await answer.text());
  expect([answer.status, body]).toEqual([200, { url: expect.any(String) }]);
  const url = isJsonObject(body) && typeof body.url === 'string' ? body.url : '';
  return { url, cookie: cookieOf(answer) };
}

/** The browser comes back. */
const comeBack = (back: URL | string, cookie: string): Promise<Response> =>
  fetch(back, { redirect: 'manual', headers: { cookie } });

async function signIn(more?: object): Promise<Response> {
  const { url, cookie } = await begin(more);
  return comeBack(await provider.signIn(url), cookie);
}

/** Why nobody was signed in. */
function refusal(answer: Response): string | undefined {
  expect(answer.headers.get('set-cookie')).toBeNull();
  expect(answer.status).toBe(303);
  const { pathname, searchParams } = new URL(answer.headers.get('location') ?? '', app.url);
  expect(pathname).toBe('/sign-in/callback');
  return searchParams.get('refused') ?? undefined;
}

async function session(cookie: string): Promise<JsonObject> {
  const answer = await fetch(`${app.url}/api/session`, { headers: { cookie } });
  const body = parseJson(await answer.text());
  if (!isJsonObject(body)) throw new Error('The session is no object.');
  return body;
}

test('who the provider signs in has the role of their claim, and their name in the audit log', async () => {
  const answer = await signIn();
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/']);
  const cookie = cookieOf(answer);
  expect(await session(cookie)).toMatchObject({
    ...{ signedIn: true, role: 'operator', person: 'ann@example.com' },
    provider: { label: 'Example' },
  });
  const made = await fetch(`${app.url}/api/keys`, {
    method: 'POST',
    headers: { ...CONSOLE, cookie, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'a key' }),
  });
  expect(made.status).toBe(201);
  const entries = await app.app.access.audit.list({ person: 'ann@example.com', limit: 5 });
  expect(entries).toMatchObject([{ action: 'POST /api/keys', actor: 'session' }]);
  expect(app.app.access.people.list()).toMatchObject([
    { subject: `${provider.issuer} ann`, isRoleClaimed: true, role: 'operator' },
  ]);
  // The secret stands in the file sealed, and no answer has it.
  expect(JSON.stringify(app.config.raw())).not.toContain(CLIENT.secret);
});

test('the role follows the claim at each sign-in, and nobody comes in when it is gone', async () => {
  await signIn();
  provider.person = { id: 'ann', claims: { email: 'ann@example.com', groups: ['gateway-owners'] } };
  expect(await session(cookieOf(await signIn()))).toMatchObject({ role: 'owner' });
  for (const groups of [undefined, [], ['others'], 'gateway', { a: 'gateway-owners' }, 7]) {
    provider.person = { id: 'ann', claims: { email: 'ann@example.com', groups } };
    expect([groups, refusal(await signIn())]).toEqual([groups, 'role']);
  }
  await set({ default_role: 'viewer' });
  expect(await session(cookieOf(await signIn()))).toMatchObject({ role: 'viewer' });
});

test('a claim within a claim gives a role too', async () => {
  await set({ role_claim: 'groups.gateway' });
  provider.person = { id: 'ann', claims: { groups: { gateway: 'gateway-owners' } } };
  expect(await session(cookieOf(await signIn()))).toMatchObject({ role: 'owner', person: 'ann' });
});

test('of a claim that is an object its names count, and what they hold does not', async () => {
  await set({ role_claim: 'urn:project:roles' });
  const rolesOf = (roles: JsonObject) => {
    provider.person = { id: 'ann', claims: { groups: ['x'], 'urn:project:roles': roles } };
  };
  rolesOf({ 'gateway-operators': { 7: 'gateway-owners' }, 'gateway-owners': false });
  expect(await session(cookieOf(await signIn()))).toMatchObject({ role: 'operator' });
  rolesOf({ others: { 'gateway-owners': 'example.com' } });
  expect(refusal(await signIn())).toBe('role');
});

test('a provider that takes the secret of its client in the body alone is given it there', async () => {
  const strict = await startProvider(`${app.url}/sign-in/callback`, 'client_secret_post');
  strict.person = provider.person;
  await set({ issuer: strict.issuer });
  const { url, cookie } = await begin();
  const answer = await comeBack(await strict.signIn(url), cookie);
  expect(answer.headers.get('location')).toBe('/');
  await strict.close();
});

test('of domains that may sign in an address counts that the provider has verified', async () => {
  await set({ allowed_domains: ['example.com'] });
  const groups = ['gateway-operators'];
  for (const claims of [
    { email: 'ann@example.com' },
    { email: 'ann@example.com', email_verified: false },
    { email: 'ann@example.com.evil.example', email_verified: true },
    { email: 'ann@evil.example', email_verified: true },
    { email: 'example.com@evil.example', email_verified: true },
    {},
  ]) {
    provider.person = { id: 'ann', claims: { ...claims, groups } };
    expect([claims, refusal(await signIn())]).toEqual([claims, 'domain']);
  }
  const claims = { email: 'ann@EXAMPLE.com', email_verified: true, groups };
  provider.person = { id: 'ann', claims };
  expect((await session(cookieOf(await signIn()))).signedIn).toBe(true);
});

test('forged, foreign, repeated and missing states sign nobody in', async () => {
  const one = await begin();
  const other = await begin();
  const back = await provider.signIn(one.url);
  const otherBack = await provider.signIn(other.url);
  const withState = (url: URL, state: string | undefined): URL => {
    const changed = new URL(url);
    if (state === undefined) changed.searchParams.delete('state');
    else changed.searchParams.set('state', state);
    return changed;
  };
  expect(refusal(await comeBack(withState(back, 'invented'), one.cookie))).toBe('unknown');
  expect(refusal(await comeBack(withState(back, undefined), one.cookie))).toBe('unknown');
  const twice = new URL(back);
  twice.searchParams.append('state', 'another');
  expect(refusal(await comeBack(twice, one.cookie))).toBe('unknown');
  // The code of one sign-in with the state of another: its verifier does not fit.
  const state = otherBack.searchParams.get('state') ?? '';
  expect(refusal(await comeBack(withState(back, state), other.cookie))).toBe('unproved');
});

test('a browser that did not begin is signed in by nobody’s link', async () => {
  const { url } = await begin();
  const back = await provider.signIn(url);
  const stranger = await begin();
  expect(refusal(await comeBack(back, ''))).toBe('unknown');
  const again = await begin();
  const second = await provider.signIn(again.url);
  expect(refusal(await comeBack(second, stranger.cookie))).toBe('unknown');
  // What was shown by the wrong browser is used up for the right one.
  expect(refusal(await comeBack(second, again.cookie))).toBe('unknown');
});

test('an answer of the provider is taken once', async () => {
  const { url, cookie } = await begin();
  const back = await provider.signIn(url);
  expect((await comeBack(back, cookie)).headers.get('location')).toBe('/');
  expect(refusal(await comeBack(back, cookie))).toBe('unknown');
  // The same code once more, with a state that waits.
  const next = await begin();
  const replayed = new URL(back);
  replayed.searchParams.set('state', new URL(next.url).searchParams.get('state') ?? '');
  expect(refusal(await comeBack(replayed, next.cookie))).toBe('unproved');
});

const HOUR = 3600;
const SECONDS = Math.floor(Date.now() / 1000);

test.each([
  ['signed by another key', {}, 'another'],
  ['for another audience', { aud: 'another-client' }, 'provider'],
  ['of another issuer', { iss: 'https://evil.example' }, 'provider'],
  ['that expired', { exp: SECONDS - HOUR, iat: SECONDS - 2 * HOUR }, 'provider'],
  ['with another nonce', { nonce: 'another' }, 'provider'],
  ['without a subject', { sub: undefined }, 'provider'],
  ['for several audiences and another party', { aud: [CLIENT.id, 'x'], azp: 'x' }, 'provider'],
] as const)('a token %s signs nobody in', async (_what, change, by) => {
  provider.forge = (token) => provider.resign(token, change, by);
  expect(refusal(await signIn())).toBe('unproved');
  expect(app.app.access.people.list()).toEqual([]);
  // The same, unchanged and signed by the provider, does.
  provider.forge = (token) => provider.resign(token, {});
  expect((await signIn()).headers.get('location')).toBe('/');
});

test('a token without a signature signs nobody in', async () => {
  provider.forge = async (token) => {
    const [, payload] = token.split('.');
    const header = Buffer.from(JSON.stringify({ alg: 'none' })).toString('base64url');
    return `${header}.${payload}.`;
  };
  expect(refusal(await signIn())).toBe('unproved');
});

test('a provider that refuses, or that is another than the settings name, signs nobody in', async () => {
  const { url, cookie } = await begin();
  const state = new URL(url).searchParams.get('state') ?? '';
  const denied = `${app.url}/sign-in/callback?error=access_denied&state=${state}&iss=${provider.issuer}`;
  expect(refusal(await comeBack(denied, cookie))).toBe('denied');
  const mixed = await begin();
  const back = await provider.signIn(mixed.url);
  back.searchParams.set('iss', 'https://evil.example');
  expect(refusal(await comeBack(back, mixed.cookie))).toBe('unproved');
  // Begun before the settings named another client.
  const before = await begin();
  const late = await provider.signIn(before.url);
  await set({ client_id: 'another' });
  expect(refusal(await comeBack(late, before.cookie))).toBe('unknown');
});

test('an issuer that is not what it says cannot be used, and the answer says so plainly', async () => {
  await set({ issuer: `${provider.issuer}/other` });
  const answer = await fetch(`${app.url}/api/session/provider`, {
    method: 'POST',
    headers: { ...CONSOLE, 'content-type': 'application/json' },
    body: JSON.stringify({ origin: app.url }),
  });
  expect(answer.status).toBe(403);
  expect(JSON.stringify(await answer.json())).toContain('cannot be reached');
});

test('the browser goes nowhere but to the provider, and comes back nowhere but to the console', async () => {
  const { url } = await begin();
  expect(url.startsWith(`${provider.issuer}/auth?`)).toBe(true);
  const asked = new URL(url).searchParams;
  expect(asked.get('redirect_uri')).toBe(`${app.url}/sign-in/callback`);
  expect([asked.get('code_challenge_method'), asked.get('response_type')]).toEqual([
    'S256',
    'code',
  ]);
  for (const origin of ['javascript:alert(1)', 'https://evil.example/path', '//evil.example', '']) {
    const answer = await fetch(`${app.url}/api/session/provider`, {
      method: 'POST',
      headers: { ...CONSOLE, 'content-type': 'application/json' },
      body: JSON.stringify({ origin }),
    });
    expect([origin, answer.status]).toEqual([origin, 400]);
  }
  // A page of elsewhere begins nothing.
  const foreign = await fetch(`${app.url}/api/session/provider`, {
    method: 'POST',
    headers: { ...CONSOLE, 'content-type': 'application/json', origin: 'https://evil.example' },
    body: JSON.stringify({ origin: 'https://evil.example' }),
  });
  expect(foreign.status).toBe(403);
  const page = await fetch(`${app.url}/sign-in/callback?refused=role`);
  expect(await page.text()).toContain('gives you no role here');
  const script = await fetch(`${app.url}/sign-in/callback?refused=<script>`, {
    redirect: 'manual',
  });
  expect(script.status).toBe(303);
});

test('an invitation can be accepted at the provider, and its role stays that of the invitation', async () => {
  const { invitations, people } = app.app.access;
  const gift = { kind: 'person', role: 'viewer' } as const;
  const made = { name: 'Ann of Example', gift, createdBy: undefined, lifetimeMs: 60_000 };
  const { secret } = await invitations.create(made);
  provider.person = { id: 'ann', claims: { groups: ['gateway-owners'] } };
  const answer = await signIn({ invitation: secret });
  expect(await session(cookieOf(answer))).toMatchObject({
    role: 'viewer',
    person: 'Ann of Example',
  });
  expect(await session(cookieOf(await signIn()))).toMatchObject({ role: 'viewer' });
  expect(refusal(await signIn({ invitation: secret }))).toBe('known');
  provider.person = { id: 'bob', claims: {} };
  expect(refusal(await signIn({ invitation: secret }))).toBe('invitation');
  expect(people.list()).toHaveLength(1);
});

test('who has the name of somebody else is not taken for them', async () => {
  await app.app.access.people.add({ name: 'ann@example.com', role: 'owner', passwordHash: 'x' });
  expect(refusal(await signIn())).toBe('taken');
});

test('what needs the password again needs a sign-in of the last ten minutes from who has none', async () => {
  provider.person = { id: 'ann', claims: { groups: ['gateway-owners'] } };
  const cookie = cookieOf(await signIn());
  const invite = (name: string) =>
    fetch(`${app.url}/api/invitations/person`, {
      method: 'POST',
      headers: { ...CONSOLE, cookie, 'content-type': 'application/json' },
      body: JSON.stringify({ name, role: 'viewer' }),
    });
  expect((await invite('Bob')).status).toBe(201);
  app.clock.skip(600_000);
  const late = await invite('Cy');
  expect([late.status, await late.text()]).toEqual([
    403,
    expect.stringContaining('last ten minutes'),
  ]);
});
