import { expect, test } from 'vitest';
import { once } from './once.ts';

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
