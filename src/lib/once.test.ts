import { expect, test } from 'vitest';
import { once, remember } from './once.ts';

test('the value is built on first use only, also when it is undefined', () => {
  let builds = 0;
  const value = once(() => {
    builds += 1;
    return undefined;
  });
  expect(builds).toBe(0);
  expect([value(), value()]).toEqual([undefined, undefined]);
  expect(builds).toBe(1);
});

test('a failed build is tried again', () => {
  let builds = 0;
  const value = once(() => {
    builds += 1;
    if (builds === 1) throw new Error('not yet');
    return builds;
  });
  expect(value).toThrow('not yet');
  expect(value()).toBe(2);
});

test('a text is worked out once, and again after as many others', () => {
  const derived: string[] = [];
  const lengthOf = remember(2, (text) => {
    derived.push(text);
    return text === '' ? undefined : text.length;
  });
  expect([lengthOf('a'), lengthOf(''), lengthOf('a'), lengthOf('')]).toEqual([
    1,
    undefined,
    1,
    undefined,
  ]);
  expect(derived).toEqual(['a', '']);
  lengthOf('bb');
  expect(lengthOf('a')).toBe(1);
  expect(derived).toEqual(['a', '', 'bb', 'a']);
});
