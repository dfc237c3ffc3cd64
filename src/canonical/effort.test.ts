import { expect, test } from 'vitest';
import { amountOfBudget, amountOfWord, tokensOfAmount } from './effort.ts';

test.each([
  ['none', 0],
  ['minimal', 1024],
  ['low', 8192],
  ['medium', 16_384],
  ['high', 24_576],
  ['xhigh', 30_000],
  ['max', 30_000],
])('%s stands for %i tokens on a model with a cap of 30000', (word, tokens) => {
  const amount = amountOfWord(word);
  expect(amount && tokensOfAmount(amount, 30_000)).toBe(tokens);
});

test('a word that is no effort says nothing', () => {
  expect(amountOfWord('HIGH')).toBeUndefined();
  expect(amountOfWord('constructor')).toBeUndefined();
});

test('a budget of 0 is off, a negative one is left to the model', () => {
  expect([0, -1, 5].map(amountOfBudget)).toEqual([
    { kind: 'off' },
    { kind: 'adaptive' },
    { kind: 'budget', tokens: 5 },
  ]);
  expect(tokensOfAmount(amountOfBudget(-1), 8192)).toBe(24_576);
  expect(tokensOfAmount({ kind: 'unset' }, 8192)).toBeUndefined();
});
