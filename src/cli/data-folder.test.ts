import {
  existsSync,
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
