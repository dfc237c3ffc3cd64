import { expect, test } from 'vitest';
import { GatewayError } from '../../canonical/error.ts';
import { createReceipt } from '../../canonical/receipt.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../lib/json.ts';
import { normalizeBody, normalizeCountBody } from './normalize-body.ts';

const MODEL = 'alpha-3-flash';
const CONTENTS = [{ role: 'user', parts: [{ text: 'x' }] }];

function normalize(body: JsonObject) {
  const receipt = createReceipt();
  return { body: normalizeBody(body, MODEL, receipt), receipt: receipt.entries };
}

function normalizeConfig(generationConfig: JsonObject) {
  const { body, receipt } = normalize({ contents: CONTENTS, generationConfig });
  return { config: body.generationConfig, receipt };
}

function fieldOf(body: JsonObject): string | undefined {
  try {
    normalizeBody(body, MODEL, createReceipt());
  } catch (error) {
    if (error instanceof GatewayError && error.kind === 'invalid-request') return error.field;
    throw error;
  }
  return undefined;
}

const fieldOfPart = (part: JsonObject) => fieldOf({ contents: [{ parts: [part] }] });
const fieldOfConfig = (generationConfig: JsonObject) =>
  fieldOf({ contents: CONTENTS, generationConfig });

test.each([undefined, 'function', 'tool'])('V112 P069 the role %s is that of the user', (given) => {
  const role = given === undefined ? {} : { role: given };
  const parts = [{ functionResponse: { name: 'f', response: {} } }, { text: 'x' }];
  const { body, receipt } = normalize({ contents: [{ ...role, parts }] });
  expect(body.contents).toEqual([{ role: 'user', parts }]);
  expect(receipt).toEqual([]);
});

test('the role assistant is that of the model', () => {
  const contents = [...CONTENTS, { role: 'assistant', parts: [{ text: 'y' }] }, ...CONTENTS];
  expect(normalize({ contents }).body.contents?.[1]?.role).toBe('model');
});

test('snake_case and neutral words become the official spelling at every level', () => {
  const { body, receipt } = normalize({
    contents: [
      {
        parts: [
          { inline_data: { mime_type: 'image/png', data: 'AAA=' } },
          { file_data: { file_uri: 'https://files/1', mime_type: 'image/png' } },
        ],
      },
      {
        role: 'model',
        parts: [{ function_call: { id: 'c', name: 'f', args: { some_key: 1 } } }],
      },
      { parts: [{ function_response: { id: 'c', name: 'f', response: { a_b: { c_d: 2 } } } }] },
    ],
    system_instruction: { role: 'system', parts: [{ text: 'S' }] },
    generation_config: {
      max_output_tokens: 5,
      thinking_config: { include_thoughts: true, thinking_budget: 1 },
      speech_config: { voice_config: { prebuilt_voice_config: { voice_name: 'V' } } },
      _responseJsonSchema: { type: 'object' },
    },
    tools: [
      { vendora_search: { time_range_filter: { start_time: 't' } } },
      { vendoraSearch: {} },
      { google_search: {} },
    ],
    tool_config: {
      function_calling_config: { mode: 'any', allowed_function_names: ['f'] },
      include_server_side_tool_invocations: true,
    },
    safety_settings: [{ category: 'harm_category_harassment', threshold: 'off' }],
  });
  expect(receipt).toEqual([]);
  expect(body).toEqual({
    contents: [
      {
        role: 'user',
        parts: [
          { inlineData: { mimeType: 'image/png', data: 'AAA=' } },
          { fileData: { fileUri: 'https://files/1', mimeType: 'image/png' } },
        ],
      },
      {
        role: 'model',
        parts: [{ functionCall: { id: 'c', name: 'f', args: { some_key: 1 } } }],
      },
      {
        role: 'user',
        parts: [{ functionResponse: { id: 'c', name: 'f', response: { a_b: { c_d: 2 } } } }],
      },
    ],
    systemInstruction: { parts: [{ text: 'S' }] },
    generationConfig: {
      maxOutputTokens: 5,
      thinkingConfig: { includeThoughts: true, thinkingBudget: 1 },
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'V' } } },
      responseJsonSchema: { type: 'object' },
    },
    tools: [{ googleSearch: { timeRangeFilter: { startTime: 't' } } }, {}, {}],
    toolConfig: {
      functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f'] },
      includeServerSideToolInvocations: true,
    },
    safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'OFF' }],
  });
});

test.each([
  ['Be brief', { parts: [{ text: 'Be brief' }] }],
  [{ parts: { text: 'Be brief' } }, { parts: [{ text: 'Be brief' }] }],
  [
    { role: 'user', parts: [{ text: 'a' }, { text: 'b' }] },
    { parts: [{ text: 'a' }, { text: 'b' }] },
  ],
  ['', undefined],
  [{ parts: [] }, undefined],
])('a system instruction given as %j is read', (systemInstruction, expected) => {
  const { body, receipt } = normalize({ contents: CONTENTS, systemInstruction });
  expect(body.systemInstruction).toEqual(expected);
  expect(receipt).toEqual([]);
});

test('a lone object stands for a list of one', () => {
  const { body } = normalize({
    contents: { parts: { text: 'x' } },
    tools: { functionDeclarations: { name: 'f' } },
  });
  expect(body.contents).toEqual(CONTENTS);
  expect(body.tools).toEqual([{ functionDeclarations: [{ name: 'f' }] }]);
});

test.each(['thoughtSignature', 'thought_signature'])(
  'V113 P005 a signature under %s is kept',
  (key) => {
    const { body } = normalize({
      contents: [{ role: 'model', parts: [{ text: 'x', [key]: 'QUJD' }] }],
    });
    expect(body.contents).toEqual([
      { role: 'model', parts: [{ text: 'x', thoughtSignature: 'QUJD' }] },
    ]);
  },
);

test('P026 a part with nothing but a signature is kept on an empty text', () => {
  const { body } = normalize({
    contents: [{ role: 'model', parts: [{ thoughtSignature: 'QUJD' }] }],
  });
  expect(body.contents).toEqual([
    { role: 'model', parts: [{ text: '', thoughtSignature: 'QUJD' }] },
  ]);
});

test('a signature that cannot be base64 is dropped with a receipt', () => {
  const { body, receipt } = normalize({
    contents: [{ parts: [{ text: 'x', thoughtSignature: '<no>' }] }],
  });
  expect(body.contents).toEqual(CONTENTS);
  expect(receipt).toMatchObject([
    { action: 'dropped', path: 'contents[0].parts[0].thoughtSignature' },
  ]);
});

test('P062 empty text is left out, and a model content of nothing else too', () => {
  const { body } = normalize({
    contents: [
      { parts: [{ text: '' }, { text: 'x' }] },
      { role: 'model', parts: [{ functionCall: { name: 'f' } }] },
      { role: 'model', parts: [{ text: '' }] },
      { parts: [{ functionResponse: { name: 'f', response: {} } }] },
    ],
  });
  expect(body.contents).toEqual([
    { role: 'user', parts: [{ text: 'x' }] },
    { role: 'model', parts: [{ functionCall: { name: 'f' } }] },
    { role: 'user', parts: [{ functionResponse: { name: 'f', response: {} } }] },
  ]);
});

test('a part without anything is an empty text where the model said it', () => {
  const { body } = normalize({
    contents: [
      ...CONTENTS,
      { role: 'model', parts: [{ text: 'x' }, {}, { thought: true }] },
      { role: 'model', parts: [{}] },
      { role: 'user', parts: [{ text: 'y' }] },
    ],
  });
  expect(body).toMatchObject({
    contents: [
      ...CONTENTS,
      { role: 'model', parts: [{ text: 'x' }] },
      { role: 'user', parts: [{ text: 'y' }] },
    ],
  });
});

test('a user content of nothing but empty text is left out beside others', () => {
  const empty = { role: 'user', parts: [{ text: '' }] };
  const said = { role: 'user', parts: [{ text: 'x' }] };
  const answer = { role: 'model', parts: [{ text: 'y' }] };
  expect(normalize({ contents: [said, answer, empty, said] }).body.contents).toEqual([
    said,
    answer,
    said,
  ]);
  expect(normalize({ contents: [empty, said] }).body.contents).toEqual([said]);
  expect(normalize({ contents: [said, empty] }).body.contents).toEqual([said]);
});

test('a content of nothing but empty text stands for itself where there is no other', () => {
  const { body, receipt } = normalize({ contents: [{ role: 'user', parts: [{ text: '' }] }] });
  expect(body.contents).toEqual([{ role: 'user', parts: [{ text: '…' }] }]);
  expect(receipt).toMatchObject([{ action: 'approximated', path: 'contents[0]' }]);
});

test('a last user content of empty text does not leave the model last', () => {
  const { body, receipt } = normalize({
    contents: [
      { role: 'user', parts: [{ text: 'x' }] },
      { role: 'model', parts: [{ text: 'y' }] },
      { role: 'user', parts: [{ text: '' }] },
    ],
  });
  expect(body.contents).toEqual([
    { role: 'user', parts: [{ text: 'x' }] },
    { role: 'model', parts: [{ text: 'y' }] },
    { role: 'user', parts: [{ text: '…' }] },
  ]);
  expect(receipt).toEqual([
    {
      action: 'approximated',
      path: 'contents[2]',
      reason: 'A user turn "…" stands for the empty last one.',
    },
  ]);
});

test('V119 "[undefined]" stands for an absent value, but not in text', () => {
  const { body, receipt } = normalize({
    contents: [
      { role: '[undefined]', parts: [{ text: '[undefined]', thoughtSignature: '[undefined]' }] },
    ],
    systemInstruction: '[undefined]',
    cachedContent: '[undefined]',
    generationConfig: { temperature: '[undefined]', stopSequences: ['[undefined]', 'END'] },
    tools: [{ functionDeclarations: [{ name: 'f', description: '[undefined]' }] }],
  });
  expect(body).toEqual({
    contents: [{ role: 'user', parts: [{ text: '[undefined]' }] }],
    tools: [{ functionDeclarations: [{ name: 'f' }] }],
    generationConfig: { stopSequences: ['END'] },
  });
  expect(receipt.map((entry) => entry.path)).toEqual([
    'contents[0].role',
    'contents[0].parts[0].thoughtSignature',
    'systemInstruction',
    'cachedContent',
    'generationConfig.temperature',
    'generationConfig.stopSequences[0]',
    'tools[0].functionDeclarations[0].description',
  ]);
});

test('an empty name of a cache names none', () => {
  const { body, receipt } = normalize({ contents: CONTENTS, cachedContent: '' });
  expect(body).toEqual({ contents: CONTENTS });
  expect(receipt).toEqual([]);
});

test('null is absent, and unknown fields are dropped with a receipt in the client’s spelling', () => {
  const { body, receipt } = normalize({
    contents: CONTENTS,
    thinking: { type: 'enabled' },
    tools: null,
    generation_config: { top_p: null, my_field: 1 },
  });
  expect(body).toEqual({ contents: CONTENTS, generationConfig: {} });
  expect(receipt).toMatchObject([
    { action: 'dropped', path: 'thinking' },
    { action: 'dropped', path: 'generation_config.my_field' },
  ]);
});

test('the model and the project of the body are overruled', () => {
  expect(normalize({ contents: CONTENTS, model: `models/${MODEL}` })).toEqual({
    body: { contents: CONTENTS },
    receipt: [],
  });
  const { body, receipt } = normalize({ contents: CONTENTS, model: 'other', project: 'p' });
  expect(body).toEqual({ contents: CONTENTS });
  expect(receipt.map((entry) => entry.path)).toEqual(['model', 'project']);
});

test('numbers may be strings, and enum values any case', () => {
  const { config } = normalizeConfig({
    maxOutputTokens: '100',
    temperature: '0.5',
    topK: 40.0,
    thinkingConfig: { thinkingLevel: 'high' },
    responseModalities: ['text', 'Image'],
    imageConfig: { imageSize: '2k', aspectRatio: '16:9' },
    mediaResolution: 'media_resolution_low',
  });
  expect(config).toEqual({
    maxOutputTokens: 100,
    temperature: 0.5,
    topK: 40,
    thinkingConfig: { thinkingLevel: 'HIGH' },
    responseModalities: ['TEXT', 'IMAGE'],
    imageConfig: { imageSize: '2K', aspectRatio: '16:9' },
    mediaResolution: 'MEDIA_RESOLUTION_LOW',
  });
});

test('a number too long for any name is no enum value', () => {
  const body = parseJson(
    '{"contents":[],"generationConfig":{"mediaResolution":12345678901234567890}}',
  );
  expect(() => normalize(isJsonObject(body) ? body : {})).toThrow(
    'generationConfig.mediaResolution must be a string',
  );
});

test('P072 a temperature keeps its exact figure', () => {
  expect(normalizeConfig({ temperature: 0.7 }).config).toEqual({ temperature: 0.7 });
});

test('V110 P019 a budget wins over a level given with it', () => {
  const both = normalizeConfig({ thinkingConfig: { thinkingLevel: 'HIGH', thinkingBudget: 5 } });
  expect(both.config).toEqual({ thinkingConfig: { thinkingBudget: 5 } });
  expect(both.receipt).toMatchObject([
    { action: 'dropped', path: 'generationConfig.thinkingConfig.thinkingLevel' },
  ]);
  const unspecified = normalizeConfig({
    thinkingConfig: { thinkingLevel: 'THINKING_LEVEL_UNSPECIFIED', includeThoughts: true },
  });
  expect(unspecified).toEqual({
    config: { thinkingConfig: { includeThoughts: true } },
    receipt: [],
  });
});

test('the newest output format is folded into the older fields', () => {
  const schema = { type: 'object', properties: {} };
  const { config, receipt } = normalizeConfig({
    responseFormat: [
      { text: { mimeType: 'application/json', schema } },
      { image: { aspectRatio: 'ASPECT_RATIO_TWENTY_ONE_BY_NINE', imageSize: 'IMAGE_SIZE_TWO_K' } },
    ],
  });
  expect(config).toEqual({
    responseMimeType: 'application/json',
    responseJsonSchema: schema,
    imageConfig: { aspectRatio: '21:9', imageSize: '2K' },
  });
  expect(receipt).toEqual([]);
});

test('of two forms of one schema the JSON Schema form stays', () => {
  const { body, receipt } = normalize({
    contents: CONTENTS,
    tools: [{ functionDeclarations: [{ name: 'f', parameters: {}, parametersJsonSchema: {} }] }],
    generationConfig: { responseSchema: {}, responseJsonSchema: {} },
  });
  expect(body.tools).toEqual([{ functionDeclarations: [{ name: 'f', parametersJsonSchema: {} }] }]);
  expect(body.generationConfig).toEqual({ responseJsonSchema: {} });
  expect(receipt).toHaveLength(2);
});

test('Schema keys in snake_case are spelled officially, property names are not touched', () => {
  const plain = { type: 'object', properties: { min_items: { type: 'array', minItems: 1 } } };
  const snake = {
    any_of: [{ min_length: 1 }],
    properties: { any_of: { items: { max_items: 2, enum: ['min_items'] } }, p: plain },
  };
  const { body } = normalize({
    contents: CONTENTS,
    tools: [
      {
        functionDeclarations: [
          { name: 'a', parameters: plain },
          { name: 'b', parameters: snake },
        ],
      },
    ],
  });
  expect(body.tools).toEqual([
    {
      functionDeclarations: [
        { name: 'a', parameters: plain },
        {
          name: 'b',
          parameters: {
            anyOf: [{ minLength: 1 }],
            properties: { any_of: { items: { maxItems: 2, enum: ['min_items'] } }, p: plain },
          },
        },
      ],
    },
  ]);
});

test('free-form objects are the client’s own, byte for byte', () => {
  const args = '{"__proto__":{"x":1},"constructor":2,"big":12345678901234567890,"e":1e999,"z":-0}';
  const source = `{"contents":[{"role":"model","parts":[{"function_call":{"name":"f","args":${args}}}]},{"role":"user","parts":[{"function_response":{"name":"f","response":${args}}}]}],"tools":[{"function_declarations":[{"name":"f","parameters_json_schema":${args},"parameters":null}]}],"labels":{"__proto__":"l"}}`;
  const parsed = parseJson(source);
  const { body } = normalize(asObject(parsed));
  const text = JSON.stringify(body);
  expect(text.split(args)).toHaveLength(4);
  expect(text).toContain('"labels":{"__proto__":"l"}');
  expect(Object.hasOwn(Object.prototype, 'x')).toBe(false);
});

test.each([
  ['with line breaks', 'AAAA\r\nAA==', 'AAAAAA=='],
  ['of the URL alphabet and without padding', '-_8', '+/8='],
])('base64 %s is sent on in the standard form', (_form, data, base64) => {
  const { body } = normalize({
    contents: [{ parts: [{ inlineData: { mimeType: 'image/png', data } }] }],
  });
  expect(body).toMatchObject({ contents: [{ parts: [{ inlineData: { data: base64 } }] }] });
});

test.each<[JsonObject, string]>([
  [{}, 'contents'],
  [{ contents: [] }, 'contents'],
  [{ contents: 5 }, 'contents'],
  [{ contents: [null] }, 'contents[0]'],
  [{ contents: [{ role: 'system', parts: [{ text: 'x' }] }] }, 'contents[0].role'],
  [{ contents: [{ role: 5, parts: [{ text: 'x' }] }] }, 'contents[0].role'],
  [{ contents: [{ role: 'user' }] }, 'contents[0].parts'],
  [{ contents: [{ parts: [] }] }, 'contents[0].parts'],
  [{ contents: CONTENTS, cached_content: 'cachedContents/1' }, 'cachedContent'],
  [{ contents: CONTENTS, labels: { b: 'x', a: 1 } }, 'labels.a'],
  [{ contents: CONTENTS, labels: [] }, 'labels'],
  [{ contents: CONTENTS, systemInstruction: 5 }, 'systemInstruction'],
  [
    { contents: CONTENTS, tools: [{ functionDeclarations: [{ description: 'd' }] }] },
    'tools[0].functionDeclarations[0].name',
  ],
  [
    { contents: CONTENTS, tool_config: { function_calling_config: { mode: 'MAYBE' } } },
    'tool_config.function_calling_config.mode',
  ],
])('%j is refused naming %s', (body, field) => {
  expect(fieldOf(body)).toBe(field);
});

test.each<[JsonObject, string]>([
  [{}, ''],
  [{ thought: true }, ''],
  [{ text: 'x', inlineData: { mimeType: 'image/png', data: 'AAAA' } }, ''],
  [{ text: 5 }, '.text'],
  [{ inlineData: { mimeType: 'image/png' } }, '.inlineData.data'],
  [{ inlineData: { data: 'AAAA' } }, '.inlineData.mimeType'],
  [{ inlineData: { mimeType: 'image/png', data: '<svg>' } }, '.inlineData.data'],
  [{ inlineData: { mimeType: 'image/png', data: 'AAAAA' } }, '.inlineData.data'],
  [{ inlineData: { mimeType: 'i', data: 'data:image/png;base64,AA==' } }, '.inlineData.data'],
  [{ fileData: { mimeType: 'image/png' } }, '.fileData.fileUri'],
  [{ functionCall: { args: {} } }, '.functionCall.name'],
  [{ functionCall: { name: 'f', args: '{}' } }, '.functionCall.args'],
  [{ functionResponse: { name: 'f' } }, '.functionResponse.response'],
  [{ functionResponse: { name: 'f', response: 'ok' } }, '.functionResponse.response'],
  [{ functionResponse: { name: 'f', response: {}, parts: [{}] } }, '.functionResponse.parts[0]'],
])('the part %j is refused at %j', (part, path) => {
  expect(fieldOfPart(part)).toBe(`contents[0].parts[0]${path}`);
});

test.each<[JsonObject, string]>([
  [{ temperature: 2.1 }, 'temperature'],
  [{ temperature: -0.1 }, 'temperature'],
  [{ temperature: true }, 'temperature'],
  [{ temperature: 'hot' }, 'temperature'],
  [{ topP: 1.01 }, 'topP'],
  [{ topK: 0 }, 'topK'],
  [{ topK: 1.5 }, 'topK'],
  [{ maxOutputTokens: 0 }, 'maxOutputTokens'],
  [{ maxOutputTokens: '' }, 'maxOutputTokens'],
  [{ maxOutputTokens: '1e3' }, 'maxOutputTokens'],
  [{ candidateCount: 9 }, 'candidateCount'],
  [{ candidateCount: 0 }, 'candidateCount'],
  [{ stopSequences: [5] }, 'stopSequences[0]'],
  [{ stopSequences: ['a', ''] }, 'stopSequences[1]'],
  [{ thinkingConfig: { thinkingBudget: -2 } }, 'thinkingConfig.thinkingBudget'],
  [{ thinkingConfig: { thinkingLevel: 'ULTRA' } }, 'thinkingConfig.thinkingLevel'],
  [{ responseModalities: ['SMELL'] }, 'responseModalities[0]'],
  [{ responseSchema: true }, 'responseSchema'],
  [{ responseJsonSchema: 'x' }, 'responseJsonSchema'],
])('the configuration %j is refused at %s', (config, path) => {
  expect(fieldOfConfig(config)).toBe(`generationConfig.${path}`);
});

test('P071 a limit above every model’s is no error here', () => {
  expect(normalizeConfig({ maxOutputTokens: 128_000_000 }).config).toEqual({
    maxOutputTokens: 128_000_000,
  });
});

test('V115 both forms of a countTokens body are read, never mixed', () => {
  const receipt = createReceipt();
  const wrapped = { generateContentRequest: { model: `models/${MODEL}`, contents: CONTENTS } };
  expect(normalizeCountBody({ contents: CONTENTS }, MODEL, receipt).body).toEqual({
    contents: CONTENTS,
  });
  expect(normalizeCountBody(wrapped, MODEL, receipt)).toEqual({
    body: { contents: CONTENTS },
    wrapperKey: 'generateContentRequest',
  });
  expect(receipt.entries).toEqual([]);
  expect(() => normalizeCountBody({ ...wrapped, contents: CONTENTS }, MODEL, receipt)).toThrow(
    /either contents or generateContentRequest/,
  );
});

function asObject(value: unknown): JsonObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new Error('not an object');
}

test('the search tool of older models becomes the one all models take', () => {
  const search = { dynamicRetrievalConfig: { mode: 'MODE_DYNAMIC' } };
  const { body, receipt } = normalize({
    contents: CONTENTS,
    tools: [{ google_search_retrieval: {} }, { googleSearchRetrieval: search, googleSearch: {} }],
  });
  expect(body.tools).toEqual([{ googleSearch: {} }, {}]);
  expect(receipt).toMatchObject([
    { action: 'approximated', path: 'tools[0].googleSearchRetrieval' },
    { action: 'approximated', path: 'tools[1].googleSearchRetrieval' },
  ]);
});

test('several search tools are one, the first one’s options win, others keep their place', () => {
  const { body, receipt } = normalize({
    contents: CONTENTS,
    tools: [
      { codeExecution: {} },
      { google_search: { excludeDomains: ['a'] } },
      { googleSearch: { excludeDomains: ['b'], searchTypes: {} }, urlContext: {} },
    ],
  });
  expect(body.tools).toEqual([
    { codeExecution: {} },
    { googleSearch: { excludeDomains: ['a'], searchTypes: {} } },
    { urlContext: {} },
  ]);
  expect(receipt).toMatchObject([
    { action: 'dropped', path: 'tools[2].googleSearch.excludeDomains' },
  ]);
});

test.each<[string, JsonObject, string]>([
  ['user', { functionCall: { name: 'f' } }, 'model'],
  ['user', { text: 'hm', thought: true }, 'model'],
  ['user', { executableCode: { code: '1' } }, 'model'],
  ['model', { functionResponse: { name: 'f', response: {} } }, 'user'],
])('a %s content cannot hold %j; alone it makes the role', (role, part, owner) => {
  const mixed = { contents: [...CONTENTS, { role, parts: [part, { text: 'x' }] }] };
  expect(fieldOf(mixed)).toBe('contents[1].parts[0]');
  expect(() => normalize(mixed)).toThrow(`role ${owner}`);
  const { body, receipt } = normalize({ contents: [...CONTENTS, { role, parts: [part] }] });
  expect(body.contents).toMatchObject([{ role: 'user' }, { role: owner }]);
  expect(receipt).toMatchObject([{ action: 'repaired', path: 'contents[1].role' }]);
});

test('instructions carry no signature', () => {
  const parts = [{ text: 'Be brief.', thoughtSignature: 'U0lH' }, { thoughtSignature: 'U0lH' }];
  const { body } = normalize({ contents: CONTENTS, systemInstruction: { parts } });
  expect(body.systemInstruction).toEqual({ parts: [{ text: 'Be brief.' }] });
});

test('"[undefined]" within a schema stands for a keyword or a property that is absent', () => {
  const { body, receipt } = normalize({
    contents: CONTENTS,
    generationConfig: {
      responseSchema: {
        type: 'object',
        description: '[undefined]',
        properties: {
          a: { type: 'string', format: '[undefined]', enum: ['[undefined]'] },
          b: '[undefined]',
        },
      },
    },
  });
  expect(body.generationConfig).toEqual({
    responseSchema: {
      type: 'object',
      properties: { a: { type: 'string', enum: ['[undefined]'] } },
    },
  });
  expect(receipt).toEqual(
    Array.from({ length: 3 }, () =>
      expect.objectContaining({
        action: 'repaired',
        path: 'generationConfig.responseSchema',
      }),
    ),
  );
});

test('servers of tools are listed as the API spells them, their headers as the client does', () => {
  const headers = { 'X-Api-Key': 'k', some_header: 'v' };
  const { body, receipt } = normalize({
    contents: CONTENTS,
    tools: [
      {
        mcp_servers: {
          name: 'files',
          streamable_http_transport: { url: 'https://m', headers, sse_read_timeout: '9s' },
        },
      },
    ],
  });
  const streamableHttpTransport = { url: 'https://m', headers, sseReadTimeout: '9s' };
  expect(body.tools).toEqual([{ mcpServers: [{ name: 'files', streamableHttpTransport }] }]);
  expect(receipt).toEqual([]);
});

test('what models heard and how parts are spoken come back as SDK chats keep them', () => {
  const { body, receipt } = normalize({
    contents: [
      { parts: [{ text: 'x', speech_metadata: { speaker: 'A', style: 'calm' } }] },
      { role: 'model', parts: [{ audio_transcription: { text: 'Hi', words: [] } }] },
      {
        parts: [
          { inline_data: { mime_type: 'video/mp4', data: 'AAA=' }, media_processing: 'agentic' },
        ],
      },
    ],
  });
  expect(receipt).toEqual([]);
  expect(body.contents).toEqual([
    { role: 'user', parts: [{ text: 'x', speechMetadata: { speaker: 'A', style: 'calm' } }] },
    { role: 'model', parts: [{ audioTranscription: { text: 'Hi', words: [] } }] },
    {
      role: 'user',
      parts: [{ inlineData: { mimeType: 'video/mp4', data: 'AAA=' }, mediaProcessing: 'AGENTIC' }],
    },
  ]);
});

test('pages, cells and moments may be chosen of media, of those of results as well', () => {
  const chosen = {
    inline_data: { mime_type: 'application/pdf', data: 'AAA=' },
    document_metadata: { start_page: '2', end_page: 3, content_layers: ['PAGE_TEXT'] },
    spreadsheet_metadata: { visible_cells: 'A1:B2', sheet_index: 1, content_layers: ['DATA'] },
    audio_metadata: { start_offset: '1s', end_offset: '2s' },
    video_metadata: { fps: 1, content_layers: ['FRAMES'] },
    media_resolution: { level: 'MEDIA_RESOLUTION_LOW' },
  };
  const expected = {
    inlineData: { mimeType: 'application/pdf', data: 'AAA=' },
    documentMetadata: { startPage: 2, endPage: 3, contentLayers: ['PAGE_TEXT'] },
    spreadsheetMetadata: { visibleCells: 'A1:B2', sheetIndex: 1, contentLayers: ['DATA'] },
    audioMetadata: { startOffset: '1s', endOffset: '2s' },
    videoMetadata: { fps: 1, contentLayers: ['FRAMES'] },
    mediaResolution: { level: 'MEDIA_RESOLUTION_LOW' },
  };
  const result = { functionResponse: { name: 'f', response: {}, parts: [chosen] } };
  const { body, receipt } = normalize({ contents: [{ role: 'user', parts: [chosen, result] }] });
  expect(receipt).toEqual([]);
  expect(body.contents).toEqual([
    {
      role: 'user',
      parts: [expected, { functionResponse: { name: 'f', response: {}, parts: [expected] } }],
    },
  ]);
});

test('names may come as their numbers, as libraries made from the definitions of the service send them', () => {
  const parameters = {
    type: 6,
    properties: { n: { type: 3 }, all: { type: 5, items: { type: 1 } }, type: { type: 4 } },
  };
  const { body, receipt } = normalize({
    contents: [
      ...CONTENTS,
      { role: 'model', parts: [{ executableCode: { language: 1, code: '1' } }] },
      { parts: [{ text: 'y' }] },
    ],
    safetySettings: [{ category: 7, threshold: 4 }],
    toolConfig: { functionCallingConfig: { mode: 2 } },
    tools: [{ functionDeclarations: [{ name: 'w', parameters }] }],
    generationConfig: { responseModalities: [1, 2], responseSchema: { type: 2 } },
  });
  expect(receipt).toEqual([]);
  expect(body).toMatchObject({
    contents: [{}, { parts: [{ executableCode: { language: 'PYTHON' } }] }, {}],
    safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
    toolConfig: { functionCallingConfig: { mode: 'ANY' } },
    tools: [
      {
        functionDeclarations: [
          {
            parameters: {
              type: 'OBJECT',
              properties: {
                n: { type: 'INTEGER' },
                all: { type: 'ARRAY', items: { type: 'STRING' } },
                type: { type: 'BOOLEAN' },
              },
            },
          },
        ],
      },
    ],
    generationConfig: { responseModalities: ['TEXT', 'IMAGE'], responseSchema: { type: 'NUMBER' } },
  });
});

test('a number that stands for no name is refused, and so is one where no numbers are known', () => {
  const calling = (mode: number) => ({
    contents: CONTENTS,
    toolConfig: { functionCallingConfig: { mode } },
  });
  for (const mode of [9, -1, 1.5]) {
    expect(fieldOf(calling(mode))).toBe('toolConfig.functionCallingConfig.mode');
  }
  expect(fieldOfConfig({ thinkingConfig: { thinkingLevel: 1 } })).toBe(
    'generationConfig.thinkingConfig.thinkingLevel',
  );
});

test('C1: a function without a name is left out where others are left', () => {
  const tools = [{ functionDeclarations: [{ description: 'd' }, { name: 'w' }] }];
  const { body, receipt } = normalize({ contents: CONTENTS, tools });
  expect(body.tools).toEqual([{ functionDeclarations: [{ name: 'w' }] }]);
  expect(receipt).toMatchObject([{ action: 'dropped', path: 'tools[0].functionDeclarations[0]' }]);
});
