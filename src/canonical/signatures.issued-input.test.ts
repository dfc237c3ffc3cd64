import { expect, test } from 'vitest';
import { inputAsIssued, inputBehindShown } from './signatures.ts';

test('the arguments a call was signed with come back for those its client was shown, and no others', () => {
  const input = { shown: '{"n":1}', issued: '{"n":"1"}' };
  expect(inputBehindShown(undefined, { n: 1 }, undefined)).toBeUndefined();
  expect(inputBehindShown({ issued: '{"n":"1"}' }, { n: 1 }, undefined)).toBeUndefined();
  expect(inputBehindShown(input, { n: 1 }, undefined)).toEqual({ n: '1' });
  expect(inputBehindShown(input, { n: 2 }, undefined)).toBeUndefined();
  const wide = { shown: '{"a":1,"b":{"c":2,"d":3}}', issued: '{"a":"1"}' };
  expect(inputBehindShown(wide, { b: { d: 3, c: 2 }, a: 1 }, undefined)).toEqual({ a: '1' });
});

test('the arguments a call was signed with come back for those its client filled in or trimmed', () => {
  const schema = { type: 'object', properties: { all: { type: 'boolean', default: false } } };
  const plain = { shown: '{"path":"a"}', issued: '{"path":"a"}' };
  expect(inputBehindShown(plain, { all: false, path: 'a' }, schema)).toEqual({ path: 'a' });
  expect(inputBehindShown(plain, { all: true, path: 'a' }, schema)).toBeUndefined();
  const blank = { shown: '{"path":"a "}', issued: '{"path":"a "}' };
  expect(inputBehindShown(blank, { path: 'a' }, schema)).toEqual({ path: 'a ' });
  // As it was issued: nothing is to be put in its place.
  expect(inputBehindShown(blank, { path: 'a ' }, schema)).toBeUndefined();
});

test('the arguments a call was issued with come back for any others, not for themselves', () => {
  expect(inputAsIssued(undefined, { n: 2 })).toBeUndefined();
  expect(inputAsIssued({ issued: '{"n":1}' }, { n: 2 })).toEqual({ n: 1 });
  expect(inputAsIssued({ issued: '{"n":1}' }, { n: 1 })).toBeUndefined();
  expect(inputAsIssued({ issued: '' }, { n: 2 })).toEqual({});
});
