import { expect, test } from 'vitest';
import { nearestName } from './names.ts';

test.each([
  ['alpha-3-flsh', ['alpha-3-pro-low', 'alpha-3-flash', 'alpha-3-flash-x'], 'alpha-3-flash'],
  ['Alpha_3-flash', ['alpha-3-flash'], 'alpha-3-flash'],
  ['gemini-4-pr', ['gemini-3-pro', 'gemini-4-pro'], 'gemini-4-pro'],
  ['ylpha-3-flasj', ['alpha-3-flash'], 'alpha-3-flash'],
  ['abcd', ['abxy'], undefined],
  ['prot', ['host', 'port'], 'port'],
  ['gemni-4-por', ['gemini-4-pro'], 'gemini-4-pro'],
  ['abdcfe', ['abcdef'], 'abcdef'],
  ['house', ['alpha-3-flash'], undefined],
  ['x'.repeat(10_000), ['alpha-3-flash'], undefined],
])('%s is meant to be one of %j: %s', (name, names, meant) => {
  expect(nearestName(name, names)).toBe(meant);
});
