// What the gateway runs on beside node: few packages, each of one known content.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

interface LockedPackage {
  readonly dev?: boolean;
  readonly integrity?: string;
  readonly hasInstallScript?: boolean;
  /** A workspace stands under `node_modules` as a link to its folder. */
  readonly link?: boolean;
  readonly resolved?: string;
}

const { dependencies } = read('package.json') as {
  readonly dependencies: Readonly<Record<string, string>>;
};
const { packages } = read('package-lock.json') as {
  readonly packages: Readonly<Record<string, LockedPackage>>;
};
/** The one without a path is the project itself, those in `packages/` are its workspaces. */
const atRunTime = Object.entries(packages).filter(
  ([path, { dev, link, resolved }]) =>
    path !== '' &&
    !path.startsWith('packages/') &&
    !(link && resolved?.startsWith('packages/')) &&
    !dev,
);

test('S23: at run time there are no more than 18 packages of our choice and 80 in all', () => {
  const chosen = Object.keys(dependencies).filter((name) => !name.startsWith('@isthmus/'));
  expect(chosen.length).toBeLessThanOrEqual(18);
  expect(atRunTime.length).toBeLessThanOrEqual(80);
});

test('S23: each has one version and one content, and runs nothing when it is installed', () => {
  for (const version of Object.values(dependencies)) expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  const loose = atRunTime.filter(([, { integrity, hasInstallScript }]) => {
    return !integrity?.startsWith('sha512-') || hasInstallScript === true;
  });
  expect(loose).toEqual([]);
});

function read(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'));
}
