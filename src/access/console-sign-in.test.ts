import { expect, test } from 'vitest';
import { createFakeClock, type FakeClock } from '../../test/support/fake-clock.ts';
import { createMemoryAccessStores } from '../../test/support/memory-access-stores.ts';
import { StoreError } from '../accounts/account-store.ts';
import { GatewayError } from '../canonical/error.ts';
import { told } from '../lib/localized-message.ts';
import { ConsoleSessions, createConsoleLogin } from './console-sign-in.ts';

import type { PasswordHasher } from './password-hash.ts';
import { People } from './people.ts';

const PASSWORD = 'correct horse';
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

function openLogin(
  options: { clock?: FakeClock; stores?: ReturnType<typeof createMemoryAccessStores> } = {},
) {
  const { clock = createFakeClock(), stores = createMemoryAccessStores() } = options;
  const state = {
    password: PASSWORD as string | undefined,
    hashed: 0,
    settled: async () => {},
    verified: () => {},
  };
  const hasher: PasswordHasher = {
    hash: async (password) => password,
    verify: async (stored, given) => {
      state.hashed += 1;
      state.verified();
      return stored === given || stored === `hash of ${given}`;
    },
  };
  const store = stores.consoleSessions;
  const hasPassword = (): boolean => state.password !== undefined;
  const createId = (prefix: string): string => `${prefix}${++ids}`;
  let ids = 0;
  const people = new People({ store: stores.people, clock, createId, hasPassword });
  const start = async () =>
    createConsoleLogin({
      people,
      password: () => state.password,
      passwordSettled: () => state.settled(),
      machineToken: 'machine-token',
      hasher,
      sessions: new ConsoleSessions({ store, clock, idleMs: () => 12 * HOUR }, await store.list()),
      clock,
      tagKey: Buffer.alloc(32, 7),
    });
  return { clock, state, start, stores, people };
}

const browser = (address = '192.0.2.1', cookie?: string) => ({ address, cookie });

async function outcome(try_: Promise<unknown>): Promise<number | string> {
  try {
    await try_;
    return 'in';
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return error.kind === 'rate-limited' ? (error.retryAfterMs ?? 0) : error.kind;
  }
}

test('an address has five tries a minute, then waits twice as long each time', async () => {
  const { clock, start } = openLogin();
  const login = await start();
  const guess = () => outcome(login.signIn('wrong', browser()));
  for (let turn = 0; turn < 5; turn += 1) expect(await guess()).toBe('unauthenticated');
  for (const waitMs of [1, 2, 4, 8, 15, 15].map((minutes) => minutes * MINUTE)) {
    expect(await guess()).toBe(waitMs);
    // The right password is not looked at either.
    expect(await outcome(login.signIn(PASSWORD, browser()))).toBe(waitMs);
    await clock.advance(waitMs);
    expect(await guess()).toBe('unauthenticated');
  }
  await clock.advance(15 * MINUTE);
  expect(await outcome(login.signIn(PASSWORD, browser()))).toBe('in');
  expect(await guess()).toBe('unauthenticated');
});

test('a clock that is set anew ends no wait and makes none longer', async () => {
  const clock = createFakeClock();
  let ahead = 0;
  const { start } = openLogin({ clock: { ...clock, now: () => clock.now() + ahead } });
  const login = await start();
  const guess = () => outcome(login.signIn('wrong', browser()));
  const [link, other] = [login.createLink(), login.createLink()];
  for (let turn = 0; turn < 5; turn += 1) await guess();
  ahead = 365 * 24 * HOUR;
  expect(await guess()).toBe(MINUTE);
  expect(await login.redeemLink(link, browser())).toBeDefined();
  ahead = -365 * 24 * HOUR;
  await clock.advance(MINUTE);
  expect(await guess()).toBe('unauthenticated');
  await clock.advance(10 * MINUTE);
  expect(await login.redeemLink(other, browser())).toBeUndefined();
});

test('slow tries are never refused', async () => {
  const { clock, start } = openLogin();
  const login = await start();
  for (let turn = 0; turn < 12; turn += 1) {
    expect(await outcome(login.signIn('wrong', browser()))).toBe('unauthenticated');
    await clock.advance(MINUTE / 4);
  }
});

test('the addresses of one IPv6 network share their tries', async () => {
  const { start } = openLogin();
  const login = await start();
  for (let turn = 0; turn < 5; turn += 1) {
    await outcome(login.signIn('wrong', browser(`2001:db8::${turn + 1}`)));
  }
  expect(await outcome(login.signIn('wrong', browser('2001:db8::ffff')))).toBe(MINUTE);
  expect(await outcome(login.signIn('wrong', browser('2001:db8:0:1::1')))).toBe('unauthenticated');
});

test('of ten thousand guesses from many addresses twenty a minute and a hundred an hour are looked at', async () => {
  const { clock, state, start } = openLogin();
  const login = await start();
  const guesses = async (count: number, from: number) => {
    for (let turn = 0; turn < count; turn += 1) {
      const one = from + turn;
      const address = `10.${one >> 16}.${(one >> 8) & 255}.${one & 255}`;
      const result = await outcome(login.signIn(`guess ${one}`, browser(address)));
      if (result !== 'unauthenticated') expect(result).toBeGreaterThan(0);
    }
  };
  await guesses(5_000, 0);
  expect(state.hashed).toBe(20);
  for (let minute = 1; minute <= 59; minute += 1) {
    await clock.advance(MINUTE);
    await guesses(84, 5_000 + minute * 84);
  }
  expect(state.hashed).toBe(100);
  await clock.advance(MINUTE);
  expect(await outcome(login.signIn('x', browser('192.0.2.9')))).toBe('unauthenticated');
});

test('guessing from elsewhere does not keep out the address that signed in before', async () => {
  const { clock, start } = openLogin();
  const login = await start();
  expect(await outcome(login.signIn(PASSWORD, browser()))).toBe('in');
  for (let turn = 0; turn < 200; turn += 1) {
    await outcome(login.signIn('wrong', browser(`10.0.${turn >> 8}.${turn & 255}`)));
  }
  expect(await outcome(login.signIn(PASSWORD, browser('10.9.9.9')))).toBeGreaterThan(0);
  expect(await outcome(login.signIn(PASSWORD, browser()))).toBe('in');
  // For a day: then it waits like all others.
  await clock.advance(24 * HOUR);
  for (let turn = 0; turn < 20; turn += 1) {
    await outcome(login.signIn('wrong', browser(`10.1.0.${turn}`)));
  }
  expect(await outcome(login.signIn(PASSWORD, browser()))).toBeGreaterThan(0);
});

test('many guesses at the same moment count one by one, the same password only once', async () => {
  const { start, state } = openLogin();
  const login = await start();
  const different = Array.from({ length: 50 }, (_, turn) =>
    login.isPassword(`w${turn}`, '192.0.2.1'),
  );
  const results = await Promise.allSettled(different);
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
  expect(state.hashed).toBe(5);
  const same = Array.from({ length: 50 }, () => login.isPassword(PASSWORD, '192.0.2.2'));
  expect(new Set(await Promise.all(same))).toEqual(new Set([true]));
  expect(state.hashed).toBe(6);
  expect(await login.isPassword(PASSWORD, '192.0.2.3')).toBe(true);
  expect(state.hashed).toBe(6);
  // Two addresses are two tries: what one of them is refused is no answer for the other.
  await Promise.all([4, 5].map((end) => login.isPassword('w', `192.0.2.${end}`)));
  expect(state.hashed).toBe(8);
});

test('the password of before is wrong from the moment there is another', async () => {
  const { start, state } = openLogin();
  const login = await start();
  expect(await login.isPassword(PASSWORD, '192.0.2.1')).toBe(true);
  state.password = 'another';
  expect(await login.isPassword(PASSWORD, '192.0.2.1')).toBe(false);
  expect(await login.isPassword('another', '192.0.2.1')).toBe(true);
  state.password = undefined;
  expect(await login.isPassword('another', '192.0.2.1')).toBe(false);
});

test('the token of the machine is right without a try', async () => {
  const { start, state } = openLogin();
  const login = await start();
  for (let turn = 0; turn < 9; turn += 1) await outcome(login.signIn('wrong', browser()));
  expect(await login.isPassword('machine-token', '192.0.2.1')).toBe(true);
  state.password = undefined;
  expect(login.needsPassword).toBe(false);
});

test('a session is found by its cookie, lasts while it is used and a week at most', async () => {
  const { clock, start } = openLogin();
  const login = await start();
  const { secret, expiresAt } = await login.signIn(PASSWORD, browser());
  expect(Buffer.from(secret, 'base64url')).toHaveLength(32);
  expect(expiresAt).toBe(clock.now() + 12 * HOUR);
  expect(await login.findSession('another')).toBeUndefined();
  for (let half = 0; half < 15; half += 1) {
    await clock.advance(11 * HOUR);
    expect(await login.findSession(secret)).toBeDefined();
  }
  await clock.advance(3 * HOUR);
  expect(await login.findSession(secret)).toBeUndefined();
  const idle = await login.signIn(PASSWORD, browser());
  await clock.advance(12 * HOUR);
  expect(await login.findSession(idle.secret)).toBeUndefined();
});

test('signing in anew ends the session the browser had; signing out ends all', async () => {
  const { start, stores } = openLogin();
  const login = await start();
  const first = await login.signIn(PASSWORD, browser());
  const other = await login.signIn(PASSWORD, browser());
  const second = await login.signIn(PASSWORD, browser('192.0.2.1', first.secret));
  const alive = () =>
    Promise.all(
      [first, other, second].map(
        async ({ secret }) => (await login.findSession(secret)) !== undefined,
      ),
    );
  expect(await alive()).toEqual([false, true, true]);
  await login.endAllSessions();
  expect(await alive()).toEqual([false, false, false]);
  expect(await stores.consoleSessions.list()).toEqual([]);
});

test('of more than a thousand sessions the oldest ends', async () => {
  const { clock, start, stores } = openLogin();
  const login = await start();
  const [first, second] = [
    await login.signIn(PASSWORD, browser()),
    await login.signIn(PASSWORD, browser()),
  ];
  for (let count = 0; count < 998; count += 1) await login.goOn(browser());
  await clock.advance(1_000);
  const isIn = ({ secret }: { readonly secret: string }) =>
    login.roleOfSession(secret) !== undefined;
  expect([isIn(first), isIn(second)]).toEqual([true, true]);
  await login.goOn(browser());
  expect([isIn(first), isIn(second)]).toEqual([false, true]);
  expect(await stores.consoleSessions.list()).toHaveLength(1_000);
});

test('sessions survive a restart, and end with the password they began with', async () => {
  const { start, state, stores } = openLogin();
  const { secret } = await (await start()).signIn(PASSWORD, browser());
  expect(JSON.stringify(await stores.consoleSessions.list())).not.toContain(secret);
  expect(await (await start()).findSession(secret)).toBeDefined();
  state.password = 'another';
  expect(await (await start()).findSession(secret)).toBeUndefined();
});

test('a session that is used all the time lasts over a restart, however short its pauses are', async () => {
  const { clock, start } = openLogin();
  const login = await start();
  const { secret } = await login.signIn(PASSWORD, browser());
  for (let minute = 0; minute < 13 * 60; minute += 1) {
    await clock.advance(MINUTE);
    expect(await login.findSession(secret)).toBeDefined();
  }
  expect(await (await start()).findSession(secret)).toBeDefined();
});

test('of the requests of a session only one in five minutes is saved, again after a fault', async () => {
  const { clock, start, stores } = openLogin();
  const login = await start();
  const { secret } = await login.signIn(PASSWORD, browser());
  const { saveSeen } = stores.consoleSessions;
  let saved = 0;
  let isBroken = true;
  stores.consoleSessions.saveSeen = async (session) => {
    if (isBroken) throw new Error('disk full');
    saved += 1;
    return saveSeen(session);
  };
  await clock.advance(5 * MINUTE);
  await login.findSession(secret);
  await clock.advance(1_000);
  isBroken = false;
  await clock.advance(5_000);
  expect(saved).toBe(1);
  for (let second = 0; second < 290; second += 1) {
    await clock.advance(1_000);
    await login.findSession(secret);
  }
  expect(saved).toBe(1);
  await clock.advance(10_000);
  await login.findSession(secret);
  await clock.advance(1_000);
  expect(saved).toBe(2);
});

test('who signs in while the store is away or full is in, and stays so when it is back', async () => {
  const { clock, start, stores, people } = openLogin();
  const login = await start();
  const ada = await people.add({ name: 'Ada', role: 'owner', passwordHash: PASSWORD });
  const before = await login.signIn(PASSWORD, browser());
  const { save, remove } = stores.consoleSessions;
  const { saveSignIn } = stores.people;
  const refuse = async (): Promise<never> => {
    throw new StoreError('unavailable', told`The disk is full.`);
  };
  stores.consoleSessions.save = refuse;
  stores.consoleSessions.remove = refuse;
  stores.people.saveSignIn = refuse;
  const { secret } = await login.signIn(PASSWORD, browser('192.0.2.1', before.secret));
  const asAda = await login.signInAs({ name: 'Ada', password: PASSWORD }, browser());
  const byLink = await login.redeemLink(login.createLink(), browser());
  const secrets = [secret, asAda.secret, byLink?.secret ?? ''];
  await clock.advance(MINUTE);
  expect(secrets.map(login.roleOfSession)).toEqual(['owner', 'owner', 'owner']);
  expect(login.roleOfSession(before.secret)).toBeUndefined();
  await login.endSessionsOf(ada.id).catch(() => undefined);
  Object.assign(stores.consoleSessions, { save, remove });
  stores.people.saveSignIn = saveSignIn;
  await clock.advance(MINUTE);
  const again = await start();
  expect(secrets.map(again.roleOfSession)).toEqual(['owner', undefined, 'owner']);
});

test('a link signs in once within ten minutes', async () => {
  const { clock, start } = openLogin();
  const login = await start();
  const [used, late] = [login.createLink(), login.createLink()];
  const session = await login.redeemLink(used, browser());
  expect(await login.findSession(session?.secret ?? '')).toBeDefined();
  expect(await login.redeemLink(used, browser())).toBeUndefined();
  expect(await login.redeemLink('none', browser())).toBeUndefined();
  await clock.advance(10 * MINUTE);
  expect(await login.redeemLink(late, browser())).toBeUndefined();
});

test('a session that begins while the password is being hashed outlasts that', async () => {
  const { start, state } = openLogin();
  const login = await start();
  const beginsWhileHashed = async (
    begin: () => Promise<{ readonly secret: string } | undefined>,
  ) => {
    state.password = PASSWORD;
    state.settled = async () => {
      state.password = `hash of ${PASSWORD}`;
    };
    return login.roleOfSession((await begin())?.secret ?? '') !== undefined;
  };
  expect(await beginsWhileHashed(() => login.signIn(PASSWORD, browser()))).toBe(true);
  const link = login.createLink();
  expect(await beginsWhileHashed(() => login.redeemLink(link, browser()))).toBe(true);
});

test('a password that becomes another while it is checked begins no session', async () => {
  const { start, state } = openLogin();
  const login = await start();
  state.verified = () => {
    state.password = 'another';
  };
  const { secret } = await login.signIn(PASSWORD, browser());
  expect(login.roleOfSession(secret)).toBeUndefined();
});
