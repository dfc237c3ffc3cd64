// `npm run test:cluster`: three replicas on a real PostgreSQL and a real Valkey or Redis, which are killed at random. The
// clocks of two are a minute ahead and behind.

import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CreatedKey, Key, KeyList } from '../../src/admin/contract.ts';
import { callAdmin } from '../support/admin-api.ts';
import { isInstalled } from '../support/debian-packages.ts';
import { type RunningGateway, startGateway } from '../support/gateway-process.ts';
import { POSTGRES_BIN, startPostgres, type TestServer } from '../support/postgres.ts';
import { startValkey, VALKEY, type ValkeyServer } from '../support/valkey.ts';

const PASSWORD = 'a-console-password';
const REPLICAS = 3;

const FAKE_TIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1';
if (!isInstalled(() => existsSync(FAKE_TIME), ['faketime'])) {
  console.warn('faketime IS NOT INSTALLED: the clocks of all replicas are the same.');
}

/** What lets the clock of a replica differ: what measures time alone stays as it is. */
function shiftOf(place: number): Record<string, string> {
  const shift = ['', '+60', '-60'][place] ?? '';
  if (shift === '' || !existsSync(FAKE_TIME)) return {};
  return { LD_PRELOAD: FAKE_TIME, FAKETIME: shift, FAKETIME_DONT_FAKE_MONOTONIC: '1' };
}

const isWhole =
  process.env.ISTHMUS_SLOW === '1' && VALKEY !== undefined && POSTGRES_BIN !== undefined;

describe.skipIf(!isWhole)('three replicas', () => {
  let database: TestServer;
  let store: ValkeyServer;
  let environment: Record<string, string>;
  const gateways: RunningGateway[] = [];

  const start = async (place: number): Promise<void> => {
    gateways[place] = await startGateway({ ...environment, ...shiftOf(place) });
  };
  const at = (place: number): RunningGateway => {
    const gateway = gateways[place % REPLICAS];
    if (gateway === undefined) throw new Error(`There is no replica ${place % REPLICAS}.`);
    return gateway;
  };

  beforeAll(async () => {
    database = await startPostgres();
    store = await startValkey();
    environment = {
      DATABASE_URL: await database.createDatabase(),
      REDIS_URL: store.url,
      ISTHMUS_SECRET_KEY: 'the-secret-key-of-all-replicas',
      WEB_PASSWORD: PASSWORD,
      AUTH_MODE: 'strict',
    };
    for (let place = 0; place < REPLICAS; place += 1) await start(place);
  }, 120_000);

  afterAll(async () => {
    for (const gateway of gateways) await gateway.stop();
    await store.close();
    await database.close();
  }, 60_000);

  test('the requests of a key are limited exactly over all of them', async () => {
    const key = await makeKey(at(0).url, { name: 'Ada', requestsPerMinute: 100 });
    const statuses = await Promise.all(
      Array.from({ length: 240 }, (_, index) => ask(at(index).url, key)),
    );
    // What one replica took in stock and did not need is back within a second or two, and is given to the next.
    let passed = count(statuses, 200);
    await expect
      .poll(
        async () => {
          const more = await Promise.all(
            Array.from({ length: 30 }, (_, index) => ask(at(index).url, key)),
          );
          passed += count(more, 200);
          return passed;
        },
        { timeout: 20_000, interval: 1500 },
      )
      // What Valkey granted so late that nobody waited for it is lost: a machine that is busy with other things.
      .toBeGreaterThanOrEqual(97);
    expect(passed).toBeLessThanOrEqual(100);
  }, 120_000);

  test('a budget of tokens is never exceeded over all of them', async () => {
    const dailyTokens = 20_000;
    const key = await makeKey(at(1).url, { name: 'Bea' });
    await makeBudget(at(1).url, key, { unit: 'tokens', amount: dailyTokens });
    for (let round = 0; round < 6; round += 1) {
      await Promise.all(Array.from({ length: 60 }, (_, index) => ask(at(index).url, key)));
    }
    await expect
      .poll(async () => (await usageOf(at(2).url, 'Bea'))?.tokens, { timeout: 10_000 })
      .toBeGreaterThan(0);
    for (const { url } of gateways) {
      expect((await usageOf(url, 'Bea'))?.tokens).toBeLessThanOrEqual(dailyTokens);
    }
  }, 120_000);

  test('what a killed replica had reserved of a budget is there again', async () => {
    const key = await makeKey(at(0).url, { name: 'Eve' });
    // One request may reserve 307 of them.
    await makeBudget(at(0).url, key, { unit: 'tokens', amount: 600 });
    const place = 2;
    const running = await send(at(place).url, key, { stream: true, prompt: 'UPSTREAM-SLOW 500' });
    await running.body?.getReader().read();
    await expect.poll(() => ask(at(0).url, key)).toBe(429);
    process.kill(at(place).pid, 'SIGKILL');
    await at(place).ended;
    try {
      await expect.poll(() => ask(at(0).url, key), { timeout: 30_000, interval: 500 }).toBe(200);
    } finally {
      await start(place);
    }
  }, 60_000);

  test.each([
    [
      'a replica',
      async () => {
        const place = 1;
        process.kill(at(place).pid, 'SIGKILL');
        await at(place).ended;
        await start(place);
      },
    ],
    [
      'Valkey',
      async () => {
        await store.kill();
        await store.restart();
      },
    ],
    [
      'PostgreSQL',
      async () => {
        await database.kill();
        await database.start();
      },
    ],
  ])(
    'no request is lost that a balancer may send again while %s is killed and comes back',
    async (_what, fault) => {
      const key = await makeKey(at(0).url, { name: `for ${_what}` });
      let isOver = false;
      const failures: string[] = [];
      let answered = 0;
      const client = async (first: number): Promise<void> => {
        for (let place = first; !isOver; place += 1) {
          const outcome = await replay(place, key);
          if (outcome === 200) answered += 1;
          else failures.push(String(outcome));
        }
      };
      const clients = Array.from({ length: 6 }, (_, index) => client(index));
      await until(() => answered >= 100);
      await fault();
      const before = answered;
      await until(() => answered >= before + 300);
      isOver = true;
      await Promise.all(clients);
      expect(failures).toEqual([]);
    },
    120_000,
  );

  test('a stream whose replica is killed never ends as if it were whole', async () => {
    const key = await makeKey(at(0).url, { name: 'Cid' });
    const place = 2;
    const response = await send(at(place).url, key, { stream: true, prompt: 'UPSTREAM-SLOW 500' });
    const reader = response.body?.getReader();
    await reader?.read();
    process.kill(at(place).pid, 'SIGKILL');
    let text = '';
    const decoder = new TextDecoder();
    try {
      for (;;) {
        const chunk = await reader?.read();
        if (chunk === undefined || chunk.done) break;
        text += decoder.decode(chunk.value);
      }
    } catch {
      // The connection broke: that is no end of a whole answer.
    }
    expect(text).not.toContain('[DONE]');
    await at(place).ended;
    await start(place);
  }, 60_000);

  /** As a balancer does: a request that no replica began to answer goes to the next. */
  async function replay(first: number, key: string): Promise<number | string> {
    let last: unknown;
    for (let place = first; place < first + 30; place += 1) {
      try {
        return await ask(at(place).url, key);
      } catch (error) {
        last = error;
      }
    }
    return String(last);
  }

  /** Of a key. Every replica knows it once this is answered. */
  async function makeBudget(made: string, secret: string, budget: object): Promise<void> {
    const subject = (await keysOf(made)).find(({ prefix }) => secret.startsWith(prefix))?.id;
    const input = { scope: 'key', subject, period: 'day', ...budget };
    await api(made, ['POST', '/api/budgets'], input);
  }
});

function count(statuses: readonly number[], wanted: number): number {
  return statuses.filter((status) => status === wanted).length;
}

/** Looks whenever something may have happened. */
async function until(isSo: () => boolean): Promise<void> {
  await expect.poll(isSo, { timeout: 60_000, interval: 20 }).toBe(true);
}

function send(
  url: string,
  key: string,
  { stream = false, prompt = 'Hi' }: { stream?: boolean; prompt?: string } = {},
): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({
      ...{ model: 'alpha-3-flash', stream, max_tokens: 300 },
      messages: [{ role: 'user', content: prompt }],
    }),
  });
}

async function ask(url: string, key: string): Promise<number> {
  const response = await send(url, key);
  await response.text();
  return response.status;
}

async function makeKey(url: string, input: object): Promise<string> {
  return (await api<CreatedKey>(url, ['POST', '/api/keys'], input)).secret;
}

async function usageOf(url: string, name: string): Promise<Key['usedToday'] | undefined> {
  return (await keysOf(url)).find((key) => key.name === name)?.usedToday;
}

async function keysOf(url: string): Promise<readonly Key[]> {
  return (await api<KeyList>(url, ['GET', '/api/keys'])).keys;
}

const api = <Answer = unknown>(
  url: string,
  route: readonly [method: string, path: string],
  body?: object,
): Promise<Answer> => callAdmin({ url, password: PASSWORD }, route, body);
