// What `npm pack` takes: the builds, the docs and the papers, and nothing of the workshop.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import manifest from '../../package.json' with { type: 'json' };

const ROOT = join(import.meta.dirname, '../..');

const PACKED = [
  /^lib\/[\w.-]+\.(?:js|d\.ts)$/,
  /^dist\/(?:(?:index|me)\.html|[\w.-]+\.(?:svg|png|ico|webmanifest|txt)|assets\/[\w.-]+)$/,
  /^docs\/[\w-]+\.(?:md|1|png)$/,
  /^bin\/isthmus\.mjs$/,
  /^(?:LICENSE|NOTICES\.txt|README\.md|SBOM\.cdx\.json|package\.json)$/,
];

test('only builds, docs and papers are packed', () => {
  const { stdout } = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: ROOT,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  const [packed] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
  const paths = packed.files.map(({ path }) => path);
  expect(packed.filename).toMatch(/^isthmus-\d+\.\d+\.\d+\.tgz$/);
  expect(paths).toContain('bin/isthmus.mjs');
  expect(paths).toContain('LICENSE');
  expect(paths).toContain('docs/configuration.md');
  // A list: of a text npm makes no link where `man` looks.
  expect(manifest.man).toBeInstanceOf(Array);
  expect(paths).toEqual(expect.arrayContaining(manifest.man));
  expect(paths.filter((path) => !PACKED.some((pattern) => pattern.test(path)))).toEqual([]);
});

test('who publishes a release runs nothing of the repository and holds no token', () => {
  const text = readFileSync(join(ROOT, '.github/workflows/release.yml'), 'utf8');
  const { permissions, jobs } = parse(text);
  expect(permissions).toEqual({ contents: 'read' });
  expect(jobs.pack.permissions).toBeUndefined();
  expect(jobs.publish.permissions).toEqual({ contents: 'write', 'id-token': 'write' });
  const steps: readonly { uses?: string; run?: string }[] = jobs.publish.steps;
  expect(steps.filter(({ uses }) => uses?.startsWith('actions/checkout'))).toEqual([]);
  expect(steps.find(({ run }) => run?.includes('npm publish'))?.run).toContain('--provenance');
  expect(text).not.toContain('secrets.');
});

test('the workflow of a release takes each action at one commit, and says of which version it is', () => {
  const text = readFileSync(join(ROOT, '.github/workflows/release.yml'), 'utf8');
  const used = text.match(/uses: .*/g) ?? [];
  expect(used.length).toBeGreaterThan(3);
  for (const line of used)
    expect(line).toMatch(/^uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});
