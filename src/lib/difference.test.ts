import { expect, test } from 'vitest';
import { differenceOf } from './difference.ts';
import { parseJson } from './json.ts';

test('values that are alike do not differ', () => {
  const nothing = { before: undefined, after: undefined };
  expect(differenceOf({ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] })).toEqual(nothing);
  expect(differenceOf(undefined, undefined)).toEqual(nothing);
});

test('of objects only the fields that differ are told, on the side that has them', () => {
  const before = { name: 'Ann', limits: { daily: 1, hourly: 2 }, note: 'old' };
  const after = { name: 'Ann', limits: { daily: 3, hourly: 2 }, tags: ['a'] };
  expect(differenceOf(before, after)).toEqual({
    before: { limits: { daily: 1 }, note: 'old' },
    after: { limits: { daily: 3 }, tags: ['a'] },
  });
});

test('lists of entries with ids are compared by those, others as a whole', () => {
  const [ann, ben] = [
    { id: 'a', on: true },
    { id: 'b', on: true },
  ];
  expect(differenceOf([ann, ben], [{ ...ann, on: false }])).toEqual({
    before: { a: { on: true }, b: ben },
    after: { a: { on: false } },
  });
  expect(differenceOf([1, 2], [2])).toEqual({ before: [1, 2], after: [2] });
});

test('what appears or vanishes is told whole, whatever its fields are called', () => {
  const odd = parseJson('{"__proto__":{"x":1}}');
  expect(differenceOf(undefined, odd)).toEqual({ before: undefined, after: odd });
  expect(JSON.stringify(differenceOf({}, odd).after)).toBe('{"__proto__":{"x":1}}');
});
