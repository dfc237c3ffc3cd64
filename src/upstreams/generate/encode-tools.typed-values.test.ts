import { expect, test } from 'vitest';
import { typedValues } from './encode-tools.ts';

test('what a body declares in JSON Schema comes in its own types', () => {
  const parametersJsonSchema = { type: 'object' };
  const functionDeclarations = [
    { name: 'a', parametersJsonSchema },
    { name: 'b', parameters: {} },
  ];
  const tools = [{ functionDeclarations }, { googleSearch: {} }];
  expect(typedValues({ tools })).toEqual({ answer: false, functions: new Set(['a']) });
  const generationConfig = { responseJsonSchema: {} };
  expect(typedValues({ generationConfig })).toEqual({ answer: true, functions: new Set() });
});

test('of any other body nothing does', () => {
  for (const body of [{}, { tools: [null, { functionDeclarations: [7] }] }, { tools: 'x' }]) {
    expect(typedValues(body)).toEqual({ answer: false, functions: new Set() });
  }
});
