import { createPrivateKey, sign } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonObject } from './json.ts';
import { type OAuthSandbox, readTokens, startOAuthSandbox } from './oauth.test-support.ts';
import { JWT_GRANT } from './oauth.ts';
import { NOON } from './sandbox.test-support.ts';

const EMAIL = 'robot@sandbox-team.iam.sandbox.example';

let sandbox: OAuthSandbox;
let later: OAuthSandbox;
let keyFile: JsonObject;
beforeAll(async () => {
  [sandbox, later] = await Promise.all([startOAuthSandbox(), startOAuthSandbox()]);
  keyFile = (await makeKey({ email: EMAIL })).json;
});
afterAll(() => Promise.all([sandbox.close(), later.close()]));

const makeKey = (body: JsonObject) => sandbox.send('/sandbox/service-accounts', { body });
const NOW_S = NOON / 1000;

/** An assertion as a client library makes it, with what the test wants different. */
function assertion(claims: JsonObject = {}, header: JsonObject = {}): string {
  const all = {
    iss: EMAIL,
    aud: String(keyFile.token_uri),
    scope: 'models',
    iat: NOW_S,
    exp: NOW_S + 3600,
    ...claims,
  };
  const head = { alg: 'RS256', typ: 'JWT', kid: String(keyFile.private_key_id), ...header };
  const text = [head, all].map((part) => encode(JSON.stringify(part))).join('.');
  const key = createPrivateKey(String(keyFile.private_key));
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`;
}

const encode = (text: string): string => Buffer.from(text).toString('base64url');
const trade = (text: string, at: OAuthSandbox = sandbox) =>
  at.token({ grant_type: JWT_GRANT, assertion: text, client_id: '' });

test('the key file has the form client libraries read', () => {
  expect(keyFile).toMatchObject({
    type: 'service_account',
    project_id: 'sandbox-team',
    private_key_id: expect.stringMatching(/^[0-9a-f]{40}$/),
    private_key: expect.stringMatching(/^-----BEGIN PRIVATE KEY-----\n/),
    client_email: EMAIL,
    token_uri: sandbox.oauth.tokenUrl,
  });
  const { asymmetricKeyDetails } = createPrivateKey(String(keyFile.private_key));
  expect(asymmetricKeyDetails).toMatchObject({ modulusLength: 2048, publicExponent: 65_537n });
});

test('an assertion becomes an access token, without client and without refresh token', async () => {
  const { status, json } = await trade(assertion());
  expect(status).toBe(200);
  expect(json).toEqual({
    access_token: expect.any(String),
    token_type: 'Bearer',
    expires_in: 3600,
    scope: 'models',
  });
  const headers = { authorization: `Bearer ${json.access_token}` };
  expect((await sandbox.send('/v1beta/quota', { headers })).json).toMatchObject({
    tier: 'pro',
    project: 'sandbox-team',
  });
});

test('a key file works after a restart, though the address has changed', async () => {
  const { json } = await trade(assertion(), later);
  expect(await later.call(readTokens(json).access)).toBe(200);
});

test('the same e-mail always has the same key, another one another', async () => {
  expect((await makeKey({ email: EMAIL.toUpperCase() })).json).toEqual(keyFile);
  const other = (await makeKey({})).json;
  expect(other.client_email).toBe('worker@sandbox-workshop.iam.sandbox.example');
  expect(other.private_key).not.toBe(keyFile.private_key);
});

test.each([
  ['another issuer', { iss: 'other@sandbox-team.iam.sandbox.example' }, {}, 'invalid_grant'],
  ['a person as issuer', { iss: 'ada@sandbox.example' }, {}, 'invalid_grant'],
  ['a subject', { sub: 'ada@sandbox.example' }, {}, 'unauthorized_client'],
  ['another audience', { aud: 'https://oauth2.vendor.example/token' }, {}, 'invalid_grant'],
  [
    'an audience that only begins so',
    { aud: 'http://127.0.0.1:1/oauth/token/x' },
    {},
    'invalid_grant',
  ],
  ['no times', { iat: null }, {}, 'invalid_grant'],
  ['an end in the past', { iat: NOW_S - 3600, exp: NOW_S }, {}, 'invalid_grant'],
  ['a begin in the future', { iat: NOW_S + 61, exp: NOW_S + 90 }, {}, 'invalid_grant'],
  ['more than an hour', { exp: NOW_S + 3601 }, {}, 'invalid_grant'],
  ['an end before its begin', { iat: NOW_S + 30, exp: NOW_S + 20 }, {}, 'invalid_grant'],
  ['no scope', { scope: '' }, {}, 'invalid_scope'],
  ['an unknown scope', { scope: 'everything' }, {}, 'invalid_scope'],
  ['no algorithm', {}, { alg: 'none' }, 'invalid_grant'],
  ['a shared-secret algorithm', {}, { alg: 'HS256' }, 'invalid_grant'],
  ['another key id', {}, { kid: 'f'.repeat(40) }, 'invalid_grant'],
])('an assertion with %s is refused', async (_name, claims, header, error) => {
  expect((await trade(assertion(claims, header))).json.error).toBe(error);
});

test('an assertion whose content or signature was changed is refused', async () => {
  const [head, , signature] = assertion().split('.');
  const [, richer] = assertion({ exp: NOW_S + 3599 }).split('.');
  for (const text of [`${head}.${richer}.${signature}`, `${head}.${richer}.`, 'a.b', '', '...']) {
    expect((await trade(text)).json.error).toMatch(/^invalid_(?:grant|request)$/);
  }
});

test('a revoked key makes no tokens until it is made again', async () => {
  const { access } = readTokens((await trade(assertion())).json);
  await sandbox.send(`/sandbox/accounts/${EMAIL}/revoke`, { method: 'POST' });
  expect(await sandbox.call(access)).toBe(401);
  expect((await trade(assertion())).json.error).toBe('invalid_grant');
  await makeKey({ email: EMAIL });
  expect((await trade(assertion())).status).toBe(200);
});

test('an e-mail no service account can have is refused', async () => {
  for (const email of ['ada@sandbox.example', 'x@team.iam.sandbox.example', '<b>']) {
    expect((await makeKey({ email })).status).toBe(400);
  }
  expect((await makeKey({ mail: EMAIL })).status).toBe(400);
});
