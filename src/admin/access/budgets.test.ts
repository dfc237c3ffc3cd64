import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Role } from '../../access/people.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import { plainCookieName } from '../../server/admin-route.ts';
import { startAdmin, type TestAdmin } from '../admin.test-support.ts';

const BUDGET = { scope: 'gateway', unit: 'tokens', period: 'day', amount: 1000 } as const;

let admin: TestAdmin;
let keyId: string;
beforeEach(async () => {
  admin = await startAdmin();
  const { listed } = await accessOf(admin).keys.create({ name: 'Ada', team: 'Lab' });
  keyId = listed.key.id;
});
afterEach(() => admin.close());

function accessOf({ options }: TestAdmin): NonNullable<TestAdmin['options']['access']> {
  if (options.access === undefined) throw new Error('There is no access control.');
  return options.access;
}

const make = (body: object) => admin.call('POST', '/api/budgets', { body });

async function listed(): Promise<readonly JsonObject[]> {
  const { body } = await admin.call('GET', '/api/budgets');
  return Array.isArray(body.budgets) ? body.budgets.filter(isJsonObject) : [];
}

async function made(body: object = BUDGET): Promise<string> {
  const answer = await make(body);
  expect(answer.status).toBe(201);
  return String(answer.body.id);
}

test('a budget is made, listed, shown, changed and removed', async () => {
  expect(await listed()).toEqual([]);
  const id = await made();
  const whole = {
    ...BUDGET,
    ...{ id, timeZone: 'UTC', isHard: true, warnPercent: 80, revision: 1 },
    ...{ used: 0, reserved: 0, level: 'ok' },
  };
  expect(await listed()).toEqual([
    {
      ...whole,
      createdAt: expect.any(Number),
      from: expect.any(Number),
      until: expect.any(Number),
    },
  ]);
  const shown = await admin.call('GET', `/api/budgets/${id}`);
  expect(shown.body).toMatchObject(whole);
  const revision = shown.headers.get('etag') ?? '';
  const changed = await admin.call('PATCH', `/api/budgets/${id}`, {
    body: { amount: 5, isHard: false, warnPercent: 50 },
    headers: { 'if-match': revision },
  });
  expect(changed.body).toMatchObject({ amount: 5, isHard: false, warnPercent: 50, revision: 2 });
  const late = await admin.call('PATCH', `/api/budgets/${id}`, {
    body: { amount: 6 },
    headers: { 'if-match': revision },
  });
  expect(late.status).toBe(412);
  expect((await admin.call('PATCH', `/api/budgets/${id}`, { body: {} })).body).toMatchObject({
    ...{ amount: 5, isHard: false, warnPercent: 50 },
  });
  expect((await admin.call('DELETE', `/api/budgets/${id}`)).status).toBe(204);
  expect(await listed()).toEqual([]);
});

test('budgets of a key and of a team say whose they are, and that of a key goes with it', async () => {
  const ofKey = { ...BUDGET, scope: 'key', subject: keyId, unit: 'money', period: 'month' };
  const ofTeam = { ...BUDGET, scope: 'team', subject: 'Lab', timeZone: 'Europe/Berlin' };
  await made({ ...ofKey, isHard: false, warnPercent: 1 });
  await made(ofTeam);
  const [first, second] = await listed();
  expect(first).toMatchObject({ ...ofKey, subjectName: 'Ada', isHard: false, warnPercent: 1 });
  expect(second).toMatchObject(ofTeam);
  expect(second).not.toHaveProperty('subjectName');
  expect((await admin.call('DELETE', `/api/keys/${keyId}`)).status).toBe(204);
  expect(await listed()).toMatchObject([ofTeam]);
});

test('what is used and reserved is shown, and how near the end is', async () => {
  const id = await made();
  const most = { inputTokens: 100, answers: 1, answerTokens: 700, baseNanos: 0, tokenNanos: 0 };
  const running = await accessOf(admin).keys.admit(keyId, {
    ...{ model: 'm', tokens: 100, images: 0, most },
  });
  const state = async () => (await admin.call('GET', `/api/budgets/${id}`)).body;
  expect(await state()).toMatchObject({ used: 0, reserved: 800, level: 'ok' });
  running.settle({ tokens: 800 });
  expect(await state()).toMatchObject({ used: 800, reserved: 0, level: 'warning' });
  await admin.call('PATCH', `/api/budgets/${id}`, { body: { amount: 800 } });
  expect(await state()).toMatchObject({ level: 'spent' });
});

test.each([
  ['scope', { ...BUDGET, scope: 'person' }],
  ['scope', { ...BUDGET, scope: undefined }],
  ['subject', { ...BUDGET, subject: 'Lab' }],
  ['subject', { ...BUDGET, scope: 'team' }],
  ['subject', { ...BUDGET, scope: 'team', subject: '' }],
  ['subject', { ...BUDGET, scope: 'team', subject: 'x'.repeat(129) }],
  ['subject', { ...BUDGET, scope: 'key' }],
  ['subject', { ...BUDGET, scope: 'key', subject: 'key_none' }],
  ['unit', { ...BUDGET, unit: 'calls' }],
  ['period', { ...BUDGET, period: 'year' }],
  ['timeZone', { ...BUDGET, timeZone: 'Europe/Atlantis' }],
  ['amount', { ...BUDGET, amount: undefined }],
  ['amount', { ...BUDGET, amount: -1 }],
  ['amount', { ...BUDGET, amount: 1.5 }],
  ['amount', { ...BUDGET, amount: 1e15 + 1 }],
  ['amount', { ...BUDGET, amount: '1000' }],
  ['isHard', { ...BUDGET, isHard: 'yes' }],
  ['warnPercent', { ...BUDGET, warnPercent: 0 }],
  ['warnPercent', { ...BUDGET, warnPercent: 101 }],
  ['limit', { ...BUDGET, limit: 5 }],
])('a new budget with a wrong %s is refused by that name: %j', async (field, body) => {
  const { status, body: refused } = await make(body);
  expect([status, refused.error]).toEqual([400, expect.objectContaining({ field })]);
  expect(await listed()).toEqual([]);
});

test.each([
  ['amount', { amount: -1 }],
  ['isHard', { isHard: null }],
  ['warnPercent', { warnPercent: 80.5 }],
  ['unit', { unit: 'images' }],
  ['period', { period: 'week' }],
])('a change of %s to what it cannot be is refused by that name: %j', async (field, change) => {
  const id = await made();
  const { status, body } = await admin.call('PATCH', `/api/budgets/${id}`, { body: change });
  expect([status, body.error]).toEqual([400, expect.objectContaining({ field })]);
  expect(await listed()).toMatchObject([{ ...BUDGET, revision: 1 }]);
});

test('of a budget that is not there nothing is shown, changed or removed', async () => {
  for (const method of ['GET', 'PATCH', 'DELETE']) {
    const body = method === 'PATCH' ? { amount: 1 } : undefined;
    const answer = await admin.call(method, '/api/budgets/budget_none', { body });
    expect([method, answer.status]).toEqual([method, 404]);
    expect(answer.body.error).toMatchObject({
      message: { text: 'There is no budget of this id. List them to see all.' },
    });
  }
});

test('a viewer sees budgets and changes none; an operator does both', async () => {
  const id = await made();
  const statusesOf = async (role: Role): Promise<readonly number[]> => {
    const headers = { authorization: '', 'x-isthmus-console': '1', cookie: await signIn(role) };
    const statuses: number[] = [];
    for (const [method, path, body] of [
      ['GET', '/api/budgets', undefined],
      ['GET', `/api/budgets/${id}`, undefined],
      ['POST', '/api/budgets', BUDGET],
      ['PATCH', `/api/budgets/${id}`, { amount: 7 }],
      ['DELETE', `/api/budgets/${id}`, undefined],
    ] as const) {
      statuses.push((await admin.call(method, path, { body, headers })).status);
    }
    return statuses;
  };
  expect(await statusesOf('viewer')).toEqual([200, 200, 403, 403, 403]);
  expect(await listed()).toMatchObject([{ id, amount: 1000 }]);
  expect(await statusesOf('operator')).toEqual([200, 200, 201, 200, 204]);
});

/** The cookie of a person of that role. */
async function signIn(role: Role): Promise<string> {
  const { login, people } = accessOf(admin);
  const person = await people.add({ name: role, role, passwordHash: 'x' });
  const { secret } = await login.beginFor(person, { address: '127.0.0.1', cookie: undefined });
  return `${plainCookieName(login.cookieTag)}=${secret}`;
}
