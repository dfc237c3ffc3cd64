// Flushes that fail: what is refused is not there, what is acknowledged is. Needs `strace`.

import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';

const WRITER = join(import.meta.dirname, '../durability/faulty-writer.ts');
const isStraceThere = spawnSync('strace', ['-V']).status === 0;
if (!isStraceThere)
  console.warn('SKIPPED: strace is not installed, so no flush can be made to fail.');

describe.runIf(isStraceThere)('while flushes fail', () => {
  test.each([20, 21, 25, 40, 60])(
    'from flush %i on for a while, no change is half made',
    async (from) => {
      const dataDir = mkdtempSync(join(tmpdir(), 'isthmus-flushes-'));
      try {
        const fault = `inject=fsync,fdatasync:error=EIO:when=${from}..${from + 15}`;
        const strace = ['-f', '-qq', '-o', join(dataDir, 'trace'), '-e', 'trace=fsync,fdatasync'];
        const { stdout } = await promisify(execFile)('strace', [
          ...strace,
          '-e',
          fault,
          process.execPath,
          WRITER,
          dataDir,
        ]);
        const { acknowledged, found, refusals } = JSON.parse(stdout);
        expect(found).toEqual(acknowledged);
        expect(acknowledged.length).toBeGreaterThan(80);
        expect(acknowledged.length).toBeLessThan(100);
        expect(refusals).toEqual([
          expect.stringMatching(/^StoreError: .*isthmus\.db .*the disk reported an error/),
        ]);
      } finally {
        rmSync(dataDir, { recursive: true, force: true });
      }
    },
  );
});
