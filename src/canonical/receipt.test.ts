import { expect, test } from 'vitest';
import { told } from '../lib/localized-message.ts';
import { GatewayError, invalidRequest } from './error.ts';
import { clientField, createReceipt, receiptInClientNames, renameField } from './receipt.ts';

const names = { stop: 'stop_sequences', max_tokens: 'generationConfig.maxOutputTokens' };

const renamed = (error: Error): unknown => renameField(error, (path) => clientField(path, names));

test('receipt entries name the fields of the client; other paths are already its own', () => {
  const receipt = createReceipt();
  const named = receiptInClientNames(names, receipt);
  named.add('capped', 'max_tokens', told`r`);
  named.add('dropped', 'stop[5]', told`r`);
  named.add('dropped', 'stopped', told`r`);
  named.add('dropped', 'tools[2].input_schema.stop', told`r`);
  expect(named.entries).toHaveLength(4);
  expect(receipt.entries.map(({ path }) => path)).toEqual([
    'generationConfig.maxOutputTokens',
    'stop_sequences[5]',
    'stopped',
    'tools[2].input_schema.stop',
  ]);
});

test('of what a thousand entries do not tell a last one says that there was more', () => {
  const [receipt, body] = [createReceipt(), createReceipt()];
  for (let at = 0; at < 5000; at += 1) {
    receipt.add('dropped', `field${at}`, told`r`);
    body.add('dropped', `field${at}`, told`r`);
  }
  expect(receipt.entries).toHaveLength(1001);
  expect(receipt.entries[999]?.path).toBe('field999');
  expect(receipt.entries[1000]?.reason.text).toBe('more was changed than is listed here');
  receipt.withdraw(body.entries);
  receipt.add('dropped', 'another', told`r`);
  expect(receipt.entries.map(({ path }) => path)).toEqual(['', 'another']);
});

test('an error names the field of the client, in its message too', () => {
  const error = renamed(invalidRequest('stop', 'stop: too many.', 'unsupported'));
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
  for (const error of errors) expect(renamed(error)).toBe(error);
});
