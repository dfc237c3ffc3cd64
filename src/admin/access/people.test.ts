import { afterEach, beforeEach, expect, test } from 'vitest';
import type { createFakeClock, FakeClock } from '../../../test/support/fake-clock.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import { startAdmin, type TestAdmin } from '../admin.test-support.ts';

const HOUR_MS = 3_600_000;
const CONSOLE = { authorization: '', 'x-isthmus-console': '1' };
const OWN = 'a password of her own';

let admin: TestAdmin;
beforeEach(async () => {
  admin = await startAdmin();
});
afterEach(() => admin.close());

interface Browse {
  readonly body?: object;
  readonly cookie?: string;
  readonly again?: string;
}

/** As a browser, signed in or not. */
const browse = (method: string, path: string, { body, cookie, again }: Browse = {}) =>
  admin.call(method, path, {
    body,
    headers: {
      ...CONSOLE,
      ...(cookie !== undefined && { cookie }),
      ...(again !== undefined && { 'x-isthmus-password': encodeURIComponent(again) }),
    },
  });

const cookieOf = ({ headers }: { readonly headers: Headers }): string =>
  headers.get('set-cookie')?.split(';')[0] ?? '';

async function invite(name: string, role: string, more: object = {}): Promise<string> {
  const { status, body } = await admin.call('POST', '/api/invitations/person', {
    body: { name, role, ...more },
  });
  expect(status).toBe(201);
  return secretOf(body);
}

function secretOf({ path }: JsonObject): string {
  expect(path).toMatch(/^\/join#[\w-]{43}$/);
  return String(path).split('#')[1] ?? '';
}

const accept = (secret: string, password?: string) =>
  browse('POST', '/api/invitations/accept', { body: { secret, password } });

/** The cookie of somebody who came by an invitation. */
async function join(name: string, role: string): Promise<string> {
  return cookieOf(await accept(await invite(name, role), OWN));
}

async function peopleOf(): Promise<readonly JsonObject[]> {
  const { body } = await admin.call('GET', '/api/people');
  return Array.isArray(body.people) ? body.people.filter(isJsonObject) : [];
}

test('somebody invited chooses a password, is in, and signs in by name again', async () => {
  const secret = await invite('Ann', 'operator');
  const opened = await browse('POST', '/api/invitations/open', { body: { secret } });
  expect(opened.body).toMatchObject({ kind: 'person', name: 'Ann', role: 'operator' });
  const joined = await accept(secret, OWN);
  const session = await browse('GET', '/api/session', { cookie: cookieOf(joined) });
  expect(session.body).toMatchObject({ signedIn: true, role: 'operator', person: 'Ann' });
  const again = await browse('POST', '/api/session', { body: { name: 'ann', password: OWN } });
  expect(again.status).toBe(200);
  expect(await peopleOf()).toMatchObject([
    {
      ...{ name: 'Ann', role: 'operator', signsInBy: 'password', roleFrom: 'owner' },
      sessions: [{ name: expect.any(String) }, { name: expect.any(String) }],
    },
  ]);
  // Of neither the password nor its hash anything is shown.
  expect(JSON.stringify(await peopleOf())).not.toMatch(/argon2|password of her/);
});

test('an invitation works once, whoever tries it at the same moment', async () => {
  const secret = await invite('Ann', 'viewer');
  const tries = await Promise.all(Array.from({ length: 5 }, () => accept(secret, OWN)));
  expect(tries.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404, 404]);
  expect(await peopleOf()).toHaveLength(1);
});

test('an invitation that is over, revoked or invented gives nothing, and says no more than that', async () => {
  const clock: Pick<FakeClock, 'advance'> = clockOf(admin);
  const late = await invite('Late', 'viewer', { hours: 1 });
  const revoked = await invite('Gone', 'viewer');
  const { body } = await admin.call('GET', '/api/invitations');
  const all = Array.isArray(body.invitations) ? body.invitations.filter(isJsonObject) : [];
  const gone = all.find(({ name }) => name === 'Gone');
  expect(JSON.stringify(all)).not.toContain(revoked);
  await admin.call('DELETE', `/api/invitations/${gone?.id}`);
  await clock.advance(HOUR_MS);
  const answers = [await accept(late, OWN), await accept(revoked, OWN), await accept('x', OWN)];
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect((await browse('POST', '/api/invitations/open', { body: { secret: late } })).status).toBe(
    404,
  );
});

test('an invitation waits again when it could not be used: no password, a short one, a name that was taken', async () => {
  const secret = await invite('Ann', 'viewer');
  expect((await accept(secret)).body.error).toMatchObject({ field: 'password' });
  expect((await accept(secret, 'short')).body.error).toMatchObject({ field: 'password' });
  const person = await admin.options.access?.people.add({ name: 'ANN', role: 'viewer' });
  expect((await accept(secret, OWN)).status).toBe(409);
  await admin.call('DELETE', `/api/people/${person?.id}`);
  expect((await accept(secret, OWN)).status).toBe(200);
});

test('an invitation for a key gives one with its limits, once, and shows its secret', async () => {
  const { body } = await admin.call('POST', '/api/invitations/key', {
    body: { name: 'Laptop of Zoe', tokensPerMinute: 1_000, allowedModels: ['alpha-*'] },
  });
  const secret = secretOf(body);
  const given = await accept(secret);
  expect(given.body.key).toMatchObject({
    key: { name: 'Laptop of Zoe', tokensPerMinute: 1_000, allowedModels: ['alpha-*'] },
    secret: expect.stringMatching(/^sk-/),
  });
  expect(given.headers.get('set-cookie')).toBeNull();
  expect((await accept(secret)).status).toBe(404);
  expect((await admin.call('GET', '/api/keys')).body.keys).toHaveLength(1);
});

test('an invitation for a key that nobody could make is refused to who invites', async () => {
  const curfew = { from: '23:00', to: '06:00', timeZone: 'Mars/Phobos' };
  const invited = await admin.call('POST', '/api/invitations/key', {
    body: { name: 'Cy', curfew },
  });
  expect(invited).toMatchObject({ status: 400, body: { error: { field: 'curfew' } } });
  const { body } = await admin.call('GET', '/api/invitations');
  expect(body).toEqual({ invitations: [] });
});

test('names that are nobody’s and passwords that are wrong look the same, and are counted alike', async () => {
  await join('Ann', 'viewer');
  const guess = (name: string) =>
    browse('POST', '/api/session', { body: { name, password: 'guessed' } });
  const [known, unknown] = [await guess('Ann'), await guess('Nobody')];
  expect([known.status, known.text]).toEqual([unknown.status, unknown.text]);
  expect(known.status).toBe(401);
  for (let count = 0; count < 3; count += 1) await guess(`Nobody ${count}`);
  expect((await guess('Ann')).status).toBe(429);
});

test('the console password needs no name, and a name does not open with it', async () => {
  await join('Ann', 'viewer');
  const { status } = await browse('POST', '/api/session', {
    body: { name: 'Ann', password: 'the-console-password' },
  });
  expect(status).toBe(401);
});

test('a new role holds at once; who is removed is out at once', async () => {
  const cookie = await join('Ann', 'viewer');
  const [ann] = await peopleOf();
  const make = () => browse('POST', '/api/keys', { cookie, body: { name: 'a key' } });
  expect((await make()).status).toBe(403);
  const changed = await admin.call('PATCH', `/api/people/${ann?.id}`, {
    body: { role: 'operator' },
  });
  expect(changed.body).toMatchObject({ role: 'operator' });
  expect((await make()).status).toBe(201);
  expect((await admin.call('DELETE', `/api/people/${ann?.id}`)).status).toBe(204);
  expect((await make()).status).toBe(401);
});

test('a role is not changed over a change that was not seen, nor a name given twice', async () => {
  await join('Ada', 'viewer');
  const [ada] = await peopleOf();
  const change = (role: string) =>
    admin.call('PATCH', `/api/people/${ada?.id}`, {
      body: { role },
      headers: { 'if-match': '"1"' },
    });
  expect(await change('operator')).toMatchObject({ status: 200, body: { revision: 2 } });
  expect((await change('owner')).status).toBe(412);
  expect(await peopleOf()).toMatchObject([{ role: 'operator' }]);
  const body = { name: 'ADA', role: 'viewer' };
  expect((await admin.call('POST', '/api/invitations/person', { body })).status).toBe(409);
});

test('an owner signs somebody out, in one browser or in all', async () => {
  const cookies = [await join('Ann', 'viewer')];
  for (let count = 0; count < 2; count += 1) {
    const answer = await browse('POST', '/api/session', { body: { name: 'Ann', password: OWN } });
    cookies.push(cookieOf(answer));
  }
  const areIn = async () => {
    const all = cookies.map((cookie) => browse('GET', '/api/keys', { cookie }));
    return (await Promise.all(all)).map(({ status }) => status !== 401);
  };
  expect(await areIn()).toEqual([true, true, true]);
  const [ann] = await peopleOf();
  const sessions = Array.isArray(ann?.sessions) ? ann.sessions.filter(isJsonObject) : [];
  const path = `/api/people/${ann?.id}/sessions`;
  await admin.call('DELETE', `${path}?session=${sessions[1]?.name}`);
  expect(await areIn()).toEqual([true, false, true]);
  await admin.call('DELETE', path);
  expect(await areIn()).toEqual([false, false, false]);
});

test('a change of the own password needs the old one, and signs out everywhere else', async () => {
  const cookie = await join('Ann', 'viewer');
  const other = cookieOf(
    await browse('POST', '/api/session', { body: { name: 'Ann', password: OWN } }),
  );
  const change = (again?: string) =>
    browse('POST', '/api/session/password', {
      ...{ cookie, body: { password: 'another of her own' } },
      ...(again !== undefined && { again }),
    });
  expect((await change()).body.error).toMatchObject({ field: 'password', code: 'missing-field' });
  expect((await change('guessed')).status).toBe(403);
  const changed = await change(OWN);
  expect(changed.status).toBe(200);
  const session = async (cookie: string) =>
    (await browse('GET', '/api/session', { cookie })).body.signedIn;
  expect([await session(other), await session(cookieOf(changed))]).toEqual([false, true]);
  const old = await browse('POST', '/api/session', { body: { name: 'Ann', password: OWN } });
  expect(old.status).toBe(401);
});

test('an owner proves once more who they are before anybody is invited or gets another role', async () => {
  const cookie = await join('Ann', 'owner');
  const body = { name: 'Bob', role: 'owner' };
  const asked = (again?: string) =>
    browse('POST', '/api/invitations/person', {
      ...{ cookie, body },
      ...(again !== undefined && { again }),
    });
  expect((await asked()).body.error).toMatchObject({ field: 'password', code: 'missing-field' });
  // Hers, not that of the console.
  expect((await asked('the-console-password')).status).toBe(403);
  expect((await asked(OWN)).status).toBe(201);
  const { body: audit } = await admin.call('GET', '/api/audit?person=Ann');
  expect(audit.entries).toMatchObject([
    { actor: 'session', person: 'Ann', action: 'POST /api/invitations/person' },
  ]);
});

test('without a console password the last owner stays, and nobody is let in without signing in', async () => {
  await admin.close();
  admin = await startAdmin({ settings: { consolePassword: undefined } });
  const local = { headers: { authorization: '' } };
  expect((await admin.call('GET', '/api/keys', local)).status).toBe(200);
  const { body } = await admin.call('POST', '/api/invitations/person', {
    ...local,
    body: { name: 'Ann', role: 'owner' },
  });
  const cookie = cookieOf(await accept(secretOf(body), OWN));
  expect((await admin.call('GET', '/api/keys', local)).status).toBe(401);
  const people = await browse('GET', '/api/people', { cookie });
  const [ann] = Array.isArray(people.body.people) ? people.body.people.filter(isJsonObject) : [];
  const path = `/api/people/${ann?.id}`;
  expect((await browse('DELETE', path, { cookie })).status).toBe(409);
  const less = await browse('PATCH', path, { cookie, body: { role: 'viewer' }, again: OWN });
  expect(less.status).toBe(409);
  expect((await browse('GET', '/api/people', { cookie })).body.people).toMatchObject([
    { name: 'Ann', role: 'owner' },
  ]);
});

function clockOf({ options }: TestAdmin): FakeClock {
  // The one that the test support made.
  return options.clock as ReturnType<typeof createFakeClock>;
}
