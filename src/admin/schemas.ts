// Schemas that several routes of the admin API share; a `title` names them in the OpenAPI description.

import { ACCOUNT_KINDS, ACCOUNT_ORIGINS, TIERS } from '../accounts/account.ts';
import { MESSAGE_SCHEMA, messageSchema, type Sentence, told } from '../lib/localized-message.ts';
import { list, named, object, optional, VISIBLE_LINE } from '../lib/object-schema.ts';
import { BILLINGS } from '../pricing/charges.ts';

/** Something of it can be seen. */
const VISIBLE = '[^\\s\\p{C}]';

const PROJECT_ID = '^[\\w.:-]+$';

/** Milliseconds since the epoch, or another count that a query holds. */
const DIGITS = '^\\d{1,15}$';

export const UP_TO_200 = '^([1-9]\\d?|1\\d\\d|200)$';
export const UP_TO_500 = '^(?:[1-9]\\d?|[1-4]\\d\\d|500)$';
export const UP_TO_1000 = '^([1-9]\\d{0,2}|1000)$';

export const REQUEST_STATUS = '^(ok|error|cancelled|[1-5]xx|[1-5]\\d\\d)$';

const WORDS: ReadonlyMap<unknown, Sentence> = new Map([
  [VISIBLE, told`must have a character that can be seen`],
  [VISIBLE_LINE, told`must be one line with a character that can be seen`],
  [PROJECT_ID, told`must have letters, digits and . : _ - only`],
  [DIGITS, told`must be a whole number of up to 15 digits`],
  [REQUEST_STATUS, told`must be ok, error, cancelled, 4xx, 5xx or a status code`],
  [UP_TO_200, told`must be a number from 1 to 200`],
  [UP_TO_500, told`must be a number from 1 to 500`],
  [UP_TO_1000, told`must be a number from 1 to 1000`],
]);

export const QUERY_TIME = { type: 'string', pattern: DIGITS } as const;
/** A name in a query, of a model, an account or what else lists are narrowed by. */
export const QUERY_NAME = { type: 'string', minLength: 1, maxLength: 320 } as const;
export const QUERY_CURSOR = {
  type: 'string',
  maxLength: 64,
  description: 'The `nextCursor` of an earlier answer.',
} as const;

export function patternWords(params: object): Sentence | undefined {
  return 'pattern' in params ? WORDS.get(params.pattern) : undefined;
}

const ISO_TIME = { type: 'string', format: 'date-time' } as const;
const OPTIONAL_TIME = { type: ['string', 'null'], format: 'date-time' } as const;
export const OPTIONAL_TEXT = { type: ['string', 'null'] } as const;

export const orNull = <const Schema>(schema: Schema) =>
  ({ anyOf: [schema, { type: 'null' }] }) as const;

export const ERROR_SCHEMA = named('Error', {
  error: object({
    code: { type: 'string', description: 'A word for programs.' },
    message: messageSchema('What is wrong and the way out.'),
    field: optional({ type: 'string', description: 'The field of the request that is wrong.' }),
  }),
});

export const QUOTA_SCHEMA = named('Quota', {
  model: { type: 'string', description: "The account's own id of the model." },
  percent: { type: 'number', minimum: 0, maximum: 100 },
  resetsAt: OPTIONAL_TIME,
  source: {
    enum: ['upstream', 'estimated', 'rate'],
    description: '`rate`: a rate limit as the last answers told it; it keeps no account out.',
  },
  fetchedAt: ISO_TIME,
  isProtected: { type: 'boolean', description: 'Kept back by quota protection.' },
});

export const COOLDOWN_SCHEMA = named('Cooldown', {
  model: { ...OPTIONAL_TEXT, description: 'Null when the whole account is cooling down.' },
  until: ISO_TIME,
  cause: {
    enum: ['quota', 'rate', 'refused', 'missing', 'overloaded', 'credential'],
    description: '`overloaded`: the model is cooling down for all accounts of the upstream.',
  },
});

export const STATUS_SCHEMA = named('AccountStatus', {
  kind: { enum: ['active', 'disabled', 'blocked'] },
  reason: {
    ...OPTIONAL_TEXT,
    description:
      '`invalid-grant`, `invalid-key`, `forbidden`, `manual`, `standing-by`, `no-upstream` or `verification`; of an active account ' +
      '`refused-grant` while its sign-in is in doubt.',
  },
  since: OPTIONAL_TIME,
  until: OPTIONAL_TIME,
  detail: orNull(messageSchema('What the upstream said, or the person who did it.')),
  wayOut: { ...OPTIONAL_TEXT, description: 'What a person can do about it.' },
});

const TRIAL_SCHEMA = named(
  'AccountTrial',
  {
    what: { enum: ['models', 'answer'] },
    isGood: { type: 'boolean' },
    at: ISO_TIME,
    durationMs: { type: 'integer' },
    message: MESSAGE_SCHEMA,
  },
  { description: 'How it did when it was last tried apart from requests.' },
);

const CONDITION_SCHEMA = named('AccountCondition', {
  state: {
    enum: ['untried', 'healthy', 'degraded', 'cooling-down', 'failing', 'disabled'],
    description:
      'By the outcomes of its last requests and trials: `untried` has answered none in the last day, `degraded` ' +
      'answers most, `failing` fewer than half.',
  },
  attempts: { type: 'integer', description: 'The last requests that say something of it.' },
  share: { type: ['number', 'null'], description: 'Of these the part that succeeded, 0 to 1.' },
  lastSuccessAt: OPTIONAL_TIME,
  lastFailureAt: { ...OPTIONAL_TIME, description: 'Null: none since the gateway started.' },
  lastFailure: orNull(messageSchema('What it was, in the words of the upstream.')),
  reason: orNull(messageSchema('Why the last one failed, in the words of the upstream.')),
  trial: orNull(TRIAL_SCHEMA),
});

export const ACCOUNT_SCHEMA = named('Account', {
  id: { type: 'string' },
  upstream: { type: 'string' },
  kind: { enum: ACCOUNT_KINDS },
  label: { type: 'string', description: 'E-mail or name, unique within its upstream.' },
  name: {
    type: 'string',
    description:
      'What requests and usage call it: the label, with the upstream behind it where an older account has the same.',
  },
  tier: { enum: [...TIERS, null] },
  billing: {
    enum: [...BILLINGS, null],
    description: 'How it is paid; null for what is usual of its kind.',
  },
  usualBilling: { enum: BILLINGS, description: 'How it is paid where nobody says.' },
  project: OPTIONAL_TEXT,
  priority: { type: 'integer', description: 'Higher goes first.' },
  notes: OPTIONAL_TEXT,
  hasProxy: { type: 'boolean' },
  origin: {
    enum: ACCOUNT_ORIGINS,
    description: 'Only stored accounts can be changed or removed.',
  },
  status: STATUS_SCHEMA,
  condition: CONDITION_SCHEMA,
  cooldowns: list(COOLDOWN_SCHEMA),
  quotas: list(QUOTA_SCHEMA),
  models: {
    type: ['integer', 'null'],
    description: 'How many models its own list holds; null until it was read.',
  },
  createdAt: ISO_TIME,
  lastUsedAt: { ...OPTIONAL_TIME, description: 'Null: not since the gateway started.' },
  revision: { type: 'integer', description: 'For `If-Match`.' },
});

export const ACCOUNT_LIST_SCHEMA = named('AccountList', {
  accounts: list(ACCOUNT_SCHEMA),
});

/** Texts a person writes. */
export const LABEL = { type: 'string', minLength: 1, maxLength: 256, pattern: VISIBLE } as const;
export const NOTES = { type: 'string', maxLength: 4096 } as const;
export const PROJECT = {
  type: 'string',
  minLength: 1,
  maxLength: 128,
  pattern: PROJECT_ID,
} as const;
export const PRIORITY = { type: 'integer', minimum: -1_000_000, maximum: 1_000_000 } as const;
export const SECRET = { type: 'string', minLength: 1, maxLength: 16_384 } as const;
export const ADD_ANYWAY = {
  type: 'boolean',
  description: 'Stores the key even if the upstream refuses it.',
} as const;
export const PROXY_URL = {
  type: 'string',
  maxLength: 2048,
  description: '`http://`, `https://` or `socks5://`, perhaps with user and password. Never shown.',
} as const;

export const TIME = { type: 'number', description: 'Milliseconds since the epoch.' } as const;
