import { lstat, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { makeTestFolder } from '../../test/support/test-folder.ts';
import type { JsonObject } from '../lib/json.ts';
import { checkConfig } from './check-config.ts';
import { resolveSettings } from './effective.ts';
import { type ConfigSource, fileSource, loadConfig, mergePatch } from './file.ts';
import { ConfigError, UnwritableFileError } from './values.ts';

let folder = '';
let path = '';
let source: ConfigSource;

beforeEach(async () => {
  folder = makeTestFolder('config');
  path = join(folder, 'gui_config.json');
  source = fileSource({ path, clock: createFakeClock() });
});

async function writeConfig(raw: JsonObject): Promise<void> {
  await source.write(raw, await source.read());
}

const STRICT = { api_key: 'k-123', proxy: { auth_mode: 'strict', custom_mapping: { a: 'b' } } };

test('a missing file means the defaults', async () => {
  expect(await loadConfig(path)).toMatchObject({ origin: 'defaults', config: {} });
});

test('a file that vanished starts from its last good copy, and from the defaults without one (T27)', async () => {
  await writeConfig(STRICT);
  await source.keepLastGood();
  await rm(path);
  const loaded = await loadConfig(path);
  expect(loaded).toMatchObject({ origin: 'last-good-copy', raw: STRICT });
  expect(loaded.problems[0]?.text).toMatch(/^the file is gone: .*gui_config\.json\.bak/);
  await rm(`${path}.bak`);
  expect(await loadConfig(path)).toMatchObject({ origin: 'defaults' });
});

test('D5: all files of the config’s name may go, and authentication is as strict as it was', async () => {
  await writeConfig(STRICT);
  await source.keepLastGood();
  const files = (await readdir(folder)).filter((name) => name.startsWith('gui_config.json'));
  for (const name of files) await rm(join(folder, name));
  const loaded = await loadConfig(path);
  expect(loaded).toMatchObject({ origin: 'defaults', config: { proxy: { auth_mode: 'strict' } } });
});

test('what is written is read back, with unknown keys, readable by the owner only (P134)', async () => {
  const raw = { theme: 'dark', ...STRICT, proxy: { ...STRICT.proxy, zoom: [1] } };
  await writeConfig(raw);
  await source.keepLastGood();
  expect(await loadConfig(path)).toMatchObject({ origin: 'file', raw });
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readdir(folder)).toEqual([
    'auth-is-strict',
    'gui_config.json',
    'gui_config.json.bak',
  ]);
});

test('a file that is kept elsewhere and linked to stays linked', async () => {
  const elsewhere = makeTestFolder('config');
  const kept = join(elsewhere, 'settings.json');
  await writeFile(kept, '{}');
  await symlink(kept, path);
  await writeConfig(STRICT);
  expect((await lstat(path)).isSymbolicLink()).toBe(true);
  expect(JSON.parse(await readFile(kept, 'utf8'))).toEqual(STRICT);
});

test('a config that cannot be used is not written', async () => {
  await writeConfig(STRICT);
  await expect(writeConfig({ proxy: { port: 'x' } })).rejects.toThrow('proxy.port');
  expect(JSON.parse(await readFile(path, 'utf8'))).toEqual(STRICT);
});

test('a broken file starts from its last good copy, or not at all (T27)', async () => {
  await writeFile(path, '{"api_key":');
  await expect(loadConfig(path)).rejects.toThrow(ConfigError);
  await writeConfig(STRICT);
  await source.keepLastGood();
  await writeFile(path, '');
  expect(await loadConfig(path)).toMatchObject({ origin: 'last-good-copy', raw: STRICT });
});

test('what is no JSON is told by its place, never by its text', async () => {
  for (const [text, place] of [
    ['{\n  "api_key": "k-123",\n}', 'no JSON at line 3, column 1'],
    ['{\r\n  // mine\r\n  "api_key": "k-123"\r\n}', 'no JSON at line 2, column 3'],
    ['\uFEFF{"a" 1}', 'no JSON at line 1, column 6'],
    ['{"a": tru}', 'no JSON at line 1, column 7'],
    ['{"a": 1}}', 'no JSON at line 1, column 9'],
    ['{"a": "k-123', 'no JSON at line 1, column 7'],
    ['{"a": 1\n', 'not complete JSON'],
    ['', 'not complete JSON'],
  ] as const) {
    await writeFile(path, text);
    expect(await source.read()).toMatchObject({ problems: [{ text: `the file is ${place}` }] });
  }
});

test('a file that cannot be read is no missing one: its copy stands in, or there is no start (T27)', async () => {
  await mkdir(path);
  await expect(loadConfig(path)).rejects.toThrow('cannot be read (EISDIR)');
  await writeFile(`${path}.bak`, JSON.stringify(STRICT));
  expect(await loadConfig(path)).toMatchObject({ origin: 'last-good-copy', raw: STRICT });
});

test('a write that fails leaves nothing behind and says what to do', async () => {
  await mkdir(path);
  await expect(writeConfig(STRICT)).rejects.toThrow(
    /gui_config\.json could not be written \(EISDIR\)\. Let the user of this process write to it/,
  );
  expect(await readdir(folder)).toEqual(['gui_config.json']);
});

test.each(['ENOSPC', 'EDQUOT'])('a disk without room (%s) is called that', (code) => {
  const error = new UnwritableFileError(path, Object.assign(new Error('write'), { code }));
  expect(error.message).toContain(`${path} could not be written: its disk has no room left.`);
});

test('an accepted edit by hand becomes the last good copy; a bad one does not', async () => {
  await writeFile(path, JSON.stringify(STRICT));
  await source.keepLastGood();
  await writeFile(path, '{');
  await source.keepLastGood();
  expect(JSON.parse(await readFile(`${path}.bak`, 'utf8'))).toEqual(STRICT);
});

test('cut off at any byte it is refused, never weaker (T27)', () => {
  const text = JSON.stringify(STRICT);
  for (let length = 0; length < text.length; length += 1) {
    expect(authOf(text.slice(0, length))).toBeUndefined();
  }
});

test('with one byte changed it is refused or as strict as before (T27)', () => {
  const text = JSON.stringify(STRICT, null, 2);
  const byte = fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code));
  const edit = fc.constantFrom('replace', 'insert', 'remove');
  fc.assert(
    fc.property(fc.nat(text.length - 1), byte, edit, (at, character, kind) => {
      const rest = text.slice(kind === 'insert' ? at : at + 1);
      const changed = text.slice(0, at) + (kind === 'remove' ? '' : character) + rest;
      const auth = authOf(changed);
      if (auth === undefined) return;
      expect(auth.authMode).toBe('strict');
      expect(auth.apiKey).toBeDefined();
    }),
    { numRuns: 2000 },
  );
});

test('a patch merges sections, removes by null and keeps everything else (P191)', () => {
  const raw = { a: 1, proxy: { port: 1, custom_mapping: { x: 'y' }, other: [1] } };
  expect(mergePatch(raw, { proxy: { port: 2, custom_mapping: { x: null, z: 'w' } } })).toEqual({
    a: 1,
    proxy: { port: 2, custom_mapping: { z: 'w' }, other: [1] },
  });
});

function authOf(text: string): { authMode: string; apiKey: string | undefined } | undefined {
  try {
    const checked = checkConfig(JSON.parse(text));
    if (checked.kind === 'bad') return undefined;
    return resolveSettings({ environment: {}, file: checked.config });
  } catch {
    return undefined;
  }
}
