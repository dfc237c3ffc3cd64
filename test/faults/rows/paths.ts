// Faults of the path: between here and the upstream, and within its answers.

import { errorBody, frameOf, type ScriptedReply } from '../../support/scripted-upstream.ts';
import { frames, limited, page, type Row, retryInfo, status } from './row.ts';

const FAILED = {
  status: 502,
  chat: 'upstream_unavailable',
  messages: 'api_error',
  generate: 'INTERNAL',
};

/** Faults of the path: all of them mean the same. */
const PATHS: readonly (readonly [string, ScriptedReply, Row['only']?])[] = [
  ['500', status(500)],
  ['502', status(502)],
  ['504', status(504)],
  ['408', status(408)],
  ['a connection that dies within the answer', { kind: 'frames', frames: [], cut: 'reset' }],
  ['a body that ends before its first event', { kind: 'frames', frames: [], cut: 'end' }],
  [
    'a whole answer cut in two',
    { kind: 'frames', frames: [frameOf('Half', 'STOP')], cut: 'end' },
    'whole',
  ],
  ['an answer without candidates', frames({ usageMetadata: { promptTokenCount: 1 } })],
  ['an error in place of the first event', frames(errorBody(500, 'Internal.'))],
  ['an event that is no JSON', frames('{"candidates": [')],
  ['a page with status 200', page(200)],
  ['a page with status 403', page(403)],
  ['a text with status 404', status(404, 'nothing here')],
  [
    'a place that is not served',
    status(400, errorBody(400, 'User location is not supported for the API use.')),
  ],
];

const PATH_ROWS: readonly Row[] = PATHS.flatMap(([what, reply, only]): readonly Row[] => [
  { what, meets: { first: [reply] }, attempts: 2, first: 'fine', ...(only && { only }) },
]);

export const FAULTS: readonly Row[] = [
  ...PATH_ROWS,
  {
    what: '500 three times in a minute',
    meets: { first: status(500) },
    requests: 3,
    attempts: 2,
    first: 'fine',
  },
  {
    what: '500 everywhere',
    meets: { all: status(500) },
    error: FAILED,
    attempts: 4,
    first: 'fine',
  },
  {
    what: 'a connection that dies before the first byte',
    meets: { first: [{ kind: 'hang-up' }] },
    attempts: 2,
    first: 'fine',
  },
  {
    what: 'connections that die before the first byte',
    meets: { first: { kind: 'hang-up' } },
    attempts: 3,
    first: 'fine',
  },
  {
    what: 'a port that refuses connections',
    accounts: 'refused',
    meets: {},
    attempts: 2,
    first: 'fine',
  },
  {
    what: 'a server that speaks no TLS',
    accounts: 'insecure',
    meets: {},
    attempts: 2,
    first: 'fine',
  },
  { what: '503', meets: { first: [status(503)] }, attempts: 2, first: 'fine' },
  { what: '529', meets: { first: [status(529)] }, attempts: 2, first: 'fine' },
  {
    what: '503 where the others are at their limit',
    meets: {
      first: limited('No.', retryInfo('1h')),
      second: limited('No.', retryInfo('1h')),
      third: [{ kind: 'answer' }, status(503)],
    },
    requests: 2,
    attempts: 2,
    first: 'rate 3600000',
  },
  {
    what: '503 everywhere',
    meets: { all: status(503) },
    error: {
      status: 503,
      chat: 'server_is_overloaded',
      messages: 'overloaded_error',
      generate: 'UNAVAILABLE',
    },
    messagesStatus: 529,
    attempts: 4,
    first: 'fine',
  },
  {
    what: 'a stream that breaks off in its middle',
    only: 'stream',
    meets: { first: [{ kind: 'frames', frames: [frameOf('Half ')], cut: 'reset' }] },
    answer: 'begun',
    attempts: 1,
    first: 'fine',
  },
  {
    what: 'a stream that ends without its end',
    only: 'stream',
    meets: { first: [frames(frameOf('Half '))] },
    answer: 'begun',
    attempts: 1,
    first: 'fine',
  },
  {
    what: 'an error event in the middle',
    only: 'stream',
    meets: { first: [frames(frameOf('Half '), errorBody(429, 'Slow down.', [retryInfo('12s')]))] },
    answer: 'begun',
    attempts: 1,
    first: 'rate 12000',
  },
];
