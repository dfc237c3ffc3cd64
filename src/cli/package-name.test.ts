import { expect, test } from 'vitest';
import { isInstalledPackage, PUBLISHED, VERSION } from './package-name.ts';

test('it is published under a scope, which nobody else can take, and asked for over TLS', () => {
  expect(PUBLISHED.name).toMatch(/^@[a-z-]+\/[a-z-]+$/);
  expect(PUBLISHED.registry).toMatch(/^https:\/\/[^/]+$/);
  expect(VERSION).toMatch(/^\d+\.\d+\.\d+$/);
});

test.each([
  ['/home/ada/.npm/_npx/1f/node_modules/isthmus/lib', true],
  ['/usr/lib/node_modules/@scope/isthmus/lib', true],
  ['C:\\Users\\ada\\node_modules\\isthmus\\lib', true],
  ['/home/ada/isthmus/lib', false],
  ['/home/ada/my-node_modules/lib', false],
])('%s is a copy that a package manager installed: %s', (folder, expected) => {
  expect(isInstalledPackage(folder)).toBe(expected);
});
