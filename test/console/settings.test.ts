// What the console makes of settings before it sends them: merge patches and the provider's form.

import { expect, test } from 'vitest';
import { mergePatch, patchNow } from '../../console/src/api/queries/merge-patch.ts';
import {
  badLine,
  readProvider,
  writePatch,
} from '../../console/src/pages/routing/provider-values.ts';

test('a patch removes with null, merges objects and keeps the rest', () => {
  const values = { a: 1, b: { c: 2, d: 3 }, e: [1] };
  expect(mergePatch(values, { a: null, b: { c: 5 }, e: [2], f: 'new' })).toEqual({
    b: { c: 5, d: 3 },
    e: [2],
    f: 'new',
  });
});

test('a key called like a method of objects is a key like any other', () => {
  const patch = JSON.parse('{"__proto__": "alpha-3-flash", "constructor": "x"}');
  const merged = mergePatch({}, patch);
  expect(Object.keys(merged).sort()).toEqual(['__proto__', 'constructor']);
  expect(Object.getPrototypeOf(merged)).toBe(Object.prototype);
});

test('an untouched form of the provider changes nothing', () => {
  const values = {
    enabled: true,
    base_url: 'https://provider.example',
    api_key: { isSet: true },
    model_mapping: { a: 'b' },
    models: { opus: 'x' },
    mcp: { enabled: true },
  };
  expect(writePatch(values, readProvider(values))).toEqual({});
});

test('the form of the provider sends what differs, clears what was emptied, keeps the key', () => {
  const values = { base_url: 'https://old.example', model_mapping: { a: 'b', gone: 'x' } };
  const form = { ...readProvider(values), base_url: '', mapping: 'a = c\n\n new = d ' };
  expect(writePatch(values, form)).toEqual({
    base_url: null,
    model_mapping: { a: 'c', new: 'd', gone: null },
  });
});

test('a line of the exact mapping that is none is named by its number', () => {
  expect(badLine('a = b\n\nc')).toBe(3);
  expect(badLine('a = b\n= c')).toBe(2);
  expect(badLine('a = b')).toBeUndefined();
});

test.each([
  [{ a: 1 }, { a: 1 }],
  [{ a: { b: 1 } }, { a: { b: 1 } }],
  [{ a: { b: null } }, {}],
  [{ a: { b: null } }, { a: { c: 2 } }],
  [{ a: null }, { c: 2 }],
  [{ a: [1] }, { a: [1, 2], c: 3 }],
])('what the patch %j left in %j is known by it, until it is changed', (patch, values) => {
  const left = patchNow(values, patch);
  const isStill = (now: object) => JSON.stringify(mergePatch(now, left)) === JSON.stringify(now);
  expect(isStill(values)).toBe(true);
  expect(isStill({ ...values, other: 9 })).toBe(true);
  expect(isStill({ ...values, a: { b: 7 } })).toBe(false);
});
