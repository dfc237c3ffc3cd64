import { expect, test } from 'vitest';
import { touchLru } from './collections.ts';

test('an entry that is put anew is the last one, and the first goes where there are too many', () => {
  const map = new Map<string, number>();
  for (const entry of [
    ['a', 1],
    ['b', 2],
    ['a', 3],
    ['c', 4],
  ] as const)
    touchLru(map, entry, 2);
  expect([...map]).toEqual([
    ['a', 3],
    ['c', 4],
  ]);
});
