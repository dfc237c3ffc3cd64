import { expect, test } from 'vitest';
import type { JsonObject } from '../../lib/json.ts';
import { blocksOf, errorOf, frame, stop } from './decode.test-support.ts';

/** The frames of one call whose arguments come in these pieces, behind those that are known at once. */
function callOf(pieces: readonly JsonObject[], known: JsonObject = {}): readonly JsonObject[] {
  const parts: readonly JsonObject[] = [
    { id: 'c', name: 'w', args: known, willContinue: true },
    ...pieces.map((piece) => ({ partialArgs: [piece], willContinue: true })),
    {},
  ];
  return [...parts.map((functionCall) => frame([{ functionCall }])), stop()];
}

function argumentsOf(pieces: readonly JsonObject[], known?: JsonObject): string {
  const [call] = blocksOf(...callOf(pieces, known)) ?? [];
  return JSON.stringify(call?.kind === 'tool-call' ? call.input : undefined);
}

test('pieces are put where their paths say, and texts of one place are joined', () => {
  const pieces = [
    { jsonPath: '$.city', stringValue: 'Os', willContinue: true },
    { jsonPath: '$.city', stringValue: 'lo' },
    { jsonPath: '$.lights[0].level', numberValue: 50 },
    { jsonPath: '$.lights[1].on', boolValue: false },
    { jsonPath: '$[\'a b\']["c.d"]', nullValue: 'NULL_VALUE' },
  ];
  expect(argumentsOf(pieces)).toBe(
    '{"city":"Oslo","lights":[{"level":50},{"on":false}],"a b":{"c.d":null}}',
  );
});

test('a place that cannot be reached breaks the call', () => {
  const broken = { failure: { kind: 'unusable-answer' } };
  const pieces = [
    { jsonPath: '$.a', numberValue: 1 },
    { jsonPath: '$.a.b', numberValue: 2 },
  ];
  expect(errorOf(...callOf(pieces))).toMatchObject(broken);
  for (const jsonPath of ['', '$', '$..a', '$.list[4294967295]', '$[*]', '$.a[']) {
    expect(errorOf(...callOf([{ jsonPath, stringValue: 'x' }]))).toMatchObject(broken);
  }
});

test('names of the language’s own members are ordinary names', () => {
  const pieces = [
    { jsonPath: '$.__proto__.polluted', boolValue: true },
    { jsonPath: '$.constructor', stringValue: 'c' },
  ];
  expect(argumentsOf(pieces)).toBe('{"__proto__":{"polluted":true},"constructor":"c"}');
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
});

test('what came is not changed, as frames share their values', () => {
  const known = { place: { city: 'Oslo' }, list: [[1]] };
  const struct = { on: true };
  const before = structuredClone({ known, struct });
  const pieces = [
    { jsonPath: '$.place.land', stringValue: 'Norway' },
    { jsonPath: '$.list[0][1]', numberValue: 2 },
    { jsonPath: '$.light', structValue: struct },
    { jsonPath: '$.light.level', numberValue: 3 },
  ];
  expect(argumentsOf(pieces, known)).toBe(
    '{"place":{"city":"Oslo","land":"Norway"},"list":[[1,2]],"light":{"on":true,"level":3}}',
  );
  expect({ known, struct }).toEqual(before);
});
