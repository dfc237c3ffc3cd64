import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { user } from '../../../test/support/canonical.ts';
import type { CanonicalRequest } from '../../canonical/request.ts';
import { encode } from './encode.ts';
import { capabilitiesOf } from './models.ts';
import { createVertexProfile } from './profiles.ts';
import { gemini, requestOf, sandbox, targetOf } from './requests.test-support.ts';

const encodeFor = (modelId: string, fields: Partial<CanonicalRequest> = {}) =>
  encode(requestOf(fields), targetOf(modelId), sandbox);

const configFor = (modelId: string, fields: Partial<CanonicalRequest>) =>
  encodeFor(modelId, fields).generationConfig;

test('V010 a plain question', () => {
  expect(encodeFor('alpha-3-flash', { maxOutputTokens: 50 })).toEqual({
    contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
    generationConfig: { maxOutputTokens: 50 },
  });
});

test('V011 V080 instructions keep their order, one part each, and carry no cache hints', () => {
  const system = [
    { kind: 'text', text: 'A', cacheHint: true },
    { kind: 'text', text: 'B' },
  ] as const;
  expect(encodeFor('alpha-3-flash', { system }).systemInstruction).toEqual({
    parts: [{ text: 'A' }, { text: 'B' }],
  });
});

test('V035 P071 the output limit is capped to the model', () => {
  const target = targetOf('beta-sonnet-4-6');
  const body = encode(requestOf({ maxOutputTokens: 200_000 }), target, sandbox);
  expect(body.generationConfig).toEqual({ maxOutputTokens: 64_000 });
  expect(target.receipt.entries).toMatchObject([{ action: 'capped', path: 'max_tokens' }]);
});

test('V040 V086 stop sequences, choices and sampling are copied, nothing is added', () => {
  const fields = {
    stopSequences: ['END'],
    choices: 2,
    sampling: { temperature: 0.7, topP: 0.9, topK: 40, seed: 7, logprobs: { alternatives: 3 } },
  };
  expect(configFor('alpha-3-flash', fields)).toEqual({
    temperature: 0.7,
    topP: 0.9,
    topK: 40,
    seed: 7,
    responseLogprobs: true,
    logprobs: 3,
    candidateCount: 2,
    stopSequences: ['END'],
  });
});

test.each(['alpha-3-pro-image', 'beta-sonnet-4-6', 'gemini-2.5-flash-image'])(
  'log-probabilities of %s are refused: it gives none',
  (modelId) => {
    const sampling = { logprobs: { alternatives: 0 } };
    expect(() => encodeFor(modelId, { sampling })).toThrow(/^logprobs: this model gives none/);
  },
);

test('more answers than the upstream gives are refused', () => {
  expect(() => encodeFor('alpha-3-flash', { choices: 9 })).toThrow(/^n: at most 8/);
});

test('a seed or a top-k beyond the wire’s range is fitted to it, always the same way', () => {
  const target = targetOf('alpha-3-flash');
  const sampling = { seed: 2 ** 32 + 7, topK: 100_000 };
  const body = encode(requestOf({ sampling }), target, sandbox);
  expect(body.generationConfig).toEqual({ seed: 7, topK: 1000 });
  expect(target.receipt.entries.map(({ path }) => path)).toEqual(['top_k', 'seed']);
  expect(configFor('alpha-3-flash', { sampling: { seed: -5 } })).toEqual({ seed: -5 });
});

test.each([
  'gemini-2.5-flash',
  'gemini-2.5-flash-image',
  'gemini-3-pro-preview',
  'gemini-3.8-flash',
])(
  'penalties stay away from %s, which refuses them, and the receipt says so where they ask for anything',
  (modelId) => {
    const target = targetOf(modelId);
    const sampling = { presencePenalty: 0, frequencyPenalty: 0.5, temperature: 1 };
    const body = encode(requestOf({ sampling }), target, gemini);
    expect(body.generationConfig).toEqual({ temperature: 1 });
    expect(target.receipt.entries).toMatchObject([
      { action: 'dropped', path: 'frequency_penalty' },
    ]);
  },
);

test('penalties go to every other model, and on Vertex AI to one generation more', () => {
  const sampling = { presencePenalty: -2, frequencyPenalty: 2 };
  const onVertex = (modelId: string) =>
    encode(requestOf({ sampling }), targetOf(modelId), createVertexProfile()).generationConfig;
  expect(onVertex('gemini-2.5-flash')).toEqual(sampling);
  expect(onVertex('gemini-3-flash-preview')).toBeUndefined();
  expect(configFor('alpha-3-flash', { sampling })).toEqual(sampling);
  expect(configFor('gemini-2.0-flash', { sampling })).toEqual(sampling);
});

test('V085 structured output sets the media type and a cleaned schema', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a', 'zz'] };
  expect(configFor('alpha-3-flash', { outputFormat: { kind: 'json' } })).toEqual({
    responseMimeType: 'application/json',
  });
  expect(
    configFor('alpha-3-flash', { outputFormat: { kind: 'json-schema', schema } }),
  ).toMatchObject({
    responseMimeType: 'application/json',
    responseSchema: { properties: { a: {} }, required: ['a'] },
  });
});

test('safety, modalities, images and resolution have their own words', () => {
  const body = encodeFor('alpha-3-pro-image', {
    safety: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
    outputModalities: ['text', 'image'],
    image: { aspectRatio: '16:9', size: '2K' },
    mediaResolution: 'low',
  });
  expect(body).toMatchObject({
    safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
    generationConfig: {
      responseModalities: ['TEXT', 'IMAGE'],
      imageConfig: { aspectRatio: '16:9', imageSize: '2K' },
      mediaResolution: 'MEDIA_RESOLUTION_LOW',
    },
  });
});

test('P018 image options stay away from models that draw nothing, and the receipt says so', () => {
  const target = targetOf('alpha-3-flash');
  const body = encode(requestOf({ image: { aspectRatio: '1:1' } }), target, sandbox);
  expect(body.generationConfig).toBeUndefined();
  expect(target.receipt.entries).toMatchObject([{ action: 'dropped', path: 'size' }]);
});

test.each([
  ['2K', [{ action: 'approximated', path: 'size' }]],
  ['1K', []],
] as const)('a model that draws in one size is asked for none: %s', (size, entries) => {
  const capabilities = capabilitiesOf(gemini, 'gemini-2.5-flash-image');
  const target = targetOf('gemini-2.5-flash-image', { capabilities });
  const request = requestOf({ image: { aspectRatio: '16:9', size } });
  expect(encode(request, target, gemini).generationConfig).toEqual({
    imageConfig: { aspectRatio: '16:9' },
  });
  expect(target.receipt.entries).toMatchObject(entries);
});

test('a service tier goes only to upstreams that know it', () => {
  const request = requestOf({ serviceTier: 'flex' });
  const target = targetOf('alpha-3-flash');
  expect(encode(request, target, sandbox).serviceTier).toBeUndefined();
  expect(target.receipt.entries).toHaveLength(1);
  expect(encode(request, targetOf('gemini-3-flash'), gemini).serviceTier).toBe('flex');
});

test('P074 session hints and unknown words never go upstream', () => {
  const fields = { session: { bodySession: 's' }, turns: [user('Hi')] };
  expect(Object.keys(encodeFor('alpha-3-flash', fields))).toEqual(['contents']);
});

test('a whole coding-client request equals its golden body', () => {
  const read = (name: string) =>
    JSON.parse(readFileSync(new URL(`./__fixtures__/${name}`, import.meta.url), 'utf8'));
  const request: CanonicalRequest = read('coding-client.json');
  const encodedFor = (modelId: string, profile: typeof sandbox) =>
    encode(request, targetOf(modelId), profile);
  expect(encodedFor('alpha-3-flash', sandbox)).toEqual(read('coding-client.sandbox.golden'));
  expect(encodedFor('gemini-3-pro-preview', gemini)).toEqual(read('coding-client.gemini.golden'));
});
