import { expect, test } from 'vitest';
import { limitOutput } from './encode-config.ts';

const thinking = (budget: number) => ({ type: 'enabled', budget_tokens: budget });

test.each([
  ['a body within the limit stays', { max_tokens: 500 }, { max_tokens: 500 }],
  ['a larger one gets the limit', { max_tokens: 32_000 }, { max_tokens: 4096 }],
  [
    'thinking that ends before stays',
    { max_tokens: 32_000, thinking: thinking(2000) },
    { max_tokens: 4096, thinking: thinking(2000) },
  ],
  [
    'longer thinking has half of the limit',
    { max_tokens: 32_000, thinking: thinking(8192) },
    { max_tokens: 4096, thinking: thinking(2048) },
  ],
  [
    'thinking that counts no tokens stays',
    { max_tokens: 32_000, thinking: { type: 'adaptive' } },
    { max_tokens: 4096, thinking: { type: 'adaptive' } },
  ],
])('of a limit set on a body that is sent: %s', (_what, body, limited) => {
  expect(limitOutput(body, 4096)).toEqual(limited);
});

test('a limit without room for thinking switches it off', () => {
  const body = { max_tokens: 32_000, thinking: thinking(8192) };
  expect(limitOutput(body, 1000)).toEqual({ max_tokens: 1000 });
});
