import { expect, test } from 'vitest';
import { describeConfiguration } from './describe.ts';

test('docs/configuration.md is what the schema and the variables say', async () => {
  await expect(describeConfiguration()).toMatchFileSnapshot('../../docs/configuration.md');
});

test('every key and variable has a meaning', () => {
  expect(describeConfiguration()).not.toMatch(/\| {2,}\|/);
});
