// The page of what is proven names tests that are there; UPDATE_DOCS=1 writes it anew.

import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { listFiles } from '../support/source-imports.ts';
import {
  CLUSTER_PROOFS,
  type ClusterReport,
  describeProven,
  PROOFS,
  type SoakReport,
} from './proofs.ts';

const ROOT = join(import.meta.dirname, '../..');

test('every promise of docs/proven.md names a test that is there', () => {
  const missing = [...PROOFS, ...CLUSTER_PROOFS].filter(
    ({ file, test: title }) => !read(file).includes(title),
  );
  expect(missing).toEqual([]);
});

test('docs/proven.md is what the table of proofs says', () => {
  const path = join(ROOT, 'docs/proven.md');
  const soak: SoakReport = JSON.parse(read('test/soak/report.json'));
  const cluster: ClusterReport = JSON.parse(read('test/slow/cluster-report.json'));
  const parts = { proofs: PROOFS, clusterProofs: CLUSTER_PROOFS, cluster, soak };
  const page = describeProven(parts);
  if (process.env.UPDATE_DOCS === '1') writeFileSync(path, page);
  expect(read('docs/proven.md')).toBe(page);
});

test('what is tried in part every day is tried in full by the slow suite', () => {
  const [, list = ''] = /WITH_FULL_COUNTS = \[([^\]]*)\]/.exec(read('scripts/test.mjs')) ?? [];
  const paths = [...list.matchAll(/'([^']+)'/g)].map(([, path = '']) => path);
  const counting = ['src', 'test', 'packages/sandbox/src']
    .flatMap((folder) => listFiles(join(ROOT, folder), /\.ts$/))
    .map((file) => relative(ROOT, file))
    .filter((file) => /\bcountOf\(\{ slow/.test(read(file)));
  expect(counting.length).toBeGreaterThan(paths.length / 2);
  const left = counting.filter((file) => !paths.some((path) => file.startsWith(path)));
  expect(left).toEqual([]);
});

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}
