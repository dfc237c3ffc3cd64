import { expect, test } from 'vitest';
import type { UpstreamFailureKind } from '../../canonical/failure.ts';
import type { JsonObject, JsonValue } from '../../lib/json.ts';
import { classifyErrorFrame, classifyFailure } from './errors.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');

function refuse(
  status: number,
  body: JsonValue,
  headers: Record<string, string> = { 'content-type': 'application/json' },
) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return classifyFailure({ status, headers, body: text, now: NOW, secrets: ['sk-secret'] });
}

const error = (message: string, type: string | null = null, code: JsonValue = null) => ({
  error: { message, type, param: null, code },
});

test.each<[number, JsonValue, UpstreamFailureKind]>([
  [401, error('Incorrect API key', 'invalid_request_error', 'invalid_api_key'), 'unauthenticated'],
  [401, 'no', 'unauthenticated'],
  [400, error('bad key', 'authentication_error'), 'unauthenticated'],
  [429, error('quota', 'insufficient_quota', 'insufficient_quota'), 'quota-exhausted'],
  [402, error('Insufficient Balance', 'unknown_error', 'invalid_request_error'), 'quota-exhausted'],
  [429, error('slow', 'requests', 'rate_limit_exceeded'), 'rate-limited'],
  [403, error('closed', null, 'account_deactivated'), 'forbidden'],
  [400, error('off', null, 'billing_not_active'), 'forbidden'],
  [404, error('The model `x` does not exist', null, 'model_not_found'), 'model-not-found'],
  [403, error('no access to model', null, 'model_not_found'), 'model-not-found'],
  [404, { error: { message: 'model "x" not found, try pulling it first' } }, 'model-not-found'],
  [404, { error: "model 'x' not found" }, 'model-not-found'],
  [404, { error: 'Repository Not Found for url: https://a.example/x' }, 'model-not-found'],
  [404, { error: 'System message must be at the beginning.' }, 'rejected'],
  [404, { object: 'error', message: 'The model x does not exist.', code: 404 }, 'model-not-found'],
  [
    410,
    { title: 'Gone', detail: 'The model x-2.7 has reached its end of life.' },
    'model-not-found',
  ],
  [410, '<html>gone</html>', 'path'],
  [404, { detail: 'Not Found' }, 'path'],
  [404, error('Invalid URL (POST /chat/completions)'), 'path'],
  [404, error('File Not Found', 'not_found_error'), 'path'],
  [404, '<html>gone</html>', 'path'],
  [403, error('Country not supported', null, 'unsupported_country_region_territory'), 'path'],
  [403, { error: { message: 'flagged', code: 403, metadata: { reasons: ['x'] } } }, 'rejected'],
  [403, { error: 'Content violates usage guidelines. Failed check: x' }, 'rejected'],
  [404, error('No endpoints found that support tool use. Try disabling "a".'), 'rejected'],
  [404, error('No endpoints found that support image input'), 'rejected'],
  [404, error('No endpoints found matching your data policy.'), 'model-forbidden'],
  [404, error('No endpoints found for a/b.'), 'model-not-found'],
  [403, error('not permitted'), 'model-forbidden'],
  [403, 'blocked by a firewall', 'path'],
  [400, error('too long', 'invalid_request_error', 'context_length_exceeded'), 'rejected'],
  [400, error('no', null, 'content_policy_violation'), 'rejected'],
  [422, { detail: [{ loc: ['body', 'messages', 0], msg: 'field required' }] }, 'rejected'],
  [400, error('Invalid `signature` in `reasoning_details`'), 'bad-signature'],
  [
    400,
    error(
      "messages.2.assistant.reasoning: property 'messages.2.assistant.reasoning' is unsupported",
    ),
    'bad-signature',
  ],
  [400, error("property 'reasoning_effort' is unsupported"), 'rejected'],
  [400, error('The `reasoning_content` in the thinking mode must be passed back'), 'rejected'],
  [503, error('busy', 'server_error'), 'overloaded'],
  [498, error('capacity', null, 'capacity_exceeded'), 'overloaded'],
  [500, error('The engine is currently overloaded, please try again later'), 'overloaded'],
  [500, error('oops', 'server_error'), 'path'],
  [500, error('insufficient balance (1008)', 'api_error'), 'quota-exhausted'],
  [500, error('Context size has been exceeded.', 'server_error'), 'rejected'],
  [502, '<html>bad gateway</html>', 'path'],
  [408, error('late'), 'path'],
  [413, error('too large'), 'rejected'],
  [413, '<html>Request Entity Too Large</html>', 'rejected'],
])('status %d with %j is %s', (status, body, kind) => {
  expect(refuse(status, body).failure?.kind).toBe(kind);
});

test.each<[string, number, JsonValue, UpstreamFailureKind]>([
  [
    'a model that it does not have',
    400,
    error(
      '/chat/completions: Invalid model name passed in model=x. Call `/v1/models` to view available models for your key.',
      'invalid_request_error',
      '400',
    ),
    'model-not-found',
  ],
  [
    'a key that it does not know, without a database',
    400,
    error('No connected db.', 'no_db_connection', '400'),
    'unauthenticated',
  ],
  [
    'its own key for the service behind it, which is no fault of the account',
    401,
    error(
      'litellm.BadRequestError: OpenAIException - The credential is not valid here.',
      'invalid_request_error',
      '401',
    ),
    'model-forbidden',
  ],
])('LiteLLM speaks of %s', (_name, status, body, kind) => {
  expect(refuse(status, body).failure?.kind).toBe(kind);
});

test('a body that llama-cpp-python does not take is refused in its words, without its files', () => {
  const words = "1 validation error:\n  {'type': 'int_parsing', 'loc': ('body', 'max_tokens')}";
  const body = error(`${words}\n\n  File "/opt/server/app.py", line 376`, 'internal_server_error');
  expect(refuse(500, body)).toMatchObject({ message: words, failure: { kind: 'rejected' } });
});

test.each([429, 413])(
  'a request that is larger than a whole minute allows is the client’s to make smaller (%d)',
  (status) => {
    const saying = (words: string) => refuse(status, error(words, 'tokens', 'rate_limit_exceeded'));
    const limit = 'on tokens per min (TPM): Limit 30000';
    expect(
      saying(`Request too large for gpt-5 in organization org-1 ${limit}, Requested 36055.`),
    ).toMatchObject({
      kind: 'too-large',
      message: `Request too large for gpt-5 ${limit}, Requested 36055.`,
      failure: { kind: 'rate-limited', isOversized: true },
    });
    const used = saying(`Rate limit reached ${limit}, Used 29000, Requested 2000.`);
    expect(used.failure?.isOversized).toBeUndefined();
  },
);

test.each<[JsonValue, string]>([
  [{ error: 'plain words' }, 'plain words'],
  [{ message: 'of the top', object: 'error' }, 'of the top'],
  [{ detail: 'of a framework' }, 'of a framework'],
  [{ detail: [{ loc: ['body', 'n'], msg: 'must be 1' }] }, 'n: must be 1'],
  [{ message: { detail: [{ loc: ['body', 'n'], msg: 'must be 1' }] } }, 'n: must be 1'],
  [{ message: [{ loc: ['body', 'n'], msg: 'must be 1' }], code: 3001 }, 'n: must be 1'],
  [{ detail: { error: { message: 'inside' } } }, 'inside'],
  [[{ error: { message: 'in a list' } }], 'in a list'],
  [error('with sk-secret in it'), 'with [redacted] in it'],
])('the words of %j are told', (body, message) => {
  expect(refuse(400, body).message).toContain(message.split('[')[0]);
  expect(refuse(400, body).message).not.toContain('sk-secret');
});

test.each<[string, JsonObject]>([
  [
    'prompt is too long: 210000 tokens > 128000 maximum',
    error(
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 210000 tokens.",
      null,
      'context_length_exceeded',
    ),
  ],
  [
    'prompt is too long',
    error(
      'the request exceeds the available context size (4096 tokens)',
      'exceed_context_size_error',
      400,
    ),
  ],
  [
    'prompt is too long: 272001 tokens > 272000 maximum',
    error(
      "litellm.ContextWindowExceededError: litellm.BadRequestError: ContextWindowExceededError: OpenAIException - This model's maximum context length is 272000 tokens. However, your messages resulted in 272001 tokens. Please reduce the length of the messages.\nmodel=gpt-4.1. context_window_fallbacks=None. fallbacks=None.",
      'invalid_request_error',
      '400',
    ),
  ],
  [
    'prompt is too long',
    error('litellm.ContextWindowExceededError: The input exceeds it', 'invalid_request_error'),
  ],
])('a prompt that is too long is called so: %s', (words, body) => {
  expect(refuse(400, body)).toMatchObject({
    reason: 'context-length',
    message: expect.stringContaining(words),
  });
});

test.each<[Record<string, string>, string, number]>([
  [{ 'retry-after': '20' }, 'slow', 20_000],
  [{ 'retry-after-ms': '1500' }, 'slow', 1500],
  [{}, 'Please try again in 6.5s.', 6500],
  [{ 'llm_provider-retry-after': '2' }, 'slow', 2000],
  [
    { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '1m30s' },
    'slow',
    90_000,
  ],
  ...['x-ratelimit-', 'ratelimit-'].map((prefix): [Record<string, string>, string, number] => [
    { [`${prefix}remaining`]: '0', [`${prefix}reset`]: '40' },
    'slow',
    40_000,
  ]),
  ...['40', `${(NOW + 40_000) / 1000}`, `${NOW + 40_000}`].map(
    (reset): [Record<string, string>, string, number] => [
      { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': reset },
      'slow',
      40_000,
    ],
  ),
])('the wait of %j and %j is read', (headers, message, waitMs) => {
  expect(refuse(429, error(message), headers).failure?.retryAfterMs).toBe(waitMs);
});

test.each([{ resets_in_seconds: 3600 }, { resets_at: NOW / 1000 + 3600 }])(
  'the wait of a subscription that is used up is read from %j',
  (reset) => {
    const body = {
      error: { type: 'usage_limit_reached', message: 'The usage limit was reached', ...reset },
    };
    expect(refuse(429, body).failure).toMatchObject({
      ...{ kind: 'quota-exhausted', retryAfterMs: 3_600_000 },
      quota: { resetsAt: NOW + 3_600_000 },
    });
  },
);

test('what a limit says of itself is learnt', () => {
  const daily = 'Rate limit reached on requests per day (RPD): Limit 200, Used 200.';
  expect(refuse(429, error(daily)).failure).toMatchObject({
    kind: 'quota-exhausted',
    quota: { limit: 200, windowMs: 86_400_000 },
  });
  const headers = { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '2s' };
  const tokens = 'Rate limit reached on tokens per min (TPM): Limit 10000, Used 9000.';
  expect(refuse(429, error(tokens), headers).failure).toMatchObject({
    kind: 'rate-limited',
    quota: { windowMs: 60_000, resetsAt: NOW + 2000 },
  });
  const metadata = { headers: { 'X-RateLimit-Reset': String(NOW + 5000) } };
  const named = refuse(429, { error: { message: 'x', code: 429, metadata } });
  expect(named.failure?.quota).toEqual({ resetsAt: NOW + 5000 });
  const inAnswer = classifyErrorFrame({ message: 'x', code: 429, metadata }, NOW);
  expect(inAnswer.failure).toMatchObject({ retryAfterMs: 5000, quota: { resetsAt: NOW + 5000 } });
});

test.each<[JsonValue, UpstreamFailureKind]>([
  [{ message: 'x', code: 429 }, 'rate-limited'],
  [{ message: 'x', type: 'rate_limit_error' }, 'rate-limited'],
  [{ message: 'x', type: 'throttling_error', code: '429' }, 'rate-limited'],
  [{ message: 'x', type: null, code: '401' }, 'unauthenticated'],
  [{ message: 'x', code: 'model_not_found' }, 'model-not-found'],
  [{ message: 'x', type: 'invalid_request_error' }, 'rejected'],
  [{ message: 'x', type: 'image_generation_user_error', code: 'moderation_blocked' }, 'rejected'],
  [{ message: 'x', type: 'image_generation_user_error', code: 'invalid_value' }, 'rejected'],
  [{ message: 'x', type: 'user_error', code: 'moderation_blocked' }, 'rejected'],
  [{ message: 'x' }, 'path'],
  ['x', 'path'],
])('an error within an answer is as if it had been the status: %j', (value, kind) => {
  expect(classifyErrorFrame(value, NOW).failure?.kind).toBe(kind);
});

test('what clients act on beside the words stays with a refusal, without secrets', () => {
  const found = {
    innererror: { code: 'ResponsibleAIPolicyViolation', content_filter_result: { hate: 1 } },
    failed_generation: '{"name":"f"} sk-secret',
    metadata: { provider_name: 'P', raw: 'no' },
  };
  const refusal = { error: { message: 'no', type: 'x', user: 'u', code: 'filtered', ...found } };
  const members = refuse(400, refusal).wireDetails?.members;
  expect(members).toEqual({
    ...found,
    code: 'filtered',
    failed_generation: expect.not.stringContaining('sk-secret'),
  });
});

test.each([
  ['gemini is not available here.', 'Provider returned error: gemini is not available here.'],
  ['{"error":{"message":"top_k: at most 40"}}', 'Provider returned error: top_k: at most 40'],
  ['{"error":{"message":"The prompt is too long: 9 tokens"}}', /^prompt is too long/],
])('what a provider behind OpenRouter said is told: %s', (raw, words) => {
  const metadata = { provider_name: 'P', raw };
  const refusal = { error: { message: 'Provider returned error', code: 400, metadata } };
  expect(refuse(400, refusal).message).toMatch(words);
});

test.each<[string, number, JsonValue, UpstreamFailureKind]>([
  ['Z.ai', 429, error('Insufficient balance or no resource package.'), 'quota-exhausted'],
  ['Alibaba', 400, error('Access denied.', 'Arrearage', 'Arrearage'), 'quota-exhausted'],
  ['Alibaba', 403, error('The free tier of the model has been exhausted.'), 'quota-exhausted'],
  ['Volcengine', 403, error('… your account has an overdue balance.'), 'quota-exhausted'],
  [
    'SiliconFlow',
    403,
    { message: 'Sorry, your account balance is insufficient' },
    'quota-exhausted',
  ],
  [
    'Fireworks',
    412,
    error('Account x is suspended, possibly due to reaching the monthly spending limit or …'),
    'quota-exhausted',
  ],
  [
    'xAI',
    403,
    { error: 'Your newly created team does not have any credits yet.' },
    'quota-exhausted',
  ],
  [
    'xAI in its own words',
    403,
    { error: "Your newly created team doesn't have any credits or licenses yet." },
    'quota-exhausted',
  ],
  [
    'Kimi Code',
    403,
    error("You've reached your weekly (7-day) usage limit.", 'access_terminated_error'),
    'quota-exhausted',
  ],
  [
    'Hugging Face',
    403,
    { error: 'You have exceeded your monthly included credits.' },
    'quota-exhausted',
  ],
  ['OpenRouter', 403, error('Key limit exceeded (total limit). Manage it …'), 'quota-exhausted'],
  ['Messages', 400, error('Your credit balance is too low to access the API.'), 'quota-exhausted'],
  [
    'LiteLLM',
    400,
    error(
      'litellm.BadRequestError: AnthropicException - b\'{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}\'',
    ),
    'quota-exhausted',
  ],
  ['xAI of a key', 400, { error: 'Incorrect API key provided: xa***.' }, 'unauthenticated'],
  ['Kimi', 429, error('Try again later', 'engine_overloaded_error'), 'overloaded'],
  ['words of the client', 400, error('Invalid value: "my credits are exhausted"'), 'rejected'],
  ['a limit of requests', 429, error('Rate limit reached: 3 a minute'), 'rate-limited'],
])('an account without money is known by its refusal: %s, %d', (_service, status, body, kind) => {
  expect(refuse(status, body).failure?.kind).toBe(kind);
});

test('a context that LM Studio has no room for is a long prompt', () => {
  const message =
    'The model is loaded with context length of only 4096 tokens, which is not enough.';
  expect(refuse(400, { error: message }).reason).toBe('context-length');
});
