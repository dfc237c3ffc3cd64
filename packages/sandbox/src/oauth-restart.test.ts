// What outlives the process: tokens prove themselves, so accounts of a stored pool go on working.

import { afterEach, expect, test } from 'vitest';
import { type OAuthSandbox, readTokens, startOAuthSandbox } from './oauth.test-support.ts';

const open: OAuthSandbox[] = [];
afterEach(async () => {
  for (const sandbox of open.splice(0)) await sandbox.close();
});

async function start(seed?: string): Promise<OAuthSandbox> {
  const sandbox = await startOAuthSandbox({ seed });
  open.push(sandbox);
  return sandbox;
}

test('tokens of before a restart open the same account, on the same plan', async () => {
  const tokens = await (await start()).signIn('zoe@sandbox.example', { tier: 'free' });
  const later = await start();
  expect(await later.call(tokens.access)).toBe(200);
  const renewed = readTokens((await later.refresh(tokens.refresh)).json);
  const headers = { authorization: `Bearer ${renewed.access}` };
  const quota = (await later.send('/v1beta/quota', { headers })).json;
  expect(quota).toMatchObject({ tier: 'free', project: 'sandbox-zoe' });
});

test('after a restart the first refresh token seen of a family is the current one', async () => {
  const before = await start();
  const old = await before.signIn('zoe@sandbox.example');
  const young = readTokens((await before.refresh(old.refresh)).json);
  const later = await start();
  const renewed = readTokens((await later.refresh(young.refresh)).json);
  expect((await later.refresh(old.refresh)).json.error).toBe('invalid_grant');
  expect((await later.refresh(renewed.refresh)).json.error).toBe('invalid_grant');
});

test('another seed makes other tokens', async () => {
  const tokens = await (await start('one')).signIn('zoe@sandbox.example');
  const other = await start('two');
  expect(await other.call(tokens.access)).toBe(401);
  expect((await other.refresh(tokens.refresh)).json.error).toBe('invalid_grant');
});

test('a revocation also reaches grants the sandbox has not seen since its start', async () => {
  const tokens = await (await start()).signIn('zoe@sandbox.example');
  const later = await start();
  const revoked = await later.send('/sandbox/accounts/zoe@sandbox.example/revoke', {
    method: 'POST',
  });
  expect(revoked.json).toEqual({ account: 'zoe@sandbox.example', revoked: 0 });
  expect(await later.call(tokens.access)).toBe(401);
  expect((await later.refresh(tokens.refresh)).json.error).toBe('invalid_grant');
  expect(await later.call((await later.signIn('zoe@sandbox.example')).access)).toBe(200);
});
