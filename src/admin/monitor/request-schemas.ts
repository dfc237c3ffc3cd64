// The shapes of records of model requests, in lists and one by one.

import type { FinishReason } from '../../canonical/event.ts';
import { REPLAY_VERDICTS } from './judge-replay.ts';
import { COUNT, TEXT, TIME } from './schema-words.ts';

const RECEIPT_COUNTS = {
  type: 'object',
  required: ['dropped', 'approximated', 'repaired'],
  additionalProperties: false,
  properties: { dropped: COUNT, approximated: COUNT, repaired: COUNT },
} as const;

const FINISH_REASONS = [
  ...(['stop', 'tool-calls', 'max-tokens', 'stop-sequence'] as const),
  ...(['safety', 'prompt-blocked'] as const),
] as const satisfies readonly FinishReason[];

const ROW_PROPERTIES = {
  id: TEXT,
  requestId: { ...TEXT, description: 'The `x-request-id`; clients may choose it.' },
  at: { ...TIME, description: 'When it began.' },
  protocol: TEXT,
  surface: { ...TEXT, description: 'Such as `chat/completions` or `generateContent`.' },
  method: TEXT,
  path: TEXT,
  stream: { type: 'boolean' },
  status: { type: 'integer', description: 'HTTP; 499 when the client left.' },
  outcome: {
    enum: ['ok', 'error', 'cancelled'],
    description: '`error` also for a stream that broke off behind a status of 200.',
  },
  model: { ...TEXT, description: 'As the client wrote it.' },
  routedModel: TEXT,
  upstreamModel: TEXT,
  account: TEXT,
  keyId: TEXT,
  keyName: TEXT,
  clientAddress: TEXT,
  attempts: { ...COUNT, description: 'How often an upstream was asked.' },
  retries: {
    ...COUNT,
    description:
      'Attempts beyond the first of each upstream call; several images or prompts are several calls.',
  },
  firstEventMs: COUNT,
  totalMs: COUNT,
  inputTokens: COUNT,
  outputTokens: COUNT,
  cachedTokens: COUNT,
  thoughtTokens: COUNT,
  images: COUNT,
  receipt: RECEIPT_COUNTS,
  error: {
    ...TEXT,
    description: 'What went wrong; where nothing did, why the answer was held back.',
  },
} as const;

const ROW_REQUIRED = [
  ...(['id', 'requestId', 'at', 'protocol', 'surface', 'method', 'path', 'stream'] as const),
  ...(['status', 'outcome', 'model', 'keyId', 'clientAddress', 'attempts', 'totalMs'] as const),
  ...(['retries', 'receipt'] as const),
] as const;

export const REQUEST_ROW_SCHEMA = {
  title: 'RequestRow',
  type: 'object',
  required: ROW_REQUIRED,
  additionalProperties: false,
  properties: ROW_PROPERTIES,
} as const;

export const REQUEST_LIST_SCHEMA = {
  title: 'RequestList',
  type: 'object',
  required: ['requests'],
  additionalProperties: false,
  properties: {
    requests: { type: 'array', items: REQUEST_ROW_SCHEMA },
    nextCursor: {
      ...TEXT,
      description: 'For the rows behind these; a search may go on behind an empty page.',
    },
    total: { ...COUNT, description: 'Absent when counting them would take too long.' },
  },
} as const;

const CONSIDERED = {
  type: 'object',
  required: ['verdict'],
  additionalProperties: false,
  properties: {
    accountId: TEXT,
    verdict: TEXT,
    count: { ...COUNT, description: 'Of accounts passed over for one reason.' },
    accountIds: { type: 'array', items: TEXT, description: 'The first few of them.' },
  },
} as const;

const ATTEMPT = {
  title: 'RequestAttempt',
  type: 'object',
  required: ['account', 'model', 'outcome', 'considered'],
  additionalProperties: false,
  properties: {
    account: TEXT,
    model: TEXT,
    upstreamCall: { ...COUNT, description: 'Which of `upstreamCalls`, from 1.' },
    outcome: TEXT,
    status: { type: 'integer' },
    detail: {
      ...TEXT,
      description: 'What the upstream said, or what the fault was; absent on success.',
    },
    considered: { type: 'array', items: CONSIDERED },
    ms: COUNT,
  },
} as const;

const BODY_TEXT = {
  type: 'object',
  required: ['text', 'isWhole'],
  additionalProperties: false,
  properties: {
    text: { ...TEXT, description: 'JSON.' },
    isWhole: { type: 'boolean', description: 'False when shortened, cut or redacted.' },
  },
} as const;

export const REQUEST_DETAIL_SCHEMA = {
  title: 'RequestDetail',
  type: 'object',
  required: [
    ...ROW_REQUIRED,
    ...(['route', 'attemptsList', 'receiptEntries', 'timings', 'keepsBodies', 'replay'] as const),
  ],
  additionalProperties: false,
  properties: {
    ...ROW_PROPERTIES,
    route: TEXT,
    errorKind: TEXT,
    modelVersion: TEXT,
    finishReasons: {
      type: 'array',
      items: { enum: FINISH_REASONS },
      description: 'How the answers ended, each way once.',
    },
    isEstimate: { type: 'boolean' },
    attemptsList: { type: 'array', items: ATTEMPT },
    upstreamCalls: {
      ...COUNT,
      description: 'How many calls it was, where it was several at once.',
    },
    passedOver: {
      type: 'array',
      items: CONSIDERED,
      description: 'Why no account was left, where none was.',
    },
    receiptEntries: {
      type: 'array',
      items: {
        type: 'object',
        required: ['path', 'action', 'reason'],
        additionalProperties: false,
        properties: {
          path: TEXT,
          action: { enum: ['dropped', 'approximated', 'repaired', 'capped'] },
          reason: TEXT,
        },
      },
    },
    session: TEXT,
    userAgent: TEXT,
    timings: {
      type: 'object',
      additionalProperties: false,
      properties: { upstreamMs: COUNT },
    },
    keepsBodies: { type: 'boolean', description: 'Whether bodies were kept when it came.' },
    replay: {
      enum: REPLAY_VERDICTS,
      description:
        'Whether it can be sent again: `possible`, or why not. `other-operation`: it asked for no answer; `not-kept`: bodies were not kept; `unread`: its body could not be read; `in-part`: something of it was shortened, cut or redacted.',
    },
    clientRequest: {
      ...BODY_TEXT,
      description: 'Only while bodies are kept; absent when it could not be read.',
    },
    upstreamRequest: BODY_TEXT,
    response: {
      type: 'object',
      required: ['blocks', 'isWhole'],
      additionalProperties: false,
      properties: {
        blocks: {
          type: 'array',
          items: { type: 'object' },
          description: 'Texts, thoughts, tool calls, media and code of the answer, in order.',
        },
        isWhole: { type: 'boolean' },
      },
    },
  },
} as const;

export const REMOVED_SCHEMA = {
  type: 'object',
  required: ['removed'],
  additionalProperties: false,
  properties: { removed: COUNT },
} as const;

export const REPLAY_REQUEST_SCHEMA = {
  title: 'ReplayRequest',
  type: 'object',
  additionalProperties: false,
  properties: {
    account: {
      ...TEXT,
      minLength: 1,
      maxLength: 320,
      description: 'E-mail or label. No other account serves it then.',
    },
    model: { ...TEXT, minLength: 1, maxLength: 256 },
  },
} as const;

export const REPLAY_SCHEMA = {
  title: 'Replay',
  type: 'object',
  required: ['status', 'headers', 'body', 'text', 'requestId', 'differences'],
  additionalProperties: false,
  properties: {
    status: { type: 'integer' },
    headers: { type: 'object', additionalProperties: TEXT },
    body: { ...TEXT, description: 'As a client would have got it.' },
    text: { ...TEXT, description: 'What the answer said, with its tool calls.' },
    requestId: TEXT,
    account: TEXT,
    upstreamModel: TEXT,
    differences: {
      type: 'array',
      description: 'From the recorded answer to this one, line by line.',
      items: {
        type: 'object',
        required: ['kind', 'text'],
        additionalProperties: false,
        properties: { kind: { enum: ['same', 'removed', 'added'] }, text: TEXT },
      },
    },
  },
} as const;
