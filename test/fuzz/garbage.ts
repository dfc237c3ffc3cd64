// Values no client should send where they end up: wrong types, odd numbers, odd text, hostile keys, schemas.

import { type JsonObject, type JsonValue, parseJson, parseSurveyed } from '../../src/lib/json.ts';
import type { Random } from './random.ts';

/** JSON text, because some of these values only exist as text: raw numbers and keys such as `__proto__`. */
const ODD_TEXTS = [
  ...['null', 'true', 'false', '0', '-0', '1', '-1', '0.5', '1e999', '-1e999', '1e-400', '1.0'],
  ...['12345678901234567890', '9007199254740993', '2147483648', '-2147483649', '1e21', '2e5'],
  ...[
    '""',
    '" "',
    '"NaN"',
    '"Infinity"',
    '"-1"',
    '"007"',
    '"null"',
    '"undefined"',
    '"[undefined]"',
  ],
  ...['"\\ud800"', '"\\udc00x"', '"\\u0000"', '"\\ufeff"', '"\\u202e"', '"e\\u0301\\ud83d\\ude00"'],
  ...['"data:image/png;base64,"', '"data:,x"', '"http://["', '"file:///etc/passwd"', '"////"'],
  ...['[]', '{}', '[[]]', '[{}]', '[null]', '[""]', '{"":""}', '{"a":null}', '[[[[]]]]'],
  ...['{"__proto__":{"polluted":true}}', '{"constructor":{"prototype":{"polluted":true}}}'],
  ...['{"__proto__":null}', '{"toString":1}', '{"hasOwnProperty":1}', '{"type":"__proto__"}'],
  ...['{"type":null}', '{"type":"constructor"}', '{"type":["text"]}', '{"role":"toString"}'],
  ...['{"rawJSON":"1"}', '{"length":-1}', '{"then":1}', '{"toJSON":1}'],
];

const ODD_NUMBERS = [
  ...[
    '0',
    '-0',
    '-1',
    '1',
    '2',
    '7',
    '9',
    '21',
    '41',
    '1000',
    '1001',
    '0.5',
    '1.5',
    '2.5',
    '1e-400',
  ],
  ...['1e999', '2147483647', '2147483648', '-2147483649', '9007199254740993', '1e21', '1024'],
  ...['12345678901234567890', '32769', '65537', '1048577', '24577', '100000', '127', '1023'],
];

const SCHEMA_WORDS: readonly string[] = [
  ...[
    '"type":"object"',
    '"type":"OBJECT"',
    '"type":"string"',
    '"type":"array"',
    '"type":"integer"',
  ],
  ...['"type":["string","null"]', '"type":["string","integer","object"]', '"type":"null"'],
  ...['"type":"any"', '"type":""', '"type":[]', '"type":null', '"type":{}', '"type":["x"]'],
  ...['"enum":[]', '"enum":[""]', '"enum":[1,2]', '"enum":["a",null]', '"enum":[{}]', '"const":1'],
  ...['"const":null', '"const":{"a":1}', '"format":"uuid"', '"format":"int32"', '"format":""'],
  ...['"required":["x"]', '"required":[]', '"required":[1]', '"required":true', '"nullable":true'],
  ...['"$ref":"#"', '"$ref":"#/$defs/A"', '"$ref":"#/definitions/%"', '"$ref":"http://x/y"'],
  ...['"$ref":"#/properties/p"', '"$defs":{"A":{"$ref":"#/$defs/A"}}', '"$defs":{"A":true}'],
  ...['"$defs":{"A":{"type":"object","properties":{"next":{"$ref":"#/$defs/A"}}}}', '"$ref":1'],
  ...['"minimum":1e999', '"maximum":"x"', '"minLength":-1', '"maxItems":1.5', '"minItems":"1"'],
  ...['"pattern":"("', '"pattern":"(a+)+$"', '"default":{"__proto__":1}', '"examples":[1]'],
  ...['"additionalProperties":false', '"additionalProperties":{"type":"string"}', '"title":1'],
  ...['"propertyOrdering":["x"]', '"description":null', '"description":1', '"not":{}', '"if":{}'],
  ...['"patternProperties":{"^a":{}}', '"prefixItems":[{"type":"string"}]', '"items":true'],
  ...['"items":[]', '"items":[{"type":"string"},{}]', '"properties":null', '"properties":[]'],
  ...['"properties":{"__proto__":{"type":"string"}}', '"properties":{"constructor":true}'],
  ...['"properties":{"":{}}', '"example":[]', '"uniqueItems":true', '"contains":{}', '"x-odd":1'],
];
const SCHEMA_HOLDERS = ['anyOf', 'oneOf', 'allOf', 'items', 'properties', 'not', '$defs'] as const;

const DEEPEST_SCHEMA = 3;
/** Just below what the server's own guard lets through. */
const DEEP_LEVELS = [5, 30, 62, 90, 99, 110, 150];
const LONG_LENGTHS = [100, 3000, 40_000];

export function garbage(random: Random): JsonValue {
  const kind = random.below(12);
  if (kind === 0) return deepValue(random);
  if (kind === 1) return longValue(random);
  if (kind === 2) return randomSchema(random);
  return parseJson(random.pick(ODD_TEXTS));
}

export function oddNumber(random: Random): JsonValue {
  return parseJson(random.pick(ODD_NUMBERS));
}

/** A JSON Schema such as nobody would write, but a generator might. */
export function randomSchema(random: Random, depth = 0): JsonObject {
  const members = Array.from({ length: 1 + random.below(4) }, () => random.pick(SCHEMA_WORDS));
  if (depth < DEEPEST_SCHEMA && random.chance(0.6)) {
    members.push(holderText(random.pick(SCHEMA_HOLDERS), random, depth));
  }
  const schema = parseJson(`{${members.join(',')}}`);
  return Object.fromEntries(Object.entries(schema ?? {}));
}

function holderText(
  holder: (typeof SCHEMA_HOLDERS)[number],
  random: Random,
  depth: number,
): string {
  const inner = (): string =>
    random.chance(0.1) ? 'true' : JSON.stringify(randomSchema(random, depth + 1));
  switch (holder) {
    case 'anyOf':
    case 'oneOf':
    case 'allOf':
      return `"${holder}":[${inner()},${inner()}]`;
    case 'items':
    case 'not':
      return `"${holder}":${inner()}`;
    case 'properties':
    case '$defs':
      return `"${holder}":{"p":${inner()},"A":${inner()}}`;
    default:
      return holder satisfies never;
  }
}

function deepValue(random: Random): JsonValue {
  const levels = random.pick(DEEP_LEVELS);
  const [open, close] = random.pick([
    ['[', ']'],
    ['{"a":', '}'],
    ['{"type":"object","properties":{"a":', '}}'],
    ['{"type":"array","items":', '}'],
    ['{"anyOf":[', ']}'],
  ]);
  // Deeper than any text is parsed here: what is sent may be.
  return parseSurveyed(`${open.repeat(levels)}{"type":"string"}${close.repeat(levels)}`, {
    mayHoldRiskyNumber: true,
    mayHoldEscapedKey: false,
  });
}

function longValue(random: Random): JsonValue {
  const length = random.pick(LONG_LENGTHS);
  return random.chance(0.5) ? 'x'.repeat(length) : Array.from({ length: length / 20 }, () => null);
}
