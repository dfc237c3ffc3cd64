// What the gateway is made of beside our own code: few packages, each of one known content and an allowed licence.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { lockedPackages } from '../../scripts/locked-packages.mjs';
import { isAllowedLicense } from '../../scripts/parts.mjs';

const MANIFESTS = ['package.json', 'src/package.json', 'console/package.json'];
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

interface Locked {
  readonly integrity?: string;
  readonly hasInstallScript?: boolean;
  readonly link?: boolean;
}

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly scripts?: Readonly<Record<string, string>>;
}

const { packages } = JSON.parse(readFileSync(`${ROOT}package-lock.json`, 'utf8'));
/** All of others; workspaces stand there as links to their folders. */
const LOCKED = Object.entries<Locked>(packages).filter(
  ([path, { link }]) => path.startsWith('node_modules/') && !link,
);

test('S23: the gateway is built from no more than 21 packages of our choice and 60 in all', () => {
  const { dependencies = {} } = read('src/package.json');
  const chosen = Object.keys(dependencies).filter((name) => !name.startsWith('@isthmus/'));
  expect(chosen.length).toBeLessThanOrEqual(21);
  expect(lockedPackages(ROOT, ['src']).length).toBeLessThanOrEqual(60);
});

test('S23: with the console, all that is shipped is from no more than 120 packages', () => {
  expect(lockedPackages(ROOT).length).toBeLessThanOrEqual(120);
});

test('S23: nothing is installed beside the package: it holds all it needs', () => {
  const { dependencies, optionalDependencies, scripts = {} } = read('package.json');
  expect({ dependencies, optionalDependencies }).toEqual({});
  const runAtInstall = ['preinstall', 'install', 'postinstall', 'prepare'];
  expect(runAtInstall.filter((name) => scripts[name] !== undefined)).toEqual([]);
});

test('S23: no tool of development and nothing of the console is among what the gateway is built from', () => {
  const names = lockedPackages(ROOT, ['src']).map(({ name }) => name);
  const { devDependencies = {} } = read('package.json');
  const { dependencies = {} } = read('src/package.json');
  const tools = Object.keys(devDependencies).filter((name) => dependencies[name] === undefined);
  // Libraries that tests use as well, and that one of the gateway's needs.
  const shared = ['jose', 'zod'];
  expect(names.filter((name) => tools.includes(name)).sort()).toEqual(shared);
  expect(names.filter((name) => /react|mantine|tanstack/.test(name))).toEqual([]);
});

test('S23: every package has one version and one content', () => {
  for (const path of MANIFESTS) {
    const { dependencies, devDependencies } = read(path);
    for (const version of Object.values({ ...dependencies, ...devDependencies })) {
      expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    }
  }
  const loose = LOCKED.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'));
  expect(loose).toEqual([]);
});

test('S23: no package runs anything when it is installed, not even for development', () => {
  const scripted = LOCKED.filter(([, { hasInstallScript }]) => hasInstallScript);
  expect(scripted.map(([path]) => path)).toEqual([]);
});

test('S23: the node of the npm scripts is pinned by content for each system, and runs nothing either', () => {
  const { packages } = JSON.parse(
    readFileSync(new URL('../../scripts/node/package-lock.json', import.meta.url), 'utf8'),
  );
  const { optionalDependencies = {} } = read('scripts/node/package.json');
  expect(new Set(Object.values(optionalDependencies)).size).toBe(1);
  for (const name of Object.keys(optionalDependencies)) {
    const locked = packages[`node_modules/${name}`];
    expect(locked.integrity).toMatch(/^sha512-/);
    expect(locked.hasInstallScript).toBeUndefined();
  }
});

test('what is shipped is under a licence that allows it', () => {
  const shipped = lockedPackages(ROOT).map(({ path, license = 'none' }) => ({ path, license }));
  expect(shipped.length).toBeGreaterThan(50);
  expect(shipped.filter(({ license }) => !isAllowedLicense(license))).toEqual([]);
});

test.each([
  ['MIT', true],
  ['(MIT OR GPL-3.0-only)', true],
  ['MIT AND GPL-3.0-only', false],
  ['GPL-3.0-only', false],
  ['LGPL-2.1-or-later', false],
])('%s may be shipped: %s', (expression, expected) => {
  expect(isAllowedLicense(expression)).toBe(expected);
});

test('a library that tests use too is the version that is shipped', () => {
  const { devDependencies = {} } = read('package.json');
  for (const path of [
    'src/package.json',
    'console/package.json',
    'packages/sandbox/package.json',
  ]) {
    for (const [name, version] of Object.entries(read(path).dependencies ?? {})) {
      expect(devDependencies[name] ?? version).toBe(version);
    }
  }
});

function read(name: string): Manifest {
  return JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'));
}
