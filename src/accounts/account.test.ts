import { expect, test } from 'vitest';
import { isSameLabel } from './account.ts';

test.each([
  ['Ada@example.org', 'ada@EXAMPLE.org'],
  ['Zo\u00eb', 'ZOE\u0308'],
  ['ada', '\u00a0Ada '],
])('%s and %s are one label', (one, other) => {
  expect(isSameLabel(one, other)).toBe(true);
});

test.each([
  ['ada', 'a da'],
  ['zoe', 'zo\u00eb'],
])('"%s" and "%s" are two labels', (one, other) => {
  expect(isSameLabel(one, other)).toBe(false);
});
