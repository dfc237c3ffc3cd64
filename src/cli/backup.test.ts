import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, TEST_KEY, type TestDatabase } from '../../test/support/database.ts';
import { newAccount } from '../../test/support/new-account.ts';
import { runProgram } from '../../test/support/run-program.ts';
import { makeTestFolder } from '../../test/support/test-folder.ts';
import { claimFolder } from './data-folder.ts';
import type { FakeAnswers } from './fake-terminal.test-support.ts';
import { runCommand } from './run-command.test-support.ts';

const SETTINGS = '{"api_key":"sk-of-the-gateway"}\n';

let database: TestDatabase;
let folder: string;
let file: string;

beforeEach(async () => {
  database = await createTestDatabase();
  await database.stores.accounts.insert(newAccount('ada'));
  writeFileSync(join(database.folder, 'secret.key'), `${TEST_KEY}\n`);
  writeFileSync(join(database.folder, 'gui_config.json'), SETTINGS);
  folder = makeTestFolder('backup-test');
  file = join(folder, 'backup.tar.gz');
});
afterEach(async () => {
  await database.close();
});

const run = (line: string, answers?: FakeAnswers) => runCommand(line, answers);
const backUp = (flags: string, answers?: FakeAnswers) =>
  run(`backup ${file} --data-dir ${database.folder} ${flags}`, answers);

function passphraseFile(text: string): string {
  const path = join(folder, 'passphrase');
  writeFileSync(path, text);
  return path;
}

test('a backup is an archive for its owner alone, which tar reads, and comes back byte for byte', async () => {
  const { printed } = await backUp('--plain');
  expect(printed.join()).toContain(file);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const names = (await runProgram('tar', ['tzf', file])).trim().split('\n');
  expect(names).toEqual(['manifest.json', 'isthmus.db', 'gui_config.json', 'secret.key']);
  expect(readdirSync(folder)).toEqual(['backup.tar.gz']);
  const target = join(folder, 'restored');
  await run(`restore ${file} --data-dir ${target}`);
  expect(readFileSync(join(target, 'gui_config.json'), 'utf8')).toBe(SETTINGS);
  expect(readFileSync(join(target, 'secret.key'), 'utf8')).toBe(`${TEST_KEY}\n`);
  const reopened = await createTestDatabase({ path: join(target, 'isthmus.db') });
  expect(await reopened.stores.accounts.list()).toEqual(await database.stores.accounts.list());
  expect(await reopened.stores.accounts.readCredential('ada')).toEqual(
    await database.stores.accounts.readCredential('ada'),
  );
  await reopened.close();
});

test('a passphrase seals the secret key and the settings', async () => {
  const path = passphraseFile('correct horse battery\n');
  await backUp(`--passphrase-file ${path}`);
  const bytes = gunzipSync(readFileSync(file));
  for (const secret of [TEST_KEY, 'sk-of-the-gateway']) expect(bytes.includes(secret)).toBe(false);
  const target = join(folder, 'restored');
  const restore = `restore ${file} --data-dir ${target}`;
  await expect(run(restore, { input: '' })).rejects.toThrow('--passphrase-file');
  await expect(run(restore, { answers: ['another passphrase'] })).rejects.toThrow('is wrong');
  expect(existsSync(join(target, 'isthmus.db'))).toBe(false);
  await run(`${restore} --passphrase-file ${path}`);
  expect(readFileSync(join(target, 'gui_config.json'), 'utf8')).toBe(SETTINGS);
});

test('at a terminal a passphrase is asked for, twice', async () => {
  const two = ['correct horse battery', 'correct horse baterry'];
  await expect(backUp('', { answers: two })).rejects.toThrow('not the same');
  expect(existsSync(file)).toBe(false);
  const { asked } = await backUp('', { answers: [two[0] ?? '', two[0] ?? ''] });
  expect(asked).toHaveLength(2);
});

test('where nobody can be asked, a flag says what becomes of the secret key', async () => {
  const refused = backUp('', { input: '' });
  await expect(refused).rejects.toMatchObject({ reason: 'usage' });
  await expect(refused).rejects.toThrow('--without-secret-key');
  const { notes } = await backUp('--without-secret-key', { input: '' });
  expect(notes.join()).toContain('Keep ISTHMUS_SECRET_KEY or secret.key elsewhere');
  const restoring = run(`restore ${file} --data-dir ${join(folder, 'restored')}`);
  await expect(restoring).rejects.toThrow('without its secret key');
});

test('a file that is there stays, unless --force is said', async () => {
  writeFileSync(file, 'something else');
  await expect(backUp('--plain')).rejects.toThrow('--force');
  expect(readFileSync(file, 'utf8')).toBe('something else');
  await backUp('--plain --force');
  await run(`restore ${file} --check`);
});

test('a place that cannot be written is named', async () => {
  const at = (path: string) => run(`backup ${path} --data-dir ${database.folder} --plain --force`);
  await expect(at('/nowhere/x')).rejects.toThrow(/^\/nowhere\/x cannot be written: ENOENT/);
  await expect(at(folder)).rejects.toThrow(`${folder} is a folder. Name a file in it.`);
});

test('what the system refuses is not blamed on the backup', async () => {
  await expect(run(`restore ${folder} --check`)).rejects.toThrow('cannot be used. EISDIR');
});

test('a folder that is not empty stays as it is; with --force a copy of it is kept', async () => {
  await backUp('--plain');
  const target = join(folder, 'restored');
  await run(`restore ${file} --data-dir ${target}`);
  writeFileSync(join(target, 'gui_config.json'), '{"api_key":"sk-changed"}');
  const restore = `restore ${file} --data-dir ${target}`;
  await expect(run(restore)).rejects.toThrow('it holds isthmus.db, gui_config.json, secret.key');
  const { notes } = await run(`${restore} --force`);
  expect(readFileSync(join(target, 'gui_config.json'), 'utf8')).toBe(SETTINGS);
  const kept = readdirSync(target).find((name) => name.startsWith('isthmus-before-restore'));
  expect(notes.join()).toContain(kept);
  expect(readFileSync(join(target, kept ?? '', 'gui_config.json'), 'utf8')).toContain('changed');
});

test('nothing is restored below a running gateway', async () => {
  await backUp('--plain');
  const claim = claimFolder(database.folder);
  const restoring = run(`restore ${file} --force --data-dir ${database.folder}`);
  await expect(restoring).rejects.toThrow('Stop it first');
  claim.release();
});

/** The archive, with one text in place of another of the same length. */
function changed(from: string, to: string): Buffer {
  const text = gunzipSync(readFileSync(file)).toString('latin1');
  expect(text).toContain(from);
  return gzipSync(Buffer.from(text.replace(from, to), 'latin1'));
}

test.each<[string, () => Buffer, string]>([
  ['is cut', () => readFileSync(file).subarray(0, -40), 'cut or damaged'],
  [
    'is cut, but packed anew',
    () => gzipSync(gunzipSync(readFileSync(file)).subarray(0, 2048)),
    'cut',
  ],
  ['has another byte', () => changed('sk-of-the', 'sk-of-teh'), 'gui_config.json is damaged'],
  [
    'has a file of another name',
    () => changed('gui_config.json\0', '../../etc/pass\0\0'),
    'damaged',
  ],
  ['is another archive', () => changed('isthmus-backup', 'isthmus-backap'), 'no backup of isthmus'],
  ['is of a later format', () => changed('"format": 1', '"format": 7'), 'does not know'],
  ['is no archive', () => Buffer.from('PK\u0003\u0004'), 'no backup of isthmus'],
  ['is empty', () => Buffer.alloc(0), 'no backup of isthmus'],
])('a backup that %s is refused, and the folder stays empty', async (_what, make, words) => {
  await backUp('--plain');
  const bytes = make();
  writeFileSync(file, bytes);
  const target = join(folder, 'restored');
  await expect(run(`restore ${file} --data-dir ${target}`)).rejects.toThrow(words);
  expect(readdirSync(target)).toEqual(['running.lock']);
});

test('a database of a later version, or of another key, is refused', async () => {
  await database.closeStores();
  writeFileSync(join(database.folder, 'secret.key'), 'another key of enough letters\n');
  await expect(backUp('--plain')).rejects.toThrow('cannot be opened with this secret key');
  writeFileSync(join(database.folder, 'secret.key'), `${TEST_KEY}\n`);
  const handle = new DatabaseSync(database.path);
  handle.exec("insert into migrations values (999, 'later', 0)");
  handle.close();
  await expect(backUp('--plain')).rejects.toThrow('is of version 999');
});

test('without a database there is nothing to back up', async () => {
  const empty = run(`backup ${file} --plain --data-dir ${folder}`);
  await expect(empty).rejects.toThrow('nothing is to be backed up');
});
