import { expect, test } from 'vitest';
import { assistant, user } from '../../../test/support/canonical.ts';
import type { CanonicalRequest, Tool, ToolChoice } from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import { encode } from './encode.ts';
import { typedValues } from './encode-tools.ts';
import { createVertexProfile } from './profiles.ts';
import { gemini, requestOf, sandbox, targetOf } from './requests.test-support.ts';

const parameters = { type: 'object', properties: { c: { type: 'string' } }, required: ['c'] };
const w: Tool = { kind: 'function', name: 'w', description: 'd', parameters };
const x: Tool = { kind: 'function', name: 'x' };

const encodeTools = (fields: Partial<CanonicalRequest>) =>
  encode(requestOf(fields), targetOf('alpha-3-flash'), sandbox);

/** For an upstream that takes no JSON Schema. */
const encodeAsTexts = (fields: Partial<CanonicalRequest>) => {
  const target = targetOf('alpha-3-flash');
  const capabilities = { ...target.capabilities, takesJsonSchema: false };
  return encode(requestOf(fields), { ...target, capabilities }, sandbox);
};

const map: Tool = {
  kind: 'function',
  name: 'm',
  parameters: { type: 'object', additionalProperties: { type: 'string' } },
};

const modeOf = (toolChoice: ToolChoice, tools: readonly Tool[] = [w, x]) =>
  encodeTools({ tools, toolChoice }).toolConfig;

test('V036 V087 functions become declarations of one element', () => {
  expect(encodeTools({ tools: [w, x] }).tools).toEqual([
    { functionDeclarations: [{ name: 'w', description: 'd', parameters }, { name: 'x' }] },
  ]);
});

test('a function whose argument names are free is declared in JSON Schema where the upstream takes it', () => {
  expect(encodeTools({ tools: [w, map] }).tools).toEqual([
    {
      functionDeclarations: [
        { name: 'w', description: 'd', parameters },
        { name: 'm', parametersJsonSchema: map.parameters },
      ],
    },
  ]);
  expect(encodeAsTexts({ tools: [map] }).tools).toMatchObject([
    { functionDeclarations: [{ parameters: { required: ['entries'] } }] },
  ]);
});

test('an answer of free member names is asked for in JSON Schema where the upstream takes it', () => {
  const outputFormat = { kind: 'json-schema', schema: map.parameters ?? {} } as const;
  expect(encodeTools({ outputFormat }).generationConfig).toEqual({
    responseMimeType: 'application/json',
    responseJsonSchema: map.parameters,
  });
  expect(encodeAsTexts({ outputFormat }).generationConfig).toEqual({
    responseMimeType: 'application/json',
  });
});

test('a second tool of the same name is left out, and the receipt says so', () => {
  const target = targetOf('alpha-3-flash');
  const body = encode(requestOf({ tools: [w, { ...w, description: 'other' }] }), target, sandbox);
  expect(body.tools).toMatchObject([{ functionDeclarations: [{ description: 'd' }] }]);
  expect(target.receipt.entries).toMatchObject([{ action: 'dropped', path: 'tools[1]' }]);
});

test('what is noted of a tool names its place in the client’s own request', () => {
  const target = targetOf('alpha-3-flash');
  const schema = { type: 'object', properties: { c: { type: 'string', format: 'uri' } } };
  const place = { path: 'tools[7]', parametersPath: 'tools[7].input_schema' };
  encode(requestOf({ tools: [{ ...w, parameters: schema, ...place }] }), target, sandbox);
  expect(target.receipt.entries).toMatchObject([
    { path: 'tools[7].input_schema.properties.c.format' },
  ]);
});

test('V037 P054 web search is named in the words of the upstream', () => {
  const request = requestOf({ tools: [{ kind: 'web-search' }] });
  expect(encode(request, targetOf('alpha-3-flash'), sandbox).tools).toEqual([
    { vendoraSearch: {} },
  ]);
  expect(encode(request, targetOf('gemini-2.5-pro'), gemini).tools).toEqual([{ googleSearch: {} }]);
});

test('P053 search beside functions says so where both may stand together', () => {
  const tools: readonly Tool[] = [w, { kind: 'web-search' }, { kind: 'url-context' }];
  expect(encode(requestOf({ tools }), targetOf('gemini-3-pro'), gemini)).toMatchObject({
    tools: [{ functionDeclarations: [{ name: 'w' }] }, { googleSearch: {} }, { urlContext: {} }],
    toolConfig: { includeServerSideToolInvocations: true },
  });
});

test('Vertex AI takes search beside functions without being told', () => {
  const tools: readonly Tool[] = [w, { kind: 'web-search' }];
  const vertex = createVertexProfile();
  const { toolConfig, ...body } = encode(requestOf({ tools }), targetOf('gemini-3-pro'), vertex);
  expect(body.tools).toMatchObject([
    { functionDeclarations: [{ name: 'w' }] },
    { googleSearch: {} },
  ]);
  expect(toolConfig).toEqual({ functionCallingConfig: { mode: 'VALIDATED' } });
});

test('earlier calls of a tool of free argument names are written as the tool is declared', () => {
  const call = (id: string, name: string, input: JsonObject) =>
    ({ kind: 'tool-call', id, name, input }) as const;
  const turns = [
    user('Hi'),
    assistant(call('1', 'm', { a: 'b' }), call('2', 'm', { entries: '{}' }), call('3', 'w', {})),
  ];
  const calls = (...inputs: readonly JsonObject[]) => [
    {},
    { parts: inputs.map((args) => ({ functionCall: { args } })) },
  ];
  expect(encodeAsTexts({ tools: [map, w], turns }).contents).toMatchObject(
    calls({ entries: '{"a":"b"}' }, { entries: '{}' }, {}),
  );
  expect(encodeTools({ tools: [map, w], turns }).contents).toMatchObject(
    calls({ a: 'b' }, { entries: '{}' }, {}),
  );
});

test('a freeform tool takes one string and tells its grammar', () => {
  const tool: Tool = {
    kind: 'freeform',
    name: 'exec',
    description: 'Runs.',
    grammar: { syntax: 'lark', definition: 'start: "x"' },
  };
  expect(encodeTools({ tools: [tool] }).tools).toMatchObject([
    {
      functionDeclarations: [
        {
          name: 'exec',
          description: 'Runs.\n\nThe input must follow this lark grammar:\nstart: "x"',
          parameters: { properties: { input: { type: 'string' } }, required: ['input'] },
        },
      ],
    },
  ]);
});

test('V084 the choice of tools is the calling mode', () => {
  const calling = (functionCallingConfig: object) => ({ functionCallingConfig });
  expect(modeOf({ kind: 'auto', names: [] })).toEqual(calling({ mode: 'AUTO' }));
  expect(modeOf({ kind: 'none' })).toEqual(calling({ mode: 'NONE' }));
  expect(modeOf({ kind: 'required', names: [] })).toEqual(calling({ mode: 'ANY' }));
  expect(modeOf({ kind: 'required', names: ['w'] })).toEqual(
    calling({ mode: 'ANY', allowedFunctionNames: ['w'] }),
  );
  expect(modeOf({ kind: 'validated', names: [] })).toEqual(calling({ mode: 'VALIDATED' }));
});

test('P053 a free choice beside tools the upstream runs is a validated one', () => {
  const tools: readonly Tool[] = [w, { kind: 'web-search' }];
  const modeFor = (toolChoice: ToolChoice) =>
    encode(requestOf({ tools, toolChoice }), targetOf('gemini-3-pro'), gemini).toolConfig;
  const mixed = (functionCallingConfig: object) => ({
    functionCallingConfig,
    includeServerSideToolInvocations: true,
  });
  expect(modeFor({ kind: 'auto', names: [] })).toEqual(mixed({ mode: 'VALIDATED' }));
  expect(modeFor({ kind: 'required', names: [] })).toEqual(mixed({ mode: 'ANY' }));
  expect(modeFor({ kind: 'none' })).toEqual(mixed({ mode: 'NONE' }));
});

test('an optional choice among some tools declares only those', () => {
  const body = encodeTools({ tools: [w, x], toolChoice: { kind: 'auto', names: ['x'] } });
  expect(body.tools).toEqual([{ functionDeclarations: [{ name: 'x' }] }]);
});

test('a forced tool nobody declared is refused by name', () => {
  expect(() => modeOf({ kind: 'required', names: ['zz'] })).toThrow(/"zz" is not among the tools/);
});

test('more functions than the upstream takes are refused, those left out not counted', () => {
  const tools = Array.from({ length: 513 }, (_, index): Tool => ({ ...w, name: `f${index}` }));
  expect(() => encodeTools({ tools })).toThrow(/^tools: 513 functions are too many/);
  const choice: ToolChoice = { kind: 'auto', names: ['f1'] };
  expect(() => encodeTools({ tools, toolChoice: choice })).not.toThrow();
  expect(() => encodeTools({ tools: [...tools.slice(1), w, w] })).toThrow(/513/);
  expect(() => encodeTools({ tools: [...tools.slice(2), w, w] })).not.toThrow();
});

test('without functions there is no calling mode', () => {
  expect(modeOf({ kind: 'required', names: [] }, [{ kind: 'web-search' }])).toBeUndefined();
});

test('strict functions are held to their schemas where the model can, all or none', () => {
  const strict: Tool = { ...w, strict: true, path: 'tools[0]' };
  const write = (tools: readonly Tool[], toolChoice: ToolChoice = { kind: 'auto', names: [] }) => {
    const target = targetOf('gemini-3-flash-preview');
    const { toolConfig } = encode(requestOf({ tools, toolChoice }), target, gemini);
    return { toolConfig, noted: target.receipt.entries.map(({ path }) => path) };
  };
  const mode = (name: string) => ({ functionCallingConfig: { mode: name } });
  expect(write([strict])).toEqual({ toolConfig: mode('VALIDATED'), noted: [] });
  expect(write([strict, x])).toEqual({ toolConfig: mode('AUTO'), noted: ['tools[0]'] });
  const required: ToolChoice = { kind: 'required', names: [] };
  expect(write([strict, x], required)).toEqual({ toolConfig: mode('ANY'), noted: [] });
  expect(modeOf({ kind: 'auto', names: [] }, [strict])).toEqual(mode('AUTO'));
});

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
