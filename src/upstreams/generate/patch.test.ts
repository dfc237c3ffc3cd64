import { expect, test } from 'vitest';
import { type JsonObject, parseJson } from '../../lib/json.ts';
import type { PatchTarget } from '../upstream.ts';
import { gemini, sandbox, targetOf } from './__fixtures__/requests.ts';
import { patch } from './patch.ts';

const contents = [{ role: 'user', parts: [{ text: 'x' }] }];

const patchFor = (modelId: string, fields: JsonObject) =>
  patch({ contents, ...fields }, targetOf(modelId), sandbox);

const configFor = (modelId: string, generationConfig: JsonObject) =>
  patchFor(modelId, { generationConfig }).generationConfig;

test('a body that needs nothing is the same object', () => {
  const parameters = { type: 'OBJECT', properties: { a: { type: 'STRING' } }, required: ['a'] };
  const body: JsonObject = {
    contents,
    generationConfig: { temperature: 0.7, maxOutputTokens: 100 },
    tools: [{ functionDeclarations: [{ name: 'w', parametersJsonSchema: { $schema: 's' } }] }],
  };
  expect(patch(body, targetOf('gemini-3-pro'), gemini)).toBe(body);
  const withParameters = {
    ...body,
    tools: [{ functionDeclarations: [{ name: 'w', parameters }] }],
  };
  expect(patch(withParameters, targetOf('gemini-3-pro'), gemini)).toEqual(withParameters);
});

test('model and project of the client are not sent', () => {
  expect(patchFor('alpha-3-flash', { model: 'models/x', project: 'p' })).toEqual({ contents });
});

test('V110 levels become budgets, capped by the model, and stand alone', () => {
  const budgetOf = (level: string) =>
    configFor('alpha-3-flash', { thinkingConfig: { thinkingLevel: level } });
  for (const [level, thinkingBudget] of [
    ['NONE', 0],
    ['LOW', 8192],
    ['MEDIUM', 16_384],
    ['HIGH', 24_576],
    ['high', 24_576],
  ] as const) {
    expect(budgetOf(level)).toEqual({ thinkingConfig: { thinkingBudget } });
  }
});

test('P018 P019 a model gets its own kind of control, never both', () => {
  const both = { includeThoughts: true, thinkingBudget: 9000, thinkingLevel: 'LOW' };
  expect(configFor('gemini-2.5-flash', { thinkingConfig: both })).toEqual({
    thinkingConfig: { includeThoughts: true, thinkingBudget: 9000 },
  });
  expect(configFor('gemini-3-pro', { thinkingConfig: both })).toEqual({
    thinkingConfig: { includeThoughts: true, thinkingLevel: 'LOW' },
  });
  expect(configFor('gemini-3-pro', { thinkingConfig: { thinkingBudget: 9000 } })).toEqual({
    thinkingConfig: { thinkingLevel: 'HIGH' },
  });
});

test('levels a model lacks become the nearest one, unspecified ones go', () => {
  const levelFor = (modelId: string, thinkingLevel: string) =>
    configFor(modelId, { thinkingConfig: { thinkingLevel } });
  expect(levelFor('gemini-3.8-flash', 'MINIMAL')).toEqual({
    thinkingConfig: { thinkingLevel: 'LOW' },
  });
  expect(levelFor('gemini-3-pro', 'NONE')).toEqual({
    thinkingConfig: { thinkingLevel: 'LOW', includeThoughts: false },
  });
  expect(levelFor('gemini-2.5-pro', 'THINKING_LEVEL_UNSPECIFIED')).toEqual({});
  expect(levelFor('gemini-3-pro', 'THINKING_LEVEL_UNSPECIFIED')).toEqual({});
});

test('P015 budgets keep to the range of the model; automatic ones stay where they are known', () => {
  const budgetFor = (modelId: string, thinkingBudget: number) =>
    configFor(modelId, { thinkingConfig: { thinkingBudget } });
  expect(budgetFor('alpha-3-flash', 99_999)).toEqual({
    thinkingConfig: { thinkingBudget: 24_576 },
  });
  expect(budgetFor('gemini-2.5-pro', 0)).toEqual({ thinkingConfig: { thinkingBudget: 128 } });
  expect(budgetFor('gemini-2.5-pro', -1)).toEqual({ thinkingConfig: { thinkingBudget: -1 } });
  expect(budgetFor('alpha-3-flash', -1)).toEqual({ thinkingConfig: { thinkingBudget: 24_576 } });
});

test('P121 a model that does not think gets no thinking configuration', () => {
  const target = targetOf('alpha-3-pro-image');
  const generationConfig = { thinkingConfig: { thinkingLevel: 'HIGH' } };
  const patched = patch({ contents, generationConfig }, target, sandbox);
  expect(patched.generationConfig).toEqual({});
  expect(target.receipt.entries).toMatchObject([{ action: 'dropped' }]);
});

test('P016 P071 output limits are capped, and raised above a budget', () => {
  const target = targetOf('alpha-3-flash');
  const generationConfig = { maxOutputTokens: 128_000 };
  expect(patch({ contents, generationConfig }, target, sandbox).generationConfig).toEqual({
    maxOutputTokens: 65_536,
  });
  expect(target.receipt.entries).toMatchObject([
    { action: 'capped', path: 'generationConfig.maxOutputTokens' },
  ]);
  const small = { maxOutputTokens: 100, thinkingConfig: { thinkingBudget: 8192 } };
  expect(configFor('alpha-3-flash', small)).toMatchObject({ maxOutputTokens: 8292 });
});

test('schemas in the upstream dialect are cleaned, JSON Schemas are not touched', () => {
  const dirty = { $schema: 's', type: 'object', properties: { a: { type: 'string' } } };
  const declarations = [
    { name: 'w', parameters: dirty },
    { name: 'x', parametersJsonSchema: dirty },
  ];
  const patched = patchFor('alpha-3-flash', {
    tools: [{ functionDeclarations: declarations }],
    generationConfig: { responseMimeType: 'application/json', responseSchema: dirty },
  });
  const text = JSON.stringify(patched);
  expect(text.split('$schema')).toHaveLength(2);
  expect(patched.tools).toMatchObject([
    { functionDeclarations: [{ name: 'w' }, { name: 'x', parametersJsonSchema: dirty }] },
  ]);
});

test('a tool without parameters keeps none', () => {
  const parameters = { type: 'object', properties: {} };
  const tools = [{ functionDeclarations: [{ name: 'w', parameters }] }];
  expect(patchFor('alpha-3-flash', { tools }).tools).toEqual([
    { functionDeclarations: [{ name: 'w' }] },
  ]);
});

test('V118 tool keys speak the words of the upstream', () => {
  const tools = [{ googleSearch: { timeRangeFilter: {} } }];
  expect(patchFor('alpha-3-flash', { tools }).tools).toEqual([
    { vendoraSearch: { timeRangeFilter: {} } },
  ]);
});

test('P053 search beside functions goes where the model refuses the pair', () => {
  const functionDeclarations = [{ name: 'w' }];
  const fields = {
    tools: [{ functionDeclarations, googleSearch: {} }, { urlContext: {} }],
    toolConfig: { includeServerSideToolInvocations: true },
  };
  const target = targetOf('alpha-3-flash');
  const patched = patch({ contents, ...fields }, target, sandbox);
  expect(patched).toEqual({ contents, tools: [{ functionDeclarations }] });
  expect(target.receipt.entries).toHaveLength(2);
  const body = { contents, ...fields };
  expect(patch(body, targetOf('gemini-3-pro'), gemini)).toBe(body);
});

const step = (part: JsonObject): JsonObject => ({
  contents: [
    ...contents,
    { role: 'model', parts: [part] },
    { role: 'user', parts: [{ functionResponse: { name: 'w', response: {} } }] },
  ],
});
const functionCall = { name: 'w', args: {} };
const signatureIn = (body: JsonObject, target: PatchTarget) =>
  /"thoughtSignature":"([^"]*)"/.exec(JSON.stringify(patch(body, target, sandbox)))?.[1];

test('V113 signatures go through unchanged', () => {
  const body = step({ functionCall, thoughtSignature: 'U0lH' });
  expect(patch(body, targetOf('gemini-3-pro'), gemini)).toBe(body);
});

test('P013 stripping leaves only stand-ins, and those only where they are taken', () => {
  const body = step({ functionCall, thoughtSignature: 'U0lH' });
  const stripped = { signatures: 'stripped' } as const;
  const standIn = 'skip_thought_signature_validator';
  expect(signatureIn(body, targetOf('gemini-3-pro', stripped))).toBe(standIn);
  expect(signatureIn(body, targetOf('gemini-2.5-pro', stripped))).toBeUndefined();
});

test('unsigned calls get the stand-in, and stand-ins go where they are unknown', () => {
  const standIn = 'skip_thought_signature_validator';
  expect(signatureIn(step({ functionCall }), targetOf('alpha-3-flash'))).toBe(standIn);
  expect(signatureIn(step({ functionCall }), targetOf('gemini-2.5-pro'))).toBeUndefined();
  const signed = step({ functionCall, thoughtSignature: standIn });
  expect(signatureIn(signed, targetOf('gemini-2.5-pro'))).toBeUndefined();
  expect(signatureIn(signed, targetOf('alpha-3-flash'))).toBe(standIn);
});

test('signatures carried for a client are unwrapped, foreign ones dropped', () => {
  const carried = (family: string) =>
    step({ functionCall, thoughtSignature: `gw1:${family}:tool-call:U0lH` });
  expect(signatureIn(carried('alpha'), targetOf('gemini-2.5-pro'))).toBe('U0lH');
  expect(signatureIn(carried('beta'), targetOf('gemini-2.5-pro'))).toBeUndefined();
});

test('a part that held nothing but its signature goes with it', () => {
  const body = {
    contents: [
      ...contents,
      { role: 'model', parts: [{ text: 'a' }, { text: '', thoughtSignature: 'U0lH' }] },
      ...contents,
    ],
  };
  const target = targetOf('gemini-2.5-pro', { signatures: 'stripped' });
  expect(patch(body, target, gemini).contents).toEqual([
    ...contents,
    { role: 'model', parts: [{ text: 'a' }] },
    ...contents,
  ]);
});

test('big integers and reserved keys survive to the last byte', () => {
  const args = '{"id":12345678901234567890,"__proto__":{"a":1}}';
  const body = parseJson(
    `{"model":"m","contents":[{"role":"user","parts":[{"text":"q"}]},` +
      `{"role":"model","parts":[{"functionCall":{"name":"w","args":${args}}}]}]}`,
  );
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new Error('an object');
  const patched = JSON.stringify(patch(body, targetOf('alpha-3-flash'), sandbox));
  expect(patched).toContain(`"args":${args}`);
  expect(patched).toContain('thoughtSignature');
});

test('a call whose signature the client dropped gets the remembered one back', () => {
  const signature = { value: 'REMEMBERED', family: 'alpha', on: 'tool-call' } as const;
  const recall = {
    call: (id: string, name: string) => (id === 'c1' && name === 'w' ? signature : undefined),
    thought: () => undefined,
    isKnown: () => false,
  };
  const functionCall = { id: 'c1', name: 'w', args: {} };
  const body = { contents: [...contents, { role: 'model', parts: [{ functionCall }] }] };
  expect(patch(body, targetOf('alpha-3-flash', { recall }), sandbox).contents).toEqual([
    ...contents,
    { role: 'model', parts: [{ functionCall, thoughtSignature: 'REMEMBERED' }] },
  ]);
});

test('V118 what the model name asks for is written where the body is silent', () => {
  const variant = { webSearch: true, effort: 'low' } as const;
  const target = (): PatchTarget => targetOf('alpha-3-flash', { variant });
  const patched = patch({ contents }, target(), sandbox);
  expect(patched.tools).toEqual([{ vendoraSearch: {} }]);
  expect(patched.generationConfig).toEqual({ thinkingConfig: { thinkingBudget: 8192 } });
  const said = { contents, generationConfig: { thinkingConfig: { thinkingBudget: 100 } } };
  expect(patch(said, target(), sandbox).generationConfig).toEqual(said.generationConfig);
});

test('the chunks an SDK chat stored one by one are one step again', () => {
  const call = (id: string) => ({
    functionCall: { id, name: 'w', args: {} },
    thoughtSignature: id,
  });
  const response = (id: string) => ({ functionResponse: { id, name: 'w', response: {} } });
  const model = (...parts: JsonObject[]) => ({ role: 'model', parts });
  const user = (...parts: JsonObject[]) => ({ role: 'user', parts });
  const split = [
    ...contents,
    model(call('a')),
    model(call('b')),
    user(response('a')),
    user(response('b')),
    user({ text: 'next' }),
  ];
  expect(patch({ contents: split }, targetOf('gemini-2.5-pro'), gemini).contents).toEqual([
    ...contents,
    model(call('a'), call('b')),
    user(response('a'), response('b')),
    user({ text: 'next' }),
  ]);
});
