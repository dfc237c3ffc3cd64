import { afterAll, beforeAll, expect, test } from 'vitest';
import { isJsonObject, type JsonObject } from './json.ts';
import { type OAuthSandbox, startOAuthSandbox } from './oauth.test-support.ts';
import { ADA, ask } from './sandbox.test-support.ts';

const TEXT_MODEL = 'alpha-3-flash';
const IMAGE_MODEL = 'alpha-3-pro-image';

let sandbox: OAuthSandbox;
beforeAll(async () => {
  sandbox = await startOAuthSandbox({
    accessTokenLifetimeMs: 86_400_000,
    quotas: {
      free: {
        text: { requests: 4, windowMs: 3_600_000 },
        image: { requests: 2, windowMs: 7_200_000 },
      },
    },
  });
});
afterAll(() => sandbox.close());

/** Someone new on the free plan. */
async function meet(name: string) {
  const email = `${name}@sandbox.example`;
  const { access } = await sandbox.signIn(email, { tier: 'free' });
  const headers = { authorization: `Bearer ${access}` };
  return {
    email,
    call: async (model = TEXT_MODEL) => {
      const path = `/v1beta/models/${model}:generateContent`;
      return sandbox.send(path, { body: ask('hi'), headers });
    },
    look: (path: string) => sandbox.send(path, { headers }),
    quota: async (model = TEXT_MODEL) =>
      rowOf((await sandbox.send('/v1beta/quota', { headers })).json, model),
    truth: async (model = TEXT_MODEL) =>
      rowOf((await sandbox.send(`/sandbox/quota?account=${email}`)).json, model),
  };
}

function rowOf({ models }: JsonObject, name: string): JsonObject {
  const rows = Array.isArray(models) ? models.filter(isJsonObject) : [];
  return rows.find((row) => row.name === name) ?? {};
}

const setQuota = (body: JsonObject) => sandbox.send('/sandbox/quota', { body });
const change = (email: string, body: JsonObject) =>
  sandbox.send(`/sandbox/accounts/${email}`, { body });

test('text and images run down apart, each by the plan, and come back with their window', async () => {
  const person = await meet('runs-down');
  for (let calls = 0; calls < 3; calls += 1) await person.call();
  await person.call(IMAGE_MODEL);
  expect(await person.quota()).toEqual({
    name: TEXT_MODEL,
    remainingFraction: 0.25,
    remainingAmount: '1',
    resetTime: '2026-01-01T13:00:00.000Z',
  });
  expect(await person.quota(IMAGE_MODEL)).toEqual({
    name: IMAGE_MODEL,
    remainingFraction: 0.5,
    remainingAmount: '1',
    resetTime: '2026-01-01T14:00:00.000Z',
  });
  expect(await person.truth(IMAGE_MODEL)).toMatchObject({
    kind: 'image',
    requests: 2,
    remaining: 1,
  });
  await person.call();
  const refused = await person.call();
  expect(refused.status).toBe(429);
  expect(refused.text).toContain('"reason":"QUOTA_EXHAUSTED"');
  sandbox.clock.advance(3_600_000);
  expect((await person.quota()).remainingFraction).toBe(1);
  expect((await person.quota(IMAGE_MODEL)).remainingFraction).toBe(0.5);
  expect((await person.call()).status).toBe(200);
});

test('what is left can be set, for one model or for all', async () => {
  const person = await meet('set-left');
  await setQuota({ account: person.email, model: TEXT_MODEL, remaining: 0 });
  expect((await person.call()).status).toBe(429);
  expect((await person.call(IMAGE_MODEL)).status).toBe(200);
  await setQuota({ account: person.email, remainingFraction: 0.5 });
  expect([await person.truth(), await person.truth(IMAGE_MODEL)]).toMatchObject([
    { remaining: 2, requests: 4 },
    { remaining: 1, requests: 2 },
  ]);
});

test('limits can be set; what was spent stays spent', async () => {
  const person = await meet('set-limits');
  await person.call();
  await setQuota({ account: person.email, model: TEXT_MODEL, requests: 10 });
  expect(await person.quota()).toMatchObject({ remainingFraction: 0.9 });
  await setQuota({ account: person.email, model: TEXT_MODEL, requests: 0 });
  expect(await person.quota()).toMatchObject({ remainingFraction: 0 });
  const window = { requests: 8, windowMs: 60_000, remaining: 2 };
  await setQuota({ account: person.email, model: TEXT_MODEL, ...window });
  expect(await person.quota()).toMatchObject({ remainingFraction: 0.25 });
  sandbox.clock.advance(60_000);
  expect(await person.quota()).toMatchObject({ remainingFraction: 1 });
});

test('a quota that makes no sense is refused with its fields', async () => {
  const { email } = await meet('nonsense');
  const refusals: readonly (readonly [JsonObject, number, RegExp])[] = [
    [{ account: email }, 400, /needs remaining, remainingFraction, requests or windowMs/],
    [{ account: email, remaining: -1 }, 400, /remaining: must be a whole number from 0/],
    [{ account: email, remaining: 1, remainingFraction: 1 }, 400, /excludes remainingFraction/],
    [{ account: email, remainingFraction: 1.5 }, 400, /must be a number from 0 to 1/],
    [{ account: email, remaining: 3 }, 400, /more than the 2 requests/],
    [{ account: email, windowMs: 0 }, 400, /windowMs: must be/],
    [{ account: email, model: 'alpha-9', remaining: 1 }, 400, /model: must be the id/],
    [{ account: email, left: 1 }, 400, /left: is unknown; there are account, model/],
    [{ account: 'nobody@sandbox.example', remaining: 1 }, 404, /has not called/],
    [{ remaining: 1 }, 404, /has not called/],
  ];
  for (const [body, status, says] of refusals) {
    const reply = await setQuota(body);
    expect([reply.status, reply.text]).toEqual([status, expect.stringMatching(says)]);
  }
});

test('verification asked is 403 with its reason on every call, until it is cleared', async () => {
  const person = await meet('verify');
  await change(person.email, { verificationRequired: true });
  for (const reply of [await person.call(), await person.look('/v1beta/models')]) {
    expect(reply.json).toMatchObject({
      error: {
        code: 403,
        status: 'PERMISSION_DENIED',
        details: [{ reason: 'VALIDATION_REQUIRED' }],
      },
    });
  }
  await change(person.email, { verificationRequired: false });
  expect((await person.call()).status).toBe(200);
});

test('a forbidden account may do nothing, a forbidden model is one', async () => {
  const person = await meet('forbidden');
  await change(person.email, { forbiddenModels: [TEXT_MODEL] });
  const refused = await person.call();
  expect(refused.status).toBe(403);
  expect(refused.text).toContain(`models/${TEXT_MODEL}`);
  expect((await person.call(IMAGE_MODEL)).status).toBe(200);
  await change(person.email, { forbiddenModels: [], forbidden: true });
  expect((await person.call(IMAGE_MODEL)).status).toBe(403);
  expect((await person.look('/v1beta/quota')).status).toBe(403);
});

test('accounts are listed with their standing, and never with a credential', async () => {
  const person = await meet('listed');
  await change(person.email, { tier: 'ultra', forbiddenModels: [IMAGE_MODEL] });
  const { json, text } = await sandbox.send('/sandbox/accounts');
  expect(json.accounts).toContainEqual({
    email: person.email,
    kind: 'person',
    tier: 'ultra',
    project: 'sandbox-listed',
    grants: 1,
    verificationRequired: false,
    forbidden: false,
    forbiddenModels: [IMAGE_MODEL],
  });
  expect(json.accounts).toContainEqual(expect.objectContaining({ email: ADA.email, kind: 'key' }));
  expect(text).not.toMatch(/key-of-ada|sandbox-(?:access|refresh)/);
});

test('a standing that makes no sense is refused', async () => {
  const { email } = await meet('standing');
  expect((await change(email, { forbidden: 'yes' })).status).toBe(400);
  expect((await change(email, { forbiddenModels: ['alpha-9'] })).status).toBe(400);
  expect((await change(email, { __proto__: null, tier: 'gold' })).status).toBe(400);
  expect((await change('nobody@sandbox.example', { forbidden: true })).status).toBe(404);
});

test('a revoked account is out until it signs in again', async () => {
  const person = await meet('revoked');
  const path = `/sandbox/accounts/${encodeURIComponent(person.email)}/revoke`;
  expect((await sandbox.send(path, { method: 'POST' })).json.revoked).toBe(1);
  expect((await person.call()).status).toBe(401);
  expect((await (await meet('revoked')).call()).status).toBe(200);
});

test('the plan chosen last is the plan', async () => {
  const person = await meet('upgrade');
  await sandbox.signIn(person.email, { tier: 'ultra' });
  expect((await person.truth()).requests).toBe(1_000_000);
});

test('an account has one project: no other is accepted, nor an empty one', async () => {
  const { access } = await sandbox.signIn('first.last@sandbox.example');
  const send = async (project: string) =>
    sandbox.send(`/v1beta/models/${TEXT_MODEL}:generateContent`, {
      body: ask('hi', { project }),
      headers: { authorization: `Bearer ${access}` },
    });
  const { accounts } = (await sandbox.send('/sandbox/accounts')).json;
  const rows = Array.isArray(accounts) ? accounts.filter(isJsonObject) : [];
  const own = rows.find(({ email }) => email === 'first.last@sandbox.example')?.project;
  expect(own).toMatch(/^sandbox-first-last-[0-9a-f]{6}$/);
  expect((await send(String(own))).status).toBe(200);
  expect((await send('sandbox-first-last')).status).toBe(404);
  expect((await send('')).status).toBe(400);
});

test('faults of the quota, the list and the count reach these alone', async () => {
  const person = await meet('faults');
  for (const endpoint of ['quota', 'models', 'count-tokens']) {
    await sandbox.send('/sandbox/faults', {
      body: { endpoint, status: 500, account: person.email },
    });
  }
  expect((await person.call()).status).toBe(200);
  expect((await person.look('/v1beta/quota')).status).toBe(500);
  expect((await person.look('/v1beta/quota')).status).toBe(200);
  expect((await person.look('/v1beta/models')).status).toBe(500);
  expect((await sandbox.send('/sandbox/faults')).json.faults).toHaveLength(1);
});

test('the controls are closed to web pages', async () => {
  const headers = { origin: 'https://page.example' };
  for (const path of [
    '/sandbox/quota',
    '/sandbox/service-accounts',
    '/sandbox/accounts/x/revoke',
  ]) {
    expect((await sandbox.send(path, { body: {}, headers })).status).toBe(403);
  }
});
