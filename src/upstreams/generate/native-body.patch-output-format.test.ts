import { expect, test } from 'vitest';
import type { JsonObject } from '../../lib/json.ts';
import { capabilitiesOf } from './models.ts';
import { patch } from './native-body.ts';
import { gemini, targetOf } from './requests.test-support.ts';

const contents = [{ role: 'user', parts: [{ text: 'x' }] }];
const JSON_TYPE = 'application/json';
const schema: JsonObject = { type: 'OBJECT', properties: { a: { type: 'STRING' } } };
const map: JsonObject = { type: 'OBJECT', additionalProperties: { type: 'NUMBER' } };
const functions = [{ functionDeclarations: [{ name: 'w' }] }];

function patched(modelId: string, fields: JsonObject, takesJsonSchema = true) {
  const capabilities = { ...capabilitiesOf(gemini, modelId), takesJsonSchema };
  const target = targetOf(modelId, { capabilities });
  return {
    body: patch({ contents, ...fields }, target, gemini),
    entries: target.receipt.entries,
  };
}

test.each([
  ['functions', functions],
  ['search', [{ googleSearch: {} }]],
  ['code', [{ codeExecution: {} }]],
])(
  'a JSON format beside %s is told in words where the model takes no such pair',
  (_label, tools) => {
    const generationConfig = {
      temperature: 0.5,
      responseMimeType: JSON_TYPE,
      responseSchema: schema,
    };
    const system = { parts: [{ text: 'Be brief.' }] };
    const fields = { tools, generationConfig, systemInstruction: system };
    const { body, entries } = patched('gemini-2.5-flash', fields);
    expect(body).toEqual({
      contents,
      tools,
      generationConfig: { temperature: 0.5 },
      systemInstruction: {
        parts: [...system.parts, { text: expect.stringContaining(JSON.stringify(schema)) }],
      },
    });
    expect(entries).toMatchObject([
      { action: 'approximated', path: 'generationConfig.responseMimeType' },
    ]);
    expect(patched('gemini-3-flash', fields).body).toMatchObject({ generationConfig });
  },
);

test('a JSON format without a schema, a list of texts and a JSON Schema are told as well', () => {
  const wordsFor = (generationConfig: JsonObject) => {
    const { body } = patched('gemini-2.5-pro', { tools: functions, generationConfig });
    expect(body.generationConfig).toBeUndefined();
    return JSON.stringify(body.systemInstruction);
  };
  expect(wordsFor({ responseMimeType: JSON_TYPE })).toContain('one JSON value');
  const names = { type: 'STRING', enum: ['a', 'b'] };
  expect(wordsFor({ responseMimeType: 'text/x.enum', responseSchema: names })).toContain(
    'one value of this schema',
  );
  expect(wordsFor({ responseMimeType: JSON_TYPE, responseJsonSchema: { const: 5 } })).toContain(
    String.raw`{\"const\":5}`,
  );
});

test('plain text, and a format beside tools that are not sent, stay', () => {
  const text = { tools: functions, generationConfig: { responseMimeType: 'text/plain' } };
  expect(patched('gemini-2.5-flash', text)).toEqual({ body: { contents, ...text }, entries: [] });
  const generationConfig = { responseMimeType: JSON_TYPE };
  const { body } = patched('gemini-2.5-flash', { tools: [{}], generationConfig });
  expect(body).toEqual({ contents, generationConfig });
});

test.each([map, { type: 'OBJECT' }])(
  'a format of free member names goes as JSON Schema, or is told in words: %j',
  (responseSchema) => {
    const generationConfig = { responseMimeType: JSON_TYPE, responseSchema };
    const typed = patched('gemini-3-flash', { generationConfig });
    expect(typed.body.generationConfig).toMatchObject({
      responseMimeType: JSON_TYPE,
      responseJsonSchema: { type: 'object' },
    });
    expect(typed.entries).toEqual([]);
    const { body, entries } = patched('gemini-3-flash', { generationConfig }, false);
    expect(body).toEqual({
      contents,
      generationConfig: { responseMimeType: JSON_TYPE },
      systemInstruction: {
        parts: [{ text: expect.stringContaining(JSON.stringify(responseSchema)) }],
      },
    });
    expect(entries).toMatchObject([
      { action: 'approximated', path: 'generationConfig.responseSchema' },
    ]);
  },
);

test('a format that allows any JSON is no more than JSON', () => {
  const generationConfig = { responseMimeType: JSON_TYPE, responseSchema: {} };
  const { body } = patched('gemini-3-flash', { generationConfig }, false);
  expect(body).toEqual({ contents, generationConfig: { responseMimeType: JSON_TYPE } });
});

test('a model that takes no instructions is told its format before the first question', () => {
  const fields = { generationConfig: { responseMimeType: JSON_TYPE, responseSchema: map } };
  const { body } = patched('gemma-3-27b-it', fields, false);
  const told = { text: expect.stringContaining(JSON.stringify(map)) };
  expect(body).toEqual({ contents: [{ role: 'user', parts: [told, { text: 'x' }] }] });
  const answered = [{ role: 'model', parts: [{ text: 'hi' }] }, ...contents];
  const history = { ...fields, contents: answered };
  expect(patched('gemma-3-27b-it', history, false).body.contents).toEqual([
    { role: 'user', parts: [told] },
    ...answered,
  ]);
});

test.each([
  'gemma-3-27b-it',
  'gemini-2.5-flash-image',
  'gemini-2.0-flash-preview-image-generation',
])('%s, which refuses JSON mode, is told a format in words', (model) => {
  const generationConfig = { temperature: 0, responseMimeType: JSON_TYPE, responseSchema: schema };
  const { body, entries } = patched(model, { generationConfig });
  expect(body.generationConfig).toEqual({ temperature: 0 });
  expect(JSON.stringify(body)).toContain('answer with one JSON value');
  expect(entries).toMatchObject([
    { action: 'approximated', path: 'generationConfig.responseMimeType' },
  ]);
  const plain = { generationConfig: { responseMimeType: 'text/plain' } };
  expect(patched(model, plain).body).toEqual({ contents, ...plain });
});
