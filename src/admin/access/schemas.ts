// Schemas of API keys, IP rules, the access log and the console session.

import { ACCESS_VERDICTS } from '../../access/access-log.ts';
import { VISIBLE_LINE } from '../schemas.ts';

const TIME = {
  type: 'integer',
  minimum: 0,
  // The last that a date can be.
  maximum: 8_640_000_000_000_000,
  description: 'Milliseconds since the epoch.',
} as const;
const COUNT = { type: 'integer', minimum: 0 } as const;
const ID = { type: 'string' } as const;

const NAME = { type: 'string', minLength: 1, maxLength: 128, pattern: VISIBLE_LINE } as const;
const NOTE = { type: 'string', maxLength: 1024 } as const;
const RANGE = {
  type: 'string',
  minLength: 1,
  maxLength: 128,
  description: 'An address or CIDR range, of IPv4 or IPv6.',
} as const;
const LIST = { enum: ['allow', 'deny'] } as const;

const LIMIT = { type: 'integer', minimum: 0, maximum: 1_000_000_000_000 } as const;

const MODELS = {
  type: 'array',
  maxItems: 200,
  items: { type: 'string', minLength: 1, maxLength: 256 },
  description:
    'Names as clients send them, or patterns with `*`, whatever model they lead to; empty allows all.',
} as const;

const CURFEW_SCHEMA = {
  title: 'Curfew',
  type: 'object',
  required: ['from', 'to', 'timeZone'],
  additionalProperties: false,
  description: 'Hours at which the key is refused.',
  properties: {
    from: { type: 'string', maxLength: 5, description: 'Such as `23:00`.' },
    to: { type: 'string', maxLength: 5, description: 'Such as `06:00`; may be the next day.' },
    timeZone: { type: 'string', maxLength: 64, description: 'Such as `Europe/Berlin`.' },
  },
} as const;

const AMOUNTS = {
  maxAddresses: { ...LIMIT, minimum: 1, description: 'Addresses within a day.' },
  requestsPerMinute: { ...LIMIT, minimum: 1 },
  tokensPerMinute: { ...LIMIT, minimum: 1 },
  dailyTokens: { ...LIMIT, description: 'A day is one of UTC.' },
  dailyImages: { ...LIMIT, description: 'A day is one of UTC.' },
} as const;

export const KEY_SCHEMA = {
  title: 'Key',
  type: 'object',
  required: [
    'id',
    'name',
    'prefix',
    'enabled',
    'createdAt',
    'allowedModels',
    'usedToday',
    'revision',
  ],
  additionalProperties: false,
  properties: {
    id: ID,
    name: { type: 'string' },
    prefix: { type: 'string', description: 'The beginning of the secret.' },
    enabled: { type: 'boolean' },
    createdAt: TIME,
    expiresAt: { ...TIME, description: 'Absent when it never expires.' },
    allowedModels: MODELS,
    ...AMOUNTS,
    curfew: CURFEW_SCHEMA,
    lastUsedAt: TIME,
    usedToday: {
      type: 'object',
      required: ['requests', 'tokens', 'images'],
      additionalProperties: false,
      properties: { requests: COUNT, tokens: COUNT, images: COUNT },
    },
    revision: { type: 'integer', description: 'For `If-Match`.' },
  },
} as const;

export const KEY_LIST_SCHEMA = {
  title: 'KeyList',
  type: 'object',
  required: ['keys'],
  additionalProperties: false,
  properties: { keys: { type: 'array', items: KEY_SCHEMA } },
} as const;

export const CREATED_KEY_SCHEMA = {
  title: 'CreatedKey',
  type: 'object',
  required: ['key', 'secret'],
  additionalProperties: false,
  properties: {
    key: KEY_SCHEMA,
    secret: { type: 'string', description: 'Shown this once: only a digest of it is kept.' },
  },
} as const;

export const NEW_KEY_SCHEMA = {
  title: 'NewKey',
  type: 'object',
  required: ['name'],
  additionalProperties: false,
  properties: {
    name: NAME,
    enabled: { type: 'boolean' },
    expiresAt: TIME,
    allowedModels: MODELS,
    ...AMOUNTS,
    curfew: CURFEW_SCHEMA,
  },
} as const;

const orNull = <const Schema>(schema: Schema) => ({ anyOf: [schema, { type: 'null' }] }) as const;

export const KEY_CHANGE_SCHEMA = {
  title: 'KeyChange',
  type: 'object',
  additionalProperties: false,
  description: 'What is absent stays; null takes a limit away.',
  properties: {
    name: NAME,
    enabled: { type: 'boolean' },
    expiresAt: orNull(TIME),
    allowedModels: MODELS,
    maxAddresses: orNull(AMOUNTS.maxAddresses),
    requestsPerMinute: orNull(AMOUNTS.requestsPerMinute),
    tokensPerMinute: orNull(AMOUNTS.tokensPerMinute),
    dailyTokens: orNull(AMOUNTS.dailyTokens),
    dailyImages: orNull(AMOUNTS.dailyImages),
    curfew: orNull(CURFEW_SCHEMA),
  },
} as const;

export const ADDRESS_RULE_SCHEMA = {
  title: 'AddressRule',
  type: 'object',
  required: ['id', 'list', 'range', 'note', 'hits', 'createdAt', 'revision'],
  additionalProperties: false,
  properties: {
    id: ID,
    list: LIST,
    range: RANGE,
    note: NOTE,
    expiresAt: { ...TIME, description: 'Absent when it never expires.' },
    hits: COUNT,
    lastHitAt: TIME,
    createdAt: TIME,
    revision: { type: 'integer', description: 'For `If-Match`; hits do not change it.' },
  },
} as const;

export const ADDRESS_RULES_SCHEMA = {
  title: 'AddressRuleList',
  type: 'object',
  required: ['rules'],
  additionalProperties: false,
  properties: { rules: { type: 'array', items: ADDRESS_RULE_SCHEMA } },
} as const;

export const NEW_ADDRESS_RULE_SCHEMA = {
  title: 'NewAddressRule',
  type: 'object',
  required: ['list', 'range'],
  additionalProperties: false,
  properties: { list: LIST, range: RANGE, note: NOTE, expiresAt: orNull(TIME) },
} as const;

export const ADDRESS_RULE_CHANGE_SCHEMA = {
  title: 'AddressRuleChange',
  type: 'object',
  additionalProperties: false,
  properties: NEW_ADDRESS_RULE_SCHEMA.properties,
} as const;

export const ADDRESS_QUESTION_SCHEMA = {
  type: 'object',
  required: ['address'],
  additionalProperties: false,
  properties: { address: { type: 'string', minLength: 1, maxLength: 128 } },
} as const;

export const ADDRESS_CHECK_SCHEMA = {
  title: 'AddressCheck',
  type: 'object',
  required: ['verdict'],
  additionalProperties: false,
  properties: {
    verdict: { enum: ['allowed', 'denied'], description: 'As if the filter were enabled.' },
    rule: ADDRESS_RULE_SCHEMA,
  },
} as const;

export const ACCESS_LOG_SCHEMA = {
  title: 'AccessLog',
  type: 'object',
  required: ['entries'],
  additionalProperties: false,
  properties: {
    entries: {
      type: 'array',
      items: {
        title: 'AccessEntry',
        type: 'object',
        required: ['id', 'at', 'verdict', 'address', 'method', 'path', 'reason'],
        additionalProperties: false,
        properties: {
          id: { type: 'integer' },
          at: TIME,
          verdict: { enum: ACCESS_VERDICTS },
          address: { type: 'string' },
          method: { type: 'string' },
          path: { type: 'string' },
          keyId: { type: 'string' },
          reason: { type: 'string', description: 'What the client was told.' },
        },
      },
    },
    nextCursor: { type: 'string', description: 'Absent on the last page.' },
  },
} as const;

export const SESSION_SCHEMA = {
  title: 'ConsoleSession',
  type: 'object',
  required: ['signedIn', 'needsPassword'],
  additionalProperties: false,
  properties: {
    signedIn: { type: 'boolean' },
    needsPassword: { type: 'boolean', description: 'Whether any password is configured.' },
    expiresAt: { ...TIME, description: 'If nothing more comes from this browser.' },
  },
} as const;

export const PASSWORD_SCHEMA = {
  type: 'object',
  required: ['password'],
  additionalProperties: false,
  properties: { password: { type: 'string', minLength: 1, maxLength: 1024 } },
} as const;

export const SIGNED_IN_SCHEMA = {
  title: 'SignedIn',
  type: 'object',
  required: ['expiresAt'],
  additionalProperties: false,
  properties: { expiresAt: TIME },
} as const;
