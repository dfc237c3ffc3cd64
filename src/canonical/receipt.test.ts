import { expect, test } from 'vitest';
import { told } from '../lib/localized-message.ts';
import { GatewayError, invalidRequest } from './error.ts';
import { createReceipt, inClientNames } from './receipt.ts';

const names = { stop: 'stop_sequences', max_tokens: 'generationConfig.maxOutputTokens' };

const thrown = (work: () => never): unknown => {
  try {
    return inClientNames(names, createReceipt(), work);
  } catch (error) {
    return error;
  }
};

test('receipt entries name the fields of the client; other paths are already its own', () => {
  const receipt = createReceipt();
  const answer = inClientNames(names, receipt, (named) => {
    named.add('capped', 'max_tokens', told`r`);
    named.add('dropped', 'stop[5]', told`r`);
    named.add('dropped', 'stopped', told`r`);
    named.add('dropped', 'tools[2].input_schema.stop', told`r`);
    return named.entries.length;
  });
  expect(answer).toBe(4);
  expect(receipt.entries.map(({ path }) => path)).toEqual([
    'generationConfig.maxOutputTokens',
    'stop_sequences[5]',
    'stopped',
    'tools[2].input_schema.stop',
  ]);
});

test('an error names the field of the client, in its message too', () => {
  const error = thrown(() => {
    throw invalidRequest('stop', 'stop: too many.', 'unsupported');
  });
  expect(error).toBeInstanceOf(GatewayError);
  expect(error).toMatchObject({
    field: 'stop_sequences',
    message: 'stop_sequences: too many.',
    kind: 'invalid-request',
    reason: 'unsupported',
  });
});

test('errors without such a field are thrown as they are', () => {
  const errors = [invalidRequest('tools[1]', 'tools[1]: no.'), new Error('bug')];
  for (const error of errors) {
    expect(
      thrown(() => {
        throw error;
      }),
    ).toBe(error);
  }
});
