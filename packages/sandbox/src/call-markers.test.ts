import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findCallMarkers } from './simulate.ts';

test('finds every marker in order', () => {
  const prompt = 'CALL-TOOL a {"x":1} and then CALL-TOOL b.c:d/e {"y":"}{"} end';
  expect(findCallMarkers(prompt, 'CALL-TOOL')).toEqual([
    { name: 'a', args: { x: 1 } },
    { name: 'b.c:d/e', args: { y: '}{' } },
  ]);
});

test('THEN-CALL-TOOL is a word of its own', () => {
  const prompt = 'CALL-TOOL a {} THEN-CALL-TOOL b {}';
  expect(findCallMarkers(prompt, 'CALL-TOOL').map(({ name }) => name)).toEqual(['a']);
  expect(findCallMarkers(prompt, 'THEN-CALL-TOOL').map(({ name }) => name)).toEqual(['b']);
});

test('what is no name with a JSON object is left alone', () => {
  for (const prompt of ['CALL-TOOL', 'CALL-TOOL a', 'CALL-TOOL a {x', 'CALL-TOOL a {"x":}']) {
    expect(findCallMarkers(prompt, 'CALL-TOOL')).toEqual([]);
  }
});

test('arguments survive as they are, also when a client quotes the prompt once more', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (args) => {
      const json = JSON.stringify(args);
      const prompt = `please CALL-TOOL read ${json} now`;
      const plain = findCallMarkers(prompt, 'CALL-TOOL');
      expect(JSON.stringify(plain[0]?.args)).toBe(json);
      const quoted = findCallMarkers(JSON.stringify(prompt), 'CALL-TOOL');
      expect(JSON.stringify(quoted[0]?.args)).toBe(json);
    }),
    { numRuns: 50 },
  );
});

test('numbers beyond a double keep their digits', () => {
  const [marker] = findCallMarkers('CALL-TOOL a {"n":12345678901234567890}', 'CALL-TOOL');
  expect(JSON.stringify(marker?.args)).toBe('{"n":12345678901234567890}');
});
