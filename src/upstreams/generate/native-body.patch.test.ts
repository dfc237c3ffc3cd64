import { expect, test } from 'vitest';
import { recallOf } from '../../../test/support/signature-recall.ts';
import type { ImageOptions } from '../../canonical/image-options.ts';
import { type JsonObject, parseJson } from '../../lib/json.ts';
import type { PatchTarget } from '../upstream.ts';
import { capabilitiesOf } from './models.ts';
import { patch } from './native-body.ts';
import { gemini, sandbox, targetOf } from './requests.test-support.ts';

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

test('what is said of calls where there is nothing to call goes, a demand stays', () => {
  const calling = (mode: string) => ({ functionCallingConfig: { mode } });
  const tools = [{ googleSearch: {} }];
  const ask = (fields: JsonObject) =>
    patch({ contents, ...fields }, targetOf('gemini-3-pro'), gemini);
  expect(ask({ tools, toolConfig: calling('AUTO') })).toEqual({ contents, tools });
  expect(ask({ toolConfig: calling('NONE') })).toEqual({ contents });
  const retrievalConfig = { languageCode: 'en' };
  expect(ask({ toolConfig: { ...calling('AUTO'), retrievalConfig } })).toEqual({
    ...{ contents, toolConfig: { retrievalConfig } },
  });
  expect(ask({ tools, toolConfig: calling('ANY') })).toMatchObject({ toolConfig: calling('ANY') });
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

test('a model that draws as it thinks shows that when asked, and takes nothing else', () => {
  const draw = (modelId: string, thinkingConfig: JsonObject) => {
    const target = targetOf(modelId);
    const patched = patch({ contents, generationConfig: { thinkingConfig } }, target, sandbox);
    return [patched.generationConfig, target.receipt.entries.length];
  };
  const shown = { thinkingConfig: { includeThoughts: true } };
  expect(draw('alpha-3-pro-image', { includeThoughts: true })).toEqual([shown, 0]);
  const more = { includeThoughts: true, thinkingLevel: 'HIGH' };
  expect(draw('gemini-3-pro-image-preview', more)).toEqual([shown, 1]);
  expect(draw('gemini-2.5-flash-image', { includeThoughts: true })).toEqual([{}, 1]);
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

test('what the dialect of native schemas has only texts for goes as JSON Schema where that is taken', () => {
  const parameters = {
    type: 'OBJECT',
    properties: { headers: { type: 'OBJECT' }, level: { type: 'INTEGER', enum: [1, 2] } },
    required: ['headers'],
  };
  const tools = [{ functionDeclarations: [{ name: 'w', parameters }] }];
  expect(patchFor('alpha-3-flash', { tools }).tools).toEqual([
    {
      functionDeclarations: [
        {
          name: 'w',
          parametersJsonSchema: {
            type: 'object',
            properties: {
              headers: { type: 'object', additionalProperties: true },
              level: { type: 'integer', enum: [1, 2] },
            },
            required: ['headers'],
          },
        },
      ],
    },
  ]);
});

test('a tool of free argument names is told of them in its description where no JSON Schema is taken', () => {
  const parameters = { type: 'OBJECT', additionalProperties: { type: 'STRING' } };
  const declaration = { name: 'w', description: 'Sets headers.' };
  const tools = [{ functionDeclarations: [{ ...declaration, parameters }] }];
  const target = targetOf('alpha-3-flash');
  const capabilities = { ...target.capabilities, takesJsonSchema: false };
  expect(patch({ contents, tools }, { ...target, capabilities }, sandbox).tools).toEqual([
    {
      functionDeclarations: [
        { name: 'w', description: 'Sets headers.\n\nArguments: (an object, values: string)' },
      ],
    },
  ]);
  const parametersJsonSchema = { type: 'object', additionalProperties: { type: 'string' } };
  expect(patchFor('alpha-3-flash', { tools }).tools).toEqual([
    { functionDeclarations: [{ ...declaration, parametersJsonSchema }] },
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

test('functions go where the model calls none, and a call demanded of it is refused', () => {
  const functionDeclarations = [{ name: 'w' }];
  const tools = [{ functionDeclarations, googleSearch: {} }, { functionDeclarations }];
  const calling = (mode: string) => ({ functionCallingConfig: { mode } });
  for (const modelId of ['gemini-2.5-flash-image', 'gemini-2.5-flash-preview-tts']) {
    const target = targetOf(modelId);
    expect(patch({ contents, tools, toolConfig: calling('AUTO') }, target, gemini)).toEqual({
      contents,
      tools: [{ googleSearch: {} }],
    });
    expect(target.receipt.entries).toMatchObject([
      { action: 'dropped', path: 'tools[0].functionDeclarations' },
      { action: 'dropped', path: 'tools[1].functionDeclarations' },
    ]);
    const demand = { contents, tools, toolConfig: calling('ANY') };
    expect(() => patch(demand, targetOf(modelId), gemini)).toThrow(/calls no functions/);
  }
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

test('P001 an upstream that missed a signature gets the stand-in, whatever its model was known to take', () => {
  const standIn = 'skip_thought_signature_validator';
  const old = { contents: [...(step({ functionCall }).contents as JsonObject[]), ...contents] };
  for (const body of [step({ functionCall }), old]) {
    expect(signatureIn(body, targetOf('gemini-2.5-pro', { usesPlaceholders: true }))).toBe(standIn);
  }
  const signed = step({ functionCall, thoughtSignature: 'U0lH' });
  expect(signatureIn(signed, targetOf('gemini-2.5-pro', { usesPlaceholders: true }))).toBe('U0lH');
});

test('P013 a model that missed a signature of what it drew or said gets the stand-in there', () => {
  const picture = (data: string): JsonObject => ({ inlineData: { mimeType: 'image/png', data } });
  const turn = (...parts: JsonObject[]): JsonObject => ({
    contents: [...contents, { role: 'model', parts }, ...contents],
  });
  const thoughtSignature = 'skip_thought_signature_validator';
  const thought = { text: 'hm', thought: true };
  const capabilities = capabilitiesOf(gemini, 'gemini-3-pro-image');
  const target = targetOf('gemini-3-pro-image', { usesPlaceholders: true, capabilities });
  const body = turn(thought, { text: 'Here' }, picture('AAAA'), picture('BBBB'), { text: 'done' });
  expect(patch(body, target, gemini)).toEqual(
    turn(
      thought,
      { text: 'Here', thoughtSignature },
      { ...picture('AAAA'), thoughtSignature },
      { ...picture('BBBB'), thoughtSignature },
      { text: 'done' },
    ),
  );
  expect(patch(body, targetOf('gemini-3-pro-image', { capabilities }), gemini)).toBe(body);
  const signed = turn({ ...picture('AAAA'), thoughtSignature: 'U0lH' });
  expect(patch(signed, target, gemini)).toBe(signed);
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

test('what a gateway behind this one carried goes back to it as it came', () => {
  const carrier = 'gw1:beta:tool-call:U0lH';
  const wrapped = btoa(carrier);
  const target = targetOf('gemini-2.5-pro');
  const issued = { value: wrapped, family: target.capabilities.signatureFamily };
  const recall = recallOf({
    value: ({ value }) => (value === wrapped ? { signature: issued } : undefined),
  });
  const sent = step({ functionCall, thoughtSignature: carrier });
  expect(signatureIn(sent, { ...target, recall })).toBe(wrapped);
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
  const recall = recallOf({
    call: ({ id, name }) => (id === 'c1' && name === 'w' ? { signature } : undefined),
  });
  const functionCall = { id: 'c1', name: 'w', args: {} };
  const functionResponse = { id: 'c1', name: 'w', response: {} };
  const answered = { role: 'user', parts: [{ functionResponse }] };
  const body = { contents: [...contents, { role: 'model', parts: [{ functionCall }] }, answered] };
  expect(patch(body, targetOf('alpha-3-flash', { recall }), sandbox).contents).toEqual([
    ...contents,
    { role: 'model', parts: [{ functionCall, thoughtSignature: 'REMEMBERED' }] },
    answered,
  ]);
});

test('a call another protocol showed with repaired arguments goes back as its signature vouches for it', () => {
  const signature = { value: 'REMEMBERED', family: 'alpha', on: 'tool-call' } as const;
  const shown = { id: 'c1', name: 'w', args: { size: '2' } };
  const issued = { size: 2 };
  const target = targetOf('alpha-3-flash');
  const input = { shown: JSON.stringify(shown.args), issued: JSON.stringify(issued) };
  const recall = recallOf({ call: () => ({ signature, input }) });
  const answered = {
    role: 'user',
    parts: [{ functionResponse: { id: 'c1', name: 'w', response: {} } }],
  };
  const sent = (functionCall: JsonObject) => {
    const step = { role: 'model', parts: [{ functionCall }] };
    const body = { contents: [...contents, step, answered] };
    return patch(body, { ...target, recall }, sandbox).contents;
  };
  expect(sent(shown)).toMatchObject([
    ...contents,
    {
      parts: [{ functionCall: { ...shown, args: issued }, thoughtSignature: 'REMEMBERED' }],
    },
    answered,
  ]);
  const edited = { ...shown, args: { size: '3' } };
  expect(sent(edited)).toMatchObject([
    ...contents,
    { parts: [{ functionCall: edited }] },
    answered,
  ]);
});

test('media inside responses stand behind them for a model that takes none inside', () => {
  const inlineData = { mimeType: 'image/png', data: 'AAAA' };
  const response = (id: string, media: JsonObject = {}) => ({
    functionResponse: { id, name: 'w', response: { output: id }, ...media },
  });
  const calls = ['a', 'b'].map((id) => ({ functionCall: { id, name: 'w', args: {} } }));
  const body = (parts: JsonObject[]): JsonObject => ({
    contents: [...contents, { role: 'model', parts: calls }, { role: 'user', parts }],
  });
  const named = { inlineData: { ...inlineData, displayName: 'a.png' } };
  const asked = body([
    response('a', { parts: [named] }),
    response('b', { parts: [] }),
    { text: 'go on' },
  ]);
  const expected = body([response('a'), response('b'), { inlineData }, { text: 'go on' }]);
  expect(patch(asked, targetOf('gemini-2.5-pro'), gemini)).toEqual(expected);
  expect(patch(expected, targetOf('gemini-2.5-pro'), gemini)).toBe(expected);
  const inside = JSON.stringify(patch(asked, targetOf('gemini-3-flash'), gemini));
  expect(inside).toContain(`"parts":[${JSON.stringify(named)}]`);
});

test('V118 a search that the model name asks for and functions leave no room for is noted there', () => {
  const target = targetOf('alpha-3-flash', { variant: { webSearch: true } });
  const tools = [{ functionDeclarations: [{ name: 'w' }] }];
  const contents = [{ role: 'user', parts: [{ text: 'x' }] }];
  expect(patch({ contents, tools }, target, sandbox).tools).toEqual(tools);
  expect(target.receipt.entries).toMatchObject([{ action: 'dropped', path: 'model' }]);
});

test('V118 a search that the model name asks for gives way to a format the model takes alone', () => {
  const generationConfig = { responseMimeType: 'application/json' };
  const toolsOf = (modelId: string) => {
    const capabilities = capabilitiesOf(gemini, modelId);
    const target = targetOf(modelId, { variant: { webSearch: true }, capabilities });
    const { tools } = patch({ contents, generationConfig }, target, gemini);
    return [tools, target.receipt.entries.map(({ path }) => path)];
  };
  expect(toolsOf('gemini-2.5-pro')).toEqual([undefined, ['model']]);
  expect(toolsOf('gemini-3-pro')).toEqual([[{ googleSearch: {} }], []]);
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

test('P013 steps are joined when a content between them held nothing but a lost signature', () => {
  const lone = { role: 'user', parts: [{ text: '', thoughtSignature: 'U0lH' }] };
  const model = (...parts: JsonObject[]) => ({ role: 'model', parts });
  const split = [...contents, model({ text: 'a' }), lone, model({ text: 'b' }), ...contents];
  const target = targetOf('alpha-3-flash', { signatures: 'stripped' });
  expect(patch({ contents: split }, target, sandbox).contents).toEqual([
    ...contents,
    model({ text: 'a' }, { text: 'b' }),
    ...contents,
  ]);
});

test('V133 C4: the image words of a model name reach the body where it is silent itself', () => {
  const image = { aspectRatio: '21:9', size: '4K' } as const;
  const patchWith = (fields: JsonObject) =>
    patch({ contents, ...fields }, targetOf('alpha-3-pro-image', { variant }), sandbox);
  const variant = { webSearch: false, image };
  expect(patchWith({}).generationConfig).toEqual({
    imageConfig: { aspectRatio: '21:9', imageSize: '4K' },
  });
  const imageConfig = { aspectRatio: '1:1', imageSize: '1K' };
  expect(patchWith({ generationConfig: { imageConfig } }).generationConfig).toEqual({
    imageConfig,
  });
});

test('a size in the name of a model that draws in one is told, not sent', () => {
  const capabilities = capabilitiesOf(gemini, 'gemini-2.5-flash-image');
  const patched = (image: ImageOptions) => {
    const variant = { webSearch: false, image };
    const target = targetOf('gemini-2.5-flash-image', { variant, capabilities });
    return [patch({ contents }, target, gemini).generationConfig, target.receipt.entries];
  };
  const entries = [{ action: 'approximated', path: 'model' }];
  expect(patched({ size: '4K' })).toMatchObject([undefined, entries]);
  expect(patched({ size: '4K', aspectRatio: '16:9' })).toMatchObject([
    { imageConfig: { aspectRatio: '16:9' } },
    entries,
  ]);
});

test("a stored signature is better than the client's own stand-in", () => {
  const standIn = 'skip_thought_signature_validator';
  const call = { functionCall: { id: 'c1', name: 'w', args: {} }, thoughtSignature: standIn };
  const history = (part: JsonObject) => [
    ...contents,
    { role: 'model', parts: [part] },
    { role: 'user', parts: [{ functionResponse: { id: 'c1', name: 'w', response: {} } }] },
  ];
  const known = targetOf('alpha-3-flash');
  const signature = { value: 'U0lH', family: 'alpha' };
  const recall = recallOf({ call: () => ({ signature }) });
  const body = { contents: history(call) };
  expect(patch(body, { ...known, recall }, sandbox).contents).toEqual(
    history({ ...call, thoughtSignature: 'U0lH' }),
  );
  expect(patch(body, known, sandbox)).toBe(body);
  expect(known.receipt.entries).toEqual([]);
});

test('a stand-in stays on the first call of a step alone, for no other is asked for one', () => {
  const thoughtSignature = btoa('skip_thought_signature_validator');
  const call = (name: string): JsonObject => ({ functionCall: { name, args: {} } });
  const history = (...parts: JsonObject[]) => [
    ...contents,
    { role: 'model', parts },
    {
      role: 'user',
      parts: ['a', 'b'].map((name) => ({ functionResponse: { name, response: {} } })),
    },
  ];
  for (const first of [{ thoughtSignature: 'U0lH' }, { thoughtSignature }]) {
    const marked = { ...call('b'), thoughtSignature };
    const body = { contents: history({ ...call('a'), ...first }, marked) };
    expect(patch(body, targetOf('gemini-3-pro'), gemini).contents).toEqual(
      history({ ...call('a'), ...first }, call('b')),
    );
  }
});

test('a native call filled in with defaults of its schema goes back as the model wrote it', () => {
  const written = { q: 'x' };
  const known = targetOf('alpha-3-flash');
  const input = { issued: JSON.stringify(written) };
  const recall = recallOf({ call: () => ({ input }) });
  const call = (args: JsonObject): JsonObject => ({
    functionCall: { id: 'c1', name: 'w', args },
    thoughtSignature: 'U0lH',
  });
  const sent = (args: JsonObject, key: string) => {
    const properties = { q: { type: 'string' }, n: { type: 'integer', default: 3 } };
    const schema = { type: 'object', properties };
    const tools = [{ functionDeclarations: [{ name: 'w', [key]: schema }] }];
    const body = patch({ ...step(call(args)), tools }, { ...known, recall }, sandbox);
    return body.contents;
  };
  const holding = (args: JsonObject) =>
    expect.arrayContaining([{ role: 'model', parts: [call(args)] }]);
  for (const key of ['parameters', 'parametersJsonSchema']) {
    expect(sent({ q: 'x', n: 3 }, key)).toEqual(holding(written));
    expect(sent({ q: 'x', n: 4 }, key)).toEqual(holding({ q: 'x', n: 4 }));
  }
  expect(known.receipt.entries).toEqual([]);
});

test('native contents that start with the model get a user turn first', () => {
  const answer = { role: 'model', parts: [{ text: 'Hello' }] };
  const target = targetOf('alpha-3-flash');
  expect(patch({ contents: [answer, ...contents] }, target, sandbox).contents).toEqual([
    { role: 'user', parts: [{ text: '…' }] },
    answer,
    ...contents,
  ]);
  expect(target.receipt.entries).toMatchObject([{ action: 'approximated', path: 'contents' }]);
});

test('contents of nothing but a signature that cannot be sent are refused', () => {
  const part = { text: '', thoughtSignature: 'gw1:beta:tool-call:U0lH' };
  const body = { contents: [{ role: 'model', parts: [part] }] };
  expect(() => patch(body, targetOf('alpha-3-flash'), sandbox)).toThrow(/nothing to answer/);
});

test('P009 a bare signature known to be of another family stays out', () => {
  const call = { functionCall: { id: 'c1', name: 'w', args: {} }, thoughtSignature: 'U0lH' };
  const target = targetOf('alpha-3-flash');
  const issuedBy = (family: string) => ({
    ...target,
    recall: recallOf({ value: ({ value }) => ({ signature: { value, family } }) }),
  });
  const body = {
    contents: [
      ...contents,
      { role: 'model', parts: [call] },
      { role: 'user', parts: [{ functionResponse: { id: 'c1', name: 'w', response: {} } }] },
    ],
  };
  expect(patch(body, issuedBy('alpha'), sandbox)).toBe(body);
  expect(JSON.stringify(patch(body, issuedBy('beta'), sandbox))).not.toContain('U0lH');
});

test('a signature that its client spelt in the other alphabet goes up as it was issued', () => {
  const target = targetOf('alpha-3-flash');
  const signature = { value: 'a+b/cQ==', family: 'alpha' };
  const recall = recallOf({
    value: ({ value }) => (value === 'a-b_cQ==' ? { signature } : undefined),
  });
  const call = { functionCall: { name: 'w', args: {} }, thoughtSignature: 'a-b_cQ==' };
  const patched = patch(
    {
      contents: [
        ...contents,
        { role: 'model', parts: [call] },
        { role: 'user', parts: [{ functionResponse: { name: 'w', response: {} } }] },
      ],
    },
    { ...target, recall },
    sandbox,
  );
  expect(JSON.stringify(patched)).toContain('"thoughtSignature":"a+b/cQ=="');
  expect(target.receipt.entries).toEqual([]);
});

test.each([
  [{ thinkingLevel: 'NONE' }, 'thinkingLevel'],
  [{ thinkingLevel: 'MINIMAL' }, 'thinkingLevel'],
  [{ thinkingBudget: 0 }, 'thinkingBudget'],
  [{ thinkingBudget: 9000 }, 'thinkingBudget'],
])('a level model notes what it takes %j for', (thinkingConfig, field) => {
  const target = targetOf('gemini-3-pro');
  patch({ contents, generationConfig: { thinkingConfig } }, target, gemini);
  expect(target.receipt.entries).toMatchObject([
    { action: 'approximated', path: `generationConfig.thinkingConfig.${field}` },
  ]);
});

test('only fields the upstream documents are sent on', () => {
  const body = { contents, labels: { a: 'b' }, store: true, serviceTier: 'flex' };
  const target = targetOf('gemini-3-pro');
  expect(patch(body, target, gemini)).toEqual({ contents, store: true, serviceTier: 'flex' });
  expect(target.receipt.entries).toMatchObject([{ action: 'dropped', path: 'labels' }]);
  expect(patch(body, targetOf('alpha-3-flash'), sandbox)).toEqual({ contents });
});

test('a suffix for images is noted, not sent, where the model draws none', () => {
  const variant = { webSearch: false, image: { size: '4K' } } as const;
  const target = targetOf('alpha-3-flash', { variant });
  expect(patch({ contents }, target, sandbox)).toEqual({ contents });
  expect(target.receipt.entries).toMatchObject([{ action: 'dropped', path: 'model' }]);
});

test('P013 a remembered signature of another family, or one the upstream refused, does not come back', () => {
  const contents = [
    { role: 'user', parts: [{ text: 'x' }] },
    { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'w', args: {} } }] },
    { role: 'user', parts: [{ functionResponse: { id: 'c1', name: 'w', response: {} } }] },
  ];
  const sent = (family: string, signatures: 'carried' | 'stripped') => {
    const recall = recallOf({ call: () => ({ signature: { value: 'OWN', family } }) });
    const target = targetOf('gemini-2.5-pro', { recall, signatures });
    return JSON.stringify(patch({ contents }, target, gemini).contents);
  };
  const own = targetOf('gemini-2.5-pro').capabilities.signatureFamily;
  expect(sent(own, 'carried')).toContain('"thoughtSignature":"OWN"');
  expect(sent(own, 'stripped')).not.toContain('OWN');
  expect(sent('other', 'carried')).not.toContain('OWN');
});

test('P014 after a refusal native calls get what was remembered for them, and keep what was issued', () => {
  const { capabilities } = targetOf('gemini-2.5-pro');
  const family = capabilities.signatureFamily;
  const model = (id: string, thoughtSignature: string) => ({
    role: 'model',
    parts: [{ functionCall: { id, name: 'w', args: {} }, thoughtSignature }],
  });
  const answer = (id: string) => ({
    role: 'user',
    parts: [{ functionResponse: { id, name: 'w', response: {} } }],
  });
  const sent = (first: string, second: string) => {
    const target = targetOf('gemini-2.5-pro', {
      signatures: 'remembered',
      recall: recallOf({
        call: ({ id }) => ({ signature: { value: `OF${id}`, family } }),
        value: ({ value }) =>
          value.startsWith('OF') ? { signature: { value, family } } : undefined,
      }),
    });
    const body = {
      contents: [...contents, model('a', first), answer('a'), model('b', second), answer('b')],
    };
    const text = JSON.stringify(patch(body, target, gemini));
    return [...text.matchAll(/"thoughtSignature":"([^"]*)"/g)].map((match) => match[1]);
  };
  expect(sent('OFa', 'OF')).toEqual(['OFa', 'OFb']);
  expect(sent(`gw1:${family}:tool-call:dam`, 'AAAA')).toEqual(['OFa', 'OFb']);
  expect(sent('OFa', 'OFb')).toEqual([]);
});
