// Limits: refusals of a rate or a quota, with and without a hint.

import { errorBody } from '../../support/scripted-upstream.ts';
import { frames, info, limited, type Row, retryInfo, status } from './row.ts';

const RATE = limited('Slow down.', info('RATE_LIMIT_EXCEEDED'));
const QUOTA = limited('Used up.', info('QUOTA_EXHAUSTED'));
const UNAUTHENTICATED = status(401);
const LIMITED = {
  status: 429,
  chat: 'rate_limit_exceeded',
  messages: 'rate_limit_error',
  generate: 'RESOURCE_EXHAUSTED',
};
const EXHAUSTED = { ...LIMITED, chat: 'insufficient_quota' };

export const LIMITS: readonly Row[] = [
  {
    what: '429 with Retry-After in seconds',
    meets: { first: [status(429, undefined, { 'retry-after': '12' })] },
    attempts: 2,
    first: 'rate 12000',
  },
  {
    what: '429 with RetryInfo of nine decimals',
    meets: { first: [limited('Slow down.', retryInfo('45.837906927s'))] },
    attempts: 2,
    first: 'rate 45838',
  },
  {
    what: '429 with quotaResetDelay',
    meets: {
      first: [limited('Used up.', info('QUOTA_EXHAUSTED', { quotaResetDelay: '2h21m25.8s' }))],
    },
    attempts: 2,
    first: 'quota 8485800',
  },
  {
    what: '429 with a wait in its words',
    meets: { first: [limited('Please try again in 5 minutes.')] },
    attempts: 2,
    first: 'rate 300000',
  },
  {
    what: '429 of a quota without a hint',
    meets: { first: [QUOTA] },
    attempts: 2,
    first: 'quota 60000',
  },
  ...[300_000, 1_800_000, 7_200_000, 7_200_000].map(
    (ms, at): Row => ({
      what: `429 of a quota without a hint, ${at + 2} times in a row`,
      meets: { first: QUOTA },
      requests: at + 2,
      betweenMs: 7_200_001,
      attempts: 2,
      first: `quota ${ms}`,
    }),
  ),
  {
    what: '429 of a rate without a hint',
    meets: { first: [RATE] },
    attempts: 2,
    first: 'rate 3750',
  },
  {
    what: '429 of a rate without a hint, six times in a row',
    meets: { first: RATE },
    requests: 6,
    betweenMs: 60_001,
    attempts: 2,
    first: 'rate 45000',
  },
  { what: '402', meets: { first: [status(402)] }, attempts: 2, first: 'quota 60000' },
  {
    what: '200 with the error of a limit in it',
    meets: { first: [frames(errorBody(429, 'Slow down.', [retryInfo('12s')]))] },
    attempts: 2,
    first: 'rate 12000',
  },
  {
    what: '429 and 401 before a third that is fine',
    accounts: 'api-key',
    meets: { first: [RATE], second: [UNAUTHENTICATED] },
    attempts: 3,
    first: 'rate 3750',
    second: 'out 5 s',
  },
  {
    what: '429 and a lasting 401 of a sign-in before a third that is fine',
    meets: { first: [RATE], second: UNAUTHENTICATED },
    attempts: 4,
    first: 'rate 3750',
    second: 'out 5 s',
  },
  {
    what: '429 everywhere',
    meets: {
      first: limited('Slow down.', retryInfo('40s')),
      second: limited('Slow down.', retryInfo('25s')),
      third: limited('Slow down.', retryInfo('90s')),
    },
    error: LIMITED,
    attempts: 3,
    retryAfter: 25,
    first: 'rate 40000',
  },
  {
    what: 'a limit at more accounts than one request may be refused by',
    accounts: 'api-key',
    meets: { all: limited('Slow down.', retryInfo('2h')) },
    error: LIMITED,
    attempts: 7,
    retryAfter: 7200,
    first: 'rate 7200000',
  },
  {
    what: 'a used-up quota everywhere',
    meets: { all: limited('Used up.', info('QUOTA_EXHAUSTED', { quotaResetDelay: '3h' })) },
    error: EXHAUSTED,
    attempts: 3,
    retryAfter: 10_800,
    first: 'quota 10800000',
  },
];
