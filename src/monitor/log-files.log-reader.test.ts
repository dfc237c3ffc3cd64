import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readLogPage } from './log-files.ts';

test('a file that left after the files were listed is passed over', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-log-reader-'));
  const [gone, there] = ['isthmus-2026-11-20-0001.log', 'isthmus-2026-11-21-0001.log'];
  writeFileSync(join(folder, there), `${JSON.stringify({ level: 30, time: 1, msg: 'there' })}\n`);
  for (const names of [
    [gone, there],
    [there, 'isthmus-2026-11-22-0001.log'],
  ]) {
    const { lines } = await readLogPage({ folder, names, query: { limit: 9 } });
    expect(lines).toMatchObject([{ message: 'there' }]);
  }
  rmSync(folder, { recursive: true });
});
