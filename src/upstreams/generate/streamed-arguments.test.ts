import { expect, test } from 'vitest';
import type { JsonValue } from '../../lib/json.ts';
import { StreamedArguments } from './streamed-arguments.ts';

function joined(...pieces: readonly JsonValue[]) {
  const streamed = new StreamedArguments({});
  for (const piece of pieces) streamed.add([piece]);
  return { json: JSON.stringify(streamed.value), isBroken: streamed.isBroken };
}

test('pieces are put where their paths say, and texts of one place are joined', () => {
  const { json, isBroken } = joined(
    { jsonPath: '$.city', stringValue: 'Os', willContinue: true },
    { jsonPath: '$.city', stringValue: 'lo' },
    { jsonPath: '$.lights[0].level', numberValue: 50 },
    { jsonPath: '$.lights[1].on', boolValue: false },
    { jsonPath: '$[\'a b\']["c.d"]', nullValue: 'NULL_VALUE' },
  );
  expect(json).toBe('{"city":"Oslo","lights":[{"level":50},{"on":false}],"a b":{"c.d":null}}');
  expect(isBroken).toBe(false);
});

test('a place that cannot be reached breaks the arguments and nothing else', () => {
  expect(
    joined({ jsonPath: '$.a', numberValue: 1 }, { jsonPath: '$.a.b', numberValue: 2 }),
  ).toEqual({ json: '{"a":1}', isBroken: true });
  for (const jsonPath of ['', '$', '$..a', '$.list[4294967295]', '$[*]', '$.a[']) {
    expect(joined({ jsonPath, stringValue: 'x' }).isBroken).toBe(true);
  }
});

test('names of the language’s own members are ordinary names', () => {
  const { json } = joined(
    { jsonPath: '$.__proto__.polluted', boolValue: true },
    { jsonPath: '$.constructor', stringValue: 'c' },
  );
  expect(json).toBe('{"__proto__":{"polluted":true},"constructor":"c"}');
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
});

test('what came is not changed, as frames share their values', () => {
  const known = { place: { city: 'Oslo' }, list: [[1]] };
  const struct = { on: true };
  const before = structuredClone({ known, struct });
  const streamed = new StreamedArguments(known);
  streamed.add([
    { jsonPath: '$.place.land', stringValue: 'Norway' },
    { jsonPath: '$.list[0][1]', numberValue: 2 },
    { jsonPath: '$.light', structValue: struct },
    { jsonPath: '$.light.level', numberValue: 3 },
  ]);
  expect(streamed.value).toEqual({
    place: { city: 'Oslo', land: 'Norway' },
    list: [[1, 2]],
    light: { on: true, level: 3 },
  });
  expect({ known, struct }).toEqual(before);
});
