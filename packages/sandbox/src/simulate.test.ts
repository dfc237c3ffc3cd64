import { expect, test } from 'vitest';
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts';
import {
  ask,
  declare,
  model,
  refusal,
  simulateBody,
  testSignatures,
  text,
  user,
} from './sandbox.test-support.ts';
import { writeChunks, writeWhole } from './write-answer.ts';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const config = (generationConfig: JsonObject, words = 'hi'): JsonObject =>
  ask(words, { generationConfig });
const first = (body: JsonValue, modelId?: string) => simulateBody(body, modelId).candidates[0];
const said = (body: JsonValue, modelId?: string): string => first(body, modelId)?.text ?? '';
const callsOf = (body: JsonValue) =>
  first(body)?.calls.map(({ name, args }) => [name, args] as const);

test('a plain prompt is answered with a greeting and what arrived', () => {
  const image = { inlineData: { mimeType: 'image/png', data: PNG } };
  const body = {
    contents: [user(text('Grüße "dir"'), image)],
    systemInstruction: { parts: [text('Be brief.')] },
    generationConfig: { temperature: 0.2, thinkingConfig: { thinkingBudget: 512 } },
    ...declare('read', 'write'),
  };
  expect(said(body)).toBe(
    'HELLO-FROM-UPSTREAM. alpha-3-flash received 1 turn; the last user text is "Grüße "dir"". ' +
      'System text: 9 characters, beginning "Be brief.". Attached: image/png 1x1 px, 70 bytes. ' +
      'Functions (2): read, write. Settings: temperature 0.2, thinkingBudget 512.',
  );
});

test('a short output limit leaves later facts out; a shorter one cuts', () => {
  const short = first(config({ maxOutputTokens: 10, thinkingConfig: { thinkingBudget: 0 } }));
  expect(short).toMatchObject({ text: 'HELLO-FROM-UPSTREAM.', finishReason: 'STOP' });
  const cut = first(config({ maxOutputTokens: 2, thinkingConfig: { thinkingBudget: 0 } }));
  expect(cut).toMatchObject({ text: 'HELLO-FR', finishReason: 'MAX_TOKENS' });
});

test('UPSTREAM-WORDS gives a long text, which limits and stop sequences end', () => {
  const body = (generationConfig: JsonObject): JsonObject =>
    config(generationConfig, 'UPSTREAM-WORDS 1000');
  expect(said(body({}))).toMatch(/^word-1 .* word-1000$/);
  expect(first(body({ maxOutputTokens: 100 }))?.finishReason).toBe('MAX_TOKENS');
  const stopped = first(body({ stopSequences: [' word-9 ', ' word-3'], maxOutputTokens: 100 }));
  expect(stopped).toMatchObject({ text: 'word-1 word-2', finishReason: 'STOP' });
});

test('markers call declared functions, by the end of their name and any case', () => {
  const body = ask('CALL-TOOL READ {"path":"a"} CALL-TOOL mcp__x__write {"path":"b"}', {
    ...declare('mcp__x__read', 'mcp__x__write'),
  });
  expect(callsOf(body)).toEqual([
    ['mcp__x__read', { path: 'a' }],
    ['mcp__x__write', { path: 'b' }],
  ]);
});

test('a marker that leads to no call is explained', () => {
  expect(said(ask('CALL-TOOL nope {}', declare('read')))).toContain('No function nope is among');
  expect(said(ask('CALL-TOOL nope {}'))).toContain('No function nope may be called');
});

test('a response is answered with its first 80 characters and a nonce further in', () => {
  const call = { functionCall: { name: 'read', args: {} } };
  const body = (response: JsonObject, ...beside: JsonObject[]): JsonObject => ({
    contents: [
      user(text('go')),
      model({ ...call, thoughtSignature: testSignatures.issue(call, 'alpha') }),
      user({ functionResponse: { name: 'read', response } }, ...beside),
    ],
    ...declare('read'),
  });
  const long = `${'x'.repeat(100)} NONCE-00ff`;
  expect(said(body({ output: long }))).toBe(`TOOL-RESULT-SEEN: ${'x'.repeat(80)} NONCE-00ff`);
  expect(said(body({ any: 1 }))).toBe('TOOL-RESULT-SEEN: {"any":1}');
  const image = { inlineData: { mimeType: 'image/png', data: PNG } };
  expect(said(body({ error: 'no' }, image))).toBe(
    'TOOL-RESULT-SEEN: no [image/png 1x1 px, 70 bytes]',
  );
});

test('THEN-CALL-TOOL goes on step by step', () => {
  const prompt = 'CALL-TOOL a {} THEN-CALL-TOOL b {"n":1} THEN-CALL-TOOL c {}';
  const contents: JsonObject[] = [user(text(prompt))];
  const made: string[] = [];
  for (let round = 0; round < 4; round += 1) {
    const body = { contents, ...declare('a', 'b', 'c') };
    expect(refusal(body)).toBe('');
    const whole = writeWhole(simulateBody(body), testSignatures);
    const { content } = firstCandidate(whole);
    const name = first(body)?.calls[0]?.name;
    if (name === undefined) break;
    made.push(name);
    contents.push(content, user({ functionResponse: { name, response: { output: 'ok' } } }));
  }
  expect(made).toEqual(['a', 'b', 'c']);
});

test('V084 mode ANY forces the smallest call, NONE forbids calls', () => {
  const body = (mode: string, words: string): JsonObject =>
    ask(words, { ...declare('read'), toolConfig: { functionCallingConfig: { mode } } });
  expect(callsOf(body('ANY', 'go'))).toEqual([['read', { path: 'sandbox' }]]);
  expect(callsOf(body('NONE', 'CALL-TOOL read {}'))).toEqual([]);
});

test('V085 JSON mode answers pure JSON, by the schema when there is one', () => {
  const responseMimeType = 'application/json';
  const responseSchema = {
    type: 'OBJECT',
    properties: { kind: { type: 'STRING', enum: ['a', 'b'] }, note: { type: 'STRING' } },
  };
  expect(JSON.parse(said(config({ responseMimeType, responseSchema })))).toEqual({
    kind: 'a',
    note: 'HELLO-FROM-UPSTREAM',
  });
  expect(JSON.parse(said(config({ responseMimeType })))).toMatchObject({
    greeting: 'HELLO-FROM-UPSTREAM',
  });
});

test('thoughts are shown when asked for, and none are made with a budget of 0', () => {
  const shown = simulateBody(
    config({ thinkingConfig: { includeThoughts: true, thinkingBudget: 8192 } }),
  );
  expect(shown.candidates[0]?.thoughts).toContain(
    'The user says "hi". I think within 8192 tokens.',
  );
  expect(shown.thinkingTokens).toBeGreaterThan(0);
  const off = simulateBody(
    config({ thinkingConfig: { includeThoughts: true, thinkingBudget: 0 } }),
  );
  expect([off.thinkingTokens, off.candidates[0]?.thoughts]).toEqual([0, '']);
  expect(simulateBody(ask('hi'), 'beta-sonnet-4-6').thinkingTokens).toBe(0);
});

test('UPSTREAM-FINISH and UPSTREAM-BLOCK decide how it ends', () => {
  expect(first(ask('UPSTREAM-FINISH SAFETY'))?.finishReason).toBe('SAFETY');
  expect(first(ask('UPSTREAM-FINISH MALFORMED_FUNCTION_CALL'))).toMatchObject({ text: '' });
  const blocked = writeWhole(simulateBody(ask('UPSTREAM-BLOCK SAFETY')), testSignatures);
  expect(blocked).toMatchObject({ promptFeedback: { blockReason: 'SAFETY' } });
  expect(blocked).not.toHaveProperty('candidates');
});

test('search grounding points into the text by UTF-8 bytes', () => {
  const candidate = first(ask('Füße und 東京', { tools: [{ vendoraSearch: {} }] }));
  const bytes = Buffer.from(candidate?.text ?? '');
  const { groundingSupports, webSearchQueries } = candidate?.groundingMetadata ?? {};
  expect(webSearchQueries).toEqual(['Füße und 東京']);
  const supports = Array.isArray(groundingSupports) ? groundingSupports.filter(isJsonObject) : [];
  expect(supports).toHaveLength(3);
  for (const { segment } of supports) {
    if (!isJsonObject(segment)) throw new Error('no segment');
    const { startIndex = 0, endIndex } = segment;
    expect(bytes.subarray(Number(startIndex), Number(endIndex)).toString()).toBe(segment.text);
  }
});

const STREAMED: readonly (readonly [name: string, body: JsonObject])[] = [
  [
    'text',
    ask('hi 🙂'.repeat(30), { generationConfig: { thinkingConfig: { includeThoughts: true } } }),
  ],
  ['calls', ask('CALL-TOOL a {} CALL-TOOL b {"x":1}', declare('a', 'b'))],
  ['candidates', config({ candidateCount: 3 })],
  ['search', ask('q', { tools: [{ vendoraSearch: {} }] })],
  ['block', ask('UPSTREAM-BLOCK')],
  ['an empty ending', ask('UPSTREAM-FINISH MALFORMED_FUNCTION_CALL')],
];

test.each(STREAMED)('a stream adds up to the whole answer: %s', (_name, body) => {
  const answer = simulateBody(body);
  const whole = writeWhole(answer, testSignatures);
  expect(addUp(writeChunks(answer, testSignatures))).toEqual(addUp([whole]));
});

test('every chunk holds parts, and usage only grows', () => {
  const chunks = writeChunks(simulateBody(config({ candidateCount: 2 })), testSignatures);
  const totals = chunks.map(({ usageMetadata }) =>
    isJsonObject(usageMetadata) ? Number(usageMetadata.totalTokenCount) : Number.NaN,
  );
  expect(totals).toEqual(totals.toSorted((left, right) => left - right));
  for (const chunk of chunks) expect(firstCandidate(chunk).content).toHaveProperty('parts');
});

/** The last usage, and what each candidate said, signatures of text aside (a stream's closes on '' ). */
function addUp(responses: readonly JsonObject[]): JsonObject {
  const merged = new Map<number, JsonObject>();
  for (const response of responses) {
    const { candidates } = response;
    for (const candidate of Array.isArray(candidates) ? candidates : []) {
      if (isJsonObject(candidate)) merge(merged, candidate);
    }
  }
  const { candidates: _some, ...rest } = responses.at(-1) ?? {};
  return { ...rest, merged: [...merged.values()] };
}

function merge(merged: Map<number, JsonObject>, candidate: JsonObject): void {
  const { index, content, ...ending } = candidate;
  const before = merged.get(Number(index)) ?? { text: '', thoughts: '', calls: [] };
  const parts = isJsonObject(content) && Array.isArray(content.parts) ? content.parts : [];
  const now: JsonObject = { ...before, ...ending };
  for (const part of parts.filter(isJsonObject)) {
    const key = part.thought === true ? 'thoughts' : 'text';
    if (part.functionCall === undefined) now[key] = `${now[key]}${part.text}`;
    else now.calls = [...(Array.isArray(now.calls) ? now.calls : []), part];
  }
  merged.set(Number(index), now);
}

function firstCandidate(response: JsonObject): { readonly content: JsonObject } {
  const candidate = Array.isArray(response.candidates) ? response.candidates[0] : undefined;
  const content = isJsonObject(candidate) ? candidate.content : undefined;
  if (!isJsonObject(content)) throw new Error('no content');
  return { content };
}
