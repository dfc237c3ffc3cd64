// Schemas of the monitor's routes. Times are milliseconds since the epoch.

import type { XStatic } from 'typebox/schema';
import { messageSchema } from '../../lib/localized-message.ts';
import { COUNT, list, named, object, optional, partial, TEXT } from '../../lib/object-schema.ts';
import {
  REQUEST_BODIES_FIELDS,
  REQUEST_DETAILS_FIELDS,
  REQUEST_ROW_FIELDS,
  REQUEST_ROW_SCHEMA,
} from '../../monitor/record.ts';
import { TIME } from '../schemas.ts';

const REPLAY_VERDICTS = ['possible', 'other-operation', 'not-kept', 'unread', 'in-part'] as const;

export type ReplayVerdict = (typeof REPLAY_VERDICTS)[number];

export const REQUEST_LIST_SCHEMA = named('RequestList', {
  requests: list(REQUEST_ROW_SCHEMA),
  nextCursor: optional({
    ...TEXT,
    description: 'For the rows behind these; a search may go on behind an empty page.',
  }),
  total: optional({ ...COUNT, description: 'Absent when counting them would take too long.' }),
});

export const REQUEST_DETAIL_SCHEMA = named('RequestDetail', {
  ...REQUEST_ROW_FIELDS,
  ...REQUEST_DETAILS_FIELDS,
  keepsBodies: { type: 'boolean', description: 'Whether bodies were kept when it came.' },
  replay: {
    enum: REPLAY_VERDICTS,
    description:
      'Whether it can be sent again: `possible`, or why not. `other-operation`: it asked for no answer; `not-kept`: bodies were not kept; `unread`: its body could not be read; `in-part`: something of it was shortened, cut or redacted.',
  },
  ...REQUEST_BODIES_FIELDS,
});

export const REMOVED_SCHEMA = object({ removed: COUNT });

export const REPLAY_PROTOCOLS = ['chat', 'responses', 'messages', 'generate'] as const;

export const REPLAY_REQUEST_SCHEMA = partial(
  {
    account: {
      ...TEXT,
      minLength: 1,
      maxLength: 320,
      description: 'E-mail or label. No other account serves it then.',
    },
    model: { ...TEXT, minLength: 1, maxLength: 256 },
    protocol: {
      enum: REPLAY_PROTOCOLS,
      description: 'Of the answer, and of the record; its own when absent.',
    },
  },
  { title: 'ReplayRequest' },
);

export const REPLAY_SCHEMA = named('Replay', {
  status: { type: 'integer' },
  headers: { type: 'object', additionalProperties: TEXT },
  protocol: TEXT,
  body: { ...TEXT, description: 'As a client of the protocol would have got it.' },
  text: { ...TEXT, description: 'What the answer said, with its tool calls.' },
  requestId: TEXT,
  account: optional(TEXT),
  upstreamModel: optional(TEXT),
  differences: list(
    object({ kind: { enum: ['same', 'removed', 'added'] }, text: TEXT }),
    'From the recorded answer to this one, line by line.',
  ),
});

const GROUP_FIELDS = {
  group: { ...TEXT, description: "'' where requests reached none." },
  groupName: optional({
    ...TEXT,
    description: 'The name of a key; of one that was removed, its last.',
  }),
} as const;

const SUM_FIELDS = {
  requests: COUNT,
  errors: COUNT,
  inputTokens: COUNT,
  outputTokens: COUNT,
  cachedTokens: COUNT,
  cacheWriteTokens: COUNT,
  thoughtTokens: COUNT,
  images: COUNT,
  pricedRequests: {
    ...COUNT,
    description: 'Those that have a cost; where there is none, the sums of money say nothing.',
  },
  costNanos: { ...COUNT, description: 'In billionths of a US dollar.' },
  flatRateNanos: { ...COUNT, description: 'What flat-rate accounts would have cost.' },
  cacheSavingsNanos: { type: 'integer', description: 'What caches saved of either.' },
} as const;

const SPANS = list(TIME, 'The beginnings of all pieces of the time asked for.');

export const USAGE_SCHEMA = named('Usage', {
  spans: SPANS,
  buckets: list(
    object({ at: TIME, ...GROUP_FIELDS, ...SUM_FIELDS }),
    'One a piece and group with any use.',
  ),
});

export const LEADING_USAGE_SCHEMA = named('LeadingUsage', {
  spans: SPANS,
  totals: list(
    object({ at: TIME, ...SUM_FIELDS }),
    'What all groups used together: one a piece with any use.',
  ),
  buckets: list(
    object({ at: TIME, ...GROUP_FIELDS, ...SUM_FIELDS }),
    'One a piece and leading group with any use.',
  ),
  others: list(
    object({ at: TIME, ...SUM_FIELDS }),
    'What is no leading group’s: one a piece with any such use.',
  ),
  groups: list(
    object({ ...GROUP_FIELDS, ...SUM_FIELDS }),
    'Of all of the time, the groups with the most tokens first.',
  ),
  groupCount: { ...COUNT, description: 'How many groups there are, listed or not.' },
});

const PERCENTILES = optional(
  object({
    count: { ...COUNT, description: 'How many answers were timed.' },
    p50: { ...COUNT, description: 'Milliseconds, as all of these.' },
    p95: COUNT,
    p99: COUNT,
  }),
);

/** Absent where there was nothing to time. */
const LATENCY_FIELDS = {
  duration: PERCENTILES,
  firstToken: PERCENTILES,
  tokensPerSecond: optional({ type: 'number' }),
} as const;

export const LATENCY_SCHEMA = named('Latency', {
  spans: list(object({ at: TIME, ...LATENCY_FIELDS })),
  groups: list(
    object({ group: TEXT, groupName: optional(TEXT), ...LATENCY_FIELDS }),
    'Of all the time; none where no group is asked for.',
  ),
  all: {
    ...object(LATENCY_FIELDS),
    description:
      'Answers that came whole: their durations, of streams the time to the first token, and the tokens a second.',
  },
});

export const OUTCOMES_SCHEMA = named('Outcomes', {
  from: { ...TIME, description: 'The beginning of the first half hour.' },
  stepMs: COUNT,
  accounts: list(
    object({
      account: { ...TEXT, description: 'E-mail or label.' },
      good: list(COUNT),
      failed: list(COUNT, 'Limits and what clients did wrong are no failures of an account.'),
    }),
    'Accounts without an attempt are left out.',
  ),
});

const QUOTA_KIND = { enum: ['text', 'image'] } as const;

const ATTENTION = named('Attention', {
  kind: {
    enum: [
      ...([
        'no-accounts',
        'no-usable-account',
        'open-to-all',
        'no-console-password',
        'key-opens-console',
      ] as const),
      ...(['config-refused', 'setting-unused', 'many-errors', 'upstream-overloaded'] as const),
      ...(['all-refused', 'account-failing', 'model-unserved'] as const),
      ...(['account-out', 'accounts-out', 'account-doubtful'] as const),
      ...(['budget-low', 'budget-spent'] as const),
      ...(['quota-low', 'records-unsaved', 'records-dropped', 'not-lasting', 'sandbox'] as const),
      ...(['database-lost', 'valkey-lost', 'valkey-refuses', 'newer-version'] as const),
      ...(['certificate-refused', 'certificate-expires', 'certificate-expired'] as const),
      ...(['upstream-certificate-expires', 'upstream-certificate-expired'] as const),
      ...(['disk-low', 'disk-full', 'log-unwritten'] as const),
    ],
  },
  severity: { enum: ['info', 'warning', 'error'] },
  message: TEXT,
  wayOut: TEXT,
  link: { ...TEXT, description: 'A path of the console.' },
  about: partial(
    {
      account: { ...TEXT, description: 'Its label.' },
      accountKind: { enum: ['oauth', 'api-key', 'service-account'] },
      reason: TEXT,
      upstream: TEXT,
      version: TEXT,
      models: { ...TEXT, description: 'Their ids, separated by commas.' },
      problems: messageSchema('Of the config file, or of a setting; which budgets or models.'),
      family: TEXT,
      quotaKind: QUOTA_KIND,
      percent: { type: 'number' },
      count: COUNT,
      total: COUNT,
    },
    { description: 'What `message` is made of, for whoever says it in words of their own.' },
  ),
});

export const OVERVIEW_SCHEMA = named('Overview', {
  status: { enum: ['ok', 'attention', 'trouble'] },
  version: TEXT,
  startedAt: TIME,
  isSandbox: { type: 'boolean' },
  address: TEXT,
  authMode: TEXT,
  consolePassword: {
    enum: ['own', 'gateway-key', 'none'],
    description: 'What opens the console: its own password, the gateway key, or none is asked.',
  },
  replicas: optional(
    list(TEXT, 'The gateways and workers that serve together; absent where there is one alone.'),
  ),
  live: object({
    requestsPerMinute: COUNT,
    tokensPerMinute: COUNT,
    errorsPerMinute: COUNT,
    inFlight: COUNT,
  }),
  series: list(
    object({
      ...{ at: TIME, requests: COUNT, errors: COUNT },
      faults: { ...COUNT, description: 'The errors without those of a status of 4xx.' },
      tokens: COUNT,
    }),
    'The last 60 minutes, oldest first.',
  ),
  accounts: object({
    total: COUNT,
    usable: COUNT,
    untried: COUNT,
    failing: COUNT,
    cooling: COUNT,
    disabled: COUNT,
  }),
  quota: list(
    object({
      family: TEXT,
      kind: QUOTA_KIND,
      models: list(TEXT),
      percent: { type: 'number' },
      resetsAt: optional(TIME),
    }),
  ),
  attention: list(ATTENTION),
  recentErrors: list(REQUEST_ROW_SCHEMA),
});

export const LOGS_SCHEMA = named('LogPage', {
  lines: list(
    object({ at: TIME, level: TEXT, message: TEXT, fields: { type: 'object' } }),
    'The latest first.',
  ),
  nextCursor: optional(TEXT),
});

export type RequestDetailJson = XStatic<typeof REQUEST_DETAIL_SCHEMA>;
export type ReplayJson = XStatic<typeof REPLAY_SCHEMA>;
export type OverviewJson = XStatic<typeof OVERVIEW_SCHEMA>;
