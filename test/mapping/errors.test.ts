// Every row of the mapping of failures: what the upstream says, and how each client is told.

import { describe, expect, test } from 'vitest';
import { GatewayError } from '../../src/canonical/error.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { classifyFailure } from '../../src/upstreams/generate/errors.ts';
import { describeError, protocolOf } from '../golden/request-case.ts';
import { requestOf } from './ask.ts';
import { PROTOCOLS, type Protocol } from './row.ts';
import { VOCABULARIES } from './words.ts';

/** Status and the words of the body, by protocol. */
type Told = Readonly<Record<Protocol, readonly [status: number, error: JsonObject]>>;

interface Row {
  readonly name: string;
  readonly error: GatewayError;
  readonly told: Told;
}

const NOW = Date.UTC(2026, 0, 1);

const upstream = (status: number, error: JsonObject): GatewayError =>
  classifyFailure({
    status,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ error: { code: status, ...error } }),
    now: NOW,
  });

/** Chat and responses share their errors. */
const told = (
  status: number,
  words: {
    readonly chat: JsonObject;
    readonly messages: JsonObject;
    readonly generate: JsonObject;
  },
  messagesStatus = status,
): Told => ({
  chat: [status, words.chat],
  responses: [status, words.chat],
  messages: [messagesStatus, words.messages],
  generate: [status, words.generate],
});

const ROWS: readonly Row[] = [
  {
    name: 'a request the upstream refuses',
    error: upstream(400, { status: 'INVALID_ARGUMENT', message: 'bad schema' }),
    told: told(400, {
      chat: { type: 'invalid_request_error' },
      messages: { type: 'invalid_request_error' },
      generate: { code: 400, status: 'INVALID_ARGUMENT' },
    }),
  },
  {
    name: 'a request that every account may not make',
    error: upstream(403, { status: 'PERMISSION_DENIED', message: 'Not allowed by policy.' }),
    told: told(400, {
      chat: { type: 'invalid_request_error', message: 'Not allowed by policy.' },
      messages: { type: 'invalid_request_error', message: 'Not allowed by policy.' },
      generate: { code: 400, status: 'FAILED_PRECONDITION', message: 'Not allowed by policy.' },
    }),
  },
  {
    name: 'a prompt that is too long',
    error: upstream(400, {
      status: 'INVALID_ARGUMENT',
      message:
        'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    }),
    told: told(400, {
      chat: { code: 'context_length_exceeded' },
      messages: {
        type: 'invalid_request_error',
        message: expect.stringMatching(/prompt is too long: 1200000 tokens > 1048576 maximum/),
      },
      generate: { status: 'INVALID_ARGUMENT' },
    }),
  },
  {
    name: 'a model nobody has',
    error: upstream(404, { status: 'NOT_FOUND', message: 'models/x is not found' }),
    told: told(404, {
      chat: { code: 'model_not_found' },
      messages: { type: 'not_found_error' },
      generate: { status: 'NOT_FOUND' },
    }),
  },
  {
    name: 'a limit of every account',
    error: upstream(429, { status: 'RESOURCE_EXHAUSTED', message: 'Too many' }),
    told: told(429, {
      chat: { code: 'rate_limit_exceeded' },
      messages: { type: 'rate_limit_error' },
      generate: { code: 429, status: 'RESOURCE_EXHAUSTED' },
    }),
  },
  {
    name: 'an upstream that is overloaded',
    error: upstream(503, { status: 'UNAVAILABLE', message: 'overloaded' }),
    told: told(
      503,
      {
        chat: { type: 'service_unavailable_error' },
        messages: { type: 'overloaded_error' },
        generate: { status: 'UNAVAILABLE' },
      },
      529,
    ),
  },
  {
    name: 'an upstream that failed',
    error: upstream(500, { status: 'INTERNAL', message: 'oops' }),
    told: told(502, {
      chat: { type: 'server_error' },
      messages: { type: 'api_error' },
      generate: { code: 502, status: 'INTERNAL' },
    }),
  },
  {
    name: 'an answer that took too long',
    error: new GatewayError({ kind: 'timeout', source: 'gateway', message: 'Too slow.' }),
    told: told(504, {
      chat: { type: 'server_error' },
      messages: { type: 'timeout_error' },
      generate: { status: 'DEADLINE_EXCEEDED' },
    }),
  },
  {
    name: 'a client without a key',
    error: new GatewayError({ kind: 'unauthenticated', source: 'client', message: 'No key.' }),
    told: told(401, {
      chat: { code: 'invalid_api_key' },
      messages: { type: 'authentication_error' },
      generate: { status: 'UNAUTHENTICATED' },
    }),
  },
];

describe.each(ROWS)('$name', ({ error, told: expected }) => {
  test.each(PROTOCOLS)('%s', (protocol) => {
    const [words] = VOCABULARIES;
    if (words === undefined) throw new Error('No vocabulary.');
    const { response } = describeError(error, protocolOf(requestOf({ protocol, words, ask: {} })));
    const [status, body] = expected[protocol];
    expect(response).toMatchObject({ status, body: { error: body } });
  });
});

test('no failure names the account, its project or its key', () => {
  const error = classifyFailure({
    status: 403,
    headers: {},
    body: JSON.stringify({
      error: { code: 403, message: 'Project my-project of ann@example.com: key k-123 is wrong' },
    }),
    now: NOW,
    secrets: ['my-project', 'ann@example.com', 'k-123'],
  });
  expect(error.message).not.toMatch(/my-project|ann@example|k-123/);
});
