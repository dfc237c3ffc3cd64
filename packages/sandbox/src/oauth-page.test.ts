import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  CHALLENGE,
  CLIENT,
  goodQuery,
  type OAuthSandbox,
  REDIRECT,
  startOAuthSandbox,
  targetOf,
  ticketOf,
} from './oauth.test-support.ts';

const EVIL_CLIENT = {
  id: 'evil',
  name: '<img src=x onerror=alert(1)>"\'&',
  redirectUrls: ['https://app.example/back?from=sandbox'],
};

let sandbox: OAuthSandbox;
beforeAll(async () => {
  sandbox = await startOAuthSandbox({
    clients: [EVIL_CLIENT],
    redirectUrls: ['https://gateway.example/api/oauth/callback'],
  });
});
afterAll(() => sandbox.close());

const allow = { decision: 'allow', person: 'hedy@sandbox.example', tier: 'ultra' };

test('the metadata names the endpoints that start gives', async () => {
  const { json } = await sandbox.send('/.well-known/oauth-authorization-server');
  const { oauth, url } = sandbox;
  expect(json).toMatchObject({
    issuer: url,
    authorization_endpoint: oauth.authorizationUrl,
    token_endpoint: oauth.tokenUrl,
    revocation_endpoint: oauth.revocationUrl,
    userinfo_endpoint: oauth.userInfoUrl,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  });
  expect(oauth).toMatchObject({ issuer: url, clientId: CLIENT });
});

test('the consent page shows the client, the address, the scopes and the people', async () => {
  const page = await sandbox.ask({ scope: 'models profile' });
  const text = await page.text();
  for (const words of ['isthmus asks for access', '127.0.0.1:5123', 'See your name', 'Hedy']) {
    expect(text).toContain(words);
  }
  expect(text).not.toContain('See your e-mail');
});

test('the consent page runs no script, loads nothing, and stands in no frame', async () => {
  const page = await sandbox.ask();
  const policy = page.headers.get('content-security-policy') ?? '';
  expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self' /);
  expect(policy).toContain("form-action 'self' http://127.0.0.1:5123;");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(await page.text()).not.toMatch(/<script|style="|(?:src|href)=/);
});

test('a yes brings back a code with state and issuer as they were', async () => {
  const state = 'a&b=<"ü ';
  const target = targetOf(await sandbox.answer(await sandbox.ask({ state }), allow));
  expect(target.origin + target.pathname).toBe(REDIRECT);
  expect(target.searchParams.get('state')).toBe(state);
  expect(target.searchParams.get('iss')).toBe(sandbox.url);
  expect(target.searchParams.get('code')).toMatch(/^sandbox-code-/);
});

test('a missing state is allowed, and none is made up', async () => {
  const target = targetOf(await sandbox.answer(await sandbox.ask({ state: '' }), allow));
  expect(target.searchParams.has('code')).toBe(true);
  expect(target.searchParams.has('state')).toBe(false);
});

test('a no brings back access_denied, with state and issuer', async () => {
  const target = targetOf(await sandbox.answer(await sandbox.ask(), { decision: 'refuse' }));
  expect(Object.fromEntries(target.searchParams)).toMatchObject({
    error: 'access_denied',
    state: 'state-1',
    iss: sandbox.url,
  });
});

test('the hinted person is chosen already', async () => {
  const known = await (await sandbox.ask({ login_hint: 'Alan@sandbox.example' })).text();
  expect(known).toMatch(/value="alan@sandbox.example" checked/);
  const typed = await (await sandbox.ask({ login_hint: 'zoe@sandbox.example' })).text();
  expect(typed).toMatch(/value="someone" checked.*value="zoe@sandbox.example"/s);
});

test.each([
  ['no response type', { response_type: '' }, 'invalid_request'],
  ['an implicit response', { response_type: 'token' }, 'unsupported_response_type'],
  ['no challenge', { code_challenge: '' }, 'invalid_request'],
  ['a challenge that is no hash', { code_challenge: 'short' }, 'invalid_request'],
  ['the plain method', { code_challenge_method: 'plain' }, 'invalid_request'],
  ['no method, which means plain', { code_challenge_method: '' }, 'invalid_request'],
  ['another response mode', { response_mode: 'fragment' }, 'invalid_request'],
  ['an unknown scope', { scope: 'models everything' }, 'invalid_scope'],
])('%s is told to the client', async (_name, change, error) => {
  const target = targetOf(await sandbox.ask(change));
  expect(target.origin + target.pathname).toBe(REDIRECT);
  expect(Object.fromEntries(target.searchParams)).toMatchObject({
    error,
    state: 'state-1',
    iss: sandbox.url,
  });
});

test('a parameter given twice is told to the client', async () => {
  const query = `${new URLSearchParams(goodQuery())}&scope=models&scope=email`;
  const reply = await fetch(`${sandbox.oauth.authorizationUrl}?${query}`, { redirect: 'manual' });
  expect(targetOf(reply).searchParams.get('error')).toBe('invalid_request');
});

test.each([
  ['an unknown client', { client_id: 'nobody' }],
  ['no return address', { redirect_uri: '' }],
  ['another path', { redirect_uri: 'http://127.0.0.1:5123/callback/more' }],
  ['another query', { redirect_uri: 'http://127.0.0.1:5123/callback?a=1' }],
  ['a path with dots', { redirect_uri: 'http://127.0.0.1:5123/x/../callback' }],
  ['a fragment', { redirect_uri: `${REDIRECT}#a` }],
  ['another host', { redirect_uri: 'http://127.0.0.2:5123/callback' }],
  ['a host that only begins so', { redirect_uri: 'http://127.0.0.1.evil.example/callback' }],
  ['a user name in front', { redirect_uri: 'http://127.0.0.1@evil.example/callback' }],
  ['https on this machine', { redirect_uri: 'https://127.0.0.1:5123/callback' }],
  ['a port that is none', { redirect_uri: 'http://127.0.0.1:99999/callback' }],
  ['a port on a public host', { redirect_uri: 'https://gateway.example:1/api/oauth/callback' }],
  ['a script', { redirect_uri: 'javascript:alert(1)' }],
])('%s is shown here and sent nowhere', async (_name, change) => {
  const reply = await sandbox.ask(change);
  expect([reply.status, reply.headers.get('location')]).toEqual([400, null]);
  expect(await reply.text()).toContain('cannot go on');
});

test.each([
  'http://127.0.0.1/callback',
  'http://127.0.0.1:1/callback',
  'http://[::1]:60000/api/oauth/callback',
  'http://localhost:8045/oauth/callback',
  'https://gateway.example/api/oauth/callback',
])('%s is a return address', async (address) => {
  expect((await sandbox.ask({ redirect_uri: address })).status).toBe(200);
});

test('names of clients and e-mails are shown as text', async () => {
  const evil = { client_id: EVIL_CLIENT.id, redirect_uri: EVIL_CLIENT.redirectUrls[0] ?? '' };
  const page = await sandbox.ask({ ...evil, login_hint: '"><script>alert(1)</script>' });
  const text = await page.clone().text();
  expect(text).toContain('&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp; asks');
  expect(text).not.toMatch(/<img|<script/);
  const form = { ...allow, person: 'someone', email: '<b>x</b>@sandbox.example' };
  const again = await sandbox.answer(page, form);
  const shown = await again.text();
  expect(again.status).toBe(400);
  expect(shown).toContain('&lt;b&gt;x&lt;/b&gt;@sandbox.example');
  expect(shown).not.toContain('<b>x');
});

test('a return address keeps its own query', async () => {
  const evil = { client_id: EVIL_CLIENT.id, redirect_uri: EVIL_CLIENT.redirectUrls[0] ?? '' };
  const target = targetOf(await sandbox.answer(await sandbox.ask(evil), allow));
  expect(target.href).toMatch(/^https:\/\/app\.example\/back\?from=sandbox&code=/);
});

test.each(['x@elsewhere.example', '', 'a b@sandbox.example', `${'x'.repeat(70)}@sandbox.example`])(
  'the e-mail %j is refused, and the form can be mended',
  async (email) => {
    const form = { ...allow, person: 'someone', email };
    const refused = await sandbox.answer(await sandbox.ask(), form);
    expect(refused.status).toBe(400);
    const mended = { ...form, email: ' Zoe.Two@Sandbox.example ' };
    expect(targetOf(await sandbox.answer(refused, mended)).searchParams.has('code')).toBe(true);
  },
);

test('a decision needs a page the sandbox showed, less than ten minutes ago', async () => {
  const forged = { ...allow, ticket: 'sandbox-ticket.e30.AAAA' };
  expect((await sandbox.post(sandbox.oauth.authorizationUrl, forged)).status).toBe(400);
  const ticket = ticketOf(await (await sandbox.ask()).text());
  sandbox.clock.advance(600_000);
  const late = await sandbox.post(sandbox.oauth.authorizationUrl, { ...allow, ticket });
  expect([late.status, late.headers.get('location')]).toEqual([400, null]);
});

test('an unknown plan is refused', async () => {
  const reply = await sandbox.answer(await sandbox.ask(), { ...allow, tier: 'gold' });
  expect(reply.status).toBe(400);
});

test('no other page can answer, or ask for tokens', async () => {
  const ticket = ticketOf(await (await sandbox.ask()).text());
  for (const origin of ['https://page.example', 'null']) {
    const headers = { origin };
    const { authorizationUrl, tokenUrl } = sandbox.oauth;
    expect((await sandbox.post(authorizationUrl, { ...allow, ticket }, headers)).status).toBe(403);
    expect((await sandbox.post(tokenUrl, { grant_type: 'x' }, headers)).status).toBe(403);
  }
  const own = await sandbox.post(
    sandbox.oauth.authorizationUrl,
    { ...allow, ticket },
    { origin: sandbox.url },
  );
  expect(own.status).toBe(303);
});

test('the challenge of the request is what the code is held to, not one of the form', async () => {
  const form = { ...allow, code_challenge: 'x'.repeat(43), redirect_uri: 'https://evil.example/' };
  const target = targetOf(await sandbox.answer(await sandbox.ask(), form));
  expect(target.origin).toBe(new URL(REDIRECT).origin);
  expect((await sandbox.redeem(target.searchParams.get('code') ?? '')).status).toBe(200);
  expect(CHALLENGE).toHaveLength(43);
});
