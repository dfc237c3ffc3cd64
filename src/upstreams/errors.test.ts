import { expect, test } from 'vitest';
import { blamesModel, refusalError } from './errors.ts';

function refuse(message: string, status = 400) {
  return refusalError({ kind: 'rejected', status, message, excerpt: message, secrets: [] });
}

test.each([
  [
    'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    'prompt is too long: 1200000 tokens > 1048576 maximum',
  ],
  [
    'Unable to submit request because the input token count is 37009 but the model only supports up to 32768.',
    'prompt is too long: 37009 tokens > 32768 maximum',
  ],
  [
    'prompt is too long: 210000 tokens > 200000 maximum',
    'prompt is too long: 210000 tokens > 200000 maximum',
  ],
  [
    'input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again',
    'prompt is too long: 209573 tokens > 200000 maximum',
  ],
  [
    "This model's maximum context length is 8192 tokens. However, you requested 10000 tokens (9000 in the messages, 1000 in the completion).",
    'prompt is too long: 10000 tokens > 8192 maximum',
  ],
  [
    'Your input exceeds the context window of this model. Please adjust your input and try again.',
    'prompt is too long',
  ],
  [
    'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens.',
    'prompt is too long: 300000 tokens > 272000 maximum',
  ],
  [
    "This model's maximum prompt length is 131072 but the request contains 200000 tokens.",
    'prompt is too long: 200000 tokens > 131072 maximum',
  ],
  [
    'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
    'prompt is too long: 40000 tokens > 32768 maximum',
  ],
  [
    'request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it',
    'prompt is too long: 5000 tokens > 4096 maximum',
  ],
  [
    'The decoder prompt (length 5000) is longer than the maximum model length of 4096.',
    'prompt is too long: 5000 tokens > 4096 maximum',
  ],
  [
    'The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 5000>= n_ctx: 4096).',
    'prompt is too long: 5000 tokens > 4096 maximum',
  ],
  [
    'Invalid request: Your request exceeded model token limit: 131072',
    'prompt is too long: the maximum is 131072 tokens',
  ],
  ['Prompt exceeds max length', 'prompt is too long'],
  [
    '<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]',
    'prompt is too long: the maximum is 30720 tokens',
  ],
  [
    "litellm.ContextWindowExceededError: Error code: 400 - {'error': {'message': \"gpt-4-1106: This model's maximum context length is 196608 tokens. However, your messages resulted in 199906 tokens.\", 'code': 400}}",
    'prompt is too long: 199906 tokens > 196608 maximum',
  ],
  [
    'invalid params, context window exceeds limit (2013)',
    'prompt is too long: it exceeds what the model can read',
  ],
  [
    'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 32769. Given: 40000 `inputs` tokens and 100 `max_new_tokens`',
    'prompt is too long: 40000 tokens > 32769 maximum',
  ],
  [
    'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 3900 `inputs` tokens and 500 `max_new_tokens`',
    'prompt is too long: 4400 tokens > 4097 maximum',
  ],
  [
    "'max_tokens' or 'max_completion_tokens' is too large: 500. This model's maximum context length is 4096 tokens and your request has 3996 input tokens (500 > 4096 - 3996).",
    'prompt is too long: 4496 tokens > 4096 maximum',
  ],
  [
    'max_total_tokens (172191) must be less than or equal to max_seq_len (131072)',
    'prompt is too long: 172191 tokens > 131072 maximum',
  ],
  [
    'length of prompt_tokens (68957) must be less than max_seq_len (65536).',
    'prompt is too long: 68957 tokens > 65536 maximum',
  ],
  ['Input is too long for requested model.', 'prompt is too long'],
])('a prompt that is too long is known as such: %s', (message, words) => {
  const error = refuse(message);
  expect(error.reason).toBe('context-length');
  expect(error.message).toContain(words);
});

test.each([
  'max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens',
  'max_tokens is too large: 50000. This model supports at most 16384 completion tokens.',
  "Invalid 'messages[0].name': string too long. Expected a string with maximum length 64.",
  'tools: too many tools, the maximum is 128',
])('another limit is not taken for it: %s', (message) => {
  expect(refuse(message).reason).toBeUndefined();
});

test.each([
  [
    'Failed to deserialize the JSON body into the target type: messages[1]: unknown variant `tool`',
    'unknown variant `tool`',
  ],
  ['prompt is too long: 5000 tokens > 4096 maximum\n', 'prompt is too long: 5000 tokens'],
  ['Bad Request', 'refused the request with status 400'],
  ['{"ok": false, "why": 7}', 'refused the request with status 400'],
  ['<p>Bad Request of a proxy</p>', 'refused the request with status 400'],
])('a refusal that is a line of text is told in its words: %s', (excerpt, words) => {
  const error = refusalError({ kind: 'rejected', status: 400, message: '', excerpt, secrets: [] });
  expect(error.message).toContain(words);
});

test.each([
  ['The model `llama2-70b-4096` has been decommissioned and is no longer supported.', true],
  ["The model 'a/b-2.7' is retired.", true],
  ["The model 'a/b' has reached its end of life on 2026-05-14.", true],
  ['Model Not Exist', true],
  ['nobody/nothing is not a valid model ID', true],
  ['Unknown Model, please check the model code.', true],
  ['Model not found: grok-1', true],
  ['The requested model is not supported.', true],
  ['Model x does not support image input', false],
  ['Tool y not found in tools', false],
  ["'temperature' is not supported with this model.", false],
])('%s: a model that is gone is told from what a model cannot do', (message, isGone) => {
  expect(blamesModel(message)).toBe(isGone);
});

test('who asks where the upstream has nothing is told to look at its address', () => {
  const fault = { kind: 'path', message: '', excerpt: '404 page not found', secrets: [] } as const;
  expect(refusalError({ ...fault, status: 404 }).message).toContain('base_url');
  expect(refusalError({ ...fault, status: 500 }).message).toBe('The upstream failed to answer.');
});
