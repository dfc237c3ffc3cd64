import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createFakeClock, type FakeClock } from '../../test/support/fake-clock.ts';
import { LogFiles } from './log-files.ts';

type LogLimits = ConstructorParameters<typeof LogFiles>[0]['limits'];

const DAY_MS = 86_400_000;
const NOON = Date.parse('2026-11-21T12:00:00Z');

let folder: string;
let clock: FakeClock;
let faults: unknown[];
const opened: LogFiles[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'isthmus-logs-'));
  clock = createFakeClock(NOON);
  faults = [];
});
afterEach(async () => {
  for (const files of opened.splice(0)) await files.close();
  rmSync(folder, { recursive: true, force: true });
});

function openFiles(limits: LogLimits = {}): LogFiles {
  const files = new LogFiles({ folder, clock, limits, onFault: (error) => faults.push(error) });
  opened.push(files);
  return files;
}

function lineOf(message: string, level = 30): string {
  return `${JSON.stringify({ level, time: clock.now(), pid: 1, hostname: 'h', msg: message, a: 1 })}\n`;
}

function put(name: string, bytes: number): void {
  writeFileSync(join(folder, name), 'x'.repeat(bytes));
}

test('lines go to a file of the day that nobody else can read, and the next one when it is long', async () => {
  const files = openFiles({ maxFileBytes: 300 });
  for (let index = 0; index < 9; index += 1) files.write(lineOf(`line ${index}`));
  await files.flush();
  const names = readdirSync(folder).sort();
  expect(names.length).toBeGreaterThan(1);
  expect(names[0]).toBe('isthmus-2026-11-21-0001.log');
  expect(statSync(join(folder, names[0] ?? '')).mode & 0o777).toBe(0o600);
  await clock.advance(DAY_MS);
  files.write(lineOf('tomorrow'));
  await files.flush();
  expect(readdirSync(folder)).toContain('isthmus-2026-11-22-0001.log');
});

test('a restart goes on where it was', async () => {
  const first = openFiles();
  first.write(lineOf('before'));
  await first.close();
  const second = openFiles();
  second.write(lineOf('after'));
  const { lines } = await second.read({ limit: 10 });
  expect(lines.map(({ message }) => message)).toEqual(['after', 'before']);
  expect(readdirSync(folder)).toHaveLength(1);
});

test('files leave after seven days, and the oldest when all are too large, until half is left', async () => {
  put('isthmus-2026-11-12-0001.log', 10);
  put('isthmus-2026-11-15-0001.log', 400);
  put('isthmus-2026-11-16-0001.log', 400);
  put('isthmus-2026-11-20-0001.log', 400);
  put('mine.txt', 10);
  openFiles({ maxBytes: 1000, reducedBytes: 500 });
  expect(readdirSync(folder).sort()).toEqual(['isthmus-2026-11-20-0001.log', 'mine.txt']);
});

test('files stay while all together are not too large, though they are more than what would be left', () => {
  put('isthmus-2026-11-19-0001.log', 400);
  put('isthmus-2026-11-20-0001.log', 400);
  openFiles({ maxBytes: 1000, reducedBytes: 500 });
  expect(readdirSync(folder)).toHaveLength(2);
});

test('cleaning goes on while it runs', async () => {
  const files = openFiles();
  files.write(lineOf('old'));
  await files.flush();
  await clock.advance(9 * DAY_MS);
  files.write(lineOf('new'));
  await files.flush();
  await clock.advance(600_000);
  expect(readdirSync(folder)).toEqual(['isthmus-2026-11-30-0001.log']);
});

test('pages go from the latest line back, over files, without repeating or missing any', async () => {
  const files = openFiles({ maxFileBytes: 2000 });
  for (let index = 0; index < 100; index += 1) files.write(lineOf(`line ${index}`));
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await files.read({ limit: 7, cursor });
    seen.push(...page.lines.map(({ message }) => message));
    files.write(lineOf('later'));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  expect(seen).toEqual(Array.from({ length: 100 }, (_, index) => `line ${99 - index}`));
});

test('lines are found by level and by their text; what is no line is passed over', async () => {
  const files = openFiles();
  files.write(lineOf('fine'));
  files.write('no json\n');
  files.write(lineOf('Trouble', 50));
  expect((await files.read({ limit: 9, level: 'warn' })).lines).toEqual([
    { at: NOON, level: 'error', message: 'Trouble', fields: { a: 1 } },
  ]);
  expect((await files.read({ limit: 9, search: 'FINE' })).lines).toHaveLength(1);
  await expect(files.read({ limit: 9, cursor: '../../etc/passwd:1' })).rejects.toThrow(/cursor/);
});

test('a search looks through eight megabytes a page, and goes on behind them', async () => {
  const filler = lineOf('x'.repeat(100_000)).repeat(50);
  const found = lineOf('found');
  writeFileSync(join(folder, 'isthmus-2026-11-20-0001.log'), found + filler);
  writeFileSync(join(folder, 'isthmus-2026-11-20-0002.log'), filler);
  const files = openFiles();
  const first = await files.read({ limit: 9, search: 'found' });
  expect(first.lines).toEqual([]);
  const second = await files.read({ limit: 9, search: 'found', cursor: first.nextCursor });
  expect(second).toMatchObject({ lines: [{ message: 'found' }], nextCursor: undefined });
});

test('a long file is read in pieces, and a line longer than one is passed over', async () => {
  const files = openFiles();
  for (let index = 0; index < 3000; index += 1)
    files.write(lineOf(`line ${index} ${'x'.repeat(100)}`));
  files.write(lineOf('y'.repeat(600_000)));
  files.write(lineOf('last'));
  const { lines } = await files.read({ limit: 3000 });
  expect(lines[0]?.message).toBe('last');
  expect(lines[1]?.message).toMatch(/^line 2999 /);
  expect(lines).toHaveLength(3000);
});

test('a folder that cannot be written costs lines, not the process, and is told once', async () => {
  const files = openFiles();
  rmSync(folder, { recursive: true });
  writeFileSync(folder, '');
  files.write(lineOf('lost'));
  files.write(lineOf('lost, too'));
  expect(files.dropped).toBe(2);
  expect(faults).toHaveLength(1);
  rmSync(folder);
});

test('a folder that was removed is made anew, on the same day and behind the next midnight', async () => {
  const files = openFiles();
  const goOn = async (message: string) => {
    rmSync(folder, { recursive: true });
    expect(await files.read({ limit: 9 })).toMatchObject({ lines: [] });
    files.write(lineOf(message));
    const { lines } = await files.read({ limit: 9 });
    return lines.map((line) => line.message);
  };
  files.write(lineOf('gone with it'));
  await files.flush();
  expect(await goOn('same day')).toEqual(['same day']);
  await clock.advance(DAY_MS);
  expect(await goOn('next day')).toEqual(['next day']);
  expect([files.dropped, faults]).toEqual([0, []]);
});

test('whoever asks for a log that cannot be read is told why and what to do, and it goes on after that', async () => {
  const files = openFiles();
  files.write(lineOf('before'));
  await files.flush();
  rmSync(folder, { recursive: true });
  writeFileSync(folder, '');
  files.write(lineOf('while'));
  const reading = () => files.read({ limit: 9 });
  await expect(reading()).rejects.toMatchObject({ kind: 'internal' });
  await expect(reading()).rejects.toThrow(`${folder} cannot be read (ENOTDIR). Make it a folder`);
  rmSync(folder);
  expect((await reading()).lines).toMatchObject([{ message: 'while' }]);
  expect(faults).toHaveLength(1);
});

test('lines that wait for a folder nobody can make are told of, not an empty log', async () => {
  const around = folder;
  folder = join(around, 'logs');
  const files = openFiles();
  rmSync(around, { recursive: true });
  files.write(lineOf('waits'));
  await expect(files.read({ limit: 9 })).rejects.toThrow(`${folder} cannot be read (ENOENT)`);
  mkdirSync(around);
  expect((await files.read({ limit: 9 })).lines).toMatchObject([{ message: 'waits' }]);
  folder = around;
});

test('a file that left after the files were listed is passed over', async () => {
  const [gone, there] = ['isthmus-2026-11-20-0001.log', 'isthmus-2026-11-21-0001.log'];
  symlinkSync(join(folder, 'nowhere'), join(folder, gone));
  writeFileSync(join(folder, there), lineOf('there'));
  symlinkSync(join(folder, 'nowhere'), join(folder, 'isthmus-2026-11-22-0001.log'));
  const { lines } = await openFiles().read({ limit: 9 });
  expect(lines).toMatchObject([{ message: 'there' }]);
});

/** In the place of the folder stands a file, so that nothing can be written. */
function blockFolder(): void {
  rmSync(folder, { recursive: true });
  writeFileSync(folder, '');
}

const today = () => readFileSync(join(folder, 'isthmus-2026-11-21-0001.log'), 'utf8');

test('lines that could not be written are written later, before those that came since', async () => {
  const files = openFiles();
  files.write('');
  blockFolder();
  files.write('one\n');
  await files.flush();
  expect(files.fault).toBe('ENOTDIR');
  files.write('two\n');
  rmSync(folder);
  await clock.advance(1_000);
  await files.flush();
  expect(files.fault).toBeUndefined();
  expect([today(), faults.length, files.dropped]).toEqual(['one\ntwo\n', 1, 0]);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test('of a disk that stands still no more than four megabytes wait, and there is room again once they are written', async () => {
  const files = openFiles();
  files.write('');
  blockFolder();
  const line = `${'x'.repeat(1_048_575)}\n`;
  for (let count = 0; count < 5; count += 1) files.write(line);
  expect(files.dropped).toBe(1);
  await files.flush();
  files.write(line);
  expect(files.dropped).toBe(2);
  rmSync(folder);
  await files.flush();
  files.write(line);
  await files.flush();
  expect([files.dropped, today().length]).toEqual([2, 5 * line.length]);
});
