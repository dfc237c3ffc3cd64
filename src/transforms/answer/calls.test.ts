import fc from 'fast-check';
import { expect, test } from 'vitest';
import { requestOf } from '../../../test/support/canonical.ts';
import { createReceipt, type ReceiptEntry } from '../../canonical/receipt.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../lib/json.ts';
import { createAnswerRules } from './index.ts';

interface Repaired {
  readonly json: string;
  readonly entries: readonly ReceiptEntry[];
}

function repairJson(parameters: JsonObject, json: string, isTyped = false): Repaired {
  const receipt = createReceipt();
  const functions = new Set(isTyped ? ['t'] : []);
  const { transform } = createAnswerRules({
    request: requestOf({ tools: [{ kind: 'function', name: 't', parameters }] }),
    ...{ receipt, typed: () => ({ answer: false, functions }), createId: (prefix) => prefix },
  });
  const shown = transform([
    { kind: 'block-start', index: 0, choice: 0, block: { kind: 'tool-call', id: 'c', name: 't' } },
    { kind: 'block-delta', index: 0, delta: { kind: 'arguments', json } },
    { kind: 'block-end', index: 0 },
  ]);
  const pieces = shown.map((event) =>
    event.kind === 'block-delta' && event.delta.kind === 'arguments' ? event.delta.json : '',
  );
  return { json: pieces.join(''), entries: receipt.entries };
}

/** Repairs one argument `v` of the given schema. */
function repairValue(schema: JsonValue, value: JsonValue, rest: JsonObject = {}): JsonValue {
  const parameters = { type: 'object', properties: { v: schema }, required: ['v'], ...rest };
  const repaired = parseJson(repairJson(parameters, JSON.stringify({ v: value })).json);
  return isJsonObject(repaired) ? (repaired.v ?? null) : null;
}

test.each<[JsonValue, JsonValue, JsonValue]>([
  [{ type: 'integer' }, '5', 5],
  [{ type: 'number' }, '-1.5', -1.5],
  [{ type: 'number' }, '1e-4', 0.0001],
  [{ type: 'number' }, '-2.5E3', -2500],
  [{ type: 'NUMBER' }, '5', 5],
  [{ type: 'boolean' }, 'true', true],
  [{ type: ['integer', 'null'] }, '5', 5],
  [{ type: 'integer', nullable: true }, 'null', null],
  [{ type: ['integer', 'boolean'] }, 'true', true],
])('%j: %j becomes %j (P041)', (schema, given, expected) => {
  expect(repairValue(schema, given)).toEqual(expected);
});

test.each<[JsonValue, JsonValue, JsonValue]>([
  [{ type: 'string' }, 5, '5'],
  [{ type: 'string' }, true, 'true'],
  [{ type: ['string', 'null'] }, 1.5, '1.5'],
  [{ enum: ['1', '2'] }, 2, '2'],
  [{ type: 'array', items: { type: 'string' } }, 'a', ['a']],
  [{ type: 'array', items: { type: 'integer' } }, '7', [7]],
  [{ type: 'array', items: { type: 'object' } }, { a: 1 }, [{ a: 1 }]],
  [{ type: 'string' }, ['a'], 'a'],
  [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 5, '5'],
  [{ type: 'string' }, { a: [1] }, '{\n  "a": [\n    1\n  ]\n}'],
  [{ type: 'string' }, [{ a: 1 }], '[\n  {\n    "a": 1\n  }\n]'],
  [{ anyOf: [{ type: 'string' }, { type: 'integer' }] }, {}, '{}'],
])('%j: %j has one other form, %j', (schema, given, expected) => {
  expect(repairValue(schema, given)).toEqual(expected);
});

test.each<[JsonValue, JsonValue]>([
  [{ type: 'number' }, '01.0'],
  [{ type: 'integer' }, '007'],
  [{ type: 'number' }, '-0'],
  [{ type: 'number' }, '1e3'],
  [{ type: 'number' }, ' 5'],
  [{ type: 'number' }, ''],
  [{ type: 'integer' }, '1.5'],
  [{ type: 'number' }, 'Infinity'],
  [{ type: ['string', 'integer'] }, '5'],
  [{}, 'a word'],
  [{}, '1.10'],
  [{}, '1e-4'],
  [{}, '007'],
  [{}, '{broken'],
  [{ minLength: 1 }, '5'],
  [{ type: ['string', 'object'] }, '{"a":1}'],
  [{ type: 'array', items: { type: 'string' } }, '["a"'],
  [{ type: 'array', items: { type: 'integer' } }, 'a'],
  [{ type: 'string' }, ['a', 'b']],
])('%j leaves %j as it is (V058)', (schema, given) => {
  expect(repairValue(schema, given)).toEqual(given);
});

test('a version and a code keep their zeros (V058)', () => {
  const parameters = {
    type: 'object',
    properties: { version: { type: 'number' }, code: { type: 'integer' } },
  };
  const json = '{"version":"01.0","code":"007"}';
  expect(repairJson(parameters, json)).toEqual({ json, entries: [] });
});

test.each<[JsonValue, JsonValue]>([
  ['yes', true],
  ['No', false],
  ['on', true],
  ['0', false],
  ['-v', true],
  ['-n', '-n'],
  ['maybe', 'maybe'],
])('a boolean given as %j becomes %j (P042)', (given, expected) => {
  expect(repairValue({ type: 'boolean' }, given)).toBe(expected);
});

test('a flag given as its own name is true (P042)', () => {
  const parameters = { type: 'object', properties: { '-n': { type: 'boolean' } } };
  expect(repairJson(parameters, '{"-n":"-n"}').json).toBe('{"-n":true}');
});

test('loose words are no booleans where something else is allowed', () => {
  expect(repairValue({ type: ['boolean', 'integer'] }, 'yes')).toBe('yes');
  expect(repairValue({ type: ['boolean', 'integer'] }, '1')).toBe(1);
});

test.each<[JsonValue, JsonValue, JsonValue]>([
  [{ enum: [1, 2] }, '2', 2],
  [{ enum: [true, 'x'] }, 'true', true],
  [{ enum: [1, null] }, 'null', null],
  [{ const: 1.5 }, '1.5', 1.5],
  [{ enum: [1, '1'] }, '1', '1'],
  [{ enum: ['a'] }, '"a"', 'a'],
  [{ enum: [1, 2] }, '3', '3'],
])('%j: the text %j is the listed value %j (V128)', (schema, given, expected) => {
  expect(repairValue(schema, given)).toBe(expected);
});

test('JSON text becomes the object or array the schema wants, repaired inside', () => {
  const schema = {
    type: 'array',
    items: { type: 'object', properties: { n: { type: 'integer' } } },
  };
  expect(repairValue(schema, '[{"n":"5"}]')).toEqual([{ n: 5 }]);
  expect(repairValue({ type: 'object' }, '{"a":1}')).toEqual({ a: 1 });
  expect(repairValue({ type: 'object' }, '[1]')).toBe('[1]');
  expect(repairValue({ type: 'object' }, '{broken')).toBe('{broken');
});

test('of several forms a value keeps its own kind', () => {
  const text = { type: 'string' };
  const counted = { type: 'object', properties: { n: { type: 'integer' } } };
  expect(repairValue({ anyOf: [text, counted] }, { n: '5' })).toEqual({ n: 5 });
  expect(repairValue({ anyOf: [text, { type: 'array', items: counted }] }, [{ n: '5' }])).toEqual([
    { n: 5 },
  ]);
});

test('an object for a text keeps every digit, and is no value of a list of texts', () => {
  const parameters = { type: 'object', properties: { v: { type: 'string' } } };
  expect(repairJson(parameters, '{"v":{"n":12345678901234567890}}').json).toBe(
    JSON.stringify({ v: '{\n  "n": 12345678901234567890\n}' }),
  );
  expect(repairValue({ enum: ['a'] }, { a: 1 })).toEqual({ a: 1 });
  expect(repairValue({ type: 'string' }, ['a', 'b'])).toEqual(['a', 'b']);
});

test('null is left out where the property may be absent but not null', () => {
  const parameters = {
    type: 'object',
    properties: {
      optional: { type: 'string' },
      needed: { type: 'string' },
      nullable: { type: ['string', 'null'] },
      free: {},
    },
    required: ['needed'],
  };
  const json = '{"optional":null,"needed":null,"nullable":null,"free":null,"other":null}';
  expect(repairJson(parameters, json).json).toBe(
    '{"needed":null,"nullable":null,"free":null,"other":null}',
  );
});

test.each([
  ['filePath', 'file_path', 'renamed'],
  ['path', 'file_path', 'renamed'],
  ['FILE-PATH', 'file_path', 'renamed'],
  ['query', 'pattern', 'renamed'],
  ['cmd', 'command', 'renamed'],
  ['filename', 'path', 'renamed'],
  ['file_path', 'absolute_path', 'renamed'],
  ['question', 'pattern', 'kept'],
  ['id', 'identity', 'kept'],
  ['id', 'user_id', 'renamed'],
])('the guessed name %s for %s is %s (P043)', (given, required, outcome) => {
  const parameters = {
    type: 'object',
    properties: { [required]: { type: 'string' }, limit: { type: 'integer' } },
    required: [required],
  };
  const { json } = repairJson(parameters, JSON.stringify({ [given]: 'x', limit: 1 }));
  const name = outcome === 'renamed' ? required : given;
  expect(json).toBe(JSON.stringify({ [name]: 'x', limit: 1 }));
});

test('a guessed name stays when its value does not fit, or when it may be meant', () => {
  const path = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
  const cases: readonly (readonly [JsonObject, string])[] = [
    [path, '{"paths":["a","b"]}'],
    [path, '{"file_path":"a","base_path":"b"}'],
    [path, '{"path":"a","file_path":"b"}'],
    [{ ...path, additionalProperties: { type: 'string' } }, '{"file_path":"a"}'],
    [{ type: 'object', required: ['path', 'file_path'] }, '{"path":"a"}'],
  ];
  for (const [parameters, json] of cases) {
    expect(repairJson(parameters, json).json).toBe(json);
  }
});

test('a guess among other unknown names, and the plural of an argument, are put right', () => {
  const search = {
    type: 'object',
    properties: { pattern: { type: 'string' }, path: { type: 'string' } },
    required: ['pattern'],
    additionalProperties: false,
  };
  const json = '{"query":"x","paths":["src"]}';
  expect(repairJson(search, json).json).toBe('{"pattern":"x","path":"src"}');
  expect(repairJson(search, '{"pattern":"x","paths":["a","b"]}').json).toContain('paths');
  expect(repairJson(search, '{"pattern":"x","path":"a","paths":["b"]}').json).toContain('paths');
  const described = '{"query":"x","description":"why"}';
  expect(repairJson(search, described).json).toBe('{"pattern":"x"}');
});

test('names that differ from declared ones in spelling alone are put right, however many they are (P043)', () => {
  const text = { type: 'string' };
  const edit = {
    type: 'object',
    properties: {
      filePath: text,
      oldString: text,
      newString: text,
      replaceAll: { type: 'boolean' },
    },
    required: ['filePath', 'oldString', 'newString'],
  };
  const json = '{"file_path":"a","old_string":"b","new_string":"c","replace_all":"true"}';
  expect(repairJson(edit, json).json).toBe(
    '{"filePath":"a","oldString":"b","newString":"c","replaceAll":true}',
  );
  const russian = { type: 'object', properties: { имяФайла: text, путь: text } };
  expect(repairJson(russian, '{"имя_файла":"a"}').json).toBe('{"имяФайла":"a"}');
  const kept: [JsonObject, string][] = [
    [edit, '{"file_path":"a","FilePath":"b"}'],
    [edit, '{"filePath":"a","file_path":"b"}'],
    [{ ...edit, properties: { ...edit.properties, file_path: text } }, '{"FilePath":"a"}'],
    [russian, '{"ключ":"a"}'],
    [russian, '{"s":"a"}'],
    [{ type: 'object', properties: { $: text } }, '{"*":"a"}'],
  ];
  for (const [schema, given] of kept) expect(repairJson(schema, given).json).toBe(given);
});

test('a tool that takes no arguments gets none; one that says nothing keeps them (P057)', () => {
  const closed = { type: 'object', properties: {}, additionalProperties: false };
  expect(repairJson(closed, '{"reason":"because"}')).toMatchObject({
    json: '{}',
    entries: [{ action: 'dropped', path: 'tool_calls.t' }],
  });
  for (const open of [
    { type: 'object', properties: {} },
    { ...closed, $ref: 'https://example.org/arguments.json' },
    { type: 'object', properties: { a: {} }, additionalProperties: false },
  ]) {
    expect(repairJson(open, '{"reason":"because"}').json).toBe('{"reason":"because"}');
  }
});

test('arguments a closed tool does not take go, where nothing else can be meant (P057)', () => {
  const closed = {
    type: 'object',
    properties: { plan: { type: 'string' }, notes: { type: 'array', items: { type: 'string' } } },
    required: ['plan'],
    additionalProperties: false,
  };
  expect(repairJson(closed, '{"plan":"p","reason":"because"}')).toMatchObject({
    json: '{"plan":"p"}',
    entries: [{ action: 'dropped', path: 'tool_calls.t[*]' }],
  });
  const nested = { type: 'object', properties: { steps: { type: 'array', items: closed } } };
  expect(repairJson(nested, '{"steps":[{"plan":"p","x":1}]}').json).toBe(
    '{"steps":[{"plan":"p"}]}',
  );
  const kept: [JsonObject, string][] = [
    [closed, '{"reason":"because"}'],
    [closed, '{"notes":["a"],"reason":"because"}'],
    [closed, '{"plan":"p","plan_text":"q"}'],
    [{ ...closed, additionalProperties: true }, '{"plan":"p","reason":"because"}'],
    [{ ...closed, additionalProperties: { type: 'string' } }, '{"plan":"p","reason":"because"}'],
    [{ ...closed, $ref: 'https://example.org/more.json' }, '{"plan":"p","reason":"because"}'],
    [{ ...closed, anyOf: [{ required: ['reason'] }] }, '{"plan":"p","reason":"because"}'],
  ];
  for (const [schema, json] of kept) expect(repairJson(schema, json).json).toBe(json);
});

const ANY = { description: 'The value.' };

test.each<[JsonValue, JsonValue, JsonValue]>([
  [ANY, '{"a":[1]}', { a: [1] }],
  [ANY, '["5"]', ['5']],
  [ANY, '5', 5],
  [ANY, '-1.5', -1.5],
  [ANY, 'true', true],
  [ANY, 'null', null],
  [ANY, '"5"', '5'],
  [ANY, '"two words"', 'two words'],
  [ANY, 'two words', 'two words'],
  [{ anyOf: [{}, { type: 'null' }] }, '5', 5],
  [{ type: 'array', items: {} }, ['5', 'a'], [5, 'a']],
  [{ allOf: [{ title: 'V' }] }, '5', 5],
])('any value of %j that came as the text %j is %j', (schema, given, expected) => {
  expect(repairValue(schema, given)).toEqual(expected);
});

test('inside a JSON text, and where nothing was asked for, a text is a text', () => {
  const ops = { type: 'object', properties: { value: {} } };
  const map = { type: 'object', additionalProperties: ops };
  expect(repairValue(map, '{"a":{"value":"5"}}')).toEqual({ a: { value: '5' } });
  expect(repairJson(map, '{"entries":"{\\"a\\":{\\"value\\":\\"5\\"}}"}').json).toBe(
    '{"a":{"value":"5"}}',
  );
  expect(repairValue({ type: 'object', additionalProperties: {} }, { a: '5' })).toEqual({ a: '5' });
  expect(repairValue({ type: 'array', items: ops }, [{ value: '5' }])).toEqual([{ value: 5 }]);
});

test.each<[JsonObject]>([
  [{ type: 'object', additionalProperties: { type: 'integer' } }],
  [{ type: 'object', minProperties: 1 }],
  [{ $ref: 'https://example.org/arguments.json' }],
])('arguments of free names come out of the one argument they were asked for in: %j', (schema) => {
  expect(repairJson(schema, '{"entries":"{\\"a\\":1}"}').json).toBe('{"a":1}');
  expect(repairJson(schema, '{"entries":{"a":1}}').json).toBe('{"a":1}');
  for (const json of ['{"a":1}', '{"entries":"a"}', '{"entries":"{}","a":1}', '{}']) {
    expect(repairJson(schema, json).json).toBe(json);
  }
});

test('what came out of one argument is repaired, and an argument of that name stays', () => {
  const numbers = { type: 'object', additionalProperties: { type: 'integer' } };
  expect(repairJson(numbers, '{"entries":"{\\"a\\":\\"1\\"}"}').json).toBe('{"a":1}');
  const own = { type: 'object', properties: { entries: { type: 'string' } } };
  const json = '{"entries":"{\\"a\\":1}"}';
  expect(repairJson(own, json).json).toBe(json);
  expect(repairJson({ anyOf: [own, numbers] }, json).json).toBe(json);
});

test('references, allOf and the branches of a choice are followed', () => {
  const rest = {
    $defs: {
      Node: {
        type: 'object',
        properties: { size: { type: 'integer' }, next: { $ref: '#/$defs/Node' } },
      },
    },
  };
  const node = { $ref: '#/$defs/Node' };
  expect(repairValue(node, { size: '1', next: { size: '2' } }, rest)).toEqual({
    size: 1,
    next: { size: 2 },
  });
  expect(repairValue({ anyOf: [node, { type: 'null' }] }, '{"size":"1"}', rest)).toEqual({
    size: 1,
  });
  expect(repairValue({ allOf: [{ type: 'integer' }, { minimum: 0 }] }, '5')).toBe(5);
  expect(repairValue({ anyOf: [{ type: 'integer' }, { type: 'boolean' }] }, '5')).toBe(5);
  expect(repairValue({ anyOf: [{ type: 'integer' }, { type: 'string' }] }, '5')).toBe('5');
});

test('the branch a constant names is the one that is repaired', () => {
  const branch = (kind: string, type: string): JsonObject => ({
    type: 'object',
    properties: { kind: { const: kind }, n: { type } },
    required: ['kind', 'n'],
  });
  const schema = { oneOf: [branch('a', 'integer'), branch('b', 'boolean')] };
  expect(repairValue(schema, { kind: 'a', n: '1' })).toEqual({ kind: 'a', n: 1 });
  expect(repairValue(schema, { kind: 'b', n: '1' })).toEqual({ kind: 'b', n: true });
  expect(repairValue(schema, { n: '1' })).toEqual({ n: '1' });
});

test('tuples and items are repaired in their places', () => {
  const schema = {
    prefixItems: [{ type: 'integer' }, { type: 'string' }],
    items: { type: 'boolean' },
  };
  expect(repairValue({ type: 'array', ...schema }, ['1', '2', 'true'])).toEqual([1, '2', true]);
});

test('repairs are noted by the schema’s own paths, once a path', () => {
  const item = { type: 'object', properties: { 'odd name': { type: 'integer' } } };
  const parameters = { type: 'object', properties: { rows: { type: 'array', items: item } } };
  const { entries } = repairJson(parameters, '{"rows":[{"odd name":"1"},{"odd name":"2"}]}');
  expect(entries.map(({ path }) => path)).toEqual(['tool_calls.t.rows[]["odd name"]']);
});

test('big numbers keep every digit, as numbers and as texts (T17)', () => {
  const parameters = {
    type: 'object',
    properties: { a: { type: 'integer' }, b: { type: 'integer' }, c: { type: 'number' } },
  };
  const json = '{"a":"12345678901234567890","b":12345678901234567890,"c":1e999}';
  expect(repairJson(parameters, json).json).toBe(
    json.replaceAll('"12345678901234567890"', '12345678901234567890'),
  );
});

test('members called __proto__ and constructor survive and are repaired like any other (T16)', () => {
  const parameters = parseJson(
    '{"type":"object","properties":{"__proto__":{"type":"integer"},"n":{"type":"integer"}}}',
  );
  if (!isJsonObject(parameters)) throw new Error('not an object');
  const { json } = repairJson(parameters, '{"__proto__":"1","constructor":"x","n":"2"}');
  expect(json).toBe('{"__proto__":1,"constructor":"x","n":2}');
  expect(Object.hasOwn(Object.prototype, 'n')).toBe(false);
});

test('schemas that unfold without end and values of any depth cost little and change nothing', () => {
  const either = { anyOf: [{ $ref: '#/$defs/E' }, { $ref: '#/$defs/E' }] };
  const rest = { $defs: { E: either, L: { allOf: [{ $ref: '#/$defs/L' }] } } };
  expect(repairValue({ $ref: '#/$defs/E', type: 'integer' }, '5', rest)).toBe('5');
  expect(repairValue({ $ref: '#/$defs/L', type: 'integer' }, '5', rest)).toBe(5);
  const json = `{"v":${'['.repeat(5000)}${']'.repeat(5000)}}`;
  const list = { type: 'object', properties: { v: { $ref: '#/$defs/A' } } };
  const nested = { ...list, $defs: { A: { type: 'array', items: { $ref: '#/$defs/A' } } } };
  expect(repairJson(nested, json).json).toBe(json);
});

test('arguments that are no JSON object pass as they are', () => {
  const parameters = { type: 'object', properties: { v: { type: 'integer' } } };
  for (const json of ['{"v":"5"', '["5"]', '"5"'])
    expect(repairJson(parameters, json).json).toBe(json);
});

interface Sample {
  readonly schema: JsonObject;
  readonly value: JsonValue;
}

const TEXTS = ['', '1', '007', 'true', 'yes', '-n', 'null', '{"a":"1"}', '[1]', 'word'];

/** A schema and a value that is valid by it. */
const sample: fc.Arbitrary<Sample> = fc.letrec<{ node: Sample }>((tie) => {
  const of = (schema: JsonObject, values: fc.Arbitrary<JsonValue>): fc.Arbitrary<Sample> =>
    values.map((value) => ({ schema, value }));
  const leaf = fc.oneof(
    of({ type: 'string' }, fc.constantFrom(...TEXTS)),
    of({ type: 'integer' }, fc.integer()),
    of({ type: 'number' }, fc.double({ noNaN: true, noDefaultInfinity: true })),
    of({ type: 'boolean' }, fc.boolean()),
    of({ type: ['integer', 'null'] }, fc.constant(null)),
    of({}, fc.constantFrom('', '007', 'yes', '-n', 'word', null, 1)),
    of({ enum: [1, true, null, ...TEXTS] }, fc.constantFrom(...TEXTS, 1, true, null)),
  );
  const list = fc.array(tie('node'), { maxLength: 3 }).map((items) => ({
    schema: { type: 'array', prefixItems: items.map((item) => item.schema) },
    value: items.map((item) => item.value),
  }));
  const choice = fc.tuple(tie('node'), tie('node')).map(([left, right]) => ({
    schema: { anyOf: [left.schema, right.schema] },
    value: right.value,
  }));
  return { node: fc.oneof({ depthSize: 'small' }, leaf, list, choice, objectOf(tie('node'))) };
}).node;

function objectOf(node: fc.Arbitrary<Sample>): fc.Arbitrary<Sample> {
  const names = fc.constantFrom('path', 'file_path', 'n', '-n', '__proto__');
  const members = fc.uniqueArray(
    fc.tuple(names, node, fc.constantFrom('required', 'given', 'absent')),
    {
      selector: ([name]) => name,
    },
  );
  return fc.tuple(members, fc.constantFrom(false, {}, undefined)).map(([list, others]) => ({
    schema: {
      type: 'object',
      properties: Object.fromEntries(list.map(([name, { schema }]) => [name, schema])),
      required: list.filter(([, , need]) => need === 'required').map(([name]) => name),
      ...(others === undefined ? {} : { additionalProperties: others }),
    },
    value: Object.fromEntries(
      list.filter(([, , need]) => need !== 'absent').map(([name, { value }]) => [name, value]),
    ),
  }));
}

test('valid arguments are never changed, not by one byte', () => {
  fc.assert(
    fc.property(objectOf(sample), fc.constantFrom(0, 1), ({ schema, value }, indent) => {
      const json = JSON.stringify(value, undefined, indent);
      expect(repairJson(schema, json)).toEqual({ json, entries: [] });
    }),
  );
});

test('what was repaired once is not repaired again', () => {
  fc.assert(
    fc.property(objectOf(sample), objectOf(sample), ({ schema }, { value }) => {
      const once = repairJson(schema, JSON.stringify(value)).json;
      expect(repairJson(schema, once).json).toBe(once);
    }),
  );
});

test('integers and booleans that became texts come back as they were', () => {
  const scalar = fc.oneof(
    fc.bigInt().map((value) => ({ type: 'integer', text: String(value) })),
    fc.boolean().map((value) => ({ type: 'boolean', text: String(value) })),
  );
  fc.assert(
    fc.property(scalar, ({ type, text }) => {
      const parameters = { type: 'object', properties: { v: { type } } };
      expect(repairJson(parameters, JSON.stringify({ v: text })).json).toBe(`{"v":${text}}`);
    }),
  );
});

test.each<[JsonObject, string]>([
  [{ type: 'object', properties: { v: {} } }, '{"v":"5"}'],
  [{ type: 'object', properties: { v: {} } }, '{"v":"{\\"a\\":1}"}'],
  [{ type: 'object', properties: { v: { anyOf: [{}, { type: 'null' }] } } }, '{"v":"null"}'],
  [{ type: 'object', additionalProperties: {} }, '{"entries":"{\\"a\\":1}"}'],
  [{ type: 'object', additionalProperties: { type: 'object' } }, '{"entries":{"a":1}}'],
])('a text of arguments asked for in their own types is a text: %j %s', (schema, json) => {
  expect(repairJson(schema, json, true)).toEqual({ json, entries: [] });
  expect(repairJson(schema, json).json).not.toBe(json);
});

test('arguments asked for in their own types are still fitted to their schema', () => {
  const schema = { type: 'object', properties: { n: { type: 'integer' } } };
  expect(repairJson(schema, '{"n":"5"}', true).json).toBe('{"n":5}');
});
