import { expect, test } from 'vitest';
import type { Effort, ReasoningAmount } from '../../canonical/effort.ts';
import { encode } from './encode.ts';
import { limitOutput } from './encode-config.ts';
import { requestOf, sandbox, targetOf } from './requests.test-support.ts';

const configFor = (modelId: string, amount: ReasoningAmount, maxOutputTokens?: number) =>
  encode(requestOf({ reasoning: { amount }, maxOutputTokens }), targetOf(modelId), sandbox)
    .generationConfig;

const thinkingFor = (modelId: string, amount: ReasoningAmount) => {
  const config = configFor(modelId, amount);
  return config instanceof Object && 'thinkingConfig' in config ? config.thinkingConfig : undefined;
};

const budget = (tokens: number): ReasoningAmount => ({ kind: 'budget', tokens });
const effort = (word: Effort): ReasoningAmount => ({ kind: 'effort', effort: word });

test('a text to be spoken has a voice of this wire, and how to speak it stands before it', () => {
  const target = targetOf('alpha-3-flash');
  const spoken = { voice: 'Kore', format: 'wav', instructions: 'Softly' } as const;
  const turns = [{ role: 'user', parts: [{ kind: 'text', text: 'Hello' }] }] as const;
  const encodedWith = (change: object) =>
    encode(requestOf({ turns, spoken: { ...spoken, ...change } }), target, sandbox);
  expect(encodedWith({})).toMatchObject({
    contents: [{ parts: [{ text: 'Softly:\n' }, { text: 'Hello' }] }],
    generationConfig: {
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
    },
  });
  expect(target.receipt.entries).toEqual([]);
  const other = encodedWith({ voice: 'nova', format: 'mp3', speed: 2 });
  expect(other.generationConfig).toBeUndefined();
  expect(target.receipt.entries.map(({ action, path }) => `${action} ${path}`)).toEqual([
    ...['approximated response_format', 'dropped speed', 'approximated voice'],
  ]);
});

test('V028 a budget is sent with the thoughts, beside the limit', () => {
  expect(configFor('alpha-3-flash', budget(8192), 20_000)).toEqual({
    maxOutputTokens: 20_000,
    thinkingConfig: { includeThoughts: true, thinkingBudget: 8192 },
  });
});

test('V029 P015 a budget above the cap becomes the cap', () => {
  expect(thinkingFor('alpha-3-flash', budget(40_000))).toMatchObject({ thinkingBudget: 24_576 });
  expect(thinkingFor('gemini-2.5-pro', budget(40_000))).toMatchObject({ thinkingBudget: 32_768 });
});

test('V031 adaptive thinking is a fixed budget without a level', () => {
  expect(thinkingFor('alpha-3-pro-high', { kind: 'adaptive' })).toEqual({
    includeThoughts: true,
    thinkingBudget: 24_576,
  });
});

test.each([
  ['low', 8192],
  ['medium', 16_384],
  ['high', 24_576],
  ['minimal', 1024],
  ['max', 32_768],
] as const)('V032 the effort %s is %i tokens', (word, tokens) => {
  expect(thinkingFor('alpha-3-pro-high', effort(word))).toMatchObject({ thinkingBudget: tokens });
});

test('V033 P121 an image model gets no thinking configuration, and the receipt says so', () => {
  const target = targetOf('alpha-3-pro-image');
  const body = encode(requestOf({ reasoning: { amount: { kind: 'adaptive' } } }), target, sandbox);
  expect(body.generationConfig).toBeUndefined();
  expect(target.receipt.entries).toMatchObject([{ action: 'dropped', path: 'thinking' }]);
});

test('V027 off is silence for models that think only when asked', () => {
  expect(thinkingFor('alpha-3-flash', { kind: 'off' })).toBeUndefined();
});

test('off is said to models that think unasked, as far as they can stop', () => {
  const off = { kind: 'off' } as const;
  expect(thinkingFor('gemini-2.5-flash', off)).toEqual({
    includeThoughts: false,
    thinkingBudget: 0,
  });
  expect(thinkingFor('gemini-2.5-pro', off)).toEqual({
    includeThoughts: false,
    thinkingBudget: 128,
  });
  expect(thinkingFor('gemini-3-pro', off)).toEqual({
    includeThoughts: false,
    thinkingLevel: 'LOW',
  });
  expect(thinkingFor('gemini-3-flash', off)).toEqual({
    includeThoughts: false,
    thinkingLevel: 'MINIMAL',
  });
});

test.each([
  ['gemini-3-flash', budget(1000), 'MINIMAL'],
  ['gemini-3-pro', budget(1000), 'LOW'],
  ['gemini-3-pro', budget(8192), 'LOW'],
  ['gemini-3-pro', effort('medium'), 'HIGH'],
  ['gemini-3.1-pro', effort('medium'), 'MEDIUM'],
  ['gemini-3.1-pro', budget(30_000), 'HIGH'],
  ['gemini-3.8-flash', effort('minimal'), 'LOW'],
  ['gemini-3.8-flash', effort('max'), 'HIGH'],
] as const)('P018 P019 %s gets the level nearest to %j and no budget', (id, amount, level) => {
  expect(thinkingFor(id, amount)).toEqual({ includeThoughts: true, thinkingLevel: level });
});

test('where nothing is asked nothing is sent, save to see the thoughts', () => {
  expect(thinkingFor('gemini-3-pro', { kind: 'unset' })).toBeUndefined();
  const reasoning = { amount: { kind: 'unset' }, showThoughts: true } as const;
  const body = encode(requestOf({ reasoning }), targetOf('gemini-3-pro'), sandbox);
  expect(body.generationConfig).toEqual({ thinkingConfig: { includeThoughts: true } });
});

test('P016 an output limit below the budget is raised above it, within the cap', () => {
  expect(configFor('alpha-3-flash', budget(8192), 1000)).toMatchObject({ maxOutputTokens: 9192 });
  expect(configFor('beta-opus-4-6-thinking', budget(32_000), 32_000)).toMatchObject({
    maxOutputTokens: 64_000,
  });
});

test.each([
  ['gemini-3-pro', budget(9000), /nearest is HIGH/],
  ['gemini-3-flash', { kind: 'off' }, /cannot stop thinking; its lowest level is MINIMAL/],
  ['gemini-3-pro', effort('minimal'), /nearest is LOW/],
  ['gemini-3-flash', effort('xhigh'), /nearest is HIGH/],
  ['gemini-3-flash', effort('max'), /nearest is HIGH/],
] as const)('%s notes that %j is no level of its own', (id, amount, reason) => {
  const target = targetOf(id);
  encode(requestOf({ reasoning: { amount } }), target, sandbox);
  expect(target.receipt.entries).toMatchObject([
    { action: 'approximated', path: 'thinking', reason: { text: expect.stringMatching(reason) } },
  ]);
});

test.each(['gemini-3-flash', 'gemini-2.5-pro'])(
  '%s tells clients without a word for thinking nothing of what it cannot stop',
  (id) => {
    const target = targetOf(id);
    const reasoning = { amount: { kind: 'off', isUnasked: true } } as const;
    const body = encode(requestOf({ reasoning }), target, sandbox);
    expect(body.generationConfig).toMatchObject({ thinkingConfig: { includeThoughts: false } });
    expect(target.receipt.entries).toEqual([]);
  },
);

test.each([
  ['gemini-3-pro', effort('high')],
  ['gemini-3-flash', effort('minimal')],
  ['gemini-3-pro', { kind: 'adaptive' }],
] as const)('%s takes %j as it is', (id, amount) => {
  const target = targetOf(id);
  encode(requestOf({ reasoning: { amount } }), target, sandbox);
  expect(target.receipt.entries).toEqual([]);
});

test.each([100_000, 5])('a verbatim budget of %i is sent as it is', (tokens) => {
  const amount: ReasoningAmount = { kind: 'budget', tokens, isVerbatim: true };
  expect(thinkingFor('gemini-2.5-flash', amount)).toMatchObject({ thinkingBudget: tokens });
});

test.each([
  ['alpha-3-pro-high', 4096, 2048],
  // It cannot stop thinking, and half the limit is less than it takes.
  ['gemini-2.5-pro', 81, -1],
  ['gemini-2.5-flash', 1, 0],
  ['alpha-3-pro-high', 30_000, 8192],
])(
  'a limit set on a body of %s lowers thinking below it: %i tokens leave %i',
  (modelId, most, left) => {
    const target = targetOf(modelId);
    const reasoning = { amount: budget(8192) };
    const body = encode(requestOf({ reasoning, maxOutputTokens: 32_000 }), target, sandbox);
    expect(limitOutput(body, most, target).generationConfig).toEqual({
      maxOutputTokens: most,
      thinkingConfig: { includeThoughts: true, thinkingBudget: left },
    });
  },
);
