import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { createLineWriter } from './log-files.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'isthmus-lines-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function openWriter() {
  const clock = createFakeClock();
  const told = { faults: 0, successes: 0 };
  const writer = createLineWriter({
    clock,
    onFault() {
      told.faults += 1;
    },
    onSuccess() {
      told.successes += 1;
    },
  });
  return { clock, told, writer };
}

test('lines that could not be written are written later, before those that came since', async () => {
  const { clock, told, writer } = openWriter();
  const later = join(folder, 'later');
  const path = join(later, 'a.log');
  writeFileSync(later, 'no folder');
  writer.write(path, 'one\n');
  await writer.flush();
  expect(told).toEqual({ faults: 1, successes: 0 });
  writer.write(path, 'two\n');
  rmSync(later);
  await clock.advance(1_000);
  await expect.poll(() => told.successes).toBe(1);
  expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n');
  await writer.close();
  expect(clock.pendingTimers).toBe(0);
});

test('of a disk that stands still no more than four megabytes wait, and there is room again once they are written', async () => {
  const { writer } = openWriter();
  const later = join(folder, 'later');
  const line = `${'x'.repeat(1_048_575)}\n`;
  writeFileSync(later, 'no folder');
  const write = () => writer.write(join(later, 'a.log'), line);
  expect([write(), write(), write(), write(), write()]).toEqual([true, true, true, true, false]);
  await writer.flush();
  expect(write()).toBe(false);
  rmSync(later);
  await writer.flush();
  expect(write()).toBe(true);
  await writer.close();
  expect(readFileSync(join(later, 'a.log'), 'utf8')).toHaveLength(5 * line.length);
});

test('a folder that is not there is made, for its owner alone, but not the one around it', async () => {
  const { told, writer } = openWriter();
  const later = join(folder, 'later');
  writer.write(join(later, 'a.log'), 'one\n');
  await writer.flush();
  expect([told, statSync(later).mode & 0o777]).toEqual([{ faults: 0, successes: 1 }, 0o700]);
  rmSync(later, { recursive: true });
  writer.write(join(later, 'within', 'a.log'), 'two\n');
  await writer.flush();
  expect(told).toEqual({ faults: 1, successes: 1 });
  await writer.close();
});
