// A sign-in from its start to the account it adds or renews, and every way it fails.

import { inspect } from 'node:util';
import { UnsecuredJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { StoreError } from '../../src/accounts/account-store.ts';
import { GatewayError } from '../../src/canonical/error.ts';
import { told } from '../../src/lib/localized-message.ts';
import type { SignIns } from '../../src/oauth/sign-ins.ts';
import { type ConsentChange, textReply } from '../support/fake-identity-provider.ts';
import { createMemoryAccountStore } from '../support/memory-account-store.ts';
import { openWorkshop, UPSTREAM, type Workshop, type WorkshopOptions } from './workshop.ts';

type CompleteSignIn = Parameters<SignIns['complete']>[0];

const OWNER = 'console-session-1';
const REDIRECT = 'http://127.0.0.1:8045/api/oauth/callback';
const EMAIL = 'one@example.com';

function start(workshop: Workshop, change: object = {}): ReturnType<SignIns['start']> {
  const request = { upstreamId: UPSTREAM, redirectUri: REDIRECT, owner: OWNER, ...change };
  return workshop.signIns.start(request);
}

function complete(workshop: Workshop, response: string, change: Partial<CompleteSignIn> = {}) {
  return workshop.signIns.complete({ owner: OWNER, response, ...change });
}

async function signIn(workshop: Workshop, email = EMAIL, change: object = {}) {
  const { authorizationUrl } = await start(workshop, change);
  return complete(workshop, workshop.provider.consent(authorizationUrl, email));
}

async function errorOf(promise: Promise<unknown>): Promise<GatewayError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof GatewayError) return error;
  throw new Error(`no GatewayError but ${inspect(error)}`);
}

describe('a sign-in', () => {
  test('adds the account under its e-mail, with tokens ready for use', async () => {
    const workshop = await openWorkshop();
    const { kind, account } = await signIn(workshop);
    expect([kind, account.record.label, account.record.kind]).toEqual(['added', EMAIL, 'oauth']);
    const signal = new AbortController().signal;
    const { credential } = await workshop.tokens.accessFor(account, { refresh: false, signal });
    expect(credential).toContain('access-');
    expect(workshop.provider.count('/token')).toBe(1);
  });

  test('asks with PKCE S256, a state of 256 bits, and what the operator configured', async () => {
    const workshop = await openWorkshop({
      settings: {
        authorizationUrl: 'https://id.test/authorize?tenant=a',
        extraAuthorizationParameters: { prompt: 'consent', state: 'fixed', code_challenge: 'x' },
      },
    });
    const { authorizationUrl, state, expiresAt } = await start(workshop);
    const asked = Object.fromEntries(new URL(authorizationUrl).searchParams);
    expect(asked).toMatchObject({
      tenant: 'a',
      prompt: 'consent',
      response_type: 'code',
      client_id: 'client-1',
      redirect_uri: REDIRECT,
      scope: 'openid email models',
      code_challenge_method: 'S256',
      state,
    });
    expect(Buffer.from(state, 'base64url')).toHaveLength(32);
    expect(Buffer.from(asked.code_challenge ?? '', 'base64url')).toHaveLength(32);
    expect(expiresAt - workshop.clock.now()).toBe(600_000);
    expect(authorizationUrl).not.toContain('client-secret-canary');
  });

  test('of a known e-mail signs that account in anew, whatever the case of its letters', async () => {
    const workshop = await openWorkshop();
    const { account } = await signIn(workshop);
    const failure = { kind: 'forbidden', status: 403 } as const;
    workshop.book.apply(account.record.id, { kind: 'failure', model: 'm', failure });
    expect(workshop.book.find(account.record.id)?.health.status.kind).toBe('disabled');
    const again = await signIn(workshop, 'One@Example.com');
    expect([again.kind, again.account.record.id]).toEqual(['reauthenticated', account.record.id]);
    expect(again.account.health.status.kind).toBe('active');
    expect(workshop.book.list()).toHaveLength(1);
  });

  test('anew mends an account whose stored credential cannot be read', async () => {
    const store = createMemoryAccountStore();
    const workshop = await openWorkshop({ store });
    const { account } = await signIn(workshop);
    const { readCredential } = store;
    store.readCredential = () => Promise.reject(new StoreError('unreadable', told`another key`));
    const again = await signIn(workshop, EMAIL, { reauthenticate: account.record.id });
    expect(again.kind).toBe('reauthenticated');
    store.readCredential = readCredential;
    const signal = new AbortController().signal;
    const { credential } = await workshop.tokens.accessFor(account, { refresh: false, signal });
    expect(credential).toContain('access-');
  });

  test('anew as somebody else is refused, and nothing changes', async () => {
    const workshop = await openWorkshop();
    const { account } = await signIn(workshop);
    const before = await workshop.book.readCredential(account.record.id);
    const change = { reauthenticate: account.record.id };
    const { message } = await errorOf(signIn(workshop, 'two@example.com', change));
    expect(message).toContain('You signed in as two@example.com, but this account is one@example');
    expect(await workshop.book.readCredential(account.record.id)).toEqual(before);
    expect(workshop.book.list()).toHaveLength(1);
  });

  test('anew is begun for accounts of its upstream alone', async () => {
    const workshop = await openWorkshop();
    const credential = { kind: 'oauth', refreshToken: 'r' } as const;
    const { record } = await workshop.book.add({ upstreamId: 'other', label: 'x', credential });
    for (const reauthenticate of [record.id, 'nobody']) {
      const { field, message } = await errorOf(start(workshop, { reauthenticate }));
      expect([field, message]).toEqual([
        'reauthenticate',
        'There is no such account of this upstream to sign in.',
      ]);
    }
  });

  test('without a refresh token says what to change', async () => {
    const workshop = await openWorkshop({
      tokens: ({ refresh_token, ...fields }) => fields,
    });
    const { message } = await errorOf(signIn(workshop));
    expect(message).toContain('access_type=offline and prompt=consent');
  });

  test('whose provider does not say the e-mail takes the label given, or says what to change', async () => {
    const options: WorkshopOptions = {
      settings: { userInfoUrl: undefined, scopes: ['models'] },
      tokens: ({ id_token, ...fields }) => fields,
    };
    const workshop = await openWorkshop(options);
    const { message } = await errorOf(signIn(workshop));
    expect(message).toContain('Add the scopes openid and email');
    const { account } = await signIn(workshop, EMAIL, { label: ' mine ' });
    expect(account.record.label).toBe('mine');
  });

  test('anew is used at once, also while the token before it was still good', async () => {
    const workshop = await openWorkshop();
    const { account } = await signIn(workshop);
    const { signal } = new AbortController();
    const given = () => workshop.tokens.accessFor(account, { refresh: false, signal });
    const before = (await given()).credential;
    await signIn(workshop);
    const after = (await given()).credential;
    expect(after).not.toBe(before);
    expect((await given()).credential).toBe(after);
    expect(workshop.provider.count('/token')).toBe(2);
  });

  test('reads the e-mail from the id token where there is no user info', async () => {
    const workshop = await openWorkshop({ settings: { userInfoUrl: undefined } });
    expect((await signIn(workshop)).account.record.label).toBe(EMAIL);
  });

  test('is not set up without a client id', async () => {
    const workshop = await openWorkshop({ settings: { clientId: '' } });
    expect((await errorOf(start(workshop))).message).toContain('upstreams.<id>.oauth');
    expect((await errorOf(start(workshop, { upstreamId: 'x' }))).field).toBe('upstreamId');
  });

  test('never sends a code where it could be read on the way', async () => {
    const workshop = await openWorkshop();
    const hosts = ['http://192.168.1.5:8045/cb', 'http://127.0.0.1.evil.test/cb', 'nonsense'];
    for (const redirectUri of hosts) {
      expect((await errorOf(start(workshop, { redirectUri }))).message).toContain('redirect_url');
    }
    const settings = { redirectUrl: 'https://gateway.example.com/callback' };
    const behind = await openWorkshop({ settings });
    expect((await start(behind)).redirectUri).toBe(settings.redirectUrl);
    expect((await signIn(behind)).kind).toBe('added');
  });

  test('is finished by whichever replica the browser comes back to, once, for who began it', async () => {
    const first = await openWorkshop();
    const second = await first.restart();
    const { authorizationUrl } = await start(first);
    const response = first.provider.consent(authorizationUrl, EMAIL);
    const outcomes = await Promise.allSettled([
      complete(second, response),
      complete(first, response),
      complete(second, response),
    ]);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const begun = await start(first);
    const foreign = first.provider.consent(begun.authorizationUrl, 'two@example.com');
    expect((await errorOf(complete(second, foreign, { owner: 'another' }))).field).toBe('state');
    expect((await errorOf(complete(first, foreign))).field).toBe('state');
  });

  test('pending ones are bounded: the oldest of a session gives way', async () => {
    const workshop = await openWorkshop();
    const first = await start(workshop);
    for (let more = 0; more < 16; more += 1) await start(workshop);
    const response = workshop.provider.consent(first.authorizationUrl, EMAIL);
    expect((await errorOf(complete(workshop, response))).field).toBe('state');
    for (let owner = 0; owner < 240; owner += 1) await start(workshop, { owner: `o${owner}` });
    expect((await errorOf(start(workshop, { owner: 'late' }))).kind).toBe('rate-limited');
  });
});

const PASTES: readonly (readonly [string, (url: string) => string])[] = [
  ['the whole address', (url) => url],
  ['the address with blanks and a line break', (url) => `  ${url.slice(0, 50)}\n${url.slice(50)} `],
  ['the address in quotes', (url) => `"${url}"`],
  ['only the query', (url) => new URL(url).search],
  ['the query without its mark', (url) => new URL(url).search.slice(1)],
  ['only the code', (url) => new URL(url).searchParams.get('code') ?? ''],
  ['the code as it stands in the address', (url) => /code=([^&]*)/.exec(url)?.[1] ?? ''],
  ['the code with what follows', (url) => /code=(.*)/.exec(url)?.[1] ?? ''],
];

test.each(PASTES)('a person may paste %s', async (_what, paste) => {
  const workshop = await openWorkshop();
  const { authorizationUrl, state } = await start(workshop);
  const url = workshop.provider.consent(authorizationUrl, EMAIL, { scope: 'a b' });
  expect((await complete(workshop, paste(url), { state })).kind).toBe('added');
});

const REFUSALS = [
  ['access_denied', 'declined at the provider'],
  ['invalid_scope', 'Correct the scopes'],
  ['unauthorized_client', 'Check the client'],
  ['temporarily_unavailable', 'trouble at the moment'],
  ['login_required', 'sign in there first'],
  ['<script>canary</script>', 'The provider refused the sign-in'],
] as const;

test.each(REFUSALS)('the provider says %s: in plain words', async (error, words) => {
  const workshop = await openWorkshop();
  const { authorizationUrl } = await start(workshop);
  const change = { code: undefined, error, error_description: 'canary' };
  const response = workshop.provider.consent(authorizationUrl, EMAIL, change);
  const { message } = await errorOf(complete(workshop, response));
  expect(message).toContain(words);
  expect(message).not.toContain('canary');
});

interface Attack {
  readonly options?: WorkshopOptions;
  /** Rejects with the refusal. */
  run(workshop: Workshop): Promise<unknown>;
  /** Whether the code gets as far as the token endpoint. */
  readonly exchanges?: boolean;
}

function withCallback(change: ConsentChange): Attack {
  return {
    async run(workshop) {
      const { authorizationUrl } = await start(workshop);
      return complete(workshop, workshop.provider.consent(authorizationUrl, EMAIL, change));
    },
  };
}

function withTampered(tamper: (url: URL) => void): Attack {
  return {
    exchanges: true,
    async run(workshop) {
      const { authorizationUrl, state } = await start(workshop);
      const url = new URL(authorizationUrl);
      tamper(url);
      const callback = workshop.provider.consent(url.href, 'attacker@example.com');
      return complete(workshop, new URL(callback).search, { state });
    },
  };
}

function withProvider(options: WorkshopOptions): Attack {
  return { options, exchanges: true, run: (workshop) => signIn(workshop) };
}

function idToken(claims: Record<string, unknown>): WorkshopOptions {
  const good = { iss: 'https://id.test', aud: 'client-1', exp: 9_999_999_999, email: EMAIL };
  const token = new UnsecuredJWT({ ...good, ...claims }).encode();
  return {
    settings: { userInfoUrl: undefined, scopes: ['email'] },
    tokens: (fields) => ({ ...fields, id_token: token }),
  };
}

const ATTACKS: Readonly<Record<string, Attack>> = {
  'a state that was used': {
    async run(workshop) {
      const { authorizationUrl } = await start(workshop);
      const declined = { code: undefined, error: 'access_denied' };
      const first = workshop.provider.consent(authorizationUrl, EMAIL, declined);
      await errorOf(complete(workshop, first));
      return complete(workshop, workshop.provider.consent(authorizationUrl, EMAIL));
    },
  },
  'a callback without state': withCallback({ state: undefined }),
  'a callback without state, the session known': {
    async run(workshop) {
      const { authorizationUrl, state } = await start(workshop);
      const callback = workshop.provider.consent(authorizationUrl, EMAIL, { state: undefined });
      return complete(workshop, callback, { state });
    },
  },
  'a state nobody started': withCallback({ state: 'A'.repeat(43) }),
  'a state of another session': {
    async run(workshop) {
      const { authorizationUrl } = await start(workshop, { owner: 'attacker' });
      return complete(workshop, workshop.provider.consent(authorizationUrl, EMAIL));
    },
  },
  'a state that is too old': {
    async run(workshop) {
      const { authorizationUrl } = await start(workshop);
      await workshop.pass(600_000);
      return complete(workshop, workshop.provider.consent(authorizationUrl, EMAIL));
    },
  },
  'a state other than the session says': {
    async run(workshop) {
      const mine = await start(workshop);
      const other = await start(workshop);
      const callback = workshop.provider.consent(other.authorizationUrl, EMAIL);
      return complete(workshop, callback, { state: mine.state });
    },
  },
  'a code of another sign-in under the state of this one': {
    exchanges: true,
    async run(workshop) {
      const mine = await start(workshop);
      const theirs = await start(workshop, { owner: 'attacker' });
      const callback = workshop.provider.consent(theirs.authorizationUrl, 'attacker@example.com', {
        state: mine.state,
      });
      return complete(workshop, callback);
    },
  },
  'a made-up code': { ...withCallback({ code: 'made-up' }), exchanges: true },
  'a code with control characters': withCallback({ code: 'a\u0000b' }),
  'no code': withCallback({ code: undefined }),
  'a code granted without a challenge': withTampered((url) => {
    url.searchParams.delete('code_challenge');
  }),
  'a code granted for another redirect address': withTampered((url) => {
    url.searchParams.set('redirect_uri', 'https://evil.test/');
  }),
  'a code granted to another client': withTampered((url) => {
    url.searchParams.set('client_id', 'evil');
  }),
  'an address that is not the redirect address': {
    async run(workshop) {
      const { authorizationUrl } = await start(workshop);
      const { search } = new URL(workshop.provider.consent(authorizationUrl, EMAIL));
      return complete(workshop, `https://evil.test/api/oauth/callback${search}`);
    },
  },
  'an answer of another issuer': withCallback({ iss: 'https://evil.test' }),
  'an issuer other than the configured one': {
    options: { settings: { issuer: 'https://id.test/realm' } },
    run: (workshop) => signIn(workshop),
  },
  'two codes': {
    async run(workshop) {
      const { authorizationUrl } = await start(workshop);
      const callback = workshop.provider.consent(authorizationUrl, EMAIL);
      return complete(workshop, `${callback}&code=other`);
    },
  },
  'an implicit token': withCallback({ token: 'x' }),
  'a signed response of another mode': withCallback({ response: 'a.b.c' }),
  'a paste without end': { run: (workshop) => complete(workshop, 'x'.repeat(20_000)) },
  'an empty paste': { run: (workshop) => complete(workshop, ' \n ') },
  'an oversized answer of the token endpoint': withProvider({
    tokens: (fields) => ({ ...fields, padding: 'x'.repeat(70_000) }),
  }),
  'a token endpoint that redirects': {
    exchanges: true,
    async run(workshop) {
      workshop.provider.always = () => textReply(307, '', { location: 'https://evil.test/' });
      return signIn(workshop);
    },
  },
  'user info about somebody else': withProvider({ person: (claims) => ({ ...claims, sub: 'x' }) }),
  'an e-mail nobody verified': withProvider({
    person: (claims) => ({ ...claims, email_verified: false }),
  }),
  'an e-mail that is said in words to be unverified': withProvider({
    person: (claims) => ({ ...claims, email_verified: 'false' }),
  }),
  'an id token for another client': withProvider(idToken({ aud: 'evil' })),
  'an id token for several clients, asked for by another': withProvider(
    idToken({ aud: ['client-1', 'evil'], azp: 'evil' }),
  ),
  'an id token of another issuer': withProvider(idToken({ iss: 'https://evil.test' })),
  'an id token that is over': withProvider(idToken({ exp: 1 })),
  'an id token of another sign-in': withProvider({
    ...idToken({ nonce: 'other' }),
    settings: { userInfoUrl: undefined, scopes: ['openid', 'email'] },
  }),
  'an id token of no certain sign-in': withProvider({
    ...idToken({ nonce: undefined }),
    settings: { userInfoUrl: undefined, scopes: ['openid', 'email'] },
  }),
  'an id token that is none': withProvider({ tokens: (fields) => ({ ...fields, id_token: 'x' }) }),
};

test.each(Object.entries(ATTACKS))('%s adds no account', async (_name, attack) => {
  const workshop = await openWorkshop(attack.options);
  const error = await errorOf(attack.run(workshop));
  expect(workshop.book.list()).toEqual([]);
  expect(workshop.provider.count('/token')).toBe(attack.exchanges === true ? 1 : 0);
  const told = inspect(error, { depth: 9 }) + workshop.logged();
  expect(told).not.toContain('canary');
  expect(error.message).toMatch(/[.!?)]$/);
});
