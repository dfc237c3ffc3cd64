// The strictness table: what the sandbox refuses, and what it takes.

import { expect, test } from 'vitest';
import type { JsonObject, JsonValue } from './json.ts';
import { ask, declare, model, refusal, text, user } from './sandbox.test-support.ts';

const config = (generationConfig: JsonObject): JsonObject => ask('x', { generationConfig });
const tool = (...functionDeclarations: JsonValue[]): JsonObject =>
  ask('x', { tools: [{ functionDeclarations }] });
const parameters = (schema: JsonValue): JsonObject => tool({ name: 'f', parameters: schema });
const object = (properties: JsonValue, more: JsonObject = {}): JsonObject =>
  parameters({ type: 'OBJECT', properties, ...more });
const turns = (...contents: JsonObject[]): JsonObject => ({ contents, ...declare('f', 'g') });
const call = (name: string, id?: string): JsonObject => ({
  functionCall: { name, args: {}, ...(id !== undefined && { id }) },
  thoughtSignature: 'skip_thought_signature_validator',
});
const answer = (name: string, id?: string): JsonObject => ({
  functionResponse: { name, response: { output: 'ok' }, ...(id !== undefined && { id }) },
});

const REFUSED: readonly (readonly [name: string, body: JsonValue, says: RegExp])[] = [
  ['an unknown field at the top', ask('x', { stream: true }), /unknown field "stream"/],
  ['P019 a thinking field at the root', ask('x', { thinking: {} }), /unknown field "thinking"/],
  [
    'P063 a foreign field deep inside',
    { contents: [user({ text: 'x', cache_control: {} })] },
    /cache/,
  ],
  ['a number as text', { contents: [user({ text: 1 })] }, /must be a string, not 1/],
  [
    'a schema type that cannot even be shown as text',
    tool({ name: 'f', parametersJsonSchema: { type: { toString: 1 } } }),
    /parameters_json_schema.type: must be "object"/,
  ],
  ['a fraction as integer', config({ topK: 1.5 }), /top_k: must be an int32/],
  ['both spellings of one field', config({ topK: 1, top_k: 1 }), /given twice/],
  [
    'the real word for the search tool',
    ask('x', { tools: [{ googleSearch: {} }] }),
    /unknown field/,
  ],
  [
    'data that is no base64',
    { contents: [user({ inlineData: { mimeType: 'image/png', data: '?' } })] },
    /base64/,
  ],
  ['a plain string as instruction', ask('x', { systemInstruction: 'S' }), /must be a Content/],
  ['no contents', { contents: [] }, /contents: must hold/],
  ['P069 a missing role', { contents: [{ parts: [text('x')] }] }, /role: is missing/],
  ['P061 a system role', { contents: [{ role: 'system', parts: [text('x')] }] }, /valid roles/],
  ['no parts', { contents: [user()] }, /parts: must not be empty/],
  ['P062 an empty text', { contents: [user(text(''))] }, /text: must not be empty/],
  [
    'P011 an empty thought',
    turns(user(text('a')), model({ text: '', thought: true }), user(text('b'))),
    /text: must not/,
  ],
  ['a part without data', { contents: [user({ thought: false })] }, /needs one data field/],
  [
    'two data in one part',
    { contents: [user({ text: 'x', inlineData: { mimeType: 'image/png', data: 'AAAA' } })] },
    /text and inlineData/,
  ],
  [
    'media of no known type',
    { contents: [user({ inlineData: { mimeType: 'bin', data: 'AAAA' } })] },
    /media type/,
  ],
  ['a call in a user turn', { contents: [user(call('f'))] }, /does not belong in a user turn/],
  ['a model turn first', turns(model(text('a')), user(text('b'))), /starts with "user"/],
  [
    'an unanswered call',
    turns(user(text('a')), model(call('f')), user(text('b'))),
    /1 function calls need/,
  ],
  [
    'too few answers',
    turns(user(text('a')), model(call('f'), call('g')), user(answer('f'))),
    /2 function calls/,
  ],
  [
    'an answer by another name',
    turns(user(text('a')), model(call('f')), user(answer('g'))),
    /not the called function/,
  ],
  [
    'an answer with a strange id',
    turns(user(text('a')), model(call('f', '1')), user(answer('f', '2'))),
    /matches no open call/,
  ],
  [
    'one id answered twice',
    turns(
      user(text('a')),
      model(call('f', '1'), call('f', '2')),
      user(answer('f', '1'), answer('f', '1')),
    ),
    /no open call/,
  ],
  ['an answer without a call', turns(user(answer('f'))), /must directly follow its function call/],
  [
    'a call after a model turn',
    turns(user(text('a')), model(text('b')), model(call('f')), user(answer('f'))),
    /directly follow a user/,
  ],
  [
    'two calls of one id',
    turns(user(text('a')), model(call('f', '1'), call('g', '1')), user(answer('f'), answer('g'))),
    /same id/,
  ],
  ['an illegal function name', tool({ name: 'a/b' }), /not a function name/],
  ['P040 a function without name', tool({}), /not a function name/],
  ['a function name of 65 characters', tool({ name: 'n'.repeat(65) }), /at most 64/],
  ['two functions of one name', tool({ name: 'f' }, { name: 'f' }), /declared twice/],
  [
    'both forms of parameters',
    tool({
      name: 'f',
      parameters: { type: 'OBJECT', properties: { a: { type: 'STRING' } } },
      parametersJsonSchema: {},
    }),
    /exclude each other/,
  ],
  ['parameters of another type', parameters({ type: 'STRING' }), /must be OBJECT/],
  ['P039 an object without properties', parameters({ type: 'OBJECT' }), /must not be empty/],
  ['P030 a boolean schema', object({ a: false }), /must be a Schema object/],
  [
    'P036 an unknown keyword',
    object({ a: { type: 'STRING', const: 'x' } }),
    /unknown field "const"/,
  ],
  ['P038 a list of types', object({ a: { type: ['STRING', 'NULL'] } }), /must be one of STRING/],
  ['a property without type', object({ a: {} }), /type: must be given/],
  ['V128 an enum of numbers', object({ a: { type: 'INTEGER', enum: ['1'] } }), /STRING only/],
  ['an array without items', object({ a: { type: 'ARRAY' } }), /items: is missing/],
  [
    'V123 an unknown format',
    object({ a: { type: 'STRING', format: 'city' } }),
    /knows enum and date-time/,
  ],
  [
    'P037 a required name without property',
    object({ a: { type: 'STRING' } }, { required: ['b'] }),
    /not a property/,
  ],
  [
    'P033 a reference to nowhere',
    tool({ name: 'f', parametersJsonSchema: { properties: { a: { $ref: '#/$defs/a' } } } }),
    /does not resolve/,
  ],
  [
    'P053 search beside functions',
    ask('x', { tools: [{ vendoraSearch: {} }, { functionDeclarations: [{ name: 'f' }] }] }),
    /include_server_side/,
  ],
  ['an empty tool', ask('x', { tools: [{}] }), /kind of tool/],
  ['a tool that is not offered', ask('x', { tools: [{ computerUse: {} }] }), /does not offer/],
  [
    'forced calls without functions',
    ask('x', { toolConfig: { functionCallingConfig: { mode: 'ANY' } } }),
    /ANY needs/,
  ],
  [
    'allowed names in mode AUTO',
    ask('x', {
      ...declare('f'),
      toolConfig: { functionCallingConfig: { mode: 'AUTO', allowedFunctionNames: ['f'] } },
    }),
    /ANY or VALIDATED only/,
  ],
  [
    'an allowed name that is not declared',
    ask('x', {
      ...declare('f'),
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['g'] } },
    }),
    /not a declared/,
  ],
  ['a temperature above 2', config({ temperature: 2.1 }), /outside 0 to 2/],
  ['P075 nine candidates', config({ candidateCount: 9 }), /outside 1 to 8/],
  ['P071 too large an output limit', config({ maxOutputTokens: 65_537 }), /limit of this model/],
  ['six stop sequences', config({ stopSequences: ['a', 'b', 'c', 'd', 'e', 'f'] }), /at most 5/],
  [
    'P019 level and budget together',
    config({ thinkingConfig: { thinkingLevel: 'LOW', thinkingBudget: 100 } }),
    /not both/,
  ],
  [
    'P015 a budget above the cap',
    config({ thinkingConfig: { thinkingBudget: 24_577 } }),
    /neither 0 nor within 1 to 24576/,
  ],
  [
    'P016 an output limit within the budget',
    config({ maxOutputTokens: 8192, thinkingConfig: { thinkingBudget: 8192 } }),
    /greater than/,
  ],
  ['V110 the level NONE', config({ thinkingConfig: { thinkingLevel: 'NONE' } }), /must be one of/],
  [
    'a schema without its media type',
    config({ responseSchema: { type: 'STRING' } }),
    /must be application\/json/,
  ],
  [
    'image output',
    config({ responseModalities: ['TEXT', 'IMAGE'] }),
    /answers in TEXT, not in IMAGE/,
  ],
  ['image settings', config({ imageConfig: {} }), /alpha-3-flash draws no images/],
  ['an unknown image setting', config({ imageConfig: { ratio: '1:1' } }), /image_config/],
  ['speech output', config({ speechConfig: {} }), /no audio/],
  ['a cached content', ask('x', { cachedContent: 'cachedContents/1' }), /keeps no cached/],
  [
    'one safety category twice',
    ask('x', {
      safetySettings: [
        { category: 'HARM_CATEGORY_HARASSMENT', threshold: 'OFF' },
        { category: 'HARM_CATEGORY_HARASSMENT', threshold: 'OFF' },
      ],
    }),
    /given twice/,
  ],
];

test.each(REFUSED)('refuses %s', (_name, body, says) => {
  expect(refusal(body)).toMatch(says);
});

const ACCEPTED: readonly (readonly [name: string, body: JsonValue])[] = [
  ['an empty enum, which is none', object({ a: { type: 'INTEGER', enum: [] } })],
  [
    'snake case throughout',
    {
      contents: [user({ inline_data: { mime_type: 'image/png', data: 'AAAA' } })],
      generation_config: { top_p: 0.5, max_output_tokens: '9' },
      tools: [{ vendora_search: {} }],
    },
  ],
  ['lower-case types', object({ a: { type: 'string' } })],
  ['nulls as absent', ask('x', { generationConfig: null, tools: null })],
  [
    'a JSON Schema with references',
    tool({
      name: 'f',
      parametersJsonSchema: {
        type: 'object',
        $defs: { a: { type: 'string' } },
        properties: { a: { $ref: '#/$defs/a' } },
        additionalProperties: false,
      },
    }),
  ],
  [
    'P031 a property named like a keyword',
    object({ pattern: { type: 'STRING' }, constructor: { type: 'STRING' } }),
  ],
  ['two user turns in a row', turns(user(text('a')), user(text('b')))],
  ['text beside an answer', turns(user(text('a')), model(call('f')), user(answer('f'), text('b')))],
  [
    'answers matched by id in any order',
    turns(
      user(text('a')),
      model(call('f', '1'), call('g', '2')),
      user(answer('g', '2'), answer('f', '1')),
    ),
  ],
  [
    'search beside functions when asked to report it',
    ask('x', {
      tools: [{ vendoraSearch: {}, functionDeclarations: [{ name: 'f' }] }],
      toolConfig: { includeServerSideToolInvocations: true },
    }),
  ],
  ['no stop sequences', config({ stopSequences: [] })],
  ['a budget of 0 or -1', config({ maxOutputTokens: 1, thinkingConfig: { thinkingBudget: -1 } })],
];

test.each(ACCEPTED)('accepts %s', (_name, body) => {
  expect(refusal(body)).toBe('');
});

test('P018 V033 models differ in what thinking they take', () => {
  const level = config({ thinkingConfig: { thinkingLevel: 'LOW' } });
  const budget = config({ thinkingConfig: { thinkingBudget: 32_768 } });
  expect(refusal(level, 'alpha-3-pro-high')).toBe('');
  expect(refusal(level, 'beta-opus-4-6-thinking')).toMatch(/thinking_budget only/);
  expect(refusal(budget, 'alpha-3-pro-low')).toBe('');
  expect(refusal(budget, 'alpha-3-pro-image')).toMatch(/include_thoughts alone/);
  expect(refusal(config({ thinkingConfig: { includeThoughts: true } }), 'alpha-3-pro-image')).toBe(
    '',
  );
});

test('V035 the beta models write at most 64000 tokens', () => {
  expect(refusal(config({ maxOutputTokens: 64_000 }), 'beta-sonnet-4-6')).toBe('');
  expect(refusal(config({ maxOutputTokens: 64_001 }), 'beta-sonnet-4-6')).toMatch(/1 to 64000/);
});

test('every violation of a stage is named, at most twenty of them', () => {
  const body = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`f${index}`, 1]));
  expect(refusal(body).split('\n')).toHaveLength(20);
});

test('nesting beyond the limit is refused, however deep it is', () => {
  let deep: JsonValue = 'x';
  for (let level = 0; level < 5000; level += 1) deep = { a: deep };
  expect(refusal(tool({ name: 'f', parametersJsonSchema: deep }))).toMatch(/nested too deeply/);
  let schema: JsonObject = { type: 'STRING' };
  for (let level = 0; level < 5000; level += 1) schema = { type: 'ARRAY', items: schema };
  expect(refusal(object({ a: schema }))).toMatch(/nested too deeply/);
});

test.each([
  [{ imageConfig: { aspectRatio: '16:10' } }, /image_config.aspect_ratio.*must be one of 1:1/],
  [{ imageConfig: { aspectRatio: '1:4' } }, /aspect_ratio/],
  [{ imageConfig: { imageSize: '8K' } }, /image_config.image_size.*must be one of 1K, 2K, 4K/],
  [{ imageConfig: { imageSize: '1k' } }, /image_size/],
  [{ responseModalities: ['AUDIO'] }, /answers in TEXT and IMAGE, not in AUDIO/],
  [{ candidateCount: 2 }, /one candidate at a time/],
])('an image model refuses %j', (generationConfig, pattern) => {
  expect(refusal(config(generationConfig), 'alpha-3-pro-image')).toMatch(pattern);
});

test('an image model takes fourteen pictures at most', () => {
  const picture = { inlineData: { mimeType: 'image/png', data: 'AAAA' } };
  const body = (count: number) => ({
    contents: [user(text('x'), ...Array.from({ length: count }, () => picture))],
  });
  expect(refusal(body(14), 'alpha-3-pro-image')).toBe('');
  expect(refusal(body(15), 'alpha-3-pro-image')).toMatch(/at most 14 pictures, not 15/);
});
