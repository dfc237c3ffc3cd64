import { expect, test } from 'vitest';
import { type ErrorKind, GatewayError, invalidRequest } from '../../canonical/error.ts';
import { writeError } from './errors.ts';

function render(kind: ErrorKind): ReturnType<typeof writeError> {
  return writeError(new GatewayError({ kind, source: 'gateway', message: 'M.' }));
}

test.each([
  ['invalid-request', 400, 'invalid_request_error', 'invalid_value'],
  ['unauthenticated', 401, 'invalid_request_error', 'invalid_api_key'],
  ['forbidden', 403, 'permission_error', 'permission_denied'],
  ['not-found', 404, 'invalid_request_error', 'not_found'],
  ['method-not-allowed', 405, 'invalid_request_error', 'method_not_supported'],
  ['too-large', 413, 'invalid_request_error', 'request_too_large'],
  ['unsupported-media-type', 415, 'invalid_request_error', 'unsupported_content_type'],
  ['headers-too-large', 431, 'invalid_request_error', 'headers_too_large'],
  ['upgrade-refused', 426, 'invalid_request_error', 'upgrade_refused'],
  ['rate-limited', 429, 'rate_limit_error', 'rate_limit_exceeded'],
  ['quota-exhausted', 429, 'insufficient_quota', 'insufficient_quota'],
  ['upstream-auth', 503, 'service_unavailable_error', 'upstream_account_unavailable'],
  ['upstream-unavailable', 502, 'server_error', 'upstream_unavailable'],
  ['overloaded', 503, 'service_unavailable_error', 'server_is_overloaded'],
  ['timeout', 504, 'server_error', 'timeout'],
  ['internal', 500, 'server_error', null],
] as const)('%s is answered with %i', (kind, status, type, code) => {
  expect(render(kind)).toEqual({
    status,
    body: { error: { message: 'M.', type, param: null, code } },
  });
});

test('P146 trouble with the pool accounts never looks like the client is not signed in', () => {
  for (const kind of ['upstream-auth', 'upstream-unavailable', 'overloaded'] as const) {
    expect(render(kind).status).toBeGreaterThanOrEqual(500);
  }
});

test('a mistake in a field names the field and what is wrong', () => {
  const error = invalidRequest(
    'messages[0].role',
    'messages[0].role is required.',
    'missing-field',
  );
  expect(writeError(error).body).toEqual({
    error: {
      message: 'messages[0].role is required.',
      type: 'invalid_request_error',
      param: 'messages[0].role',
      code: 'missing_required_parameter',
    },
  });
});

test('an unknown model and a prompt that is too long have codes of their own', () => {
  const code = (
    kind: ErrorKind,
    reason: 'model-not-found' | 'context-length' | 'key-rejected',
  ): unknown =>
    writeError(new GatewayError({ kind, reason, source: 'client', message: 'M.' })).body;
  expect(code('not-found', 'model-not-found')).toMatchObject({
    error: { code: 'model_not_found' },
  });
  expect(code('invalid-request', 'context-length')).toMatchObject({
    error: { code: 'context_length_exceeded' },
  });
  expect(code('forbidden', 'key-rejected')).toMatchObject({ error: { code: 'token_rejected' } });
});

test('where images are made, limits of the accounts have a form of their own', () => {
  const path = '/openai/v1/images/edits';
  const limit = (kind: ErrorKind, retryAfterMs?: number) =>
    writeError(new GatewayError({ kind, source: 'upstream', message: 'M.', retryAfterMs }), {
      requestId: 'r',
      path,
    });
  const words = 'No accounts are available with quota for the requested model. Try again';
  const bodyOf = (end: string) => ({
    error: { message: `${words} ${end}.`, type: 'quota_exceeded' },
  });
  expect(limit('quota-exhausted')).toEqual({ status: 429, body: bodyOf('later') });
  expect(limit('rate-limited', 11_500).body).toEqual(bodyOf('in 12 seconds'));
  expect(limit('quota-exhausted', 7_000_000).body).toEqual(bodyOf('in 117 minutes'));
  expect(limit('quota-exhausted', 36_000_000).body).toEqual(bodyOf('in 10 hours'));
  expect(limit('overloaded').body).toMatchObject({ error: { code: 'server_is_overloaded' } });
  const own = new GatewayError({ kind: 'rate-limited', source: 'gateway', message: 'M.' });
  expect(writeError(own, { requestId: 'r', path }).body).toMatchObject({
    error: { type: 'rate_limit_error' },
  });
  const budget = new GatewayError({ kind: 'quota-exhausted', source: 'client', message: 'M.' });
  expect(writeError(budget, { requestId: 'r', path }).body).toMatchObject({
    error: { type: 'insufficient_quota', message: 'M.' },
  });
});
