// A sign-in against the sandbox’s own provider, from consent to revocation.

import { afterEach, expect, test } from 'vitest';
import { startOAuthSandbox } from '../../packages/sandbox/src/oauth.test-support.ts';
import { createAccountBook } from '../../src/accounts/account-book.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import { createTokenSource } from '../../src/oauth/account-tokens.ts';
import { createOAuthOutbound } from '../../src/oauth/oauth-client.ts';
import { createRevoker } from '../../src/oauth/revoker.ts';
import { createSignIns, type PendingSignIn } from '../../src/oauth/sign-ins.ts';
import { createMemoryAccountStore } from '../support/memory-account-store.ts';
import { openSealedValues } from '../support/sealed-values.ts';

const signal = new AbortController().signal;
const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function openAll() {
  const sandbox = await startOAuthSandbox();
  const outbound = createOAuthOutbound({ userAgent: 'isthmus/test' });
  closers.push(
    () => sandbox.close(),
    () => outbound.close(),
  );
  const clock = createSystemClock();
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const random = (): number => 0.5;
  const book = createAccountBook({
    store: createMemoryAccountStore(),
    stored: [],
    seeds: [],
    clock,
    random,
    createId: (prefix) => `${prefix}1`,
    log,
  });
  const { clientId, authorizationUrl, tokenUrl, revocationUrl, userInfoUrl } = sandbox.oauth;
  const settings = {
    clientId,
    authorizationUrl,
    tokenUrl,
    revocationUrl,
    userInfoUrl,
    scopes: ['openid', 'email', 'models'],
  };
  const shared = { book, oauth: { get: () => settings }, clock, fetch: outbound.fetch, log };
  const tokens = createTokenSource({ ...shared, random });
  const signIns = createSignIns({
    ...{ ...shared, pending: openSealedValues<PendingSignIn>({ clock }) },
    onCredentialReplaced: (id) => tokens.forget(id),
  });
  return { sandbox, book, tokens, signIns, revoker: createRevoker(shared) };
}

test('the sandbox signs in, renews, and takes the grant back', async () => {
  const { sandbox, book, tokens, signIns, revoker } = await openAll();
  const redirectUri = 'http://127.0.0.1:5123/api/oauth/callback';
  const started = await signIns.start({ upstreamId: 'sandbox', redirectUri, owner: 'me' });
  const page = await fetch(started.authorizationUrl);
  const choice = {
    decision: 'allow',
    person: 'someone',
    email: 'eve@sandbox.example',
    tier: 'pro',
  };
  const answer = await sandbox.answer(page, choice);
  const response = answer.headers.get('location') ?? '';
  const { account } = await signIns.complete({ owner: 'me', response });
  expect(account.record.label).toBe('eve@sandbox.example');

  const first = await tokens.accessFor(account, { refresh: false, signal });
  expect(await sandbox.call(first.credential)).toBe(200);
  sandbox.clock.advance(1000);
  const renewals = Array.from({ length: 50 }, () =>
    tokens.accessFor(account, { refresh: true, refused: first.credential, signal }),
  );
  const renewed = new Set((await Promise.all(renewals)).map(({ credential }) => credential));
  expect(renewed.size).toBe(1);
  const [second = ''] = renewed;
  expect(second).not.toBe(first.credential);
  expect(await sandbox.call(second)).toBe(200);

  expect(await revoker.removeAndRevoke(account.record.id)).toEqual({ kind: 'revoked' });
  expect(book.list()).toEqual([]);
  expect(await sandbox.call(second)).toBe(401);
});
