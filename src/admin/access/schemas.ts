// Schemas of the routes of API keys, IP rules, the access log and the console session.

import { ACCESS_ENTRY_SCHEMA, TIME } from '../../access/access-log.ts';
import {
  CURFEW_SCHEMA,
  KEY_AMOUNTS,
  KEY_FIELDS,
  KEY_USE_SCHEMA,
  REVISION,
} from '../../access/api-key.ts';
import { ADDRESS_RULE_SCHEMA, RULE_INPUT } from '../../access/ip-rules.ts';
import { named, object, optional, optionals, partial, TEXT } from '../../lib/object-schema.ts';
import { orNull, VISIBLE_LINE } from '../schemas.ts';

const NAME = { type: 'string', minLength: 1, maxLength: 128, pattern: VISIBLE_LINE } as const;
const ENABLED = { type: 'boolean' } as const;

export const KEY_SCHEMA = named('Key', {
  ...KEY_FIELDS,
  usedToday: KEY_USE_SCHEMA,
  revision: REVISION,
});

export const KEY_LIST_SCHEMA = named('KeyList', { keys: { type: 'array', items: KEY_SCHEMA } });

export const CREATED_KEY_SCHEMA = named('CreatedKey', {
  key: KEY_SCHEMA,
  secret: { type: 'string', description: 'Shown this once: only a digest of it is kept.' },
});

const { allowedModels } = KEY_FIELDS;

export const NEW_KEY_SCHEMA = named('NewKey', {
  name: NAME,
  ...optionals({ enabled: ENABLED, expiresAt: TIME, allowedModels, ...KEY_AMOUNTS }),
  curfew: optional(CURFEW_SCHEMA),
});

export const KEY_CHANGE_SCHEMA = partial(
  {
    name: NAME,
    enabled: ENABLED,
    expiresAt: orNull(TIME),
    allowedModels,
    maxAddresses: orNull(KEY_AMOUNTS.maxAddresses),
    requestsPerMinute: orNull(KEY_AMOUNTS.requestsPerMinute),
    tokensPerMinute: orNull(KEY_AMOUNTS.tokensPerMinute),
    dailyTokens: orNull(KEY_AMOUNTS.dailyTokens),
    dailyImages: orNull(KEY_AMOUNTS.dailyImages),
    curfew: orNull(CURFEW_SCHEMA),
  },
  { title: 'KeyChange', description: 'What is absent stays; null takes a limit away.' },
);

export const ADDRESS_RULES_SCHEMA = named('AddressRuleList', {
  rules: { type: 'array', items: ADDRESS_RULE_SCHEMA },
});

const { note, ...RULE_PLACE } = RULE_INPUT;
const RULE_EXTRAS = { note, expiresAt: orNull(TIME) } as const;

export const NEW_ADDRESS_RULE_SCHEMA = named('NewAddressRule', {
  ...RULE_PLACE,
  ...optionals(RULE_EXTRAS),
});

export const ADDRESS_RULE_CHANGE_SCHEMA = partial(
  { ...RULE_PLACE, ...RULE_EXTRAS },
  { title: 'AddressRuleChange' },
);

export const ADDRESS_QUESTION_SCHEMA = object({
  address: { type: 'string', minLength: 1, maxLength: 128 },
});

export const ADDRESS_CHECK_SCHEMA = named('AddressCheck', {
  verdict: { enum: ['allowed', 'denied'], description: 'As if the filter were enabled.' },
  rule: optional(ADDRESS_RULE_SCHEMA),
});

export const ACCESS_LOG_SCHEMA = named('AccessLog', {
  entries: { type: 'array', items: ACCESS_ENTRY_SCHEMA },
  nextCursor: optional({ ...TEXT, description: 'Absent on the last page.' }),
});

export const SESSION_SCHEMA = named('ConsoleSession', {
  signedIn: { type: 'boolean' },
  needsPassword: { type: 'boolean', description: 'Whether any password is configured.' },
  expiresAt: optional({ ...TIME, description: 'If nothing more comes from this browser.' }),
});

export const PASSWORD_SCHEMA = object({
  password: { type: 'string', minLength: 1, maxLength: 1024 },
});

export const SIGNED_IN_SCHEMA = named('SignedIn', { expiresAt: TIME });
