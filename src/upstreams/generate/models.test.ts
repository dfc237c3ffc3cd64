import { expect, test } from 'vitest';
import { capabilitiesOf, traitsOf } from './models.ts';

const profile = { capabilityOverrides: {} };

const thinking = (modelId: string) => capabilitiesOf(profile, modelId).thinking;

test('P001 P002 signature handling follows the generation, not a list of names', () => {
  for (const id of ['gemini-3-flash-preview', 'gemini-3.1-pro-preview', 'gemini-9-flash']) {
    expect(capabilitiesOf(profile, id).unsignedCalls).toBe('sentinel');
  }
  for (const id of ['gemini-2.5-pro', 'gemini-2.5-flash', 'gemini-2.0-flash']) {
    expect(capabilitiesOf(profile, id).unsignedCalls).toBe('accepted');
  }
});

test('budget models have the range of their generation', () => {
  expect(thinking('gemini-2.5-pro')).toMatchObject({ minTokens: 128, canDisable: false });
  expect(thinking('gemini-2.5-flash')).toMatchObject({ minTokens: 0, maxTokens: 24_576 });
  expect(thinking('gemini-2.5-flash-lite')).toMatchObject({ minTokens: 512, canDisable: true });
  expect(thinking('alpha-3-flash')).toMatchObject({ kind: 'budget', maxTokens: 24_576 });
  expect(thinking('alpha-3-pro-high')).toMatchObject({ kind: 'budget', maxTokens: 32_768 });
  expect(thinking('beta-sonnet-4-6')).toMatchObject({ kind: 'budget', minTokens: 1024 });
});

test.each([
  ['gemini-3-pro-preview', ['LOW', 'HIGH']],
  ['gemini-3.1-pro-preview', ['LOW', 'MEDIUM', 'HIGH']],
  ['gemini-3-flash-preview', ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH']],
  ['gemini-3.5-flash-lite', ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH']],
  ['gemini-3.7-flash', ['LOW', 'MEDIUM', 'HIGH']],
  ['models/gemini-3.8-flash', ['LOW', 'MEDIUM', 'HIGH']],
  ['gemini-4-pro', ['LOW', 'HIGH']],
])('%s takes the levels %j', (id, levels) => {
  expect(thinking(id)).toEqual({ kind: 'level', levels });
});

test('P022 an image model with "pro" in its name does not think', () => {
  const older = ['alpha-3-pro-image', 'gemini-3-pro-image-preview', 'gemini-2.5-flash-image'];
  for (const id of [...older, 'gemini-nano-banana-2.1', 'nano-banana-pro-preview']) {
    expect(capabilitiesOf(profile, id)).toMatchObject({
      thinking: { kind: 'none' },
      drawsImages: true,
    });
  }
});

test('limits from the upstream list win over built-in ones', () => {
  const listed = { id: 'alpha-3-flash', inputTokenLimit: 1000, outputTokenLimit: 500 };
  expect(capabilitiesOf(profile, 'alpha-3-flash', listed)).toMatchObject({
    inputTokenLimit: 1000,
    outputTokenLimit: 500,
  });
});

test('the upstream list decides whether a model thinks at all', () => {
  const listed = (id: string, supportsThinking: boolean) =>
    capabilitiesOf(profile, id, { id, supportsThinking }).thinking.kind;
  expect(listed('beta-sonnet-4-6', false)).toBe('none');
  expect(listed('house-model-1', true)).toBe('budget');
  expect(listed('alpha-3-pro-image', true)).toBe('none');
});

test('an unknown model is asked for nothing special', () => {
  expect(capabilitiesOf(profile, 'house-model-1')).toMatchObject({
    thinking: { kind: 'none' },
    searchWithFunctions: false,
    signatureFamily: 'house',
  });
});

test('Gemma takes instructions and calls functions from generation 4 on', () => {
  for (const id of ['gemma-3-27b-it', 'gemma-3n-e4b-it', 'gemma-2-9b-it', 'gemma-7b-it']) {
    const early = { takesInstructions: false, callsFunctions: false };
    expect(capabilitiesOf(profile, id)).toMatchObject(early);
  }
  const listed = { id: 'gemma-4-31b-it', supportsThinking: true };
  expect(capabilitiesOf(profile, 'gemma-4-31b-it', listed)).toMatchObject({
    takesInstructions: true,
    callsFunctions: true,
    thinking: { kind: 'budget' },
  });
});

test('both vocabularies of one family share signatures', () => {
  expect(capabilitiesOf(profile, 'gemini-3-flash-preview').signatureFamily).toBe('alpha');
  expect(capabilitiesOf(profile, 'alpha-3-pro-high').signatureFamily).toBe('alpha');
  expect(capabilitiesOf(profile, 'claude-sonnet-4-6').signatureFamily).toBe('beta');
});

test('what the profile says wins over the model data', () => {
  const refusing = { capabilityOverrides: { unsignedCalls: 'refused' } } as const;
  expect(capabilitiesOf(refusing, 'gemini-2.5-pro').unsignedCalls).toBe('refused');
});

test('neutral models think only when asked, real ones unless told not to', () => {
  expect(traitsOf('alpha-3-flash').thinksUnasked).toBe(false);
  expect(traitsOf('gemini-2.5-flash').thinksUnasked).toBe(true);
});
