// The provider as certified client libraries see it: they check the grammar of every answer.

import { importPKCS8, SignJWT } from 'jose';
import * as oauth from 'oauth4webapi';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OAuthSandbox, REDIRECT, startOAuthSandbox, targetOf } from './oauth.test-support.ts';
import { JWT_GRANT } from './oauth.ts';
import { NOON } from './sandbox.test-support.ts';

const client: oauth.Client = { client_id: 'isthmus-sandbox' };
const authentication = oauth.None();
const insecure = { [oauth.allowInsecureRequests]: true };

let sandbox: OAuthSandbox;
let server: oauth.AuthorizationServer;
beforeAll(async () => {
  sandbox = await startOAuthSandbox();
  const issuer = new URL(sandbox.url);
  const found = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure });
  server = await oauth.processDiscoveryResponse(issuer, found);
});
afterAll(() => sandbox.close());

/** The parameters that come back from the consent page, checked, and the verifier. */
async function authorize(decision: 'allow' | 'refuse') {
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const code_challenge = await oauth.calculatePKCECodeChallenge(verifier);
  const page = await sandbox.ask({ code_challenge, state });
  const form = { decision, person: 'alan@sandbox.example', tier: 'pro' };
  const target = targetOf(await sandbox.answer(page, form));
  return { verifier, parameters: oauth.validateAuthResponse(server, client, target, state) };
}

async function signIn() {
  const { verifier, parameters } = await authorize('allow');
  const reply = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    authentication,
    parameters,
    REDIRECT,
    verifier,
    insecure,
  );
  return oauth.processAuthorizationCodeResponse(server, client, reply);
}

async function refresh(token: string) {
  const reply = await oauth.refreshTokenGrantRequest(
    server,
    client,
    authentication,
    token,
    insecure,
  );
  return oauth.processRefreshTokenResponse(server, client, reply);
}

test('a client library signs in, refreshes, asks who it is, and revokes', async () => {
  const first = await signIn();
  const second = await refresh(first.refresh_token ?? '');
  const info = await oauth.userInfoRequest(server, client, second.access_token, insecure);
  expect(await oauth.processUserInfoResponse(server, client, oauth.skipSubjectCheck, info)).toEqual(
    {
      sub: 'alan@sandbox.example',
      email: 'alan@sandbox.example',
      email_verified: true,
    },
  );
  const token = second.refresh_token ?? '';
  const gone = await oauth.revocationRequest(server, client, authentication, token, insecure);
  await oauth.processRevocationResponse(gone);
  await expect(refresh(token)).rejects.toMatchObject({ error: 'invalid_grant', status: 400 });
  expect(await sandbox.call(second.access_token)).toBe(401);
});

test('a client library reads a refusal, and a wrong secret', async () => {
  await expect(authorize('refuse')).rejects.toMatchObject({ error: 'access_denied' });
  const wrong = oauth.ClientSecretBasic('wrong');
  const reply = await oauth.refreshTokenGrantRequest(server, client, wrong, 'x', insecure);
  await expect(oauth.processRefreshTokenResponse(server, client, reply)).rejects.toMatchObject({
    status: 401,
  });
});

test('an assertion of another library is taken', async () => {
  const { json: file } = await sandbox.send('/sandbox/service-accounts', { body: {} });
  const key = await importPKCS8(String(file.private_key), 'RS256');
  const assertion = await new SignJWT({ scope: 'models' })
    .setProtectedHeader({ alg: 'RS256', kid: String(file.private_key_id) })
    .setIssuer(String(file.client_email))
    .setAudience(sandbox.oauth.tokenUrl)
    .setIssuedAt(NOON / 1000)
    .setExpirationTime(NOON / 1000 + 600)
    .sign(key);
  const reply = await oauth.genericTokenEndpointRequest(
    server,
    client,
    authentication,
    JWT_GRANT,
    { assertion },
    insecure,
  );
  const tokens = await oauth.processGenericTokenEndpointResponse(server, client, reply);
  expect(await sandbox.call(tokens.access_token)).toBe(200);
});
