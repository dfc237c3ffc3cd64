import { expect, test } from 'vitest';
import { createId } from './ids.ts';

test('ids are of one length, in URL-safe characters, and never the same', () => {
  const ids = Array.from({ length: 2000 }, (_, index) =>
    index % 2 === 0 ? createId('a_') : createId('a_', 1_800_000_000_000),
  );
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^a_[\w-]{24}$/);
});

test('ids of the same time begin alike, those of other times do not', () => {
  const first = createId('req_', 1_800_000_000_000);
  expect(createId('req_', 1_800_000_000_000).slice(0, 12)).toBe(first.slice(0, 12));
  expect(createId('req_', 1_800_000_000_001).slice(0, 12)).not.toBe(first.slice(0, 12));
});
