// The shapes of the monitor's routes. Times are milliseconds since the epoch.

import type { XStatic } from 'typebox/schema';
import type {
  REPLAY_SCHEMA,
  REQUEST_DETAIL_SCHEMA,
  REQUEST_LIST_SCHEMA,
} from './request-schemas.ts';
import { REQUEST_ROW_SCHEMA } from './request-schemas.ts';
import { COUNT, TEXT, TIME } from './schema-words.ts';

export const USAGE_SCHEMA = {
  title: 'Usage',
  type: 'object',
  required: ['spans', 'buckets'],
  additionalProperties: false,
  properties: {
    spans: {
      type: 'array',
      items: TIME,
      description: 'The beginnings of all pieces of the time asked for.',
    },
    buckets: {
      type: 'array',
      description: 'One a piece and group with any use.',
      items: {
        type: 'object',
        required: [
          ...(['at', 'group', 'requests', 'errors', 'inputTokens', 'outputTokens'] as const),
          ...(['cachedTokens', 'thoughtTokens', 'images'] as const),
        ],
        additionalProperties: false,
        properties: {
          at: TIME,
          group: { ...TEXT, description: "'' where requests reached none." },
          groupName: {
            ...TEXT,
            description: 'The name of a key; of one that was removed, its last.',
          },
          requests: COUNT,
          errors: COUNT,
          inputTokens: COUNT,
          outputTokens: COUNT,
          cachedTokens: COUNT,
          thoughtTokens: COUNT,
          images: COUNT,
        },
      },
    },
  },
} as const;

const QUOTA_KIND = { enum: ['text', 'image'] } as const;

const ATTENTION = {
  title: 'Attention',
  type: 'object',
  required: ['kind', 'severity', 'message', 'wayOut', 'link', 'about'],
  additionalProperties: false,
  properties: {
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
        ...(['all-refused', 'account-failing'] as const),
        ...(['account-out', 'accounts-out', 'account-doubtful'] as const),
        ...(['quota-low', 'records-unsaved', 'records-dropped', 'not-lasting', 'sandbox'] as const),
      ],
    },
    severity: { enum: ['info', 'warning', 'error'] },
    message: TEXT,
    wayOut: TEXT,
    link: { ...TEXT, description: 'A path of the console.' },
    about: {
      type: 'object',
      description: 'What `message` is made of, for whoever says it in words of their own.',
      additionalProperties: false,
      properties: {
        account: { ...TEXT, description: 'Its label.' },
        accountKind: { enum: ['oauth', 'api-key', 'service-account'] },
        reason: TEXT,
        upstream: TEXT,
        models: { ...TEXT, description: 'Their ids, separated by commas.' },
        problems: {
          ...TEXT,
          description: 'Of the config file, separated by semicolons, or of a setting.',
        },
        family: TEXT,
        quotaKind: QUOTA_KIND,
        percent: { type: 'number' },
        count: COUNT,
        total: COUNT,
      },
    },
  },
} as const;

export const OVERVIEW_SCHEMA = {
  title: 'Overview',
  type: 'object',
  required: [
    ...(['status', 'version', 'startedAt', 'isSandbox', 'address', 'authMode', 'live'] as const),
    'consolePassword',
    ...(['series', 'accounts', 'quota', 'attention', 'recentErrors'] as const),
  ],
  additionalProperties: false,
  properties: {
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
    live: {
      type: 'object',
      required: ['requestsPerMinute', 'tokensPerMinute', 'errorsPerMinute', 'inFlight'],
      additionalProperties: false,
      properties: {
        requestsPerMinute: COUNT,
        tokensPerMinute: COUNT,
        errorsPerMinute: COUNT,
        inFlight: COUNT,
      },
    },
    series: {
      type: 'array',
      description: 'The last 60 minutes, oldest first.',
      items: {
        type: 'object',
        required: ['at', 'requests', 'errors', 'tokens'],
        additionalProperties: false,
        properties: { at: TIME, requests: COUNT, errors: COUNT, tokens: COUNT },
      },
    },
    accounts: {
      type: 'object',
      required: ['total', 'usable', 'untried', 'failing', 'cooling', 'disabled'],
      additionalProperties: false,
      properties: {
        total: COUNT,
        usable: COUNT,
        untried: COUNT,
        failing: COUNT,
        cooling: COUNT,
        disabled: COUNT,
      },
    },
    quota: {
      type: 'array',
      items: {
        type: 'object',
        required: ['family', 'kind', 'models', 'percent'],
        additionalProperties: false,
        properties: {
          family: TEXT,
          kind: QUOTA_KIND,
          models: { type: 'array', items: TEXT },
          percent: { type: 'number' },
          resetsAt: TIME,
        },
      },
    },
    attention: { type: 'array', items: ATTENTION },
    recentErrors: { type: 'array', items: REQUEST_ROW_SCHEMA },
  },
} as const;

export const LOGS_SCHEMA = {
  title: 'LogPage',
  type: 'object',
  required: ['lines'],
  additionalProperties: false,
  properties: {
    lines: {
      type: 'array',
      description: 'The latest first.',
      items: {
        type: 'object',
        required: ['at', 'level', 'message', 'fields'],
        additionalProperties: false,
        properties: { at: TIME, level: TEXT, message: TEXT, fields: { type: 'object' } },
      },
    },
    nextCursor: TEXT,
  },
} as const;

export type RequestRowJson = XStatic<typeof REQUEST_ROW_SCHEMA>;
export type RequestListJson = XStatic<typeof REQUEST_LIST_SCHEMA>;
export type RequestDetailJson = XStatic<typeof REQUEST_DETAIL_SCHEMA>;
export type ReplayJson = XStatic<typeof REPLAY_SCHEMA>;
export type UsageJson = XStatic<typeof USAGE_SCHEMA>;
export type OverviewJson = XStatic<typeof OVERVIEW_SCHEMA>;
export type LogsJson = XStatic<typeof LOGS_SCHEMA>;
