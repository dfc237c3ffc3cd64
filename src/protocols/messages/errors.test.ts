import { expect, test } from 'vitest';
import { type ErrorKind, GatewayError, type GatewayErrorOptions } from '../../canonical/error.ts';
import { writeError, writeStreamError } from './errors.ts';

const gatewayError = (options: Partial<GatewayErrorOptions>): GatewayError =>
  new GatewayError({ kind: 'internal', source: 'gateway', message: 'm', ...options });

const reply = (options: Partial<GatewayErrorOptions>) =>
  writeError(gatewayError(options), { requestId: 'req_1' });

const table: readonly (readonly [ErrorKind, number, string])[] = [
  ['invalid-request', 400, 'invalid_request_error'],
  ['unauthenticated', 401, 'authentication_error'],
  ['forbidden', 403, 'permission_error'],
  ['not-found', 404, 'not_found_error'],
  ['method-not-allowed', 405, 'invalid_request_error'],
  ['too-large', 413, 'request_too_large'],
  ['unsupported-media-type', 415, 'invalid_request_error'],
  ['headers-too-large', 431, 'request_too_large'],
  ['upgrade-refused', 426, 'invalid_request_error'],
  ['rate-limited', 429, 'rate_limit_error'],
  ['quota-exhausted', 429, 'rate_limit_error'],
  ['upstream-auth', 503, 'api_error'],
  ['upstream-unavailable', 502, 'api_error'],
  ['upstream-rejected', 400, 'invalid_request_error'],
  ['overloaded', 529, 'overloaded_error'],
  ['timeout', 504, 'timeout_error'],
  ['client-gone', 499, 'api_error'],
  ['internal', 500, 'api_error'],
];

test.each(table)('V147 P146 %s is %i %s', (kind, status, type) => {
  expect(reply({ kind })).toEqual({
    status,
    body: { type: 'error', error: { type, message: 'm' }, request_id: 'req_1' },
  });
});

test('a field is named as in all errors of this protocol, wherever its fault was found', () => {
  const field = 'messages[0].content[2].source.url';
  const { body } = reply({ kind: 'invalid-request', field, message: `${field}: no such a[1].` });
  expect(body).toMatchObject({
    error: { message: 'messages.0.content.2.source.url: no such a[1].' },
  });
});

test('P025 a prompt that is too long is worded so that coding CLIs compact', () => {
  const worded = (message: string) =>
    writeError(gatewayError({ kind: 'invalid-request', reason: 'context-length', message }), {
      requestId: 'r',
    }).body;
  expect(worded('The input has 1200000 tokens, the maximum is 1048576.')).toMatchObject({
    error: { message: 'prompt is too long: 1200000 tokens > 1048576 maximum' },
  });
  expect(worded('Too much text.')).toMatchObject({
    error: { message: 'prompt is too long: Too much text.' },
  });
  expect(worded('prompt is too long: 5 tokens > 4 maximum')).toMatchObject({
    error: { message: 'prompt is too long: 5 tokens > 4 maximum' },
  });
});

test('refused threads carry the codes SDKs act on', () => {
  expect(reply({ kind: 'not-found', reason: 'thread-not-found' }).body).toMatchObject({
    error: { details: { error_code: 'thread_not_found' } },
  });
  const unsupported = { kind: 'invalid-request', reason: 'unsupported', field: 'thread' } as const;
  expect(reply(unsupported).body).toMatchObject({
    error: { details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] } },
  });
});

test('P081 an error in a stream is an error event in one line', () => {
  expect(writeStreamError(gatewayError({ kind: 'overloaded', message: 'a\nb' }))).toBe(
    'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"a\\nb"}}\n\n',
  );
});

test('V164 a key that is refused for a rule of its own says so in one word', () => {
  expect(reply({ kind: 'forbidden', reason: 'key-rejected' }).body).toMatchObject({
    error: { type: 'permission_error', details: { error_code: 'token_rejected' } },
  });
  expect(reply({ kind: 'forbidden', reason: 'address-blocked' }).body).toMatchObject({
    error: { details: { error_code: 'address_blocked' } },
  });
});
