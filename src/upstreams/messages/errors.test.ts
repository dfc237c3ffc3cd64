import { expect, test } from 'vitest';
import type { JsonObject } from '../../lib/json.ts';
import { classifyErrorFrame, classifyFailure } from './errors.ts';

const NOW = Date.UTC(2026, 10, 20, 12, 0, 0);

function classify(status: number, body: JsonObject | string, headers: Record<string, string> = {}) {
  return classifyFailure({
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    now: NOW,
    secrets: ['top-secret'],
  });
}

const errorOf = (type: string, message: string): JsonObject => ({
  type: 'error',
  error: { type, message },
});
const rejected = (message: string): JsonObject => errorOf('invalid_request_error', message);

test.each<[string, number, JsonObject | string, string]>([
  ['an overload', 529, errorOf('overloaded_error', 'Overloaded'), 'overloaded'],
  ['a rate limit', 429, errorOf('rate_limit_error', 'Too fast'), 'rate-limited'],
  ['money', 500, errorOf('api_error', 'insufficient balance (1008)'), 'quota-exhausted'],
  ['a bad key', 401, errorOf('authentication_error', 'invalid x-api-key'), 'unauthenticated'],
  ['a permission', 403, errorOf('permission_error', 'No access to this model'), 'model-forbidden'],
  [
    'an organization',
    403,
    errorOf('permission_error', 'This organization has been disabled.'),
    'forbidden',
  ],
  [
    'the same with another status',
    400,
    rejected('This organization has been disabled.'),
    'forbidden',
  ],
  [
    'a model that LiteLLM does not have',
    400,
    rejected('anthropic_messages: Invalid model name passed in model=x.'),
    'model-not-found',
  ],
  [
    'the key that LiteLLM has for a model',
    401,
    errorOf('authentication_error', 'litellm.AuthenticationError: AnthropicException - {}'),
    'model-forbidden',
  ],
  [
    'an overload behind LiteLLM',
    500,
    errorOf(
      'api_error',
      'litellm.InternalServerError: AnthropicError - {"type":"error","error":{"type":"overloaded_error"}}',
    ),
    'overloaded',
  ],
  [
    'a key that LiteLLM does not know, without a database',
    400,
    { error: { message: 'No connected db.', type: 'no_db_connection', code: '400' } },
    'unauthenticated',
  ],
  [
    'an allowance of Kimi Code that is gone',
    403,
    errorOf('permission_error', "You've reached your usage limit for this billing cycle."),
    'quota-exhausted',
  ],
  ['a firewall', 403, '<html>Blocked</html>', 'path'],
  ['a model', 404, errorOf('not_found_error', 'model: claude-9'), 'model-not-found'],
  ['a wrong address', 404, 'nothing here', 'path'],
  ['a large body', 413, errorOf('request_too_large', 'Too large'), 'rejected'],
  ['a body too large for what stands in between', 413, '<html>Too Large</html>', 'rejected'],
  ['billing', 402, errorOf('billing_error', 'Pay first'), 'quota-exhausted'],
  [
    'a low balance',
    400,
    rejected('Your credit balance is too low to access the API.'),
    'quota-exhausted',
  ],
  [
    'a spent allowance',
    400,
    rejected('You have reached your specified API usage limits.'),
    'quota-exhausted',
  ],
  ['a long prompt', 400, rejected('prompt is too long: 9 tokens > 8 maximum'), 'rejected'],
  ['a bad field', 400, rejected('max_tokens: Field required'), 'rejected'],
  [
    'a signature',
    400,
    rejected('messages.1.content.0: Invalid `signature` in `thinking` block'),
    'bad-signature',
  ],
  [
    'redacted thinking',
    400,
    rejected('messages.1.content.0: Invalid `data` in `redacted_thinking` block'),
    'bad-signature',
  ],
  [
    'a missing thought',
    400,
    rejected('Expected `thinking` or `redacted_thinking`, but found `tool_use`.'),
    'missing-signature',
  ],
  [
    'a missing thought before a text and calls',
    400,
    rejected('Expected `thinking` or `redacted_thinking`, but found `text`.'),
    'missing-signature',
  ],
  [
    'a country',
    403,
    errorOf('permission_error', 'Access is not allowed from unsupported countries'),
    'path',
  ],
  ['a fault of theirs', 500, errorOf('api_error', 'Internal server error'), 'path'],
  ['a page in between', 502, '<html>Bad gateway</html>', 'path'],
  ['another dialect', 400, { error: 'bad things' }, 'rejected'],
])('%s (%i) is of the kind it is', (_name, status, body, kind) => {
  expect(classify(status, body).failure?.kind).toBe(kind);
});

test('a status of a proxy says nothing of an account', () => {
  expect(classify(407, '').failure?.kind).toBe('path');
});

test('the wait is that of the header, of the words, or of the limit that is used up', () => {
  const limited = errorOf('rate_limit_error', 'Please try again in 12s.');
  expect(classify(429, limited, { 'retry-after': '7' }).retryAfterMs).toBe(7000);
  expect(classify(429, limited).retryAfterMs).toBe(12_000);
  expect(classify(429, limited, { 'retry-after': '0' }).retryAfterMs).toBe(12_000);
  const used = {
    'anthropic-ratelimit-requests-remaining': '0',
    'anthropic-ratelimit-requests-reset': '2026-11-20T12:00:40Z',
  };
  const unnamed = errorOf('rate_limit_error', 'Too fast');
  expect(classify(429, unnamed, used).retryAfterMs).toBe(40_000);
  expect(classify(429, unnamed, { ...used, 'retry-after': '0' }).retryAfterMs).toBe(40_000);
});

test('of the limits that are used up the one that comes back last is learnt', () => {
  const headers = {
    'anthropic-ratelimit-requests-limit': '50',
    'anthropic-ratelimit-requests-remaining': '0',
    'anthropic-ratelimit-requests-reset': '2026-11-20T12:00:30Z',
    'anthropic-ratelimit-tokens-remaining': '100',
    'anthropic-ratelimit-tokens-reset': '2026-11-20T12:05:00Z',
  };
  const { failure } = classify(429, errorOf('rate_limit_error', 'Too fast'), headers);
  expect(failure).toMatchObject({
    kind: 'rate-limited',
    quota: { limit: 50, resetsAt: NOW + 30_000 },
  });
});

test('a limit of hours is a quota that is gone', () => {
  const body = errorOf('rate_limit_error', 'Usage limit reached');
  expect(classify(429, body, { 'retry-after': '7200' }).failure?.kind).toBe('quota-exhausted');
});

test('the length of a prompt is told in words that clients look for', () => {
  const body = rejected('prompt is too long: 210000 tokens > 200000 maximum');
  expect(classify(400, body)).toMatchObject({
    reason: 'context-length',
    message: 'prompt is too long: 210000 tokens > 200000 maximum',
  });
});

test('secrets of the account are kept out of what is told', () => {
  const { message } = classify(400, rejected('top-secret: bad field'));
  expect(message).not.toContain('top-secret');
});

test.each([
  ['overloaded_error', 'overloaded'],
  ['rate_limit_error', 'rate-limited'],
  ['api_error', 'path'],
  ['invalid_request_error', 'rejected'],
])('%s inside an answer is as its status', (type, kind) => {
  expect(classifyErrorFrame({ type, message: 'No.' }, NOW).failure?.kind).toBe(kind);
});

test.each([
  [404, 'thread_not_found', { kind: 'not-found', reason: 'thread-not-found', field: 'thread' }],
  [
    400,
    'thread_unsupported_request',
    { kind: 'invalid-request', reason: 'unsupported', field: 'thread' },
  ],
] as const)(
  'with status %i, the code %s is the thread’s, and no fault of an account',
  (status, error_code, told) => {
    const error = { type: 'invalid_request_error', message: 'No thread', details: { error_code } };
    expect(classify(status, { type: 'error', error })).toMatchObject({
      ...told,
      message: 'No thread',
      failure: { kind: 'rejected' },
    });
  },
);

test('an upstream that has no threads is told as such, so that clients go on without one', () => {
  const message = 'thread: Extra inputs are not permitted';
  const error = { type: 'invalid_request_error', message };
  expect(classify(400, { type: 'error', error })).toMatchObject({
    ...{ kind: 'invalid-request', reason: 'unsupported', field: 'thread', message },
    failure: { kind: 'rejected' },
  });
});

test('a complaint that counts the tools names the one it means, behind its own words', () => {
  const tools = [{ type: 'web_search_20250305', name: 'web_search' }, { name: 'read' }];
  const said = (message: string): string =>
    classifyFailure({
      status: 400,
      headers: {},
      body: JSON.stringify(rejected(message)),
      now: NOW,
      tools,
    }).message;
  const at = (place: string): string => `${place}.custom.input_schema: JSON schema is invalid.`;
  expect(said(at('tools.1'))).toBe(`${at('tools.1')} (tools.1 is "read".)`);
  for (const other of [at('tools.2'), at('messages.1'), 'Too many tools.10']) {
    expect(said(other)).toBe(other);
  }
});
