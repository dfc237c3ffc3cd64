import { expect, test } from 'vitest';
import type { UpstreamFailure } from '../../canonical/failure.ts';
import type { JsonObject, JsonValue } from '../../lib/json.ts';
import { classifyFailure } from './errors.ts';

const NOW = Date.UTC(2026, 10, 20, 12, 0, 0);
const MINUTE = 60_000;
const DAY = 86_400_000;
const TYPE = 'type.googleapis.com/google.rpc.';

interface Refusal {
  readonly headers?: Record<string, string>;
  readonly message?: string;
  readonly details?: JsonValue[];
  readonly text?: string;
}

function failureOf({ headers = {}, message, details, text }: Refusal): UpstreamFailure | undefined {
  const error: JsonObject = { code: 429, status: 'RESOURCE_EXHAUSTED' };
  if (message !== undefined) error.message = message;
  if (details !== undefined) error.details = details;
  const body = text ?? JSON.stringify({ error });
  return classifyFailure({ status: 429, headers, body, now: NOW }).failure;
}

const retryInfo = (retryDelay: JsonValue): JsonValue => ({
  '@type': `${TYPE}RetryInfo`,
  retryDelay,
});
const errorInfo = (reason: string, metadata: JsonObject): JsonValue => ({
  '@type': `${TYPE}ErrorInfo`,
  reason,
  metadata,
});
const quotaFailure = (...violations: JsonValue[]): JsonValue => ({
  '@type': `${TYPE}QuotaFailure`,
  violations,
});
const dimensions = { location: 'global', model: 'gemini-x' };
const daily = {
  quotaMetric: 'generativelanguage.googleapis.com/generate_content_free_tier_requests',
  quotaId: 'GenerateRequestsPerDayPerProjectPerModel-FreeTier',
  quotaDimensions: dimensions,
  quotaValue: '50',
};
const minutely = {
  ...daily,
  quotaId: 'GenerateRequestsPerMinutePerProjectPerModel-FreeTier',
  quotaValue: '10',
};
const tokens = {
  quotaMetric: 'generativelanguage.googleapis.com/generate_content_free_tier_input_token_count',
  quotaId: 'GenerateContentInputTokensPerModelPerMinute-FreeTier',
  quotaDimensions: dimensions,
  quotaValue: '250000',
};
const DAILY = { limit: 50, windowMs: DAY };
const MINUTELY = { limit: 10, windowMs: MINUTE };

type Row = [string, Refusal, Partial<UpstreamFailure>];

test.each<Row>([
  ['seconds', { headers: { 'retry-after': '12' } }, { retryAfterMs: 12_000 }],
  ['decimal seconds', { headers: { 'retry-after': ' 1.5 ' } }, { retryAfterMs: 1500 }],
  [
    'a date',
    { headers: { 'retry-after': 'Fri, 20 Nov 2026 12:00:30 GMT' } },
    { retryAfterMs: 30_000 },
  ],
  [
    'a past date',
    { headers: { 'retry-after': 'Fri, 20 Nov 2026 11:00:00 GMT' } },
    { retryAfterMs: 0 },
  ],
  ['zero', { headers: { 'retry-after': '0' } }, { retryAfterMs: 0 }],
  [
    'zero beside a longer wait',
    { headers: { 'retry-after': '0' }, details: [retryInfo('9s')] },
    { retryAfterMs: 9000 },
  ],
  ['a negative', { headers: { 'retry-after': '-5' } }, { retryAfterMs: undefined }],
  [
    'a huge figure',
    { headers: { 'retry-after': '9'.repeat(400) } },
    { retryAfterMs: 24 * 60 * 60 * 1000 },
  ],
  ['garbage', { headers: { 'retry-after': 'soon-ish' } }, { retryAfterMs: undefined }],
  ['milliseconds', { headers: { 'retry-after-ms': '1500.4' } }, { retryAfterMs: 1500 }],
  [
    'empty milliseconds',
    { headers: { 'retry-after-ms': '', 'retry-after': '3' } },
    { retryAfterMs: 3000 },
  ],
  ['nine decimals', { details: [retryInfo('45.837906927s')] }, { retryAfterMs: 45_838 }],
  [
    'a Duration of fields',
    { details: [retryInfo({ seconds: '45', nanos: 5e8 })] },
    { retryAfterMs: 45_500 },
  ],
  ['a negative Duration', { details: [retryInfo('-3s')] }, { retryAfterMs: undefined }],
  ['a garbage Duration', { details: [retryInfo({ seconds: {} }), 7] }, { retryAfterMs: undefined }],
  [
    'a reset delay',
    { details: [errorInfo('RATE_LIMIT_EXCEEDED', { quotaResetDelay: '510.79ms' })] },
    { kind: 'rate-limited', retryAfterMs: 511, quota: { resetsAt: NOW + 511 } },
  ],
  [
    'hours in Go’s notation',
    {
      details: [
        errorInfo('QUOTA_EXHAUSTED', { model: 'gemini-x', quotaResetDelay: '2h21m25.831582438s' }),
      ],
    },
    {
      kind: 'quota-exhausted',
      retryAfterMs: 8_485_832,
      quota: { resetsAt: NOW + 8_485_832 },
    },
  ],
  [
    'a reset time stamp',
    {
      details: [
        errorInfo('QUOTA_EXHAUSTED', { quotaResetTimeStamp: '2026-11-20T13:16:00.667Z' }),
        retryInfo('200ms'),
      ],
    },
    { kind: 'quota-exhausted', retryAfterMs: 4_560_667, quota: { resetsAt: NOW + 4_560_667 } },
  ],
  ['words', { message: 'Please retry in 1h16m0.667s.' }, { retryAfterMs: 4_560_667 }],
  [
    'other words',
    { message: 'Rate limited; try again in 2 minutes, 3 seconds' },
    { retryAfterMs: 123_000 },
  ],
  [
    'a moment in words',
    { message: 'Quota resets at 2026-11-20T12:05:00Z.' },
    { retryAfterMs: 5 * MINUTE },
  ],
  [
    'a quota of the minute',
    { details: [quotaFailure(minutely)] },
    { kind: 'rate-limited', quota: MINUTELY },
  ],
  [
    'a quota of the day',
    { details: [quotaFailure(daily)] },
    { kind: 'quota-exhausted', quota: DAILY },
  ],
  [
    'all quotas at once',
    { details: [quotaFailure(tokens, minutely, daily), retryInfo('59s')] },
    { kind: 'quota-exhausted', retryAfterMs: 59_000, quota: DAILY },
  ],
  [
    'a quota of tokens',
    { details: [quotaFailure(tokens)] },
    { kind: 'rate-limited', quota: { windowMs: MINUTE } },
  ],
  [
    'a quota an account does not have',
    { details: [quotaFailure({ ...daily, quotaValue: '0' })] },
    { kind: 'quota-exhausted', quota: { ...DAILY, limit: 0 } },
  ],
  [
    'a quota named in ErrorInfo',
    {
      details: [
        errorInfo('RATE_LIMIT_EXCEEDED', {
          quota_limit: 'GenerateContentRequestsPerMinutePerProjectPerRegion',
          quota_limit_value: '60',
          quota_metric: 'aiplatform.googleapis.com/generate_content_requests',
          quota_unit: '1/min/{project}/{region}',
        }),
      ],
    },
    { kind: 'rate-limited', quota: { limit: 60, windowMs: MINUTE } },
  ],
  [
    'a quota known by its unit only',
    {
      details: [
        errorInfo('RATE_LIMIT_EXCEEDED', {
          quota_unit: '1/d/{project}',
          quota_limit: 'RequestsPerDay',
        }),
      ],
    },
    { kind: 'quota-exhausted', quota: { windowMs: DAY } },
  ],
  [
    'figures that are none',
    { details: [quotaFailure({ ...daily, quotaValue: '-1' }, { quotaValue: {} }, 7)] },
    { kind: 'quota-exhausted', quota: { windowMs: DAY } },
  ],
  [
    'a list around the error',
    { text: JSON.stringify([{ error: { details: [retryInfo('3s')] } }]) },
    { kind: 'rate-limited', retryAfterMs: 3000 },
  ],
  ['a page', { text: '<html>Too many requests</html>' }, { kind: 'rate-limited' }],
  ['nothing', { text: '' }, { kind: 'rate-limited', retryAfterMs: undefined }],
])('a 429 with %s is understood (P135)', (_name, refusal, expected) => {
  expect(failureOf(refusal)).toMatchObject(expected);
});
