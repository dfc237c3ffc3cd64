import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { makeDataDir } from './data-folder.ts';

const folder = mkdtempSync(join(tmpdir(), 'isthmus-folder-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('the data folder is made for its owner only, and left empty', () => {
  const path = join(folder, 'a', 'b');
  makeDataDir(path);
  makeDataDir(path);
  expect(statSync(path).mode & 0o777).toBe(0o700);
  expect(readdirSync(path)).toEqual([]);
});

test('D3: an existing folder of ours that others may look into is closed to them', () => {
  const path = join(folder, 'open');
  mkdirSync(join(path, 'logs'), { recursive: true });
  for (const name of ['isthmus.db', 'isthmus.db-wal', 'gui_config.json', 'secret.key', '.x']) {
    writeFileSync(join(path, name), '');
  }
  chmodSync(path, 0o755);
  expect(makeDataDir(path)).toBeUndefined();
  expect(statSync(path).mode & 0o777).toBe(0o700);
});

test('D3: a folder that holds things of others stays as it is, with a warning', () => {
  const path = join(folder, 'shared');
  mkdirSync(path);
  writeFileSync(join(path, 'thesis.txt'), '');
  chmodSync(path, 0o755);
  expect(makeDataDir(path)).toContain('other files than the gateway');
  expect(statSync(path).mode & 0o777).toBe(0o755);
});

test('a folder that cannot be made is named with the way out', () => {
  const path = join(folder, 'file');
  writeFileSync(path, '');
  expect(() => makeDataDir(path)).toThrow(/file cannot be made: [\s\S]*ISTHMUS_DATA_DIR/);
});

test.runIf(existsSync('/proc/self'))('a folder that takes no files is refused at once', () => {
  expect(() => makeDataDir('/proc/self')).toThrow(
    /\/proc\/self cannot be written: [\s\S]*ISTHMUS_DATA_DIR/,
  );
});

test.runIf(existsSync('/proc/self'))('a folder that its file system denies is refused, too', () => {
  expect(() => makeDataDir('/proc/isthmus/data')).toThrow(
    /\/proc\/isthmus\/data cannot be made: ENOENT[\s\S]*ISTHMUS_DATA_DIR/,
  );
});

test('a folder behind a link that leads nowhere is refused', () => {
  const link = join(folder, 'link');
  symlinkSync(join(folder, 'gone', 'away'), link);
  expect(() => makeDataDir(join(link, 'data'))).toThrow(/cannot be made: [\s\S]*ISTHMUS_DATA_DIR/);
});
