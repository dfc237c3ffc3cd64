import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { makeTestFolder } from '../../test/support/test-folder.ts';
import { PASSWORD, startAdmin, type TestAdmin } from '../admin/admin.test-support.ts';
import { NOW } from '../admin/admin-fakes.test-support.ts';
import type { JsonObject } from '../lib/json.ts';
import { createHttpClient } from './admin-client.ts';
import type { FakeAnswers } from './fake-terminal.test-support.ts';
import { runCommand } from './run-command.test-support.ts';

let admin: TestAdmin;
let folder: string;

beforeEach(async () => {
  admin = await startAdmin();
  folder = makeTestFolder('keys');
});
afterEach(async () => {
  await admin.close();
});

function keys(line: string, answers: FakeAnswers = {}) {
  return runCommand(`keys ${line}`, {
    ...answers,
    clock: createFakeClock(NOW),
    connect: async () => createHttpClient({ url: admin.edge.url, password: PASSWORD }),
  });
}

async function listed(): Promise<readonly JsonObject[]> {
  const { printed } = await keys('list --json');
  return JSON.parse(printed.join()).keys;
}

test('a key is made with all its limits, and its secret is shown once', async () => {
  const { printed, notes } = await keys(
    'add ada --owner ada@example.org --team Lab --tags "ci, batch" --expires 2d --allowed-models "gemini-*, gpt-5" --max-addresses 2 --requests-per-minute 3 ' +
      '--tokens-per-minute 4 --max-concurrency 5 --blocked-hours 22:00-06:00@Europe/Zurich',
  );
  expect(printed).toEqual([expect.stringMatching(/^sk-\w{30,}$/)]);
  expect(notes.join()).toContain('shown this once');
  expect(await listed()).toMatchObject([
    {
      ...{ name: 'ada', enabled: true, expiresAt: NOW + 2 * 86_400_000 },
      ...{ owner: 'ada@example.org', team: 'Lab', tags: ['ci', 'batch'] },
      ...{ allowedModels: ['gemini-*', 'gpt-5'], maxAddresses: 2, requestsPerMinute: 3 },
      ...{ tokensPerMinute: 4, maxConcurrency: 5 },
      curfew: { from: '22:00', to: '06:00', timeZone: 'Europe/Zurich' },
    },
  ]);
  const table = (await keys('')).printed.join();
  expect(table).toMatch(/^NAME +KEY +STATE/);
  expect(table).toContain('ada@example.org, Lab, #ci, #batch');
  expect(table).toContain('2 addresses a day; 3 requests a minute');
  expect(table).not.toContain(printed[0]);
});

test('what is recorded of a key is said by a flag, and taken back', async () => {
  await keys('add ada --recording counts');
  expect(await listed()).toMatchObject([{ recording: 'counts' }]);
  expect((await keys('')).printed.join()).toContain('records counts');
  await keys('edit ada --recording none');
  const [key] = await listed();
  expect(key).not.toHaveProperty('recording');
  await expect(keys('edit ada --recording all')).rejects.toThrow('no-bodies');
});

test('with --key-file the secret is in a new file for its owner alone, and nowhere else', async () => {
  const path = join(folder, 'ci.key');
  const { printed, notes } = await keys(`add ci --disabled --json --key-file ${path}`);
  const secret = readFileSync(path, 'utf8').trim();
  expect(secret).toMatch(/^sk-/);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect([...printed, ...notes].join()).not.toContain(secret);
  expect(JSON.parse(printed.join())).toMatchObject({ file: path, key: { enabled: false } });
});

test.each(['ci.key', 'missing/ci.key'])(
  'where the secret cannot be kept in %s no key is left behind',
  async (name) => {
    await keys(`add first --key-file ${join(folder, 'ci.key')}`);
    const adding = keys(`add second --key-file ${join(folder, name)}`);
    await expect(adding).rejects.toThrow('No key was made');
    expect(await listed()).toMatchObject([{ name: 'first' }]);
  },
);

test('what is edited changes, what is not named stays, and none takes a limit away', async () => {
  await keys(
    'add ada --tokens-per-minute 5 --requests-per-minute 6 --allowed-models gpt-5 --expires 2d',
  );
  await keys('edit ADA --name Ada --tokens-per-minute none --allowed-models none --disable');
  const [key] = await listed();
  expect(key).toMatchObject({
    name: 'Ada',
    enabled: false,
    requestsPerMinute: 6,
    allowedModels: [],
  });
  expect(key).not.toHaveProperty('tokensPerMinute');
  const { printed } = await keys('edit Ada --enable --expires none');
  expect(printed.join()).toMatch(/^Ada +sk-.*enabled +0 +0 +- +- +6 requests a minute$/m);
});

test('blocked hours that are edited without a zone stay in that of the key', async () => {
  await keys('add ada --blocked-hours 22:00-06:00@Pacific/Kiritimati');
  await keys('edit ada --blocked-hours 23:00-05:00');
  expect(await listed()).toMatchObject([
    { curfew: { from: '23:00', to: '05:00', timeZone: 'Pacific/Kiritimati' } },
  ]);
});

test.each([
  ['edit ada', 'Name what is to be changed'],
  ['edit nobody --disable', 'There is no key nobody'],
  ['edit ada --enable --disable', 'cannot be used with'],
  ['edit ada --tokens-per-minute many', 'whole number'],
  ['edit ada --blocked-hours night', 'two times such as'],
  ['edit ada --blocked-hours 22:00-24:30', 'two times such as'],
  ['add ada --expires none', 'a day or a time'],
  ['edit twin --disable', 'Several keys are called twin'],
])('%s is refused in words, and nothing changes', async (line, words) => {
  for (const name of ['ada', 'twin', 'twin']) await keys(`add ${name}`);
  const before = await listed();
  await expect(keys(line)).rejects.toThrow(words);
  expect(await listed()).toEqual(before);
});

test('a key is removed when somebody agrees, or with --yes where nobody can be asked', async () => {
  await keys('add ada');
  await expect(keys('remove ada', { answers: ['n'] })).rejects.toThrow('Nothing was changed');
  await expect(keys('remove ada', { input: '' })).rejects.toThrow('--yes');
  expect(await listed()).toHaveLength(1);
  const { printed } = await keys('remove ada', { answers: ['y'] });
  expect(printed.join()).toBe('The key ada is removed.');
  expect(await listed()).toEqual([]);
});

test('a rotated key has another secret, and says until when the one before works', async () => {
  const { printed: first } = await keys('add ada');
  const { printed, notes } = await keys('rotate ada');
  expect(printed).toEqual([expect.stringMatching(/^sk-\w{30,}$/)]);
  expect(printed).not.toEqual(first);
  const endsAt = NOW + 86_400_000;
  expect(notes.join()).toContain(new Date(endsAt).toISOString());
  expect(await listed()).toMatchObject([{ previous: [{ prefix: first[0]?.slice(0, 9), endsAt }] }]);
  const path = join(folder, 'ada.key');
  const again = await keys(`rotate ada --overlap 0 --key-file ${path}`);
  expect([...again.printed, ...again.notes].join()).not.toContain(
    readFileSync(path, 'utf8').trim(),
  );
  expect(again.notes.join()).toContain('All earlier secrets are refused');
  await expect(keys(`rotate ada --key-file ${path}`)).rejects.toThrow('Nothing was changed');
  await expect(keys('rotate ada --overlap soon')).rejects.toThrow('a span such as');
});
