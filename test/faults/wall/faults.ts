// Every fault an upstream can answer with, and what it means for whoever asked.

import type { JsonObject } from '../../../src/lib/json.ts';
import { errorBody, frameOf, type ScriptedReply } from '../../support/scripted-upstream.ts';
import { frames, info, limited, page, retryInfo, status } from '../rows/row.ts';

/**
 * What a fault is about.
 * - `path`: the way to the upstream or its answer; the same request may go well a moment later.
 * - `overload`: as `path`, in the upstream's own words.
 * - `limit`: a rate or a quota of the account.
 * - `credential`: the account's credential is refused.
 * - `forbidden`, `missing`: the account may not use the model, or has none of that name.
 * - `account`: the account itself is suspended.
 * - `verify`: the account's owner has something to confirm.
 * - `request`: the request itself is wrong.
 * - `late`: the stream breaks after its first words.
 */
type FaultKind =
  | 'path'
  | 'overload'
  | 'limit'
  | 'credential'
  | 'forbidden'
  | 'missing'
  | 'account'
  | 'verify'
  | 'request'
  | 'late';

export interface Fault {
  readonly what: string;
  readonly kind: FaultKind;
  readonly reply: ScriptedReply;
  /** Where the fault exists; both unless given. */
  readonly only?: 'stream' | 'whole';
  /** It is noticed by a time limit only. */
  readonly takesTime?: true;
}

const HALF = frameOf('Half');
const refusal = (code: number, message: string, ...details: JsonObject[]): ScriptedReply =>
  status(code, errorBody(code, message, details));
const open = (): JsonObject => ({ candidates: [{ content: { role: 'model', parts: [] } }] });
const ended = (finishReason: string): JsonObject => ({ candidates: [{ index: 0, finishReason }] });
const statuses = (kind: FaultKind, codes: readonly number[]): readonly Fault[] =>
  codes.map((code) => ({ what: String(code), kind, reply: status(code) }));

export const FAULTS: readonly Fault[] = [
  ...statuses('path', [408, 500, 502, 504, 520, 522, 524]),
  ...statuses('overload', [503, 529]),
  {
    what: '503 with Retry-After',
    kind: 'overload',
    reply: status(503, errorBody(503, 'Overloaded.'), { 'retry-after': '30' }),
  },
  {
    what: '503 with Retry-After of an hour',
    kind: 'overload',
    reply: status(503, errorBody(503, 'Overloaded.'), { 'retry-after': '3600' }),
  },
  {
    what: 'overload told within a 200',
    kind: 'overload',
    reply: frames(errorBody(503, 'The model is overloaded.')),
  },
  { what: 'a connection that ends unanswered', kind: 'path', reply: { kind: 'hang-up' } },
  {
    what: 'a connection reset within the answer',
    kind: 'path',
    reply: { kind: 'frames', frames: [], cut: 'reset' },
  },
  {
    what: 'an answer of no bytes',
    kind: 'path',
    reply: { kind: 'status', status: 200, type: 'text/event-stream' },
  },
  {
    what: 'an answer cut in two',
    kind: 'path',
    reply: { kind: 'frames', frames: [frameOf('Half', 'STOP')], cut: 'end' },
    only: 'whole',
  },
  { what: 'a page of HTML with 200', kind: 'path', reply: page(200) },
  { what: 'a page of HTML with 403', kind: 'path', reply: page(403) },
  { what: 'a page of HTML with 404', kind: 'path', reply: page(404) },
  { what: 'a page of HTML with 503', kind: 'overload', reply: page(503) },
  { what: 'an event that is no JSON', kind: 'path', reply: frames('{"candidates": [') },
  { what: 'an event that is no object', kind: 'path', reply: frames('[1, 2]') },
  {
    what: 'JSON of another kind with 200',
    kind: 'path',
    reply: status(200, { hello: 'world' }),
  },
  {
    what: 'usage alone',
    kind: 'path',
    reply: frames({ usageMetadata: { promptTokenCount: 1 } }),
  },
  { what: 'an answer without parts', kind: 'path', reply: frames(open()) },
  { what: 'a natural end without content', kind: 'path', reply: frames(ended('STOP')) },
  {
    what: 'an error of the server within a 200',
    kind: 'path',
    reply: frames(errorBody(500, 'Internal error.')),
  },
  {
    what: 'no answer at all',
    kind: 'path',
    reply: { kind: 'silence' },
    takesTime: true,
  },
  { what: '429', kind: 'limit', reply: limited('Too many.') },
  { what: '429 without a body', kind: 'limit', reply: status(429, '') },
  {
    what: '429 with Retry-After',
    kind: 'limit',
    reply: status(429, errorBody(429, 'Too many.'), { 'retry-after': '7' }),
  },
  { what: '429 with RetryInfo', kind: 'limit', reply: limited('Slow down.', retryInfo('9.5s')) },
  {
    what: '429 of a quota for hours',
    kind: 'limit',
    reply: limited('Used up.', info('QUOTA_EXHAUSTED', { quotaResetDelay: '2h21m25.8s' })),
  },
  { what: '429 of a quota', kind: 'limit', reply: limited('Used up.', info('QUOTA_EXHAUSTED')) },
  { what: '402', kind: 'limit', reply: refusal(402, 'Payment is required.') },
  {
    what: '429 within a 200',
    kind: 'limit',
    reply: frames(errorBody(429, 'Too many.', [info('RATE_LIMIT_EXCEEDED')])),
  },
  { what: '401', kind: 'credential', reply: status(401) },
  {
    what: '400 API_KEY_INVALID',
    kind: 'credential',
    reply: refusal(400, 'API key not valid.', info('API_KEY_INVALID')),
  },
  {
    what: '403 that names nothing',
    kind: 'forbidden',
    reply: refusal(403, 'The caller does not have permission'),
  },
  {
    what: '403 by policy within a 200',
    kind: 'forbidden',
    reply: frames(errorBody(403, 'Blocked by policy.')),
  },
  {
    what: '403 that names the model',
    kind: 'forbidden',
    reply: refusal(403, 'You may not use models/alpha-3-flash.'),
  },
  {
    what: '403 of a suspended account',
    kind: 'account',
    reply: refusal(403, 'The project is suspended.', info('CONSUMER_SUSPENDED')),
  },
  {
    what: '403 that asks to verify',
    kind: 'verify',
    reply: refusal(403, 'Verify your account.', info('VALIDATION_REQUIRED')),
  },
  { what: '404', kind: 'missing', reply: refusal(404, 'Requested entity was not found.') },
  { what: '404 for the model', kind: 'missing', reply: refusal(404, 'models/x is not found.') },
  { what: '400', kind: 'request', reply: refusal(400, 'Invalid value at contents[0].') },
  { what: '422', kind: 'request', reply: refusal(422, 'Unprocessable.') },
  {
    what: 'a stream reset after its first words',
    kind: 'late',
    reply: { kind: 'frames', frames: [HALF], cut: 'reset' },
    only: 'stream',
  },
  {
    what: 'a stream that ends without a finish reason',
    kind: 'late',
    reply: { kind: 'frames', frames: [HALF], cut: 'end' },
    only: 'stream',
  },
  {
    what: 'a stream with an error after its first words',
    kind: 'late',
    reply: frames(HALF, errorBody(503, 'The model is overloaded.')),
    only: 'stream',
  },
  {
    what: 'a stream with garbage after its first words',
    kind: 'late',
    reply: frames(HALF, '{"candidates": ['),
    only: 'stream',
  },
  {
    what: 'a stream that falls silent after its first words',
    kind: 'late',
    reply: { kind: 'silence', frames: [HALF] },
    only: 'stream',
    takesTime: true,
  },
];
