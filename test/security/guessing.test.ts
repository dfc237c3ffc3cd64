// Ten thousand guesses of the console password over the network, and what they cost everybody else.

import { stat } from 'node:fs/promises';
import { afterEach, expect, test } from 'vitest';
import { ConsoleSessions, createConsoleLogin } from '../../src/access/console-sign-in.ts';
import { createPasswordHasher, type PasswordHasher } from '../../src/access/password-hash.ts';
import type { AdminRoute } from '../../src/server/admin-route.ts';
import { DEFAULT_EDGE_SETTINGS } from '../../src/server/settings.ts';
import { startEdge, type TestEdge } from '../../src/server/start-edge.test-support.ts';
import { countOf } from '../support/counts.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createMemoryAccessStores, loadMemoryAccess } from '../support/memory-access-stores.ts';
import { inParallel, threadMsOf } from './measure.ts';

const PASSWORD = 'correct horse battery staple';
const KEY = 'sk-the-key-of-a-client';
const GUESSES = countOf({ slow: 10_000, everyday: 360 });
const MINUTE_MS = 60_000;

const CONSOLE_ROUTE: AdminRoute = {
  method: 'GET',
  path: '/api/anything',
  access: 'viewer',
  title: 'answers',
  run: async () => ({ kind: 'json', status: 200, body: { ok: true } }),
};

let edge: TestEdge | undefined;
afterEach(async () => {
  await edge?.server.close();
  edge = undefined;
});

/** Counts what would be hashed. */
function createCountingHasher() {
  const seen = { hashed: 0 };
  const hasher: PasswordHasher = {
    hash: async (password) => password,
    async verify(stored, given) {
      seen.hashed += 1;
      return stored === given;
    },
  };
  return { seen, hasher };
}

async function start() {
  const clock = createFakeClock();
  const { seen, hasher } = createCountingHasher();
  const settings = {
    ...DEFAULT_EDGE_SETTINGS,
    port: 0,
    authMode: 'strict' as const,
    apiKeys: [{ id: 'main', key: KEY }],
    consolePassword: PASSWORD,
    trustedProxies: ['127.0.0.1'],
  };
  const { consoleSessions: store } = createMemoryAccessStores();
  const { people } = await loadMemoryAccess({ settings: () => settings, clock });
  const login = createConsoleLogin({
    password: () => settings.consolePassword,
    machineToken: 'the token of this machine',
    hasher,
    passwordSettled: async () => {},
    sessions: new ConsoleSessions({ store, clock, idleMs: () => MINUTE_MS }),
    people,
    clock,
    tagKey: Buffer.alloc(32, 1),
  });
  const access = { ...(await loadMemoryAccess({ settings: () => settings, clock })), login };
  const running = await startEdge({ access, settings, adminRoutes: [CONSOLE_ROUTE] });
  edge = running;
  const ask = async (path: string, key: string, from: string) => {
    const answer = await fetch(running.url + path, {
      headers: { authorization: `Bearer ${key}`, 'x-forwarded-for': from },
    });
    await answer.arrayBuffer();
    return { status: answer.status, retryAfter: answer.headers.get('retry-after') };
  };
  return { clock, seen, ask };
}

const addressOf = (index: number): string =>
  `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;

test('of many guesses twenty a minute and a hundred an hour are looked at, the rest wait', async () => {
  const { clock, seen, ask } = await start();
  const statuses = new Map<number, number>();
  const guess = async (index: number): Promise<void> => {
    const { status, retryAfter } = await ask('/api/anything', `guess ${index}`, addressOf(index));
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    expect(status === 429 ? Number(retryAfter) > 0 : status === 401).toBe(true);
  };
  const first = GUESSES / 2;
  await inParallel(first, 8, guess);
  expect(seen.hashed).toBe(20);
  const perMinute = Math.floor((GUESSES - first) / 59);
  for (let minute = 0; minute < 59; minute += 1) {
    await clock.advance(MINUTE_MS);
    await inParallel(perMinute, 8, (index) => guess(first + minute * perMinute + index));
  }
  expect(seen.hashed).toBe(100);
  const refused = first + perMinute * 59 - 100;
  expect(Object.fromEntries(statuses)).toEqual({ 401: 100, 429: refused });
});

test('a refused guess costs hardly more than any refused request', async () => {
  const { ask } = await start();
  const count = countOf({ slow: 4_000, everyday: 150 });
  const guessAll = () =>
    inParallel(count, 4, async (index) => {
      await ask('/api/anything', `guess ${index}`, addressOf(index));
    });
  const knockAll = () =>
    inParallel(count, 4, async (index) => {
      await ask('/v1/models', `sk-wrong-${index}`, addressOf(index));
    });
  // The first guesses are hashed; from here on all are refused.
  await guessAll();
  await knockAll();
  const ratios: number[] = [];
  // What else the thread does, such as collecting garbage, may fall on one of the two.
  for (let round = 0; round < 5 && !ratios.some(isLittle); round += 1) {
    const guessMs = await threadMsOf(guessAll);
    ratios.push(guessMs / (await threadMsOf(knockAll)));
  }
  expect(ratios).toSatisfy((all: number[]) => all.some(isLittle));
});

const isLittle = (ratio: number): boolean => ratio < 2;

test('passwords that are being checked do not keep files from being read', async () => {
  const { hash, verify } = createPasswordHasher();
  const stored = await hash(PASSWORD);
  let checked = 0;
  const checks = Array.from({ length: 20 }, async (_, index) => {
    await verify(stored, `guess ${index}`);
    checked += 1;
  });
  await stat(import.meta.filename);
  // All twenty at once would fill every thread that reads files.
  expect(checked).toBeLessThanOrEqual(4);
  await Promise.all(checks);
});
