import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  CLIENT,
  modelCall,
  type OAuthSandbox,
  readTokens,
  startOAuthSandbox,
} from './oauth.test-support.ts';

const SECRET = 'isthmus-sandbox-secret';
const OTHER = { id: 'other', name: 'Other', redirectUrls: ['http://127.0.0.1/callback'] };

let sandbox: OAuthSandbox;
beforeAll(async () => {
  sandbox = await startOAuthSandbox({ clients: [OTHER] });
});
beforeEach(() => sandbox.send('/sandbox/faults', { method: 'DELETE' }));
afterAll(() => sandbox.close());

test('a code becomes tokens that open the models', async () => {
  const code = await sandbox.consent('zoe@sandbox.example', { tier: 'ultra' });
  const { status, headers, json } = await sandbox.redeem(code);
  expect(status).toBe(200);
  expect(headers.get('cache-control')).toBe('no-store');
  expect(json).toMatchObject({ token_type: 'Bearer', expires_in: 3600, scope: 'models email' });
  const [path, options] = modelCall(readTokens(json).access);
  expect((await sandbox.send(path, options)).status).toBe(200);
  const quota = await sandbox.send('/v1beta/quota', { headers: options.headers });
  expect(quota.json).toMatchObject({ tier: 'ultra', project: 'sandbox-zoe' });
});

test.each([
  ['another verifier', { code_verifier: 'v'.repeat(43) }, 'invalid_grant'],
  ['no verifier', { code_verifier: '' }, 'invalid_request'],
  ['a verifier outside the grammar', { code_verifier: 'ä'.repeat(43) }, 'invalid_request'],
  ['another port', { redirect_uri: 'http://127.0.0.1:5124/callback' }, 'invalid_grant'],
  ['no return address', { redirect_uri: '' }, 'invalid_grant'],
  ['another client', { client_id: OTHER.id }, 'invalid_grant'],
  ['no client', { client_id: '' }, 'invalid_client'],
  ['no code', { code: '' }, 'invalid_request'],
  ['an unknown code', { code: 'sandbox-code-x' }, 'invalid_grant'],
  ['another grant type', { grant_type: 'password' }, 'unsupported_grant_type'],
])('a code with %s is refused', async (_name, change, error) => {
  const reply = await sandbox.redeem(await sandbox.consent('eve@sandbox.example'), change);
  expect(reply.json).toEqual({ error, error_description: expect.any(String) });
  expect(reply.status).toBe(error === 'invalid_client' ? 401 : 400);
});

test('a wrong verifier uses the code up', async () => {
  const code = await sandbox.consent('eve@sandbox.example');
  await sandbox.redeem(code, { code_verifier: 'v'.repeat(43) });
  expect((await sandbox.redeem(code)).json.error).toBe('invalid_grant');
});

test('a code lives a minute', async () => {
  const [early, late] = [
    await sandbox.consent('eve@sandbox.example'),
    await sandbox.consent('eve@sandbox.example'),
  ];
  sandbox.clock.advance(59_999);
  expect((await sandbox.redeem(early)).status).toBe(200);
  sandbox.clock.advance(1);
  expect((await sandbox.redeem(late)).json.error).toBe('invalid_grant');
});

test('a code used twice takes the tokens of its first use away', async () => {
  const code = await sandbox.consent('eve@sandbox.example');
  const { access, refresh } = readTokens((await sandbox.redeem(code)).json);
  expect((await sandbox.redeem(code)).json.error).toBe('invalid_grant');
  expect(await sandbox.call(access)).toBe(401);
  expect((await sandbox.refresh(refresh)).json.error).toBe('invalid_grant');
});

test('a refresh token is replaced at each use', async () => {
  const first = await sandbox.signIn('rosa@sandbox.example');
  const second = readTokens((await sandbox.refresh(first.refresh)).json);
  const third = readTokens((await sandbox.refresh(second.refresh)).json);
  expect(new Set([first.refresh, second.refresh, third.refresh]).size).toBe(3);
  expect(await sandbox.call(third.access)).toBe(200);
});

test('a refresh token used twice takes the whole family away', async () => {
  const first = await sandbox.signIn('rosa@sandbox.example');
  const other = await sandbox.signIn('rosa@sandbox.example');
  const second = readTokens((await sandbox.refresh(first.refresh)).json);
  expect((await sandbox.refresh(first.refresh)).json.error).toBe('invalid_grant');
  expect((await sandbox.refresh(second.refresh)).json.error).toBe('invalid_grant');
  expect([await sandbox.call(first.access), await sandbox.call(second.access)]).toEqual([401, 401]);
  expect(await sandbox.call(other.access)).toBe(200);
});

test('of many refreshes at once with one token, one gets through', async () => {
  const { refresh } = await sandbox.signIn('rosa@sandbox.example');
  const replies = await Promise.all(Array.from({ length: 20 }, () => sandbox.refresh(refresh)));
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
});

test('a refresh token is good for its client only', async () => {
  const { refresh } = await sandbox.signIn('rosa@sandbox.example');
  const stolen = await sandbox.refresh(refresh, { client_id: OTHER.id });
  expect(stolen.json.error).toBe('invalid_grant');
  expect((await sandbox.refresh(refresh)).status).toBe(200);
});

test('a refresh may ask for less, never for more', async () => {
  const { refresh } = await sandbox.signIn('rosa@sandbox.example');
  const more = await sandbox.refresh(refresh, { scope: 'models profile' });
  expect(more.json.error).toBe('invalid_scope');
  const less = await sandbox.refresh(refresh, { scope: 'email' });
  expect(less.json.scope).toBe('email');
  expect(await sandbox.call(readTokens(less.json).access)).toBe(403);
});

test('an access token ends after its hour, to the millisecond', async () => {
  const { access } = await sandbox.signIn('rosa@sandbox.example');
  sandbox.clock.advance(3_599_999);
  expect(await sandbox.call(access)).toBe(200);
  sandbox.clock.advance(1);
  expect(await sandbox.call(access)).toBe(401);
});

test('a changed token is no token', async () => {
  const { access, refresh } = await sandbox.signIn('rosa@sandbox.example');
  const [head, payload = '', code] = access.split('.');
  const richer = JSON.parse(Buffer.from(payload, 'base64url').toString());
  richer.grant.email = 'ada@sandbox.example';
  const forged = `${head}.${Buffer.from(JSON.stringify(richer)).toString('base64url')}.${code}`;
  for (const bad of [forged, `${access}.x`, refresh, access.slice(0, -3), 'sandbox-access.e30.']) {
    expect(await sandbox.call(bad)).toBe(401);
  }
  const asRefresh = access.replace('sandbox-access', 'sandbox-refresh');
  expect((await sandbox.refresh(asRefresh)).json.error).toBe('invalid_grant');
});

test('a client secret may be left out, and must be right when it is sent', async () => {
  const basic = (secret: string) => ({
    authorization: `Basic ${Buffer.from(`${CLIENT}:${secret}`).toString('base64')}`,
  });
  const attempt = async (form: Record<string, string>, headers = {}) => {
    const { refresh } = await sandbox.signIn('kim@sandbox.example');
    return (
      await sandbox.token({ grant_type: 'refresh_token', refresh_token: refresh, ...form }, headers)
    ).status;
  };
  expect(await attempt({ client_secret: SECRET })).toBe(200);
  expect(await attempt({ client_secret: 'wrong' })).toBe(401);
  expect(await attempt({}, basic(SECRET))).toBe(200);
  expect(await attempt({ client_id: '' }, basic(SECRET))).toBe(200);
  expect(await attempt({}, basic('wrong'))).toBe(401);
  expect(await attempt({ client_secret: SECRET }, basic(SECRET))).toBe(400);
  expect(await attempt({ client_id: OTHER.id }, basic(SECRET))).toBe(401);
  expect(await attempt({}, { authorization: 'Basic ?' })).toBe(401);
});

test('only forms are read, each parameter once, none of them huge', async () => {
  const { tokenUrl } = sandbox.oauth;
  const json = await fetch(tokenUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  expect([json.status, await json.json()]).toMatchObject([400, { error: 'invalid_request' }]);
  const twice = new URLSearchParams([
    ['grant_type', 'refresh_token'],
    ['grant_type', 'password'],
  ]);
  expect((await sandbox.post(tokenUrl, twice)).status).toBe(400);
  expect((await sandbox.post(tokenUrl, { code: 'x'.repeat(20_000) })).status).toBe(400);
  expect((await sandbox.post(tokenUrl, { code: 'x'.repeat(70_000) })).status).toBe(413);
});

test('either token revokes its grant; an unknown token is no fault', async () => {
  const revoke = (token: string, client = CLIENT) =>
    sandbox.post(sandbox.oauth.revocationUrl, { token, client_id: client });
  const [one, two] = [
    await sandbox.signIn('ivy@sandbox.example'),
    await sandbox.signIn('ivy@sandbox.example'),
  ];
  expect((await revoke(one.refresh, OTHER.id)).status).toBe(400);
  expect((await revoke(one.refresh, '')).status).toBe(401);
  expect(await sandbox.call(one.access)).toBe(200);
  expect((await revoke(one.refresh)).status).toBe(200);
  expect((await revoke(two.access)).status).toBe(200);
  expect((await revoke('unknown')).status).toBe(200);
  expect([await sandbox.call(one.access), await sandbox.call(two.access)]).toEqual([401, 401]);
  expect((await sandbox.refresh(two.refresh)).json.error).toBe('invalid_grant');
});

test('userinfo tells what the scopes allow', async () => {
  const info = async (access: string) => {
    const headers = { authorization: `Bearer ${access}` };
    return sandbox.send('/oauth/userinfo', { headers });
  };
  const scope = { query: { scope: 'openid email profile' } };
  const person = await sandbox.signIn('ivy@sandbox.example', scope);
  expect((await info(person.access)).json).toEqual({
    sub: 'ivy@sandbox.example',
    email: 'ivy@sandbox.example',
    email_verified: true,
    name: 'Ivy',
  });
  expect(await sandbox.call(person.access)).toBe(403);
  const plain = await sandbox.signIn('ivy@sandbox.example', { query: { scope: 'models' } });
  expect([(await info(plain.access)).status, (await info('nonsense')).status]).toEqual([403, 401]);
});

test('real names of scopes are taken', async () => {
  const scope =
    'https://www.vendor.example/auth/cloud-platform https://v.example/auth/userinfo.email';
  const { access } = await sandbox.signIn('ivy@sandbox.example', { query: { scope } });
  expect(await sandbox.call(access)).toBe(200);
});

test('an access token is Bearer only', async () => {
  const { access } = await sandbox.signIn('ivy@sandbox.example');
  const [path, { body }] = modelCall(access);
  const none = { authorization: '' };
  expect((await sandbox.send(`${path}?key=${access}`, { body, headers: none })).status).toBe(401);
  const headers = { ...none, 'x-vendora-api-key': access };
  expect((await sandbox.send(path, { body, headers })).status).toBe(401);
});

test('a fault of the token endpoint leaves the refresh token as it was', async () => {
  const { refresh } = await sandbox.signIn('fay@sandbox.example');
  const add = (body: Record<string, string | number>) =>
    sandbox.send('/sandbox/faults', { body: { endpoint: 'token', ...body } });
  await add({ status: 503, retryDelay: '7s', delayMs: 20, account: 'fay@sandbox.example' });
  const failed = await sandbox.refresh(refresh);
  expect([failed.status, failed.json.error]).toEqual([503, 'temporarily_unavailable']);
  expect([failed.headers.get('retry-after'), sandbox.clock.sleeps.at(-1)]).toEqual(['7', 20]);
  await add({ error: 'invalid_grant' });
  const refused = await sandbox.refresh(refresh);
  expect([refused.status, refused.json.error]).toEqual([400, 'invalid_grant']);
  await add({ status: 500, account: 'someone.else@sandbox.example' });
  expect((await sandbox.refresh(refresh)).status).toBe(200);
});

test('a lost answer of the token endpoint has used the refresh token up', async () => {
  const { refresh } = await sandbox.signIn('fay@sandbox.example');
  await sandbox.send('/sandbox/faults', { body: { endpoint: 'token', cutAfterBytes: 10 } });
  await expect(sandbox.refresh(refresh)).rejects.toThrow();
  expect((await sandbox.refresh(refresh)).json.error).toBe('invalid_grant');
});

test('a garbled answer of the token endpoint is no JSON', async () => {
  const { refresh } = await sandbox.signIn('fay@sandbox.example');
  await sandbox.send('/sandbox/faults', { body: { endpoint: 'token', garbage: true } });
  await expect(sandbox.refresh(refresh)).rejects.toThrow();
});

test('a fault that an endpoint does not have is refused', async () => {
  const status = async (body: Record<string, string | number>) =>
    (await sandbox.send('/sandbox/faults', { body })).status;
  expect(await status({ endpoint: 'token', cutAfterEvents: 1 })).toBe(400);
  expect(await status({ error: 'invalid_grant' })).toBe(400);
  expect(await status({ endpoint: 'quota', garbage: 1 })).toBe(400);
  expect(await status({ endpoint: 'toString', status: 500 })).toBe(400);
});
