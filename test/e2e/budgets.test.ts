// Budgets over real sockets: two hundred requests at once, workers, a restart, and what clients are told.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Budget, BudgetList, CreatedKey, Usage } from '../../src/admin/contract.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../src/lib/json.ts';
import { callAdmin } from '../support/admin-api.ts';
import { startGateway } from '../support/app.ts';
import { startGateway as startProcess } from '../support/gateway-process.ts';

const PASSWORD = 'a password for the console';
const PRICES = { 'alpha-*': { input: 10, output: 100 }, 'beta-*': { input: 10, output: 100 } };

let folder: string;
let gateway: { readonly url: string; close(): Promise<unknown> };

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'isthmus-budgets-'));
  const file = { proxy: { auth_mode: 'strict', prices: PRICES } };
  writeFileSync(join(folder, 'gui_config.json'), JSON.stringify(file));
});
afterEach(async () => {
  await gateway.close();
  rmSync(folder, { recursive: true, force: true });
});

async function start(): Promise<void> {
  gateway = await startGateway({ folder, environment: { WEB_PASSWORD: PASSWORD } });
}

async function startWorkers(): Promise<void> {
  const environment = { ISTHMUS_DATA_DIR: folder, WEB_PASSWORD: PASSWORD, WORKERS: '2' };
  const { url, stop } = await startProcess(environment);
  gateway = { url, close: stop };
}

const api = <Answer = unknown>(method: string, path: string, body?: object): Promise<Answer> =>
  callAdmin({ url: gateway.url, password: PASSWORD }, [method, path], body);

async function makeKey(name: string, more: object = {}): Promise<{ id: string; secret: string }> {
  const { key, secret } = await api<CreatedKey>('POST', '/api/keys', { name, ...more });
  return { id: key.id, secret };
}

function ask(secret: string, more: object = {}): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'alpha-3-flash',
      messages: [{ role: 'user', content: 'Say something about budgets.' }],
      ...more,
    }),
  });
}

const askMany = (secret: string, more: object = {}): Promise<readonly number[]> =>
  Promise.all(
    Array.from({ length: 200 }, async () => {
      const answer = await ask(secret, more);
      await answer.text();
      return answer.status;
    }),
  );

const count = (statuses: readonly number[], status: number): number =>
  statuses.filter((one) => one === status).length;

const daily = { period: 'day', timeZone: 'Europe/Berlin' };

test('a new budget counts what ended a moment ago', async () => {
  await start();
  const { id, secret } = await makeKey('Ada');
  expect(await askMany(secret)).toEqual(Array(200).fill(200));
  const terms = { period: 'day', timeZone: 'UTC', unit: 'requests', amount: 200 };
  const budget = { scope: 'key', subject: id, isHard: true, warnPercent: 80, ...terms };
  expect(await api('POST', '/api/budgets', budget)).toMatchObject({ used: 200, level: 'spent' });
});

test('of two hundred requests at once exactly as many pass as a budget has, and none after a restart', async () => {
  await start();
  const { id, secret } = await makeKey('Ada');
  await api('POST', '/api/budgets', {
    scope: 'key',
    subject: id,
    unit: 'requests',
    amount: 37,
    ...daily,
  });
  const statuses = await askMany(secret);
  expect([count(statuses, 200), count(statuses, 429)]).toEqual([37, 163]);
  const refused = await ask(secret);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await refused.json()).toMatchObject({
    error: {
      ...{ type: 'insufficient_quota', code: 'insufficient_quota' },
      message: expect.stringMatching(
        /^This key has used its budget of 37 requests a day\. It resets at /,
      ),
    },
  });
  await gateway.close();
  await start();
  expect((await ask(secret)).status).toBe(429);
  expect(await api('GET', '/api/budgets')).toMatchObject({
    budgets: [{ used: 37, level: 'spent' }],
  });
  const headers = { authorization: `Bearer ${PASSWORD}` };
  const metrics = await (await fetch(`${gateway.url}/metrics`, { headers })).text();
  expect(metrics).toMatch(
    /^isthmus_budget_used_ratio\{budget="[^"]+",scope="key",unit="requests",period="day"\} 1$/m,
  );
});

test('money and tokens of two hundred requests at once stay within their budgets, and records say the same', async () => {
  await start();
  const ada = await makeKey('Ada', { team: 'Lab' });
  const bob = await makeKey('Bob');
  const amount = 40_000_000;
  const { id } = await api<Budget>('POST', '/api/budgets', {
    scope: 'team',
    subject: 'Lab',
    unit: 'money',
    amount,
    ...daily,
  });
  await api('POST', '/api/budgets', {
    scope: 'key',
    subject: bob.id,
    unit: 'tokens',
    amount: 2000,
    ...daily,
  });
  let answered = 0;
  for (const { secret } of [ada, bob]) {
    for (const more of [{ max_tokens: 60 }, {}]) {
      const statuses = await askMany(secret, more);
      answered += count(statuses, 200);
      expect(count(statuses, 200) + count(statuses, 429)).toBe(200);
      if ('max_tokens' in more) expect(count(statuses, 200)).toBeGreaterThan(0);
    }
  }
  const { budgets } = await api<BudgetList>('GET', '/api/budgets');
  const [money, tokens] = budgets;
  expect(money?.used).toBeLessThanOrEqual(amount);
  expect(tokens?.used).toBeLessThanOrEqual(2000);
  expect([money?.id, money?.reserved, tokens?.reserved]).toEqual([id, 0, 0]);
  // Records are saved a moment after their answers.
  const usedOf = async () => {
    const { buckets } = await api<Usage>('GET', '/api/usage?by=key');
    const of = (key: string) => buckets.find(({ group }) => group === key);
    const [ofAda, ofBob] = [of(ada.id), of(bob.id)];
    if (ofAda === undefined || ofBob === undefined) return [];
    return [ofAda.costNanos + ofAda.flatRateNanos, ofBob.inputTokens + ofBob.outputTokens];
  };
  await expect.poll(usedOf, { timeout: 20_000 }).toEqual([money?.used, tokens?.used]);
  // A new budget begins with what its period has used by then.
  const begin = async (budget: object): Promise<number | undefined> =>
    (await api<Budget>('POST', '/api/budgets', { amount, ...daily, ...budget })).used;
  expect(await begin({ scope: 'team', subject: 'Lab', unit: 'money' })).toBe(money?.used);
  expect(await begin({ scope: 'key', subject: bob.id, unit: 'tokens' })).toBe(tokens?.used);
  expect(await begin({ scope: 'gateway', unit: 'requests' })).toBe(answered);
  expect(await begin({ scope: 'gateway', unit: 'images' })).toBe(0);
});

test('a budget of requests is exact over workers that share it', async () => {
  await startWorkers();
  const { secret } = await makeKey('Ada');
  await api('POST', '/api/budgets', { scope: 'gateway', unit: 'requests', amount: 50, ...daily });
  // Each worker hears of the key and the budget.
  await expect
    .poll(
      async () =>
        (await fetch(`${gateway.url}/v1/models`, { headers: { 'x-api-key': secret } })).status,
    )
    .toBe(200);
  const statuses = await askMany(secret);
  expect([count(statuses, 200), count(statuses, 429)]).toEqual([50, 150]);
});

test('answers tell the nearest limit in the words of the protocol, and the holder of a key the own use', async () => {
  await start();
  const { id, secret } = await makeKey('Ada', { owner: 'ada@example.org', requestsPerMinute: 9 });
  await api('POST', '/api/budgets', {
    scope: 'key',
    subject: id,
    unit: 'tokens',
    amount: 90_000,
    ...daily,
  });
  const chat = await ask(secret, { max_tokens: 20 });
  expect(chat.headers.get('x-ratelimit-limit-requests')).toBe('9');
  expect(chat.headers.get('x-ratelimit-remaining-requests')).toBe('8');
  expect(chat.headers.get('x-ratelimit-reset-requests')).toBe('1m0s');
  expect(chat.headers.get('x-ratelimit-limit-tokens')).toBe('90000');
  expect(chat.headers.get('x-ratelimit-reset-tokens')).toMatch(/^(?:\d+h)?\d+m\d+s$/);
  const messages = await fetch(`${gateway.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': secret, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ model: 'beta-sonnet-4-6', max_tokens: 20 },
      messages: [{ role: 'user', content: 'Hi' }],
    }),
  });
  const told = (name: string) => messages.headers.get(`anthropic-ratelimit-${name}`);
  expect([told('requests-limit'), told('requests-remaining')]).toEqual(['9', '7']);
  for (const kind of ['tokens', 'input-tokens', 'output-tokens']) {
    expect(told(`${kind}-limit`)).toBe('90000');
    expect(told(`${kind}-reset`)).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  }
  expect(messages.headers.get('x-ratelimit-limit-tokens')).toBeNull();
  const own = async (): Promise<JsonObject> => {
    const headers = { 'x-api-key': secret };
    const body = parseJson(
      await (await fetch(`${gateway.url}/v1/usage?days=2`, { headers })).text(),
    );
    return isJsonObject(body) ? body : {};
  };
  const today = async (): Promise<JsonValue | undefined> => {
    const { days } = await own();
    return Array.isArray(days) ? days.at(-1) : undefined;
  };
  // Records are saved a moment later.
  await expect.poll(today).toMatchObject({ requests: 2, models: [{}, {}] });
  const usage = await own();
  expect(usage).toMatchObject({
    key: { name: 'Ada', owner: 'ada@example.org' },
    limits: { requests_per_minute: 9, remaining_requests: 7 },
    budgets: [{ scope: 'key', unit: 'tokens', amount: 90_000, hard: true }],
    models: expect.arrayContaining(['alpha-3-flash']),
  });
  expect(JSON.stringify(usage)).not.toContain(secret);
  const head = await fetch(`${gateway.url}/v1/usage`, {
    ...{ method: 'HEAD', headers: { 'x-api-key': secret } },
  });
  expect([head.status, await head.text()]).toEqual([200, '']);
  expect((await fetch(`${gateway.url}/v1/usage`)).status).toBe(401);
  const refuse = async (query: string) => {
    const url = `${gateway.url}/v1/usage?${query}`;
    const answer = await fetch(url, { headers: { 'x-api-key': secret } });
    return [answer.status, await answer.json()];
  };
  expect(await refuse('days=x')).toMatchObject([400, { error: { param: 'days' } }]);
  expect(await refuse('time_zone=Mars/Base')).toMatchObject([
    400,
    { error: { param: 'time_zone', message: expect.stringMatching(/^time_zone: must be/) } },
  ]);
});
