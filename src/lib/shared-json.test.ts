import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sharedList } from '../../test/support/shared-list.ts';
import { isJsonObject, JSON_LIMITS, JsonLimitScanner, parseJson } from './json.ts';
import { isShared, parseWithSharedTools, SharedMemo } from './shared-json.ts';

function read(text: string, pieceLength = Number.POSITIVE_INFINITY) {
  const bytes = Buffer.from(text);
  const survey = new JsonLimitScanner(JSON_LIMITS);
  for (let start = 0; start < bytes.length; start += pieceLength) {
    survey.read(bytes.subarray(start, start + pieceLength));
  }
  const { toolsPlace } = survey;
  return toolsPlace && parseWithSharedTools(bytes, toolsPlace, survey);
}

const toolsText = (name: string): string =>
  JSON.stringify([
    { name, parameters: { type: 'object' }, description: 'Größe "[{,}]" \\ '.repeat(80) },
  ]);

test('a list is shared from its second body on, and is the same frozen object from then on', () => {
  const tools = toolsText('shared');
  expect(read(`{"model":"a","tools":${tools}}`)).toBeUndefined();
  const second = read(`{"model":"b","tools": ${tools} ,"n":1}`);
  expect(second).toEqual({ model: 'b', tools: parseJson(tools), n: 1 });
  const third = read(`{"tools":${tools},"x":12345678901234567890}`);
  expect(third?.tools).toBe(second?.tools);
  expect(JSON.stringify(third)).toBe(`{"tools":${tools},"x":12345678901234567890}`);
  const list = third?.tools;
  expect(Array.isArray(list) && isShared(list) && Object.isFrozen(list)).toBe(true);
  expect(Array.isArray(list) && isJsonObject(list[0]) && Object.isFrozen(list[0].parameters)).toBe(
    true,
  );
});

test('lists of one length that differ are not confused', () => {
  for (const name of ['one', 'two', 'one', 'two', 'one', 'two']) {
    const body = read(`{"tools":${toolsText(name)}}`);
    if (body !== undefined) expect(body).toEqual({ tools: parseJson(toolsText(name)) });
  }
  expect(read(`{"tools":${toolsText('two')}}`)).toBeDefined();
});

test.each([
  ['several lists', (tools: string) => `{"tools":${tools},"tools":${tools}}`],
  ['a second member in escapes', (tools: string) => `{"tools":${tools},"\\u0074ools":[]}`],
  ['a list of an inner object', (tools: string) => `{"inner":{"tools":${tools}}}`],
  ['a text of the name', (tools: string) => `{"a":"tools","b":${tools}}`],
  ['a body that is no object', (tools: string) => `[{"tools":${tools}}]`],
  ['a fault behind the list', (tools: string) => `{"tools":${tools},}`],
  ['a fault before the list', (tools: string) => `{x,"tools":${tools}}`],
  ['bytes that are no text', (tools: string) => `{"tools":${tools}`],
])('%s: all of it is to be parsed', (_what, write) => {
  const tools = toolsText('elsewhere');
  for (let nth = 0; nth < 3; nth += 1) read(`{"tools":${tools}}`);
  expect(read(`{"tools":${tools}}`)).toBeDefined();
  expect(read(write(tools))).toBeUndefined();
});

test('a list that is no JSON is never shared', () => {
  const text = `{"tools":[${'"a" '.repeat(600)}]}`;
  for (let nth = 0; nth < 3; nth += 1) expect(read(text)).toBeUndefined();
});

test('what is found is what the parser makes of the text, however it is cut', () => {
  const body = fc.record(
    { model: fc.string(), tools: fc.array(fc.jsonValue()), n: fc.jsonValue() },
    { noNullPrototype: true },
  );
  fc.assert(
    fc.property(body, fc.integer({ min: 1, max: 400 }), (given, pieceLength) => {
      const tools = [...given.tools, ' '.repeat(1100)];
      const text = JSON.stringify({ ...given, tools });
      for (let nth = 0; nth < 3; nth += 1) {
        const found = read(text, pieceLength);
        if (found !== undefined)
          expect(JSON.stringify(found)).toBe(JSON.stringify(parseJson(text)));
      }
      // A key that comes in two pieces is not looked at.
      for (let nth = 0; nth < 2; nth += 1) read(text);
      expect(JSON.stringify(read(text))).toBe(JSON.stringify(parseJson(text)));
    }),
  );
});

test('results are remembered of shared lists alone, each variant by itself', () => {
  const memo = new SharedMemo<number>();
  let made = 0;
  const make = (): number => {
    made += 1;
    return made;
  };
  const plain: string[] = [];
  expect([memo.get(plain, 'a', make), memo.get(plain, 'a', make)]).toEqual([1, 2]);
  const list = sharedList(['a']);
  expect([memo.get(list, 'a', make), memo.get(list, 'a', make)]).toEqual([3, 3]);
  expect([memo.get(list, 'b', make), memo.find(list, 'a'), memo.find(list, 'c')]).toEqual([
    4,
    3,
    undefined,
  ]);
});
