// The page of what is proven names tests that are there; UPDATE_DOCS=1 writes it anew.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeProven, PROOFS, type SoakReport } from './proofs.ts';

const ROOT = join(import.meta.dirname, '../..');

test('every promise of docs/proven.md names a test that is there', () => {
  const missing = PROOFS.filter(
    ({ file, test: title }) => !readFileSync(join(ROOT, file), 'utf8').includes(title),
  );
  expect(missing).toEqual([]);
});

test('docs/proven.md is what the table of proofs says', () => {
  const path = join(ROOT, 'docs/proven.md');
  const soak: SoakReport = JSON.parse(readFileSync(join(ROOT, 'test/soak/report.json'), 'utf8'));
  const page = describeProven(PROOFS, soak);
  if (process.env.UPDATE_DOCS === '1') writeFileSync(path, page);
  expect(readFileSync(path, 'utf8')).toBe(page);
});
