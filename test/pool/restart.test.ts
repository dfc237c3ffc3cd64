// What the pool knows survives a restart of the whole gateway on the same data folder.

import { afterEach, expect, test } from 'vitest';
import { isJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { whileTimePasses } from '../support/passing-clock.ts';
import { type PoolApp, startPoolApp } from '../support/pool-app.ts';
import { type SandboxPool, startSandboxPool } from '../support/sandbox-pool.ts';

const NAMES = ['ann', 'bob', 'cyd', 'dee'].map((name) => `${name}@sandbox.example`);
const [ANN = '', BOB = '', CYD = '', DEE = ''] = NAMES;
const HOUR_MS = 3_600_000;

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function start(): Promise<SandboxPool> {
  const pool = await startSandboxPool({ names: NAMES });
  closers.push(() => pool.close());
  return pool;
}

async function storedAccounts(gateway: PoolApp): Promise<JsonObject[]> {
  const { accounts } = await gateway.must('GET', '/api/accounts');
  const list = Array.isArray(accounts) ? accounts.filter(isJsonObject) : [];
  return list.filter(({ origin }) => origin === 'stored');
}

interface Asking {
  readonly account?: string;
  readonly messages?: readonly JsonObject[];
}

async function ask(gateway: PoolApp, { account, messages }: Asking = {}) {
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(account === undefined ? {} : { 'x-preferred-account': account }),
    },
    body: JSON.stringify({
      model: 'alpha-3-flash',
      messages: messages ?? [{ role: 'user', content: 'Hello' }],
      ...(messages === undefined ? {} : { tools: [TOOL] }),
    }),
  });
  return { status: answer.status, text: await answer.text() };
}

const TOOL = {
  type: 'function',
  function: {
    name: 'look',
    parameters: { type: 'object', properties: { at: { type: 'string' } } },
  },
};

test('accounts, cooldowns, quotas, states and the fixed account come back as they were', async () => {
  const pool = await start();
  const { gateway } = pool;
  const ids = new Map<string, string>();
  for (const name of NAMES) ids.set(name, await pool.addKey(name, { notes: `of ${name}` }));
  const eve = await pool.signIn('eve@sandbox.example', 'ultra');
  await whileTimePasses(gateway.clock, gateway.must('POST', '/api/quota/refresh', {}));
  const limit = { account: ANN, status: 429, reason: 'RATE_LIMIT_EXCEEDED', retryDelay: '7200s' };
  await pool.control('POST', '/sandbox/faults', limit);
  expect((await ask(gateway, { account: ANN })).status).toBe(200);
  await gateway.must('POST', `/api/accounts/${ids.get(BOB)}/disable`, { detail: 'on holiday' });
  await pool.control('POST', `/sandbox/accounts/${CYD}`, { forbidden: true });
  expect((await ask(gateway, { account: CYD })).status).toBe(200);
  await pool.control('POST', `/sandbox/accounts/eve@sandbox.example`, {
    verificationRequired: true,
  });
  expect((await ask(gateway, { account: 'eve@sandbox.example' })).status).toBe(200);
  await gateway.must('PATCH', '/api/config/pool', { fixed_account: DEE });

  const before = await storedAccounts(gateway);
  const quotas = await gateway.must('GET', '/api/quota');
  expect(before.map(({ status }) => (isJsonObject(status) ? status.kind : ''))).toEqual([
    ...['active', 'disabled', 'disabled', 'active', 'blocked'],
  ]);
  await gateway.restart();
  const after = await storedAccounts(gateway);
  // How the last requests went is of the run alone.
  const withoutUse = (list: readonly JsonObject[]) =>
    list.map((account) => ({ ...account, lastUsedAt: null, models: null, condition: null }));
  expect(withoutUse(after)).toEqual(withoutUse(before));
  expect(before[0]?.cooldowns).toMatchObject([{ model: 'alpha-3-flash', cause: 'rate' }]);
  const shown = await gateway.must('GET', '/api/quota');
  expect(accountsOf(shown)).toEqual(accountsOf(quotas));

  for (let count = 0; count < 5; count += 1) expect((await ask(gateway)).status).toBe(200);
  expect(await servedSince(pool, 5)).toEqual(Array(5).fill(DEE));
  await gateway.must('PATCH', '/api/config/pool', { fixed_account: null });
  gateway.clock.skip(2 * HOUR_MS + 1);
  expect((await ask(gateway, { account: ANN })).status).toBe(200);
  expect(await servedSince(pool, 1)).toEqual([ANN]);
  await pool.control('POST', '/sandbox/accounts/eve@sandbox.example', {
    verificationRequired: false,
  });
  expect(await gateway.must('POST', `/api/accounts/${eve}/test`, {})).toMatchObject({
    isUsable: true,
  });
});

test('a conversation with tools goes on after a restart, with its signatures', async () => {
  const pool = await start();
  const { gateway } = pool;
  await pool.addKey(ANN);
  const question = { role: 'user', content: 'CALL-TOOL look {"at":"it"}' };
  const first = JSON.parse((await ask(gateway, { messages: [question] })).text);
  const { message } = first.choices[0];
  await gateway.restart();
  const result = { role: 'tool', tool_call_id: message.tool_calls[0].id, content: 'it is blue' };
  const second = await ask(gateway, { messages: [question, message, result] });
  expect(second.text).toContain('TOOL-RESULT-SEEN: it is blue');
  const { requests } = await pool.control('GET', '/sandbox/requests');
  const last = Array.isArray(requests) ? requests.at(-1) : undefined;
  expect(JSON.stringify(last)).toContain('thoughtSignature');
});

test('a signed-in account needs no new sign-in after a restart, also behind its token', async () => {
  const pool = await start();
  await pool.signIn('eve@sandbox.example');
  expect((await ask(pool.gateway)).status).toBe(200);
  await pool.gateway.restart();
  expect((await ask(pool.gateway)).status).toBe(200);
  pool.clock.skip(3 * HOUR_MS);
  await pool.gateway.restart();
  for (let count = 0; count < 3; count += 1) {
    expect((await ask(pool.gateway)).status).toBe(200);
    pool.clock.skip(3 * HOUR_MS);
  }
});

test('with another secret key it does not start, and says what to do', async () => {
  const pool = await start();
  await pool.addKey(ANN);
  const environment = { ISTHMUS_SECRET_KEY: 'another key that is long enough, surely' };
  await expect(pool.gateway.restart({ environment })).rejects.toThrow(
    /ISTHMUS_SECRET_KEY|secret\.key/,
  );
  await pool.gateway.restart();
  expect((await ask(pool.gateway)).status).toBe(200);
});

test('the accounts of the sandbox rest while there are others, and come back', async () => {
  const gateway = await startPoolApp();
  closers.push(() => gateway.close());
  const resting = async () => {
    const { accounts } = await gateway.must('GET', '/api/accounts');
    const list = Array.isArray(accounts) ? accounts.filter(isJsonObject) : [];
    return list
      .filter(({ origin }) => origin === 'sandbox')
      .map(({ status }) => isJsonObject(status) && status.kind === 'disabled');
  };
  expect((await ask(gateway)).status).toBe(200);
  expect(await resting()).toEqual([false, false, false, false]);
  const { record } = await gateway.app.book.add({
    upstreamId: 'sandbox',
    label: 'mine',
    credential: { kind: 'api-key', key: 'not-a-good-one' },
  });
  expect(await resting()).toEqual([true, true, true, true]);
  expect((await ask(gateway)).status).toBe(503);
  await gateway.restart();
  expect(await resting()).toEqual([true, true, true, true]);
  await gateway.must('DELETE', `/api/accounts/${record.id}`);
  expect(await resting()).toEqual([false, false, false, false]);
  expect((await ask(gateway)).status).toBe(200);
});

/** Who answered the last calls of the sandbox. */
async function servedSince(pool: SandboxPool, count: number): Promise<string[]> {
  const { requests } = await pool.control('GET', '/sandbox/requests');
  const list = Array.isArray(requests) ? requests.filter(isJsonObject) : [];
  return list.slice(-count).map(({ account }) => String(account));
}

function accountsOf({ accounts }: JsonObject): JsonObject[] {
  const list = Array.isArray(accounts) ? accounts.filter(isJsonObject) : [];
  return list.filter(({ upstream }) => upstream === 'play');
}
