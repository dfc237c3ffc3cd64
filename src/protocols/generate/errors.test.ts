import { expect, test } from 'vitest';
import { type ErrorKind, GatewayError, invalidRequest } from '../../canonical/error.ts';
import { writeError } from './errors.ts';

function errorOf(kind: ErrorKind, retryAfterMs?: number): GatewayError {
  return new GatewayError({ kind, source: 'gateway', message: 'No.', retryAfterMs });
}

test.each<[ErrorKind, number, string]>([
  ['invalid-request', 400, 'INVALID_ARGUMENT'],
  ['unauthenticated', 401, 'UNAUTHENTICATED'],
  ['forbidden', 403, 'PERMISSION_DENIED'],
  ['not-found', 404, 'NOT_FOUND'],
  ['method-not-allowed', 405, 'UNIMPLEMENTED'],
  ['too-large', 413, 'INVALID_ARGUMENT'],
  ['unsupported-media-type', 415, 'INVALID_ARGUMENT'],
  ['headers-too-large', 431, 'INVALID_ARGUMENT'],
  ['upgrade-refused', 426, 'FAILED_PRECONDITION'],
  ['rate-limited', 429, 'RESOURCE_EXHAUSTED'],
  ['quota-exhausted', 429, 'RESOURCE_EXHAUSTED'],
  ['upstream-auth', 503, 'UNAVAILABLE'],
  ['upstream-unavailable', 502, 'INTERNAL'],
  ['upstream-rejected', 400, 'INVALID_ARGUMENT'],
  ['overloaded', 503, 'UNAVAILABLE'],
  ['timeout', 504, 'DEADLINE_EXCEEDED'],
  ['client-gone', 499, 'CANCELLED'],
  ['internal', 500, 'INTERNAL'],
])('V116 %s is %i %s, the same number in the body', (kind, code, status) => {
  expect(writeError(errorOf(kind))).toMatchObject({
    status: code,
    body: { error: { code, message: 'No.', status } },
  });
});

test('V116 a refused field is named in the details', () => {
  const { body } = writeError(invalidRequest('contents[0].role', 'Wrong role.'));
  expect(body).toEqual({
    error: {
      code: 400,
      message: 'Wrong role.',
      status: 'INVALID_ARGUMENT',
      details: [
        {
          '@type': 'type.googleapis.com/google.rpc.BadRequest',
          fieldViolations: [{ field: 'contents[0].role', description: 'Wrong role.' }],
        },
      ],
    },
  });
});

test('V161 a wrong key has the reason SDKs look for', () => {
  expect(writeError(errorOf('unauthenticated')).body).toMatchObject({
    error: {
      details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }],
    },
  });
});

test.each([
  [12_000, '12s'],
  [1500, '1.5s'],
  [0.4, '0.001s'],
  [-5, '0s'],
])('V147 a wait of %d ms is the retry delay %s', (retryAfterMs, retryDelay) => {
  expect(writeError(errorOf('rate-limited', retryAfterMs)).body).toMatchObject({
    error: { details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay }] },
  });
});

test.each([
  ['key-rejected', 'TOKEN_REJECTED'],
  ['address-blocked', 'ADDRESS_BLOCKED'],
] as const)('V164 a client that is not let in for %s is told %s', (reason, word) => {
  const error = new GatewayError({ kind: 'forbidden', source: 'client', reason, message: 'No.' });
  expect(writeError(error).body).toMatchObject({
    error: {
      details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: word }],
    },
  });
});
