// Two gateways that share their stores and Valkey, where that is installed: one limit, one sign-in, one state of accounts.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDefaultAccounts, createSandbox } from '@isthmus/sandbox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { QuotaReading } from '../../src/accounts/account.ts';
import type { Budget, ConsoleSession, CreatedKey } from '../../src/admin/contract.ts';
import type { Cluster } from '../../src/cluster/cluster.ts';
import { joinValkeyCluster } from '../../src/cluster/valkey.ts';
import { type Clock, createSystemClock } from '../../src/lib/clock.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../src/lib/json.ts';
import { callAdmin } from '../support/admin-api.ts';
import { startGateway, type TestApp } from '../support/app.ts';
import { createMiddayClock } from '../support/midday-clock.ts';
import { CLIENT, startProvider, type TestProvider } from '../support/oidc-provider.ts';
import { IMAGE_MODEL } from '../support/pictures.ts';
import { startValkey, VALKEY, type ValkeyServer } from '../support/valkey.ts';

const PASSWORD = 'a-console-password';
const MODEL = 'alpha-3-flash';
const PRICES = { 'alpha-*': { input: 10, output: 100 } };
const daily = { period: 'day', timeZone: 'UTC' };

type Gateway = Omit<TestApp, 'sandbox'>;

/** Nothing takes too long: a machine that is busy with other things does not cut a gateway off. */
const PATIENT: Pick<Clock, 'now' | 'monotonic' | 'startTimer'> = {
  now: Date.now,
  // Runs ahead of the one of Valkey, so that no command is found to come too late.
  monotonic: () => 1000 * performance.now(),
  startTimer: (delayMs, callback) =>
    createSystemClock().startTimer(delayMs < 500 ? delayMs : 600_000, callback),
};

describe.skipIf(VALKEY === undefined)('two gateways', () => {
  const accounts = createDefaultAccounts();
  const clock = createMiddayClock();
  const sandbox = createSandbox({ accounts, clock });
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-replicas-'));
  const members: Cluster[] = [];
  let upstream: string;
  let store: ValkeyServer;
  let one: Gateway;
  let other: Gateway;

  beforeAll(async () => {
    ({ url: upstream } = await sandbox.start());
    store = await startValkey();
    for (const { email } of accounts) {
      await steer('quota', { account: email, model: IMAGE_MODEL, remaining: 1000 });
    }
    [one, other] = [await start('one'), await start('other')];
    await api(one, 'PATCH', '/api/config/prices', PRICES);
  });
  afterAll(async () => {
    for (const gateway of [one, other]) await gateway?.close();
    for (const member of members) await member.close();
    await store?.close();
    await sandbox.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function start(replica: string): Promise<Gateway> {
    const log = { warn: () => undefined, info: () => undefined };
    const cluster = await joinValkeyCluster({ url: store.url, replica, clock: PATIENT, log });
    members.push(cluster);
    const environment = {
      ...{ ISTHMUS_DATA_DIR: folder, WEB_PASSWORD: PASSWORD, AUTH_MODE: 'strict' },
      ...{ UPSTREAM_PROFILE: 'sandbox', UPSTREAM_BASE_URL: upstream },
      UPSTREAM_API_KEYS: accounts.map(({ key }) => key).join(','),
    };
    return startGateway({ environment, folder, cluster, clock });
  }

  async function steer(what: 'quota' | 'faults', body: object): Promise<void> {
    const answer = await fetch(`${upstream}/sandbox/${what}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(await answer.text());
  }

  /** A key that both know. */
  async function makeKey(name: string): Promise<{ id: string; secret: string }> {
    const { key, secret } = await api<CreatedKey>(one, 'POST', '/api/keys', { name });
    const listAt = async ({ url }: Gateway) =>
      (await fetch(`${url}/v1/models`, { headers: { 'x-api-key': secret } })).status;
    for (const gateway of [one, other]) await expect.poll(() => listAt(gateway)).toBe(200);
    return { id: key.id, secret };
  }

  /** A budget that both know. */
  async function makeBudget(subject: string, budget: object): Promise<string> {
    const made = { scope: 'key', subject, ...daily, ...budget };
    const { id } = await api<Budget>(one, 'POST', '/api/budgets', made);
    await expect.poll(() => budgetAt(other, id)).toMatchObject({ id });
    return id;
  }

  const budgetAt = (gateway: Gateway, id: string) =>
    api<Budget>(gateway, 'GET', `/api/budgets/${id}`);

  /** The statuses of requests at once, over both. */
  const askMany = (times: number, ask: (gateway: Gateway) => Promise<Response>) =>
    Promise.all(
      Array.from({ length: times }, async (_, index) => {
        const answer = await ask(index % 2 === 0 ? one : other);
        await answer.text();
        return answer.status;
      }),
    );

  test('pass together exactly as many of two hundred requests as a budget has', async () => {
    const { id, secret } = await makeKey('Ada');
    const budget = await makeBudget(id, { unit: 'requests', amount: 37 });
    const statuses = await askMany(200, (gateway) => chat(gateway, secret));
    expect([count(statuses, 200), count(statuses, 429)]).toEqual([37, 163]);
    for (const gateway of [one, other])
      await expect
        .poll(() => budgetAt(gateway, budget))
        .toMatchObject({ used: 37, level: 'spent' });
  });

  test('count in a new budget what ended at either a moment ago', async () => {
    const { id: subject, secret } = await makeKey('Abe');
    expect(count(await askMany(20, (gateway) => chat(gateway, secret)), 200)).toBe(20);
    const made = { scope: 'key', subject, ...daily, unit: 'requests', amount: 20 };
    expect(await api(one, 'POST', '/api/budgets', made)).toMatchObject({ used: 20 });
  });

  test('draw together exactly as many pictures as a budget has', async () => {
    const { id, secret } = await makeKey('Bea');
    const budget = await makeBudget(id, { unit: 'images', amount: 11 });
    const statuses = await askMany(200, (gateway) => draw(gateway, secret));
    expect([count(statuses, 200), count(statuses, 429)]).toEqual([11, 189]);
    expect(await askMany(4, (gateway) => draw(gateway, secret))).toEqual(Array(4).fill(429));
    for (const gateway of [one, other])
      await expect.poll(() => budgetAt(gateway, budget)).toMatchObject({ used: 11, reserved: 0 });
  });

  test('never spend more money than a budget has, and reserve none when all have ended', async () => {
    const { id, secret } = await makeKey('Cid');
    const amount = 20_000_000;
    const budget = await makeBudget(id, { unit: 'money', amount });
    const ask = (gateway: Gateway) => chat(gateway, secret, { max_tokens: 60 });
    const statuses = await askMany(200, ask);
    expect(count(statuses, 200)).toBeGreaterThan(0);
    expect(count(statuses, 200) + count(statuses, 429)).toBe(200);
    await expect.poll(async () => (await budgetAt(one, budget)).reserved).toBe(0);
    const { used } = await budgetAt(one, budget);
    expect(used).toBeGreaterThan(0);
    expect(used).toBeLessThanOrEqual(amount);
    await expect.poll(() => budgetAt(other, budget)).toMatchObject({ used, reserved: 0 });
    // What was reserved, or taken in stock, and not used is there again for either within a second: with room for
    // two small ones both are served.
    const room = { amount: used + 400_000 };
    await api(one, 'PATCH', `/api/budgets/${budget}`, room);
    await expect.poll(() => budgetAt(other, budget)).toMatchObject(room);
    for (const gateway of [one, other]) {
      const askLittle = () => chat(gateway, secret, { max_tokens: 1 });
      await expect.poll(async () => (await askLittle()).status, { timeout: 15_000 }).toBe(200);
    }
  });

  test('leave an account alone of which one of them learned that it cools down', async () => {
    const { secret } = await makeKey('Dan');
    const refusal = { status: 429, reason: 'RATE_LIMIT_EXCEEDED', retryDelay: '600s' };
    await steer('faults', { ...refusal, model: MODEL, count: 1 });
    expect((await chat(one, secret)).status).toBe(200);
    const [resting = ''] = restingAt(one, MODEL);
    expect(resting).toMatch(/^key-[12]@env$/);
    await expect.poll(() => restingAt(other, MODEL)).toEqual([resting]);
    // It waits for the next call of that account, which nobody makes.
    const { email } = accounts[Number(resting.slice(4, 5)) - 1] ?? {};
    await steer('faults', { ...refusal, model: MODEL, count: 1, account: email });
    expect(await askMany(20, () => chat(other, secret))).toEqual(Array(20).fill(200));
    const faults = await fetch(`${upstream}/sandbox/faults`);
    expect(parse(await faults.text()).faults).toMatchObject([{ account: email }]);
    await fetch(`${upstream}/sandbox/faults`, { method: 'DELETE' });
  });

  /** The accounts that make no calls of a model for a while, as a gateway knows. */
  const restingAt = ({ app }: Gateway, model: string): readonly string[] =>
    app.book
      .list()
      .filter(({ health }) => (health.models.get(model)?.coolUntil ?? 0) > clock.now())
      .map(({ record }) => record.label);

  test('draw together what is left of the quota of their accounts, and nothing more', async () => {
    const { secret } = await makeKey('Eve');
    const lefts = [9, 4];
    for (const [index, { email: account }] of accounts.entries())
      await steer('quota', { account, model: IMAGE_MODEL, remaining: lefts[index] });
    for (const [index, { record }] of one.app.book.list().entries()) {
      const reading: QuotaReading = {
        ...{ remainingFraction: 0.5, remainingCalls: lefts[index], resetsAt: undefined },
        ...{ source: 'upstream', fetchedAt: clock.now() },
      };
      one.app.book.setQuotas(record.id, new Map([[IMAGE_MODEL, reading]]));
    }
    const knownAt = ({ app }: Gateway) =>
      app.book.list().map(({ quotas }) => quotas.get(IMAGE_MODEL)?.remainingCalls);
    await expect.poll(() => knownAt(other)).toEqual(lefts);
    const drawAll = async (times: number): Promise<number> =>
      count(await askMany(times, (gateway) => draw(gateway, secret)), 200);
    let drawn = await drawAll(60);
    expect(drawn).toBeLessThanOrEqual(13);
    // What one took in stock and did not need is back within a second.
    const drawMore = async (): Promise<number> => {
      drawn += drawn < 13 ? await drawAll(2) : 0;
      return drawn;
    };
    await expect.poll(drawMore, { timeout: 15_000 }).toBe(13);
    expect(await drawAll(10)).toBe(0);
    // The upstream had to refuse none of them.
    const log = parse(await (await fetch(`${upstream}/sandbox/requests`)).text()).requests;
    const asked = (Array.isArray(log) ? log : [])
      .filter(isJsonObject)
      .filter(({ path }) => String(path).includes(IMAGE_MODEL));
    expect(asked.length).toBeGreaterThanOrEqual(13);
    expect(asked.filter(({ status }) => status !== 200)).toEqual([]);
  });

  describe('and a provider', () => {
    let provider: TestProvider;
    beforeAll(async () => {
      provider = await startProvider(`${one.url}/sign-in/callback`);
      provider.person = { id: 'ann', claims: { email: 'ann@example.com' } };
      await api(one, 'PATCH', '/api/config/sign_in', {
        ...{ issuer: provider.issuer, client_id: CLIENT.id, client_secret: CLIENT.secret },
        default_role: 'viewer',
      });
    });
    afterAll(() => provider?.close());

    const begin = async (gateway: Gateway) => {
      const offered = async () =>
        (await api<ConsoleSession>(gateway, 'GET', '/api/session')).provider;
      await expect.poll(offered).toBeDefined();
      const answer = await fetch(`${gateway.url}/api/session/provider`, {
        method: 'POST',
        headers: { 'x-isthmus-console': '1', 'content-type': 'application/json' },
        body: JSON.stringify({ origin: one.url }),
      });
      const { url } = parse(await answer.text());
      return { back: await provider.signIn(String(url)), cookie: cookieOf(answer) };
    };
    /** A balancer sends the browser to either. */
    const comeBack = (gateway: Gateway, back: URL, cookie: string) =>
      fetch(`${gateway.url}${back.pathname}${back.search}`, {
        redirect: 'manual',
        headers: { cookie },
      });

    test.each(['one', 'other'] as const)(
      'finish at either a sign-in that %s began, once over both',
      async (first) => {
        const [beginning, ending] = first === 'one' ? [one, other] : [other, one];
        const { back, cookie } = await begin(beginning);
        const answers = await Promise.all(
          [ending, beginning, ending, beginning].map((gateway) => comeBack(gateway, back, cookie)),
        );
        const signedIn = answers.filter(({ headers }) => headers.get('location') === '/');
        expect(signedIn).toHaveLength(1);
        const refused = answers.filter((answer) => !signedIn.includes(answer));
        for (const answer of refused) {
          expect(answer.headers.get('location')).toContain('refused=unknown');
          expect(answer.headers.get('set-cookie')).toBeNull();
        }
        for (const answer of signedIn) {
          for (const { url } of [one, other]) {
            const asked = { headers: { cookie: cookieOf(answer) } };
            const session = async () => (await fetch(`${url}/api/session`, asked)).json();
            await expect.poll(session).toMatchObject({ person: 'ann@example.com', role: 'viewer' });
          }
        }
        expect((await comeBack(beginning, back, cookie)).headers.get('location')).not.toBe('/');
      },
    );

    test('let nobody in by the link of somebody else, at whichever it is opened', async () => {
      const { back } = await begin(one);
      const stranger = await begin(other);
      expect((await comeBack(other, back, stranger.cookie)).headers.get('location')).toContain(
        'refused=unknown',
      );
    });
  });
});

function parse(text: string): JsonObject {
  const body = parseJson(text);
  if (!isJsonObject(body)) throw new Error(`This is no object: ${text}`);
  return body;
}

function cookieOf(answer: Response): string {
  return answer.headers.get('set-cookie')?.split(';')[0] ?? '';
}

function count(statuses: readonly number[], wanted: number): number {
  return statuses.filter((status) => status === wanted).length;
}

const api = <Answer = unknown>(
  { url }: Gateway,
  method: string,
  path: string,
  body?: object,
): Promise<Answer> => callAdmin({ url, password: PASSWORD }, [method, path], body);

function post(url: string, secret: string, body: object): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

const chat = ({ url }: Gateway, secret: string, more: object = {}): Promise<Response> =>
  post(`${url}/v1/chat/completions`, secret, {
    model: MODEL,
    messages: [{ role: 'user', content: 'Say something about budgets.' }],
    ...more,
  });

const draw = ({ url }: Gateway, secret: string): Promise<Response> =>
  post(`${url}/v1/images/generations`, secret, { model: IMAGE_MODEL, prompt: 'A boat' });
