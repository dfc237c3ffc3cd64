import { expect, test } from 'vitest';
import type { JsonValue } from '../../lib/json.ts';
import { classifyErrorFrame, classifyFailure } from './errors.ts';

const NOW = Date.UTC(2026, 10, 20, 12, 0, 0);

function classify(
  status: number,
  error: JsonValue | string,
  headers: Record<string, string> = { 'content-type': 'application/json' },
) {
  const body = typeof error === 'string' ? error : JSON.stringify({ error });
  return classifyFailure({
    status,
    headers,
    body,
    now: NOW,
    secrets: ['my-project', 'top-secret'],
  });
}

function kindOf(status: number, error: JsonValue | string): string | undefined {
  return classify(status, error).failure?.kind;
}

function errorInfo(reason: string, metadata: Record<string, string> = {}): JsonValue {
  return { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, metadata };
}

const retryInfo = (retryDelay: string): JsonValue => ({
  '@type': 'type.googleapis.com/google.rpc.RetryInfo',
  retryDelay,
});

const quotaFailure = (quotaId: string): JsonValue => ({
  '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
  violations: [{ quotaId }],
});

const HTML = '<!DOCTYPE html><html><body>Please sign in</body></html>';

test.each<[string, number, JsonValue | string, string]>([
  ['a plain RESOURCE_EXHAUSTED (V142)', 429, { status: 'RESOURCE_EXHAUSTED' }, 'rate-limited'],
  [
    'a per-minute message (V142)',
    429,
    { message: 'Quota exceeded for Tokens per minute limit' },
    'rate-limited',
  ],
  ['QUOTA_EXHAUSTED (V142)', 429, { details: [errorInfo('QUOTA_EXHAUSTED')] }, 'quota-exhausted'],
  ['a daily quota', 429, { details: [quotaFailure('RequestsPerDayPerModel')] }, 'quota-exhausted'],
  ['a minute quota', 429, { details: [quotaFailure('RequestsPerMinute-Free')] }, 'rate-limited'],
  ['spent money', 429, { message: 'Your prepayment credits are depleted.' }, 'quota-exhausted'],
  ['a page', 429, HTML, 'rate-limited'],
  ['401', 401, { status: 'UNAUTHENTICATED' }, 'unauthenticated'],
  ['an invalid key', 400, { details: [errorInfo('API_KEY_INVALID')] }, 'unauthenticated'],
  [
    'a verification request (P147)',
    403,
    { details: [errorInfo('VALIDATION_REQUIRED')] },
    'verification-required',
  ],
  ['403', 403, { status: 'PERMISSION_DENIED', message: 'Denied.' }, 'model-forbidden'],
  ['403 for a model', 403, { message: 'No access to models/alpha-3-pro' }, 'model-forbidden'],
  ['403 for a model', 403, { message: 'Not allowed to use model "gpt-5".' }, 'model-forbidden'],
  ['403 for a model', 403, { message: 'Denied on model: alpha-3-flash' }, 'model-forbidden'],
  [
    '403 beside a model',
    403,
    { message: 'The model is closed to this project-1.' },
    'model-forbidden',
  ],
  [
    '403 for a model in metadata',
    403,
    { details: [errorInfo('DENIED', { model: 'alpha-3-pro' })] },
    'model-forbidden',
  ],
  [
    '403 for a model in a resource',
    403,
    {
      message:
        "Permission 'aiplatform.endpoints.predict' denied on resource (or it may not exist).",
      details: [
        errorInfo('IAM_PERMISSION_DENIED', { resource: 'projects/p/publishers/google/models/m' }),
      ],
    },
    'model-forbidden',
  ],
  [
    '403 for a file the client names, which every account would be disabled for',
    403,
    { message: 'You do not have permission to access the File abc-1 or it may not exist.' },
    'rejected',
  ],
  [
    '403 for a cache the client names',
    403,
    { message: 'CachedContent not found (or permission denied)' },
    'rejected',
  ],
  ['404 for a file the client names', 404, { message: "File 'files/abc' not found." }, 'rejected'],
  [
    'a country block',
    400,
    {
      status: 'FAILED_PRECONDITION',
      message: 'User location is not supported for the API use.',
    },
    'path',
  ],
  ['a country block of 403', 403, { message: 'Your country is not supported.' }, 'path'],
  ['451', 451, {}, 'path'],
  ['a disabled service', 403, { details: [errorInfo('SERVICE_DISABLED')] }, 'forbidden'],
  ['an expired key', 400, { details: [errorInfo('API_KEY_EXPIRED')] }, 'unauthenticated'],
  [
    'a link to verify at (P147)',
    403,
    { details: [errorInfo('X', { validation_url: 'https://accounts.example/verify' })] },
    'verification-required',
  ],
  ['a low balance', 400, { message: 'Your credit balance is too low.' }, 'quota-exhausted'],
  ['a missing payment', 402, { message: 'Insufficient balance' }, 'quota-exhausted'],
  ['a bare 403 of a firewall', 403, '', 'path'],
  ['a text 403 of a firewall', 403, 'error code: 1020', 'path'],
  ['a text 404 of a wrong address', 404, '404 page not found', 'path'],
  ['405', 405, {}, 'path'],
  ['an HTML 403', 403, HTML, 'path'],
  ['an HTML 404', 404, HTML, 'path'],
  ['404', 404, { status: 'NOT_FOUND' }, 'model-not-found'],
  [
    'a missing signature',
    400,
    { message: 'Function call `w` in the 2. content block is missing a `thought_signature`.' },
    'missing-signature',
  ],
  [
    'a missing signature in the words of another release',
    400,
    { message: 'Function call is missing a thought_signature in functionCall parts.' },
    'missing-signature',
  ],
  ['a corrupted one', 400, { message: 'Corrupted thought signature.' }, 'bad-signature'],
  ['another 400', 400, { message: 'Unknown name "x"' }, 'rejected'],
  ['413', 413, {}, 'rejected'],
  ['an HTML 413', 413, HTML, 'rejected'],
  ['422', 422, '', 'rejected'],
  ['408', 408, '', 'path'],
  ['302', 302, '', 'path'],
  ['500', 500, {}, 'path'],
  ['502', 502, HTML, 'path'],
  ['504', 504, '', 'path'],
  ['503', 503, {}, 'overloaded'],
  ['529', 529, '', 'overloaded'],
])('%s is answered by the right row of the retry table', (_name, status, error, expected) => {
  expect(kindOf(status, error)).toBe(expected);
});

test('the wait is taken from headers, details, metadata or words, in this order (P135)', () => {
  const json = { 'content-type': 'application/json' };
  const details = [retryInfo('45.837906927s'), errorInfo('RATE', { quotaResetDelay: '510.79ms' })];
  const message = 'Please retry in 9s.';
  const wait = (error: JsonValue, headers = {}) =>
    classify(429, error, { ...json, ...headers }).failure?.retryAfterMs;
  expect(wait({ message, details }, { 'retry-after': '3' })).toBe(3000);
  expect(wait({ message, details }, { 'retry-after-ms': '1500' })).toBe(1500);
  expect(wait({ message, details }, { 'retry-after': 'Fri, 20 Nov 2026 12:00:05 GMT' })).toBe(5000);
  expect(wait({ message, details }, { 'retry-after': 'garbage' })).toBe(45_838);
  expect(wait({ message, details: [errorInfo('R', { quotaResetDelay: '2h21m25.8s' })] })).toBe(
    8_485_800,
  );
  expect(wait({ details: [errorInfo('R', { quotaResetTimeStamp: '2026-11-20T12:00:30Z' })] })).toBe(
    30_000,
  );
  expect(wait({ message })).toBe(9000);
  expect(wait({ message: 'No.' })).toBeUndefined();
});

test('the operator learns what was said, without secrets, and where to verify', () => {
  const forbidden = classify(403, { message: 'my-project was suspended for robot@acme.com' });
  expect(forbidden.failure?.detail).toBe('<hidden> was suspended for <email>');
  expect(forbidden.message).not.toContain('suspended');
  const metadata = { validation_url: 'https://accounts.example/verify?x=1' };
  const details = [errorInfo('VALIDATION_REQUIRED', metadata)];
  expect(classify(403, { message: 'Verify it.', details }).failure?.detail).toBe(
    'https://accounts.example/verify?x=1 Verify it.',
  );
});

test('a client learns that its region is not served', () => {
  const error = classify(400, { message: 'User location is not supported for the API use.' });
  expect(error).toMatchObject({ kind: 'upstream-unavailable', failure: { kind: 'path' } });
  expect(error.message).toContain('region');
});

test('trouble with the account is never the client’s own 401 or 403 (P146)', () => {
  expect(classify(401, {}).kind).toBe('upstream-auth');
  expect(classify(403, { message: 'Consumer has been suspended.' }).kind).toBe('upstream-auth');
  expect(classify(403, {}).kind).toBe('upstream-rejected');
});

test('a prompt that is too long names both figures', () => {
  const error = classify(400, {
    message:
      'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
  });
  expect(error).toMatchObject({
    kind: 'invalid-request',
    reason: 'context-length',
    message: 'prompt is too long: 1200000 tokens > 1048576 maximum',
    failure: { kind: 'rejected', status: 400 },
  });
});

test('a rejection keeps the upstream’s words without keys, mails and projects', () => {
  const error = classify(400, {
    message:
      'Bad field in projects/acme-12345 for robot@acme.iam.gserviceaccount.com with key ' +
      'AIzaSyA1234567890123456789012345 of my-project using top-secret and project 123456789012',
  });
  expect(error.kind).toBe('invalid-request');
  expect(error.source).toBe('upstream');
  expect(error.message).toContain('Bad field in projects/<project>');
  expect(error.message).not.toMatch(/acme|AIza|my-project|top-secret|123456789012/);
  expect(String(error.cause)).not.toMatch(/acme|AIza|my-project|top-secret|123456789012/);
});

test.each(['dG9wLXNlY3JldA==', 'dG9wLXNlY3JldA', Buffer.from('top-secret').toString('hex')])(
  'a rejection does not keep a secret as %s',
  (spelled) => {
    const error = classify(400, { message: `The key ${spelled} is not known.` });
    expect(error.message).toContain('The key <hidden> is not known.');
    expect(`${error.message} ${error.cause}`).not.toContain(spelled);
  },
);

test('a huge rejection is cut', () => {
  expect(classify(400, { message: 'x'.repeat(50_000) }).message.length).toBeLessThan(1100);
});

test('an error inside a 200 counts as the status it names', () => {
  const kind = (value: JsonValue) => classifyErrorFrame(value, NOW).failure;
  expect(kind({ code: 503, message: 'busy' })).toMatchObject({ kind: 'overloaded', status: 503 });
  expect(kind({ status: 'RESOURCE_EXHAUSTED', details: [retryInfo('3s')] })).toMatchObject({
    kind: 'rate-limited',
    status: 429,
    retryAfterMs: 3000,
  });
  expect(kind({})).toMatchObject({ kind: 'path', status: 500 });
  expect(kind('broken')).toMatchObject({ kind: 'path' });
});

test('an error body of any shape is survived', () => {
  for (const body of [
    '',
    'null',
    '[]',
    '[null]',
    '{"error":[]}',
    '{"error":{"details":{}}}',
    '{',
  ]) {
    expect(classify(400, body).failure?.kind).toBe('rejected');
  }
  expect(classify(400, '[{"error":{"message":"in a list"}}]').message).toBe('in a list');
  expect(classify(400, '{"error":"a text"}').message).toBe('a text');
});

test.each([
  [413, 'rejected', 'too-large'],
  [504, 'path', 'timeout'],
  [500, 'path', 'upstream-unavailable'],
])('the client is told %i as the failure %s is: %s', (status, failure, kind) => {
  const error = classify(status, {});
  expect([error.failure?.kind, error.kind]).toEqual([failure, kind]);
});

test('a page blames nobody, whatever its status; a quota of an hour is used up', () => {
  expect(classify(400, HTML).failure?.kind).toBe('path');
  expect(classify(401, HTML).failure?.kind).toBe('path');
  const hourly = classify(429, { details: [quotaFailure('RequestsPerHourPerModel')] });
  expect(hourly.failure?.kind).toBe('quota-exhausted');
});

test('an address where to verify is shown only when it is one of the web', () => {
  const detailWith = (validation_url: string) =>
    classify(403, {
      message: 'Verify.',
      details: [errorInfo('VALIDATION_REQUIRED', { validation_url })],
    }).failure?.detail;
  expect(detailWith('https://accounts.example/verify')).toBe(
    'https://accounts.example/verify Verify.',
  );
  expect(detailWith('javascript:alert(1)')).toBe('Verify.');
});

test('a function the upstream counts is named', () => {
  const at = (place: string) => `* GenerateContentRequest.${place}.parameters: should be non-empty`;
  const tools = [
    { googleSearch: {} },
    { functionDeclarations: [{ name: 'one' }, { name: 'two' }] },
  ];
  const said = (message: string) =>
    classifyFailure({
      status: 400,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ error: { message } }),
      now: NOW,
      tools,
    }).message;
  const [known, camel] = ['tools[1].function_declarations[1]', 'tools[1].functionDeclarations[0]'];
  expect(said(at(known))).toBe(at(`${known} ("two")`));
  expect(said(at(camel))).toBe(at(`${camel} ("one")`));
  for (const nowhere of [
    'tools[0].function_declarations[0]',
    'tools[1].function_declarations[2]',
  ]) {
    expect(said(at(nowhere))).toBe(at(nowhere));
  }
});
