// Accounts that sign in, over the whole gateway: by browser and by paste, renewed once, revoked, signed in again.

import { afterEach, expect, test } from 'vitest';
import { isJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { type FaultBench, SIGNED_IN, startFaultBench } from '../faults/bench.ts';
import { countOf } from '../support/counts.ts';
import { whileTimePasses } from '../support/passing-clock.ts';
import { PROTOCOL_CALLS, send } from '../support/protocol-calls.ts';
import { type SandboxPool, startSandboxPool } from '../support/sandbox-pool.ts';
import type { ScriptedReply } from '../support/scripted-upstream.ts';
import { startProviderFront } from './provider-front.ts';

const EVE = 'eve@sandbox.example';
const HOUR_MS = 3_600_000;
const AT_ONCE = countOf({ slow: 500, everyday: 100 });
/** Of all the faults a token endpoint can have. */
const ROUNDS = countOf({ slow: 100, everyday: 20 });
const [CHAT] = PROTOCOL_CALLS;

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function start(tokenUrl?: (url: string) => string): Promise<SandboxPool> {
  const pool = await startSandboxPool({
    names: ['ann@sandbox.example', 'bob@sandbox.example'],
    ...(tokenUrl === undefined ? {} : { tokenUrl }),
  });
  closers.push(() => pool.close());
  return pool;
}

function ask({ gateway }: Pick<SandboxPool, 'gateway'>, headers = {}) {
  if (CHAT === undefined) throw new Error('There is no protocol.');
  return send(gateway.url, CHAT, { headers });
}

async function accountOf({ gateway }: Pick<SandboxPool, 'gateway'>, label: string) {
  const { accounts } = await gateway.must('GET', '/api/accounts');
  const list = Array.isArray(accounts) ? accounts.filter(isJsonObject) : [];
  const account = list.find((one) => one.label === label);
  if (account === undefined) throw new Error(`There is no account ${label}.`);
  return account;
}

const statusOf = ({ status }: JsonObject): unknown => (isJsonObject(status) ? status.kind : '');

// The same with a browser and the console: test/browser/journeys.test.ts.
test('a person signs in at the page of the provider, and the account serves', async () => {
  const pool = await start();
  const { gateway } = pool;
  const started = await gateway.must('POST', '/api/oauth/start', { upstream: 'play' });
  expect(await gateway.must('GET', `/api/oauth/${started.state}`)).toMatchObject({
    status: 'pending',
  });
  const authorizationUrl = String(started.authorizationUrl);
  const back = await fetch(await pool.consent({ authorizationUrl, email: EVE, tier: 'ultra' }));
  expect(await back.text()).toContain('Signed in');
  expect(back.url).not.toContain('code=');
  expect(await gateway.must('GET', `/api/oauth/${started.state}`)).toMatchObject({
    status: 'done',
    account: { label: EVE, kind: 'oauth' },
  });
  expect((await ask(pool)).status).toBe(200);
  await whileTimePasses(pool.clock, gateway.must('POST', '/api/quota/refresh', {}));
  const account = await accountOf(pool, EVE);
  expect(account).toMatchObject({ tier: 'ultra', project: 'sandbox-eve' });
  const truth = await pool.control('GET', `/sandbox/quota?account=${EVE}`);
  expect(percentsOf(account.quotas, 'model')).toEqual(percentsOf(truth.models, 'name'));
});

test('a refused consent changes nothing and says so', async () => {
  const pool = await start();
  const { authorizationUrl, state } = await pool.gateway.must('POST', '/api/oauth/start', {
    upstream: 'play',
  });
  const redirect = new URL(String(authorizationUrl)).searchParams.get('redirect_uri');
  const answer = await fetch(`${redirect}?error=access_denied&state=${state}`);
  expect(await answer.text()).toContain('The sign-in was refused at the provider');
  expect(await pool.gateway.must('GET', `/api/oauth/${state}`)).toMatchObject({ status: 'failed' });
});

test('without a browser of its own a person pastes the address, or the code', async () => {
  const pool = await start();
  const { gateway } = pool;
  for (const paste of ['url', 'code']) {
    const email = `${paste}@sandbox.example`;
    const body = { upstream: 'play', redirect: 'manual' };
    const { authorizationUrl, state } = await gateway.must('POST', '/api/oauth/start', body);
    const url = await pool.consent({ authorizationUrl: String(authorizationUrl), email });
    const code = new URL(url).searchParams.get('code') ?? '';
    const result = paste === 'url' ? { url } : { code, state: String(state) };
    expect(await gateway.must('POST', '/api/oauth/complete', result)).toMatchObject({
      status: 'done',
      account: { label: email },
    });
    const again = await gateway.api('POST', '/api/oauth/complete', result);
    expect(again.status).toBe(400);
    expect((await ask(pool, { 'x-preferred-account': email })).status).toBe(200);
  }
});

test('a revoked sign-in is out within seconds while others serve, and comes back by signing in again', async () => {
  const pool = await start();
  const { gateway } = pool;
  await pool.addKey('ann@sandbox.example');
  const id = await pool.signIn(EVE);
  const prefer = { 'x-preferred-account': EVE };
  expect((await ask(pool, prefer)).status).toBe(200);
  await pool.control('POST', `/sandbox/accounts/${EVE}/revoke`, {});
  const revokedAt = pool.clock.now();
  while (statusOf(await accountOf(pool, EVE)) !== 'disabled') {
    expect((await ask(pool, prefer)).status).toBe(200);
    pool.clock.skip(500);
    expect(pool.clock.now() - revokedAt).toBeLessThan(30_000);
  }
  const { status } = await accountOf(pool, EVE);
  expect(status).toMatchObject({
    reason: 'invalid-grant',
    wayOut: expect.stringContaining('--oauth'),
  });
  expect((await ask(pool, prefer)).status).toBe(200);

  const started = await gateway.must('POST', '/api/oauth/start', {
    upstream: 'play',
    accountId: id,
  });
  const url = await pool.consent({
    authorizationUrl: String(started.authorizationUrl),
    email: EVE,
  });
  await gateway.must('POST', '/api/oauth/complete', { url });
  const account = await accountOf(pool, EVE);
  expect([account.id, statusOf(account)]).toEqual([id, 'active']);
  pool.clock.skip(2 * HOUR_MS);
  expect((await ask(pool, prefer)).status).toBe(200);
  expect(await gateway.must('POST', `/api/accounts/${id}/test`, {})).toMatchObject({
    isUsable: true,
  });
});

test('many requests at once on an expired token: one renewal, and all succeed', async () => {
  let target = '';
  const front = await startProviderFront(() => target);
  closers.push(() => front.close());
  const pool = await start((url) => {
    target = url;
    return front.url;
  });
  await pool.signIn(EVE);
  pool.clock.skip(2 * HOUR_MS);
  const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => ask(pool)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(front.refreshes.length).toBe(1);
});

const TOKEN_FAULTS: readonly ScriptedReply[] = [
  ...[408, 429, 500, 502, 503].map((status) => ({ kind: 'status', status, body: 'no' }) as const),
  ...['invalid_request', 'invalid_client', 'temporarily_unavailable'].map(
    (error) => ({ kind: 'status', status: 400, body: { error } }) as const,
  ),
  { kind: 'status', status: 200, type: 'text/html', body: '<!doctype html><p>Log in' },
  { kind: 'status', status: 200, body: '{"access_token": "x' },
  { kind: 'status', status: 302, headers: { location: 'http://127.0.0.1:1/' }, body: '' },
  { kind: 'hang-up' },
];

test('transient faults of the token endpoint, however many, disable nobody', async () => {
  const bench: FaultBench = await startFaultBench();
  closers.push(() => bench.close());
  await bench.prepare(SIGNED_IN);
  let faults = 0;
  bench.upstream.script({
    token: () => {
      faults += 1;
      return TOKEN_FAULTS[faults % TOKEN_FAULTS.length];
    },
  });
  while (faults < TOKEN_FAULTS.length * ROUNDS) {
    bench.gateway.clock.skip(2 * HOUR_MS);
    expect([502, 504]).toContain((await ask(bench)).status);
  }
  expect(TOKEN_FAULTS.length).toBe(12);
  for (const label of SIGNED_IN) expect(bench.health(label).status.kind).toBe('active');
  bench.upstream.script({});
  bench.gateway.clock.skip(2 * HOUR_MS);
  expect((await ask(bench)).status).toBe(200);
});

test.each(['hang-up', 502, 429] as const)(
  'a lone account whose token could not be renewed once (%s) serves the same request',
  async (fault) => {
    const bench: FaultBench = await startFaultBench();
    closers.push(() => bench.close());
    const [lone = ''] = SIGNED_IN;
    await bench.prepare([lone]);
    let faults = 0;
    bench.upstream.script({
      token: () => {
        faults += 1;
        if (faults > 1) return undefined;
        return fault === 'hang-up'
          ? { kind: fault }
          : { kind: 'status', status: fault, body: 'no' };
      },
    });
    bench.gateway.clock.skip(2 * HOUR_MS);
    expect((await ask(bench)).status).toBe(200);
    expect(faults).toBe(2);
  },
);

test('a token that the provider refuses to renew is not waited for', async () => {
  const bench: FaultBench = await startFaultBench();
  closers.push(() => bench.close());
  const [lone = ''] = SIGNED_IN;
  await bench.prepare([lone]);
  const refusal = { kind: 'status', status: 401, body: { error: 'invalid_client' } } as const;
  bench.upstream.script({ token: () => refusal });
  bench.gateway.clock.skip(2 * HOUR_MS);
  const startedAt = bench.gateway.clock.now();
  expect((await ask(bench)).status).toBe(502);
  expect(bench.gateway.clock.now()).toBe(startedAt);
});

test('while the token endpoint is down, accounts that hold a key serve all requests', async () => {
  const bench: FaultBench = await startFaultBench();
  closers.push(() => bench.close());
  await bench.prepare([...SIGNED_IN, 'kim']);
  bench.upstream.script({ token: () => ({ kind: 'status', status: 503, body: 'no' }) });
  bench.gateway.clock.skip(2 * HOUR_MS);
  const statuses = new Set<number>();
  for (let count = 0; count < 60; count += 1) {
    statuses.add((await ask(bench)).status);
    bench.gateway.clock.skip(1000);
  }
  expect(statuses).toEqual(new Set([200]));
  expect(new Set(bench.upstream.calls.map(({ account }) => account))).toEqual(new Set(['kim']));
});

function percentsOf(list: unknown, name: string): Map<string, number> {
  const rows = Array.isArray(list) ? list.filter(isJsonObject) : [];
  const percentOf = (row: JsonObject): number =>
    Number(row.percent ?? Math.round(Number(row.remainingFraction) * 1e8) / 1e6);
  return new Map(
    rows
      .map((row): [string, number] => [String(row[name]), percentOf(row)])
      .sort(([left], [right]) => (left < right ? -1 : 1)),
  );
}
