import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { copyBeginning } from './long-text.ts';

test('the beginning of a text is copied whatever stands in it', () => {
  for (const text of ['', 'abc', 'Größe 😀', '😀'.slice(0, 1), 'a\u0000b']) {
    expect(copyBeginning(text, 100)).toBe(text);
  }
  expect(copyBeginning('abc😀', 4)).toBe('abc😀'.slice(0, 4));
});

test('the copy does not keep the text it was taken of', () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const heapBytes = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = heapBytes();
  const kept = copyBeginning(Buffer.alloc(40_000_000, 'a').toString('latin1'), 100);
  const after = heapBytes();
  expect(kept).toHaveLength(100);
  expect(after - before).toBeLessThan(20_000_000);
});
