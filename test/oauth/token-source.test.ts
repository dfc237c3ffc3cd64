// Access tokens that are given out: renewed once for all, kept, and never lost.

import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { Account } from '../../src/accounts/account.ts';
import { type AccountStore, StoreError } from '../../src/accounts/account-store.ts';
import { GatewayError } from '../../src/canonical/error.ts';
import type { LeaseStore } from '../../src/cluster/leases.ts';
import { told } from '../../src/lib/localized-message.ts';
import { jsonReply, type Scripted, textReply } from '../support/fake-identity-provider.ts';
import { createMemoryAccountStore } from '../support/memory-account-store.ts';
import { NEVER, openWorkshop, type Workshop } from './workshop.ts';

const MINUTE = 60_000;
const UNAVAILABLE = 'credential-unavailable';
const REFRESH_NOT = { refresh: false, signal: NEVER };
const lost: Scripted = (process) => {
  process();
  throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
};
const silent: Scripted = () => new Promise(() => {});

async function withAccount(workshop: Workshop, accessToken?: string): Promise<Account> {
  const refreshToken = workshop.provider.grant('one@example.com');
  return workshop.add('one@example.com', {
    kind: 'oauth',
    refreshToken,
    ...(accessToken === undefined
      ? {}
      : { accessToken, expiresAt: workshop.clock.now() + 60 * MINUTE }),
  });
}

function access(workshop: Workshop, account: Account, refused?: string): Promise<string> {
  return workshop.tokens
    .accessFor(account, { refresh: refused !== undefined, refused, signal: NEVER })
    .then(({ credential }) => credential);
}

async function failureOf(promise: Promise<unknown>): Promise<string | undefined> {
  return promise.then(
    () => undefined,
    (error: unknown) => (error instanceof GatewayError ? error.failure?.kind : 'not ours'),
  );
}

async function storedToken({ book }: Workshop, { record }: Account): Promise<string> {
  const stored = await book.readCredential(record.id);
  return stored?.credential.kind === 'oauth' ? stored.credential.refreshToken : '';
}

describe('one renewal for all', () => {
  test('500 at once on an expired token make one token call, and all are served', async () => {
    const workshop = await openWorkshop();
    const account = await withAccount(workshop);
    const all = await Promise.all(Array.from({ length: 500 }, () => access(workshop, account)));
    expect(new Set(all).size).toBe(1);
    expect(workshop.provider.count('/token')).toBe(1);
    expect(workshop.provider.isAlive(await storedToken(workshop, account))).toBe(true);
  });

  test('of 12 callers at three replicas with a refresh token that is good once, one renews for all', async () => {
    const first = await openWorkshop({ leases: createMemoryLeases() });
    const account = await withAccount(first);
    const replicas = [first, await first.restart(), await first.restart()];
    const asked = Array.from({ length: 12 }, (_, index) =>
      access(replicas[index % 3] ?? first, account),
    );
    for (let turn = 0; turn < 4; turn += 1) await first.pass(2000);
    expect(new Set(await Promise.all(asked)).size).toBe(1);
    expect(first.provider.count('/token')).toBe(1);
    expect(first.provider.isAlive(await storedToken(first, account))).toBe(true);
  });

  test('500 whose token the upstream refused renew it once, whenever they come', async () => {
    const workshop = await openWorkshop();
    const account = await withAccount(workshop);
    const first = await access(workshop, account);
    const [one] = await Promise.all(
      Array.from({ length: 250 }, () => access(workshop, account, first)),
    );
    await workshop.pass(20 * MINUTE);
    const late = await Promise.all(
      Array.from({ length: 250 }, () => access(workshop, account, first)),
    );
    expect(one).not.toBe(first);
    expect(new Set(late)).toEqual(new Set([one]));
    expect(workshop.provider.count('/token')).toBe(2);
  });

  test('without the refused token, one that was just renewed counts as newer', async () => {
    const workshop = await openWorkshop();
    const account = await withAccount(workshop);
    const refresh = () => workshop.tokens.accessFor(account, { refresh: true, signal: NEVER });
    await access(workshop, account);
    await workshop.pass(MINUTE);
    await refresh();
    await workshop.pass(2000);
    await refresh();
    expect(workshop.provider.count('/token')).toBe(2);
  });

  test('who was refused the stored token gets a new one, also while others are given it', async () => {
    const workshop = await openWorkshop();
    const account = await withAccount(workshop, 'stored');
    const given = [access(workshop, account), access(workshop, account, 'stored')];
    const [plain, renewed] = await Promise.all(given);
    expect(plain).toBe('stored');
    expect(renewed).toContain('access-');
    expect(workshop.provider.count('/token')).toBe(1);
  });

  test('a caller that leaves ends only its own wait', async () => {
    const workshop = await openWorkshop();
    const account = await withAccount(workshop);
    const leaving = new AbortController();
    workshop.provider.script(async (process) => {
      await workshop.clock.sleep(2000, NEVER);
      return process();
    });
    const left = workshop.tokens.accessFor(account, { refresh: false, signal: leaving.signal });
    const stayed = access(workshop, account);
    leaving.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    await workshop.pass(2000);
    expect(await stayed).toContain('access-');
    expect(workshop.provider.count('/token')).toBe(1);
  });

  test('an API key is given at once', async () => {
    const workshop = await openWorkshop();
    const account = await workshop.add('key', { kind: 'api-key', key: 'k-1' });
    const given = await workshop.tokens.accessFor(account, { refresh: false, signal: NEVER });
    expect(given).toMatchObject({ credential: 'k-1', credentialKind: 'api-key' });
    expect(workshop.provider.calls).toEqual([]);
  });
});

test('a replaced API key is in use within a second, and an unreadable store changes nothing', async () => {
  const store = createFailingStore();
  const workshop = await openWorkshop({ store });
  const account = await workshop.add('key', { kind: 'api-key', key: 'k-1' });
  const given = async () => (await workshop.tokens.accessFor(account, REFRESH_NOT)).credential;
  expect(await given()).toBe('k-1');
  await workshop.book.replaceCredential(account.record.id, { kind: 'api-key', key: 'k-2' }, 1);
  await workshop.pass(1000);
  expect(await given()).toBe('k-2');
  store.isBroken = true;
  await workshop.pass(5000);
  expect(await given()).toBe('k-2');
});

describe('lifetimes', () => {
  test('a stored token with little time left is renewed, and used where that fails', async () => {
    const workshop = await openWorkshop();
    const { clock, provider } = workshop;
    const refreshToken = provider.grant('one@example.com');
    const stored = { kind: 'oauth', refreshToken, accessToken: 'stored' } as const;
    const soon = await workshop.add('soon', { ...stored, expiresAt: clock.now() + MINUTE });
    const later = await workshop.add('later', { ...stored, expiresAt: clock.now() + 2 * MINUTE });
    expect(await access(workshop, later)).toBe('stored');
    expect(provider.count('/token')).toBe(0);
    provider.script(() => textReply(500, ''));
    expect(await access(workshop, soon)).toBe('stored');
    expect(provider.count('/token')).toBe(1);
    await workshop.pass(1000);
    expect(await access(workshop, soon)).toContain('access-');
  });

  test('a lifetime may be written as a text', async () => {
    const tokens = (fields: Record<string, unknown>) => ({ ...fields, expires_in: '60' });
    const workshop = await openWorkshop({ tokens });
    const account = await withAccount(workshop);
    const first = await access(workshop, account);
    await workshop.pass(2 * MINUTE);
    expect(await access(workshop, account)).not.toBe(first);
  });

  test('a token in use is renewed in the background ahead of its end, an unused one is not', async () => {
    const workshop = await openWorkshop();
    const account = await withAccount(workshop);
    const first = await access(workshop, account);
    await workshop.pass(54 * MINUTE);
    expect(await access(workshop, account)).toBe(first);
    expect(workshop.provider.count('/token')).toBe(1);
    await workshop.pass(2 * MINUTE);
    expect(await access(workshop, account)).toBe(first);
    await workshop.pass(0);
    expect(await access(workshop, account)).not.toBe(first);
    expect(workshop.provider.count('/token')).toBe(2);
    await workshop.pass(120 * MINUTE);
    expect(workshop.provider.count('/token')).toBe(2);
  });

  test('with under 90 s left the new token is waited for', async () => {
    const workshop = await openWorkshop();
    const account = await withAccount(workshop);
    const first = await access(workshop, account);
    await workshop.pass(59 * MINUTE);
    expect(await access(workshop, account)).not.toBe(first);
  });

  test('a token that lives a minute is used for half of it', async () => {
    const workshop = await openWorkshop({ lifetimeSeconds: 60 });
    const account = await withAccount(workshop);
    const first = await access(workshop, account);
    await workshop.pass(25_000);
    expect(await access(workshop, account)).toBe(first);
  });

  test('a clock that differs by more than a minute is told once', async () => {
    const workshop = await openWorkshop();
    const account = await withAccount(workshop);
    const date = new Date(workshop.clock.now() + 24 * 60 * MINUTE).toUTCString();
    workshop.provider.always = (process) => ({
      ...process(),
      headers: { get: (name) => (name === 'date' ? date : null) },
    });
    const first = await access(workshop, account);
    await access(workshop, account, first);
    expect(workshop.logged().match(/clock of this machine/g)).toHaveLength(1);
  });
});

describe('rotation', () => {
  test('a restart goes on with the token and its rotated successor', async () => {
    const workshop = await openWorkshop();
    const account = await withAccount(workshop);
    const first = await access(workshop, account);
    const second = await workshop.restart();
    expect(await access(second, account)).toBe(first);
    await second.pass(61 * MINUTE);
    const third = await second.restart();
    expect(await access(third, account)).not.toBe(first);
    expect(workshop.provider.count('/token')).toBe(2);
    expect(workshop.provider.isAlive(await storedToken(third, account))).toBe(true);
  });

  test('a second process on the store uses what the first renewed', async () => {
    const workshop = await openWorkshop();
    const account = await withAccount(workshop);
    const other = await workshop.restart();
    const first = await access(workshop, account);
    expect(await access(other, account)).toBe(first);
    await workshop.pass(59 * MINUTE);
    const renewed = await access(workshop, account);
    expect(await access(other, account)).toBe(renewed);
    expect(workshop.provider.count('/token')).toBe(2);
  });

  test('an access token is not used before its rotated refresh token is on disk', async () => {
    const store = createFailingStore();
    const workshop = await openWorkshop({ store });
    const account = await withAccount(workshop);
    store.isFull = true;
    expect(await failureOf(access(workshop, account))).toBe(UNAVAILABLE);
    await workshop.pass(2000);
    expect(await failureOf(access(workshop, account))).toBe(UNAVAILABLE);
    store.isFull = false;
    await workshop.pass(5000);
    expect(await access(workshop, account)).toContain('access-');
    expect(workshop.provider.count('/token')).toBe(1);
    expect(workshop.provider.isAlive(await storedToken(workshop, account))).toBe(true);
  });

  test('a new sign-in that comes first wins over a renewal under way', async () => {
    const workshop = await openWorkshop();
    const account = await withAccount(workshop);
    const { book, clock, provider } = workshop;
    provider.script(async (process) => {
      await clock.sleep(1000, NEVER);
      return process();
    });
    const waiting = access(workshop, account);
    await workshop.pass(500);
    const refreshToken = provider.grant('one@example.com');
    const expiresAt = clock.now() + 60 * MINUTE;
    const credential = { kind: 'oauth', refreshToken, accessToken: 'new', expiresAt } as const;
    await book.replaceCredential(account.record.id, credential, 1);
    workshop.tokens.forget(account.record.id);
    await workshop.pass(1000);
    expect([await waiting, await access(workshop, account)]).toEqual(['new', 'new']);
    expect(await storedToken(workshop, account)).toBe(refreshToken);
  });
});

describe('revocation', () => {
  test('is believed when it stands after 5 s, and then at once', async () => {
    const workshop = await openWorkshop();
    const account = await withAccount(workshop);
    workshop.provider.revokeFamilyOf(await storedToken(workshop, account));
    const failure = failureOf(access(workshop, account));
    await workshop.pass(4900);
    expect(workshop.provider.count('/token')).toBe(1);
    await workshop.pass(200);
    expect(await failure).toBe('credential-revoked');
    expect(workshop.provider.count('/token')).toBe(2);
    await workshop.pass(2000);
    expect(await failureOf(access(workshop, account))).toBe('credential-revoked');
    expect(workshop.provider.count('/token')).toBe(3);
  });

  test('is not believed when another process rotated the token meanwhile', async () => {
    const workshop = await openWorkshop();
    const account = await withAccount(workshop);
    const { id } = account.record;
    workshop.provider.script(async () => {
      const refreshToken = workshop.provider.grant('one@example.com');
      await workshop.store.replaceCredential(id, { kind: 'oauth', refreshToken }, 1);
      return jsonReply(400, { error: 'invalid_grant' });
    });
    expect(await access(workshop, account)).toContain('access-');
  });

  test('of an account with time left on its token shows when the token ends', async () => {
    const workshop = await openWorkshop();
    const account = await withAccount(workshop);
    const first = await access(workshop, account);
    workshop.provider.revokeFamilyOf(await storedToken(workshop, account));
    await workshop.pass(56 * MINUTE);
    expect(await access(workshop, account)).toBe(first);
    await workshop.pass(10_000);
    expect(await access(workshop, account)).toBe(first);
    await workshop.pass(5 * MINUTE);
    expect(await failureOf(access(workshop, account))).toBe('credential-revoked');
  });

  test('ends with a new sign-in', async () => {
    const workshop = await openWorkshop();
    const account = await withAccount(workshop);
    workshop.provider.revokeFamilyOf(await storedToken(workshop, account));
    const failure = failureOf(access(workshop, account));
    await workshop.pass(5000);
    await failure;
    const { authorizationUrl } = await workshop.signIns.start({
      upstreamId: 'models',
      redirectUri: 'http://127.0.0.1:8045/callback',
      owner: 'console',
      reauthenticate: account.record.id,
    });
    const response = workshop.provider.consent(authorizationUrl, 'one@example.com');
    await workshop.signIns.complete({ owner: 'console', response });
    expect(await access(workshop, account)).toContain('access-');
  });
});

describe('a reply that is lost after the provider rotated', () => {
  test('is an unknown outcome: no revocation before the provider says so twice', async () => {
    const workshop = await openWorkshop();
    const account = await withAccount(workshop);
    workshop.provider.script(lost);
    expect(await failureOf(access(workshop, account))).toBe(UNAVAILABLE);
    await workshop.pass(2000);
    const next = failureOf(access(workshop, account));
    await workshop.pass(5000);
    expect(await next).toBe('credential-revoked');
  });

  test('costs nothing where the provider takes the token once more', async () => {
    const workshop = await openWorkshop({ allowsReuse: true });
    const account = await withAccount(workshop);
    workshop.provider.script(lost);
    expect(await failureOf(access(workshop, account))).toBe(UNAVAILABLE);
    await workshop.pass(2000);
    expect(await access(workshop, account)).toContain('access-');
    expect(workshop.provider.isAlive(await storedToken(workshop, account))).toBe(true);
  });
});

const TRANSIENT: readonly (readonly [string, Scripted])[] = [
  ['refused', () => Promise.reject(Object.assign(new Error('x'), { code: 'ECONNREFUSED' }))],
  ['unknown host', () => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' }))],
  ['reset', () => Promise.reject(Object.assign(new Error('x'), { code: 'ECONNRESET' }))],
  ['time-out', silent],
  ['500', () => textReply(500, 'oops')],
  ['503', () => jsonReply(503, { error: 'invalid_grant' })],
  ['429', () => jsonReply(429, { error: 'slow_down' }, { 'retry-after': '3' })],
  ['408', () => textReply(408, '')],
  ['HTML', () => textReply(200, '<html>Please sign in to this network</html>')],
  ['invalid_request', () => jsonReply(400, { error: 'invalid_request' })],
  ['invalid_client', () => jsonReply(401, { error: 'invalid_client' })],
  ['oversized', () => textReply(200, `{"access_token":"${'x'.repeat(70_000)}"}`)],
];

describe('transient faults', () => {
  test('1,200 of 12 kinds disable no account', async () => {
    const workshop = await openWorkshop();
    const { book, provider } = workshop;
    const account = await withAccount(workshop);
    const kinds = new Map<string, number>();
    for (const [name, answer] of TRANSIENT) {
      provider.always = answer;
      for (let time = 0; time < 100; time += 1) {
        const outcome = failureOf(access(workshop, account));
        await workshop.pass(300_001);
        const kind = (await outcome) ?? 'none';
        kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
        const failure = { kind: UNAVAILABLE } as const;
        if (kind === UNAVAILABLE)
          book.apply(account.record.id, { kind: 'failure', model: 'm', failure });
      }
      expect([name, book.find(account.record.id)?.health.status.kind]).toEqual([name, 'active']);
    }
    expect(Object.fromEntries(kinds)).toEqual({ [UNAVAILABLE]: 1200 });
    expect(provider.count('/token')).toBe(1200);
    provider.always = undefined;
    expect(await access(workshop, account)).toContain('access-');
  });

  test.each(TRANSIENT)('%s leaves a token in use that is not over', async (_name, answer) => {
    const workshop = await openWorkshop();
    const account = await withAccount(workshop);
    const first = await access(workshop, account);
    workshop.provider.always = answer;
    await workshop.pass(59 * MINUTE);
    const given = access(workshop, account);
    await workshop.pass(11_000);
    expect(await given).toBe(first);
    await workshop.pass(2 * MINUTE);
    const late = failureOf(access(workshop, account));
    await workshop.pass(11_000);
    expect(await late).toBe(UNAVAILABLE);
  });

  test('are answered at once while the account pauses, 1 s at first, 5 min at most', async () => {
    const workshop = await openWorkshop();
    const account = await withAccount(workshop);
    workshop.provider.always = () => textReply(500, '');
    const tries: number[] = [];
    for (let second = 0; second < 2000; second += 1) {
      const before = workshop.provider.count('/token');
      await failureOf(access(workshop, account));
      if (workshop.provider.count('/token') > before) tries.push(second);
      await workshop.pass(1000);
    }
    const gaps = tries.map((at, index) => at - (tries[index - 1] ?? 0)).slice(1);
    expect(gaps.slice(0, 4)).toEqual([1, 2, 4, 8]);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(300);
    expect(tries.length).toBeLessThan(16);
  });

  test.each(TRANSIENT.slice(0, 4))(
    'where nobody was reached (%s) an account pauses for 10 s at most, and is back soon after the network',
    async (_name, answer) => {
      const workshop = await openWorkshop();
      const account = await withAccount(workshop);
      workshop.provider.always = answer;
      for (let time = 0; time < 30; time += 1) {
        const failed = failureOf(access(workshop, account));
        await workshop.pass(20_000);
        expect(await failed).toBe(UNAVAILABLE);
      }
      const last = failureOf(access(workshop, account));
      await workshop.pass(10_000);
      await last;
      workshop.provider.always = undefined;
      await workshop.pass(10_000);
      expect(await access(workshop, account)).toContain('access-');
    },
  );

  test('never bring back the token the upstream refused', async () => {
    const workshop = await openWorkshop();
    const account = await withAccount(workshop);
    const first = await access(workshop, account);
    workshop.provider.always = () => textReply(500, '');
    expect(await failureOf(access(workshop, account, first))).toBe(UNAVAILABLE);
    expect(await access(workshop, account)).toBe(first);
  });

  test('in the background are not tried by every caller, and a success ends their row', async () => {
    const workshop = await openWorkshop();
    const account = await withAccount(workshop);
    const { provider } = workshop;
    await access(workshop, account);
    await workshop.pass(56 * MINUTE);
    const tries: number[] = [];
    const tryFor = async (seconds: number): Promise<number> => {
      const before = provider.count('/token');
      for (let call = 0; call < seconds * 10; call += 1) {
        await access(workshop, account);
        await workshop.pass(100);
      }
      return provider.count('/token') - before;
    };
    provider.always = () => textReply(500, '');
    // After 0, 1, 3 and 7 s, less their jitter.
    tries.push(await tryFor(10));
    provider.always = undefined;
    tries.push(await tryFor(10));
    await workshop.pass(56 * MINUTE);
    provider.always = () => textReply(500, '');
    tries.push(await tryFor(10));
    expect(tries).toEqual([4, 1, 4]);
  });

  test('a provider that asks to wait is not asked before', async () => {
    const workshop = await openWorkshop();
    const account = await withAccount(workshop);
    workshop.provider.script(() => textReply(429, '', { 'retry-after': '30' }));
    await failureOf(access(workshop, account));
    await workshop.pass(29_000);
    expect(await failureOf(access(workshop, account))).toBe(UNAVAILABLE);
    await workshop.pass(2000);
    expect(await access(workshop, account)).toContain('access-');
  });

  test('a redirecting token endpoint is not followed', async () => {
    const workshop = await openWorkshop();
    const account = await withAccount(workshop);
    workshop.provider.always = () => textReply(307, '', { location: 'https://elsewhere.test/' });
    expect(await failureOf(access(workshop, account))).toBe(UNAVAILABLE);
    expect(workshop.provider.calls).toHaveLength(1);
  });
});

test('token calls take the proxy of the account', async () => {
  const workshop = await openWorkshop();
  const account = await workshop.book.add({
    upstreamId: 'models',
    label: 'one',
    proxyUrl: 'http://user:pass@127.0.0.1:1',
    credential: { kind: 'oauth', refreshToken: workshop.provider.grant('one@example.com') },
  });
  const given = await workshop.tokens.accessFor(account, { refresh: false, signal: NEVER });
  expect(given.proxyUrl).toBe('http://user:pass@127.0.0.1:1');
  expect(workshop.provider.calls[0]?.options.proxyUrl).toBe('http://user:pass@127.0.0.1:1');
});

test('no secret is in errors or logs, also when the provider repeats it', async () => {
  const workshop = await openWorkshop();
  const account = await withAccount(workshop);
  const token = await storedToken(workshop, account);
  const echoes: Scripted[] = [
    () => jsonReply(400, { error: 'invalid_request', error_description: `bad ${token} here` }),
    () => jsonReply(400, { error: 'invalid_client', error_description: 'client-secret-canary' }),
    () => jsonReply(400, { error: token }),
    () => textReply(500, token),
    () => Promise.reject(new Error(`connect through http://u:${token}@proxy`)),
    () =>
      jsonReply(400, {
        error: 'invalid_grant',
        error_description: Buffer.from(token).toString('base64'),
      }),
  ];
  const errors: unknown[] = [];
  for (const echo of echoes) {
    workshop.provider.always = echo;
    const failing = access(workshop, account).catch((error: unknown) => errors.push(error));
    await workshop.pass(300_000);
    await failing;
  }
  const told = inspect(errors, { depth: 9 }) + workshop.logged();
  expect(errors).toHaveLength(echoes.length);
  expect(told).toContain('bad […] here');
  for (const secret of [token, token.slice(0, 12), Buffer.from(token).toString('base64')]) {
    expect(told).not.toContain(secret);
  }
  expect(told).not.toContain('canary');
});

function createFailingStore(): AccountStore & { isFull: boolean; isBroken: boolean } {
  const store = createMemoryAccountStore();
  const state = { isFull: false, isBroken: false };
  return Object.assign(state, {
    list: () => store.list(),
    insert: (...given: Parameters<AccountStore['insert']>) => store.insert(...given),
    update: (...given: Parameters<AccountStore['update']>) => store.update(...given),
    order: (ids: readonly string[]) => store.order(ids),
    remove: (id: string) => store.remove(id),
    readCredentials: () => store.readCredentials(),
    async readCredential(id: string) {
      if (state.isBroken) throw new StoreError('unavailable', told`disk gone`);
      return store.readCredential(id);
    },
    async replaceCredential(...given: Parameters<AccountStore['replaceCredential']>) {
      if (state.isFull) throw new StoreError('unavailable', told`disk full`);
      return store.replaceCredential(...given);
    },
    saveHealth: (...given: Parameters<AccountStore['saveHealth']>) => store.saveHealth(...given),
    saveQuotas: (...given: Parameters<AccountStore['saveQuotas']>) => store.saveQuotas(...given),
  });
}

/** Nobody's turn ends by time here. */
function createMemoryLeases(): LeaseStore {
  const holders = new Map<string, string>();
  let fence = 0;
  return {
    async take(name, holder) {
      if ((holders.get(name) ?? holder) !== holder) return undefined;
      holders.set(name, holder);
      fence += 1;
      return { fence };
    },
    async release(name) {
      holders.delete(name);
    },
  };
}
