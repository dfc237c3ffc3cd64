import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { listen } from '../../test/support/listen.ts';
import { makeTestFolder } from '../../test/support/test-folder.ts';
import { addTo, PASSWORD, SEED, startAdmin, type TestAdmin } from '../admin/admin.test-support.ts';
import { SECRETS } from '../admin/admin-fakes.test-support.ts';
import type { Clock } from '../lib/clock.ts';
import type { JsonObject } from '../lib/json.ts';
import { createHttpClient } from './admin-client.ts';
import type { FakeAnswers, FakeTerminal } from './fake-terminal.test-support.ts';
import { runCommand } from './run-command.test-support.ts';

let admin: TestAdmin;
let folder: string;

beforeEach(async () => {
  admin = await startAdmin();
  folder = makeTestFolder('cli');
});
afterEach(async () => {
  await admin.close();
});

/** Waits pass at once. */
const impatientClock: Clock = {
  ...createFakeClock(),
  async sleep(_delayMs, signal) {
    await new Promise((resolve) => setImmediate(resolve));
    signal.throwIfAborted();
  },
};

/** Runs one command line against the gateway of the test. */
function isthmus(line: string, answers: FakeAnswers = {}): Promise<FakeTerminal> {
  const connect = async () => createHttpClient({ url: admin.edge.url, password: PASSWORD });
  return runCommand(line, { ...answers, clock: impatientClock, connect });
}

function fileWith(text: string): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'given.txt');
  writeFileSync(path, text);
  return path;
}

test('accounts are listed in a table with the way out, or as JSON', async () => {
  expect((await isthmus('accounts list')).notes.join()).toContain('isthmus accounts add');
  const { record } = await addTo(admin, { tier: 'pro' });
  admin.options.book.apply(record.id, { kind: 'disable' });
  const { printed, notes } = await isthmus('accounts');
  expect(printed[0]?.split('\n')[0]).toMatch(/^ID +LABEL +UPSTREAM +KIND +TIER/);
  expect(printed[0]).toMatch(/ada@example.com +main +oauth +pro +0 +disabled \(manual\) +-/);
  expect(notes.join()).toContain('Enable it');
  const json = await isthmus('accounts list --json');
  expect(JSON.parse(json.printed.join())).toMatchObject({ accounts: [{ id: record.id }] });
});

test('what stands in a label cannot command the terminal', async () => {
  await addTo(admin, { label: 'a\u001b[2Jb\u202ec' });
  expect((await isthmus('accounts list')).printed[0]).toContain('a\ufffd[2Jb\ufffdc');
});

test.each<[string, string, FakeAnswers]>([
  ['a prompt', 'accounts add', { answers: [SECRETS.key] }],
  ['the standard input', 'accounts add --upstream main', { input: `${SECRETS.key}\n` }],
  ['- for the standard input', 'accounts add --key-file -', { input: SECRETS.key }],
])('a key comes from %s', async (_source, line, answers) => {
  const { printed } = await isthmus(`${line} --label work --tier free --priority 3`, answers);
  expect(printed).toEqual(['work (acc_1) is added. Models the upstream offers: 1.']);
  expect(await admin.options.book.readCredential('acc_1')).toMatchObject({
    credential: { kind: 'api-key', key: SECRETS.key },
  });
  expect(admin.options.book.find('acc_1')?.record).toMatchObject({ tier: 'free', priority: 3 });
});

const SANDBOX = { id: 'sandbox', profile: 'sandbox' };
const PUBLIC = { id: 'gemini-api', profile: 'gemini-api' };
const TEAM = { id: 'team', profile: 'generic' };

test.each<[JsonObject[], string | undefined]>([
  [[SANDBOX], 'the built-in sandbox takes no real account'],
  [[PUBLIC, SANDBOX], undefined],
  [[PUBLIC, TEAM], 'there are: gemini-api, team'],
])(
  'of the upstreams %j the one besides the sandbox gets the account',
  async (upstreams, refusal) => {
    const sent: unknown[] = [];
    const work = runCommand('accounts add', {
      answers: [SECRETS.key],
      clock: impatientClock,
      connect: async () => ({
        async call(method, _path, body) {
          if (method === 'GET') return { upstreams };
          sent.push(body?.upstream);
          return { id: 'acc_1', label: 'work' };
        },
        close: async () => {},
      }),
    });
    if (refusal === undefined) await work;
    else await expect(work).rejects.toThrow(refusal);
    expect(sent).toEqual(refusal === undefined ? ['gemini-api'] : []);
  },
);

test.each([true, false])(
  'a key of a public service adds its upstream too; when it is taken: %s',
  async (isTaken) => {
    const sent: unknown[] = [];
    const work = runCommand('accounts add --upstream anthropic', {
      answers: [SECRETS.key],
      clock: impatientClock,
      connect: async () => ({
        async call(method, path, body) {
          if (method === 'GET') return { upstreams: [SANDBOX] };
          sent.push(path === '/api/accounts' ? body?.upstream : body);
          if (path === '/api/accounts' && !isTaken) throw new Error('The key was refused.');
          return { id: 'acc_1', label: 'work' };
        },
        close: async () => {},
      }),
    });
    const done = [{ anthropic: { profile: 'anthropic' } }, 'anthropic'];
    if (isTaken) await work;
    else await expect(work).rejects.toThrow('The key was refused.');
    expect(sent).toEqual(isTaken ? done : [...done, { anthropic: null }]);
  },
);

test('a key comes from a file, a proxy with its password too', async () => {
  const { printed } = await isthmus(
    `accounts add --json --key-file ${fileWith('k-1\n')} --proxy-file ${fileWith(SECRETS.proxy)}`,
  );
  expect(JSON.parse(printed.join())).toMatchObject({ label: 'key-1', hasProxy: true });
});

test('a key file of a service account may begin with a mark of its encoding, as Windows writes it', async () => {
  const path = fileWith('\ufeff{"type":"service_account"}');
  await expect(isthmus(`accounts add --service-account ${path}`)).rejects.not.toThrow('not JSON');
});

test.each([
  ['accounts add --oauth --key-file x'],
  ['accounts add --manual'],
  ['accounts add --oauth --tier pro'],
  ['accounts import - --passphrase-file -'],
])('%s is a mistake in the command line', async (line) => {
  await expect(isthmus(line, { input: 'k' })).rejects.toMatchObject({ reason: 'usage' });
});

test.each([
  ['accounts add --oauth --key-file x', '--key-file and --oauth do not go together'],
  ['accounts add --manual', 'go with --oauth'],
  ['accounts add --oauth --tier pro', '--tier does not go with --oauth'],
  ['accounts add --key-file /nowhere/at/all', 'cannot be read'],
  ['accounts add --service-account /dev/null', 'not JSON'],
  ['accounts add --upstream none', 'there is no upstream "none"'],
  ['accounts test nobody', 'There is no account nobody'],
  ['accounts import - --format refresh-tokens', 'upstream: is missing'],
  ['accounts import /dev/null', '/dev/null is empty'],
  ['accounts export /nowhere/x', '/nowhere/x cannot be written'],
  ['accounts import - --passphrase-file -', 'The standard input cannot hold both'],
])('%s is refused in words', async (line, words) => {
  await expect(isthmus(line, { input: 'k' })).rejects.toThrow(words);
});

test('a sign-in takes the pasted address', async () => {
  const url = 'http://127.0.0.1:8045/oauth/callback?code=c&state=state-1';
  const { notes, printed } = await isthmus('accounts add --oauth --manual', { answers: [url] });
  expect(notes.join('\n')).toContain('https://provider.example/authorize?state=state-1');
  expect(printed).toEqual(['state-1@example.com (acc_1) is signed in.']);
});

test('a sign-in takes the pasted code', async () => {
  const { printed } = await isthmus('accounts add --oauth', { answers: ['c0de'] });
  expect(printed).toEqual(['state-1@example.com (acc_1) is signed in.']);
});

test('a sign-in ends when the browser came back to the gateway', async () => {
  const command = isthmus('accounts add --oauth');
  await expect
    .poll(() => fetch(`${admin.edge.url}/oauth/callback?code=c&state=state-1`).then((r) => r.url), {
      interval: 5,
    })
    .toContain('result=done');
  expect((await command).printed).toEqual(['state-1@example.com (acc_1) is signed in.']);
});

test('an account is found by its label, whatever its case, and switched, tested and removed', async () => {
  const { record } = await addTo(admin);
  const status = () => admin.options.book.find(record.id)?.health.status.kind;
  await isthmus('accounts disable ADA@example.com');
  expect(status()).toBe('disabled');
  await isthmus(`accounts enable ${record.id}`);
  expect(status()).toBe('active');
  const good = await isthmus('accounts test ada@example.com');
  expect([good.hasFailed(), good.notes.join()]).toEqual([
    false,
    'Its credential is accepted. --generate shows whether it responds, at the cost of one token.',
  ]);
  const answer = await isthmus('accounts test ada@example.com --generate');
  expect(answer.notes.join()).toBe('The account answers.');
  admin.fakes.listed = [];
  const unasked = await isthmus('accounts test ada@example.com --generate');
  expect(unasked.notes.join()).toContain('No response was requested');
  admin.fakes.broken.add(record.id);
  const bad = await isthmus('accounts test ada@example.com --json');
  expect([bad.hasFailed(), JSON.parse(bad.printed.join()).isUsable]).toEqual([true, false]);
  await expect(isthmus('accounts remove ada@example.com', { answers: ['n'] })).rejects.toThrow(
    'Nothing was changed',
  );
  await expect(isthmus('accounts remove ada@example.com', { input: '' })).rejects.toThrow('--yes');
  const removed = await isthmus('accounts remove ada@example.com --yes --revoke');
  expect(removed.notes.join()).toContain('revoked at the provider');
  expect(admin.options.book.list()).toEqual([]);
});

test('ids with slashes reach the gateway', async () => {
  await admin.close();
  admin = await startAdmin({ seeds: [SEED] });
  const { printed } = await isthmus(`accounts disable ${SEED.id}`);
  expect(printed).toEqual(['key-1@env (main/key-1@env) is disabled.']);
});

test('an export is a new file for its owner alone, its passphrase asked twice', async () => {
  await addTo(admin);
  const path = join(folder, 'accounts.sealed');
  const words = ['a long passphrase', 'a long passphrase'];
  await expect(
    isthmus(`accounts export ${path}`, { answers: ['a long passphrase', 'another'] }),
  ).rejects.toThrow('not the same');
  const { printed } = await isthmus(`accounts export ${path}`, { answers: words });
  expect(printed.join()).toContain('1 account is in');
  expect(readFileSync(path, 'utf8')).toMatch(/^sealed-export:v1:/);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  await expect(isthmus(`accounts export ${path}`, { answers: words })).rejects.toThrow('--force');
  const imported = await isthmus(`accounts import ${path}`, { answers: ['a long passphrase'] });
  expect(imported.notes.join()).toContain('1 added, 0 updated, 0 failed.');
  expect(admin.fakes.imported).toMatchObject([{ passphrase: 'a long passphrase' }]);
});

test('an import with a failure says so, and fails', async () => {
  const path = fileWith('refused-token');
  const line = `accounts import ${path} --format refresh-tokens --upstream main`;
  const terminal = await isthmus(line);
  expect(terminal.hasFailed()).toBe(true);
  expect(terminal.printed[0]).toContain('the provider refused it');
});

test('models are listed and names explained; a name that goes nowhere fails', async () => {
  const listed = (await isthmus('models')).printed[0] ?? '';
  expect(listed).toMatch(/^MODEL +GOES TO/);
  expect(listed).toMatch(/^alpha-3-flash +alpha-3-flash /m);
  const known = await isthmus('route alpha-3-pro-image-16-9');
  expect(known.printed[0]).toContain('alpha-3-pro-image-16-9 → alpha-3-pro-image');
  const unknown = await isthmus('route nobody-knows --json');
  expect(unknown.hasFailed()).toBe(true);
  expect(JSON.parse(unknown.printed.join())).toMatchObject({ target: null });
  const misspelt = await isthmus('route alpha-3-flsh');
  expect(misspelt.hasFailed()).toBe(true);
  expect(misspelt.notes.join()).toContain('Did you mean "alpha-3-flash"?');
});

test('the password goes to the gateway alone, not where that sends it', async () => {
  const seen: (string | undefined)[] = [];
  const other = createServer((request, response) => {
    seen.push(request.headers.authorization);
    response.end('{}');
  });
  const location = `http://127.0.0.1:${await listen(other)}/`;
  const redirecting = createServer((_request, response) => {
    response.writeHead(302, { location }).end();
  });
  const url = `http://127.0.0.1:${await listen(redirecting)}`;
  const client = createHttpClient({ url, password: PASSWORD });
  await expect(client.call('GET', '/api/accounts')).rejects.toThrow('No gateway');
  expect(seen).toEqual([]);
});

test('a gateway that is not there, or wants another password, is said with the way out', async () => {
  const { url } = admin.edge;
  const wrong = createHttpClient({ url, password: 'wrong' });
  await expect(wrong.call('GET', '/api/accounts')).rejects.toThrow(
    'does not accept this console password',
  );
  await admin.edge.server.close();
  const gone = createHttpClient({ url, password: PASSWORD });
  await expect(gone.call('GET', '/api/accounts')).rejects.toThrow('Start it with "isthmus serve"');
});
