// The settings table: every key of `gui_config.json` with its meaning, default, unit and section.

import type { XStatic } from 'typebox/schema';
import { isJsonObject, type JsonObject, type JsonValue } from '../lib/json.ts';
import {
  LOG_LEVELS,
  QUIRK_PRESETS,
  readAddressRange,
  readBaseUrl,
  readClientKey,
  readDirectHost,
  readHeaderSecret,
  readHost,
  readHostName,
  readLocation,
  readOneLine,
  readOrigin,
  readPassword,
  readPath,
  readPlainProxy,
  readProxyCredential,
  readSecret,
  readServiceUrl,
  readUrl,
  readUrlPath,
  readWebhook,
  readWebUrl,
  UPSTREAM_PROFILES,
  WEBHOOK_FORMATS,
} from './values.ts';

/** What a node of the table says beside its JSON Schema. */
export interface SettingSchema {
  readonly type?: string | undefined;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly enum?: readonly string[] | undefined;
  readonly description?: string | undefined;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, SettingSchema>> | undefined;
  readonly required?: readonly string[] | undefined;
  /** Of sections whose keys are names of the operator's choice. */
  readonly additionalProperties?: SettingSchema | undefined;
  /** Its name in the code, where that is not the key in camel case; the same as in `VARIABLES`. */
  readonly as?: string | undefined;
  /** Values of time are milliseconds in the code. */
  readonly unit?: keyof typeof UNITS | undefined;
  /** The section of the admin API it belongs to. */
  readonly section?: string | undefined;
  /** Objects whose keys are names that people choose, so that none of them is taken for a secret. */
  readonly isNamed?: boolean | undefined;
  /** Of values that are not shown whatever their key is; others are not where their key says what they are. */
  readonly isSecret?: boolean | undefined;
  /** What the schema cannot check. @throws ValueError */
  readonly check?: ((text: string) => string) | undefined;
}

const UNITS = { seconds: 1000, minutes: 60_000, hours: 3_600_000, days: 86_400_000 } as const;

/** The sections of the admin API, in order. */
export const SECTION_TITLES = {
  auth: 'keys and who needs one',
  mapping: 'model names',
  targets: 'models to try in steps',
  presets: 'mappings to apply by name',
  families: 'which models serve a family',
  pool: 'how accounts are chosen',
  quota: 'quota figures and protection',
  thinking: 'what becomes of thinking',
  upstreams: 'upstreams and their OAuth clients',
  network: 'address, limits, proxies and web pages',
  ip_filter: 'who is let in by address',
  console: 'signing in to the console',
  sign_in: 'signing in to the console at an OpenID Connect provider',
  extprov: 'the external provider',
  prices: 'own prices of models',
  monitor: 'records of requests',
  alerts: 'webhooks that are told what needs attention',
  log: 'the log',
} as const;

const SWITCH = { type: 'boolean', default: false } as const;
const TEXT = { type: 'string', minLength: 1 } as const;
const TEXT_MAP = { type: 'object', additionalProperties: { type: 'string' } } as const;
const NETWORK_LIST = {
  type: 'array',
  items: { type: 'string' },
  section: 'network',
  default: [],
} as const;

function text(description: string, check?: SettingSchema['check']) {
  return { ...TEXT, check, description } as const;
}

/** A whole number within bounds, both inclusive. @param usual the default */
function whole(minimum: number, maximum: number, usual: number) {
  return { ...amount(minimum, maximum, usual), type: 'integer' } as const;
}

/** As `whole`, for numbers that may have a fraction. */
function amount(minimum: number, maximum: number, usual: number) {
  return { type: 'number', minimum, maximum, default: usual } as const;
}

/** Keys that stand together in one object. */
function group<const Properties extends object>(description: string, properties: Properties) {
  return { type: 'object', description, properties } as const;
}

/** A section of the admin API that is one object of the file. */
function section<const Name extends string, const Properties extends object>(
  name: Name,
  description: string,
  properties: Properties,
) {
  return { ...group(description, properties), section: name };
}

const PREFERRED = {
  type: 'array',
  items: { type: 'string', minLength: 1, maxLength: 256 },
  default: [],
  description:
    'Model ids, or patterns with `*`, to use for the family, best first; the newest version where an account offers none of them.',
} as const;

const FAMILIES_SCHEMA = section(
  'families',
  'Which of the models that an account offers serve the names of a family.',
  {
    pro: PREFERRED,
    flash: PREFERRED,
    'flash-lite': PREFERRED,
    image: PREFERRED,
    embedding: PREFERRED,
    opus: PREFERRED,
    sonnet: PREFERRED,
    haiku: PREFERRED,
    gpt: PREFERRED,
    mini: PREFERRED,
    nano: PREFERRED,
  },
);

/** The families of models that well-known names go to. */
export type ModelFamily = keyof typeof FAMILIES_SCHEMA.properties;

/** What the operator prefers in a family. */
export type FamiliesSettings = XStatic<typeof FAMILIES_SCHEMA>;

const POOL_SCHEMA = section('pool', 'How an account is chosen for a request.', {
  mode: {
    enum: ['balance', 'cache-first', 'performance-first'],
    default: 'balance',
    description:
      '`balance` spreads sessions and keeps each with its account; `cache-first` lets a session wait ' +
      'for its account; `performance-first` takes the best account for every request.',
  },
  max_wait_seconds: {
    as: 'maxWaitMs',
    unit: 'seconds',
    ...whole(0, 300, 60),
    description: 'Longest wait of a session for its account, with `cache-first`.',
  },
  fixed_account: text(
    'Id or label of the account that gets every request while it can be used.',
    readOneLine,
  ),
  session_ttl_minutes: {
    as: 'sessionIdleMs',
    unit: 'minutes',
    ...amount(1, 10_080, 60),
    description: 'How long an idle session keeps its account.',
  },
});

const QUOTA_SCHEMA = section('quota', 'Quotas of the accounts.', {
  refresh_minutes: {
    as: 'refreshIntervalMs',
    unit: 'minutes',
    ...amount(1, 1440, 5),
    description: 'How often the quota of each account is read again.',
  },
  protection: group('Keeps a rest of the quota for other uses.', {
    enabled: { ...SWITCH, description: 'Protects quotas.' },
    threshold_percent: {
      ...amount(0, 100, 10),
      description: 'An account strictly below it is not used for the model.',
    },
    models: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      default: [],
      description: 'Protected models, as clients or upstreams name them; all when empty.',
    },
  }),
});

const IP_FILTER_SCHEMA = section(
  'ip_filter',
  'Which IP addresses are let in; the rules themselves are in the database.',
  {
    enabled: { ...SWITCH, description: 'Enables the IP rules.' },
    default: {
      as: 'fallback',
      enum: ['allow', 'deny'],
      default: 'allow',
      description: 'What happens to an IP address that no rule covers.',
    },
    allow_beats_deny: {
      ...SWITCH,
      description: 'An allow rule takes precedence over a deny rule; otherwise deny does.',
    },
  },
);

const CONSOLE_SCHEMA = section('console', 'Signing in to the web console.', {
  session_idle_hours: {
    as: 'sessionIdleMs',
    unit: 'hours',
    ...amount(0.1, 168, 12),
    description: 'How long an idle browser stays signed in, at most a week in any case.',
  },
  sign_in_link: {
    as: 'hasSignInLink',
    type: 'boolean',
    default: true,
    description: 'Prints a link at startup that signs in a browser on this machine, once.',
  },
});

function claimed(role: string) {
  return {
    type: 'array',
    items: { type: 'string', minLength: 1, maxLength: 256 },
    maxItems: 200,
    default: [],
    description: `Values of \`role_claim\` that give the role ${role}; the highest role applies.`,
  } as const;
}

const SIGN_IN_SCHEMA = section(
  'sign_in',
  'Signing in to the console at an OpenID Connect provider; on once it has an issuer and a client id.',
  {
    issuer: text(
      'Address of the provider, below which is `/.well-known/openid-configuration`.',
      readServiceUrl,
    ),
    client_id: text('Id of the gateway as a client there.'),
    client_secret: text('Its secret, plain or sealed (`sealed:v1:…`); absent for public clients.'),
    label: {
      type: 'string',
      minLength: 1,
      maxLength: 40,
      default: 'OpenID Connect',
      description: 'Name of the provider on the button of the sign-in page.',
    },
    scopes: {
      type: 'array',
      items: { type: 'string', minLength: 1, maxLength: 128 },
      minItems: 1,
      default: ['openid', 'email', 'profile'],
      description: 'Scopes that are requested; `openid` must be among them.',
    },
    redirect_url: text(
      'Address registered at the provider, ending in `/sign-in/callback`; without one, it is derived from the address of the sign-in page.',
      readServiceUrl,
    ),
    role_claim: {
      type: 'string',
      minLength: 1,
      maxLength: 256,
      description: 'Claim that gives people their roles, such as `groups` or `realm_access.roles`.',
    },
    owners: claimed('owner'),
    operators: claimed('operator'),
    viewers: claimed('viewer'),
    default_role: {
      enum: ['none', 'viewer', 'operator', 'owner'],
      default: 'none',
      description:
        'Role of everyone else who signs in at the provider; with `none`, only people with a role from the claim and invited people can sign in.',
    },
    allowed_domains: {
      type: 'array',
      items: { type: 'string', minLength: 1, maxLength: 253 },
      maxItems: 100,
      default: [],
      description:
        'Domains of verified e-mail addresses that may sign in; empty allows all. Invited people need none.',
    },
  },
);

const MONITOR_SCHEMA = section('monitor', 'The records of model requests.', {
  enabled: { type: 'boolean', default: true, description: 'Keeps a record of each request.' },
  bodies: {
    as: 'keepsBodies',
    ...SWITCH,
    description:
      'Keeps the payloads of requests and responses, up to 262,144 characters each, without credentials; prompts are then stored.',
  },
  bodies_until: {
    as: 'bodiesUntil',
    ...whole(0, 9_007_199_254_740_991, 0),
    description:
      'Keeps payloads until this time, in milliseconds since the epoch; the console sets it for some minutes.',
  },
  retention_days: {
    as: 'retentionMs',
    unit: 'days',
    ...amount(0.01, 365, 7),
    description: 'Request logs older than this are deleted; usage totals are kept for a year.',
  },
  max_bytes: {
    ...whole(1_048_576, 1_099_511_627_776, 1_073_741_824),
    description: 'Maximum size of the request logs; the oldest are deleted down to half of it.',
  },
  account_names: {
    as: 'namesAccounts',
    ...SWITCH,
    description:
      'Names accounts in `/metrics` by their e-mail or label; otherwise each has a pseudonym. Accounts that were counted before keep their name until the next start.',
  },
});

const CHANNEL_SCHEMA = {
  type: 'object',
  required: ['webhook'],
  properties: {
    webhook: text(
      'Its address, which is treated as a password and never shown again. It may be in the local network.',
      readWebhook,
    ),
    format: {
      enum: WEBHOOK_FORMATS,
      description:
        'Format of the messages: `json` when absent; `slack` and `discord` for these services.',
    },
    severity: {
      enum: ['warning', 'error'],
      description: 'Lowest severity that is sent; `warning` when absent.',
    },
  },
} as const;

/** Webhooks of alerts, by a name of the operator's choice. */
export type AlertChannels = Readonly<Record<string, XStatic<typeof CHANNEL_SCHEMA>>>;

const ALERTS_SCHEMA = section('alerts', 'Webhooks that are told what needs attention.', {
  channels: {
    type: 'object',
    isNamed: true,
    default: {},
    maxProperties: 20,
    description: 'The webhooks, by a name of your choice.',
    additionalProperties: CHANNEL_SCHEMA,
  },
  hold_seconds: {
    as: 'holdMs',
    unit: 'seconds',
    ...whole(0, 86_400, 60),
    description:
      'How long a condition must last before it is sent, and how long it must be gone before it is sent as resolved.',
  },
  repeat_hours: {
    as: 'repeatMs',
    unit: 'hours',
    ...amount(0.1, 720, 4),
    description: 'How often a condition that lasts is sent again.',
  },
});

export const OAUTH_SCHEMA = {
  type: 'object',
  description: 'Your own OAuth client at the provider, for accounts that sign in.',
  required: ['client_id'],
  properties: {
    client_id: text('Its id.', readSecret),
    client_secret: text(
      'Its secret, plain or sealed (`sealed:v1:…`); absent for public clients.',
      readSecret,
    ),
    authorization_url: text(
      'Where people sign in. The profiles `gemini-api` and `vertex` know this and the next three addresses.',
      readServiceUrl,
    ),
    token_url: text('Where codes and refresh tokens are exchanged.', readServiceUrl),
    revocation_url: text('Where the token of a removed account is revoked.', readServiceUrl),
    userinfo_url: {
      ...text('Where the e-mail address of an account is read.', readServiceUrl),
      as: 'userInfoUrl',
    },
    issuer: text('The only issuer that sign-ins may come back from.', readServiceUrl),
    scopes: {
      type: 'array',
      items: TEXT,
      check: readSecret,
      minItems: 1,
      description:
        'Scopes that are requested; with the profiles `gemini-api` and `vertex`: `openid`, `email` and the cloud platform.',
    },
    redirect_url: text(
      "Address registered at the provider, where sign-ins come back to; without one this gateway's own loopback address.",
      (address) => readUrl(address, ['http', 'https']),
    ),
    extra_parameters: {
      as: 'extraAuthorizationParameters',
      type: 'object',
      additionalProperties: { type: 'string' },
      description: 'More query parameters of the sign-in page.',
    },
  },
} as const;

const LIMIT_SCHEMA = {
  type: 'object',
  required: ['requests', 'window_minutes'],
  properties: {
    requests: {
      type: 'integer',
      minimum: 1,
      description: 'Requests of one account to this model that one window allows.',
    },
    window_minutes: { type: 'integer', minimum: 1, description: 'Length of the window.' },
  },
} as const;

const MODEL_PATTERNS = {
  type: 'array',
  maxItems: 100,
  items: { ...TEXT, maxLength: 256 },
} as const;

const CALLS_AT_ONCE = { type: 'integer', minimum: 1, maximum: 10_000 } as const;

export const UPSTREAM_SCHEMA = {
  type: 'object',
  required: ['profile'],
  properties: {
    profile: { enum: UPSTREAM_PROFILES, description: 'How the upstream is reached.' },
    base_url: text("Its address; without one the profile's own.", readBaseUrl),
    vocabulary: {
      enum: ['real', 'neutral'],
      description: 'Model and field names that a `generic` upstream takes; `neutral` when absent.',
    },
    auth: {
      enum: ['bearer', 'header', 'query'],
      description:
        'How a key is sent to a `generic` or `openai-compatible` upstream, `bearer` when absent, or to a ' +
        '`messages` upstream, `header` when absent.',
    },
    key_header: text(
      'Header that carries the key of an `openai-compatible` upstream where `auth` is `header`; `api-key` when absent.',
    ),
    headers: {
      type: 'object',
      additionalProperties: { type: 'string', isSecret: true },
      description: 'Headers of every request to an `openai` or `openai-compatible` upstream.',
    },
    query: {
      ...TEXT_MAP,
      description:
        'Query parameters of every request to an `openai-compatible` upstream, such as `api-version`.',
    },
    paths: {
      type: 'object',
      description:
        'Paths of an `openai-compatible` upstream below its address; `{model}` stands for the model.',
      properties: {
        chat: text('`/chat/completions` when absent.', readUrlPath),
        models: text('`/models` when absent.', readUrlPath),
        embeddings: text('`/embeddings` when absent.', readUrlPath),
        images: text('`/images/generations` when absent.', readUrlPath),
        edits: text('`/images/edits` when absent.', readUrlPath),
        transcriptions: text('`/audio/transcriptions` when absent.', readUrlPath),
        translations: text('`/audio/translations` when absent.', readUrlPath),
        speech: text('`/audio/speech` when absent.', readUrlPath),
      },
    },
    endpoints: {
      type: 'object',
      description:
        'Models of an `openai` or `openai-compatible` upstream that are asked at an endpoint of their own, as patterns ' +
        'of their ids, beside those that are known. An empty list: the upstream has no such endpoint.',
      properties: {
        images: { ...MODEL_PATTERNS, description: 'Models that generate images.' },
        transcriptions: { ...MODEL_PATTERNS, description: 'Models that transcribe audio.' },
        speech: { ...MODEL_PATTERNS, description: 'Models that generate speech.' },
      },
    },
    quirks: {
      enum: QUIRK_PRESETS,
      description:
        'Which service or server an `openai-compatible` upstream is, so that it gets the fields it takes.',
    },
    ends_with: {
      enum: ['finish_reason', 'done'],
      description:
        'What ends the streams of an `openai-compatible` upstream: `done` is `[DONE]`, where a service sends no ' +
        '`finish_reason`. With `finish_reason`, and when absent, such a stream counts as cut off.',
    },
    extra_body: {
      type: 'object',
      isNamed: true,
      additionalProperties: {},
      description: 'Fields of every request body to an `openai-compatible` upstream.',
    },
    location: text(
      'Region of a `vertex` upstream, such as `us-central1`; `global` when absent.',
      readLocation,
    ),
    quota_path: text(
      'Path below the address of a `generic` upstream that returns the quota; `/v1beta/quota` ' +
        'when absent. An upstream without it is asked once an hour.',
      readUrlPath,
    ),
    max_concurrency: {
      ...CALLS_AT_ONCE,
      description:
        'Calls it takes at once; more requests wait in a short queue. No limit when absent.',
    },
    max_concurrency_per_account: {
      ...CALLS_AT_ONCE,
      description: 'Calls that each of its accounts takes at once. No limit when absent.',
    },
    limits: {
      type: 'object',
      additionalProperties: LIMIT_SCHEMA,
      isNamed: true,
      description:
        'Limits by model id, from which quotas are estimated where the upstream reports none.',
    },
    oauth: OAUTH_SCHEMA,
  },
} as const;

const UPSTREAMS_SCHEMA = {
  type: 'object',
  section: 'upstreams',
  isNamed: true,
  description: 'Upstreams by id. An id that is the name of a profile must be of that profile.',
  additionalProperties: UPSTREAM_SCHEMA,
} as const;

/** A model, or `upstream/model`. */
const TARGET_NAME = { type: 'string', minLength: 1, maxLength: 256, pattern: '^[^@*]' } as const;

const TARGETS_SCHEMA = {
  type: 'object',
  section: 'targets',
  isNamed: true,
  default: {},
  description:
    'Models to try in steps, by a name that `custom_mapping` goes to as `@name`: the next step is tried when no ' +
    'account of the one before can serve.',
  additionalProperties: {
    type: 'object',
    required: ['steps'],
    properties: {
      steps: {
        type: 'array',
        minItems: 1,
        maxItems: 16,
        description:
          'Each step is a list of models; of several, the one with more weight is tried first more often.',
        items: {
          type: 'array',
          minItems: 1,
          maxItems: 16,
          items: {
            anyOf: [
              TARGET_NAME,
              {
                type: 'object',
                required: ['to'],
                additionalProperties: false,
                properties: {
                  to: TARGET_NAME,
                  weight: { type: 'number', exclusiveMinimum: 0, maximum: 1000 },
                },
              },
            ],
          },
        },
      },
    },
  },
} as const;

export type TargetsSettings = XStatic<typeof TARGETS_SCHEMA>;

const RATE = { type: 'number', minimum: 0, maximum: 1_000_000 } as const;

function rate(description: string) {
  return { ...RATE, description } as const;
}

/** US dollars per million tokens. */
const TOKEN_RATES = {
  input: rate('Input.'),
  cached_input: rate('Input read from a cache; as `input` when absent.'),
  cache_write: rate('Input written to a cache; as `input` when absent.'),
  cache_write_hour: rate('Input written to a cache for an hour; as `cache_write` when absent.'),
  image_input: rate('Pictures in the input; as `input` when absent.'),
  audio_input: rate('Sound in the input; as `input` when absent.'),
  output: rate('Output.'),
  thought: rate('Thinking; as `output` when absent.'),
  image_output: rate('Pictures in the output, by their tokens; as `output` when absent.'),
  audio_output: rate('Sound in the output; as `output` when absent.'),
} as const;

export const RATES_SCHEMA = {
  properties: { ...TOKEN_RATES, image: rate('US dollars for one picture of an answer.') },
} as const;

const PRICES_SCHEMA = {
  type: 'object',
  section: 'prices',
  isNamed: true,
  default: {},
  maxProperties: 1000,
  description:
    'Your own prices in US dollars per million tokens, by model, `upstream/model` or a pattern of either with `*`. They ' +
    'replace the public price of the model as a whole; `0` is a price too.',
  additionalProperties: {
    type: 'object',
    properties: {
      ...RATES_SCHEMA.properties,
      above: {
        type: 'array',
        maxItems: 8,
        description: 'Rates of long prompts, for the whole request.',
        items: {
          type: 'object',
          required: ['input_tokens'],
          properties: {
            input_tokens: {
              type: 'integer',
              minimum: 1,
              description: 'They apply when the input has more tokens than this.',
            },
            ...TOKEN_RATES,
          },
        },
      },
      source: { ...TEXT, maxLength: 300, description: 'Where the price comes from.' },
      date: text('Date of the price, such as `2026-11-27`.'),
    },
  },
} as const;

/** Own prices, by model or pattern. */
export type PriceSettings = XStatic<typeof PRICES_SCHEMA>;

/** What a price may say of tokens. */
export const TOKEN_RATE_NAMES: readonly string[] = Object.keys(TOKEN_RATES);

const EXTPROV_SCHEMA = section('extprov', 'External provider that speaks the Messages protocol.', {
  enabled: {
    ...SWITCH,
    description:
      'Enables the external provider, for requests of the Messages protocol; needs its address and key.',
  },
  base_url: { type: 'string', check: readWebUrl, description: 'Address of the provider.' },
  api_key: {
    type: 'string',
    check: (key: string) => (key === '' ? key : readHeaderSecret(key)),
    description: 'Key of the provider, plain or sealed (`sealed:v1:…`); needed when it is enabled.',
  },
  dispatch_mode: {
    enum: ['off', 'exclusive', 'pooled', 'fallback'],
    default: 'off',
    description:
      '`off` never; `exclusive` all Messages requests; `pooled` one slot beside the accounts; ' +
      '`fallback` when no account is usable.',
  },
  model_mapping: {
    type: 'object',
    additionalProperties: TEXT,
    isNamed: true,
    default: {},
    description: 'Client model id → provider model id.',
  },
  models: group('Provider models by family, where `model_mapping` says nothing.', {
    opus: { ...TEXT, default: 'extmodel-4.7', description: 'For the opus family.' },
    sonnet: { ...TEXT, default: 'extmodel-4.7', description: 'For the sonnet family.' },
    haiku: { ...TEXT, default: 'extmodel-4.5-air', description: 'For the haiku family.' },
  }),
  mcp: group('MCP services of the provider.', {
    enabled: { ...SWITCH, description: 'Enables the MCP endpoints.' },
    web_search_enabled: { ...SWITCH, description: 'Web search.' },
    web_reader_enabled: { ...SWITCH, description: 'Web reader.' },
    vision_enabled: { ...SWITCH, description: 'Vision.' },
    web_search_url: {
      type: 'string',
      check: readWebUrl,
      description: 'Address of the MCP service for web search.',
    },
    web_reader_url: {
      type: 'string',
      check: readWebUrl,
      description: 'Address of the MCP service that reads web pages.',
    },
    vision_model: {
      type: 'string',
      minLength: 1,
      maxLength: 256,
      description: 'Vision model of the provider; `models.sonnet` when absent.',
    },
  }),
});

const AUTH_MODE = {
  enum: ['off', 'auto', 'strict', 'Off', 'Auto', 'Strict', 'OFF', 'AUTO', 'STRICT'],
  section: 'auth',
} as const;

const THINKING_SCHEMA = section('thinking', 'What becomes of the thinking that clients ask for.', {
  mode: {
    enum: ['auto', 'passthrough', 'custom', 'adaptive'],
    default: 'auto',
    description:
      '`auto` fits the amount to the model; `passthrough` sends budgets as they are; `custom` puts ' +
      '`budget` in place of every amount; `adaptive` lets the model decide.',
  },
  budget: {
    ...whole(1024, 1_000_000, 24_576),
    description: 'Thinking budget of the mode `custom`, up to the model’s largest.',
  },
});

export const PROXY_SCHEMA = {
  type: 'object',
  description: 'The gateway itself.',
  properties: {
    host: {
      type: 'string',
      section: 'network',
      check: readHost,
      default: '127.0.0.1',
      description: 'Address to listen on.',
    },
    port: {
      section: 'network',
      ...whole(0, 65_535, 8045),
      description: 'Port to listen on; 0 takes a free one.',
    },
    tls_cert: {
      ...text(
        'File of the certificate that the gateway serves HTTPS with, in PEM, with those between it and its authority; read again when it changes.',
        readPath,
      ),
      section: 'network',
    },
    tls_key: {
      ...text('File of the key of `tls_cert`, in PEM, without a passphrase.', readPath),
      section: 'network',
    },
    auth_mode: {
      ...AUTH_MODE,
      default: 'auto',
      description:
        'Who needs a key: `off` nobody (development only), `auto` everyone but local requests, ' +
        '`strict` everyone.',
    },
    custom_mapping: {
      ...TEXT_MAP,
      section: 'mapping',
      isNamed: true,
      default: {},
      description: 'Requested model name, exact or with `*`, → target model.',
    },
    targets: TARGETS_SCHEMA,
    presets: {
      type: 'object',
      section: 'presets',
      isNamed: true,
      default: {},
      description:
        'Mappings by name that can be applied beside the built-in presets: model name, exact or with `*`, → target, ' +
        'which may be `upstream/model` or `@name`.',
      additionalProperties: { ...TEXT_MAP, isNamed: true },
    },
    families: FAMILIES_SCHEMA,
    prices: PRICES_SCHEMA,
    extprov: { as: 'externalProvider', ...EXTPROV_SCHEMA },
    max_body_size: {
      as: 'maxBodyBytes',
      section: 'network',
      // Below the least no client would get a word through, which is nobody's wish.
      ...whole(16_384, 2_147_483_647, 104_857_600),
      description: 'Largest body of a model request, in bytes; at least `16384`.',
    },
    trusted_proxies: {
      ...NETWORK_LIST,
      check: readAddressRange,
      description: 'IP addresses and CIDR ranges whose `X-Forwarded-For` is trusted.',
    },
    cors_origins: {
      ...NETWORK_LIST,
      check: readOrigin,
      description: 'Origins of web pages that may call with a key.',
    },
    allowed_hosts: {
      ...NETWORK_LIST,
      check: readHostName,
      description: 'Host names, besides the loopback ones, under which local requests may come.',
    },
    outbound_proxy: {
      ...text(
        'Proxy for all calls of the gateway to other machines: `http://`, `https://` or `socks5://`; the proxy of an account takes precedence.',
        readPlainProxy,
      ),
      section: 'network',
    },
    outbound_proxy_credential: {
      ...text(
        'User and password of `outbound_proxy`, plain or sealed (`sealed:v1:…`).',
        readProxyCredential,
      ),
      section: 'network',
    },
    no_proxy: {
      ...NETWORK_LIST,
      check: readDirectHost,
      description:
        'Hosts that are called without a proxy, with their subdomains: names, addresses and CIDR ranges, optionally with a port; `*` is every host.',
    },
    web_sockets: {
      as: 'takesWebSockets',
      type: 'boolean',
      section: 'network',
      default: true,
      description:
        'Accepts Responses requests over a WebSocket too; if off, clients get a 426 and use HTTP.',
    },
    fetch_remote_media: {
      ...SWITCH,
      section: 'network',
      description:
        'Fetches images and documents that requests name by https address, from public hosts only.',
    },
    thinking: THINKING_SCHEMA,
    pool: POOL_SCHEMA,
    quota: QUOTA_SCHEMA,
    ip_filter: { as: 'addressFilter', ...IP_FILTER_SCHEMA },
    console: CONSOLE_SCHEMA,
    sign_in: SIGN_IN_SCHEMA,
    monitor: MONITOR_SCHEMA,
    alerts: ALERTS_SCHEMA,
    update_check: {
      section: 'network',
      enum: ['auto', 'off'],
      default: 'auto',
      description:
        '`auto` asks the package registry once a day for a newer version if an installed release was started by hand at a terminal; `off` never asks.',
    },
    log_level: {
      section: 'log',
      enum: LOG_LEVELS,
      default: 'info',
      description: 'Lowest level that is logged.',
    },
  },
} as const;

/** Keys that stand nowhere here are kept as they are. */
export const CONFIG_SCHEMA = {
  type: 'object',
  properties: {
    api_key: {
      ...text('Key that clients send with model requests.', readClientKey),
      section: 'auth',
    },
    admin_password: {
      ...text('Password of the web console.', readPassword),
      as: 'webPassword',
      section: 'auth',
    },
    auth_mode: { ...AUTH_MODE, description: 'The same as `proxy.auth_mode`, which wins.' },
    proxy: PROXY_SCHEMA,
    upstreams: UPSTREAMS_SCHEMA,
  },
} as const;

/** A checked config file; every key may be missing. */
export type ConfigFile = XStatic<typeof CONFIG_SCHEMA>;

/** Where a setting of a section is in the file; a section is one object or several single keys. */
interface SettingPlace {
  readonly section: string;
  readonly path: readonly string[];
  readonly name: string;
  readonly schema: SettingSchema;
}

/** Each node of the table that names its section, in order. */
export const SETTING_PLACES: readonly SettingPlace[] = listPlaces(CONFIG_SCHEMA, []);

function listPlaces({ properties = {} }: SettingSchema, above: readonly string[]): SettingPlace[] {
  return Object.entries(properties).flatMap(([key, schema]) => {
    const { section } = schema;
    const path = [...above, key];
    return section === undefined
      ? listPlaces(schema, path)
      : [{ section, path, name: nameInCode(key, schema), schema }];
  });
}

type Camel<Key> = Key extends `${infer Head}_${infer Rest}`
  ? `${Head}${Capitalize<Camel<Rest>>}`
  : Key;

type NameInCode<Key, Schema> = Schema extends { readonly as: infer Name } ? Name : Camel<Key>;

export type PlainValue<Schema> = Schema extends { readonly enum: readonly (infer Word)[] }
  ? Word
  : Schema extends { readonly type: 'boolean' }
    ? boolean
    : Schema extends { readonly type: 'integer' | 'number' }
      ? number
      : Schema extends { readonly type: 'array' }
        ? readonly string[]
        : Schema extends { readonly type: 'object' }
          ? Readonly<Record<string, string>>
          : string;

type Effective<Schema> = Schema extends { readonly properties: infer Properties }
  ? EffectiveSection<Properties>
  : Schema extends { readonly default: unknown }
    ? PlainValue<Schema>
    : PlainValue<Schema> | undefined;

/** The values of a section with its defaults, by their names in the code. */
export type EffectiveSection<Properties> = {
  readonly [Key in keyof Properties as NameInCode<Key, Properties[Key]> & string]: Effective<
    Properties[Key]
  >;
};

/** The values of `proxy` with every default filled in. */
export type ProxySettings = EffectiveSection<typeof PROXY_SCHEMA.properties>;

/** The settings of a section, as their readers write them, with the defaults where a file says nothing. @throws ValueError */
export function readSection<Schema extends SettingSchema & { readonly properties: object }>(
  schema: Schema,
  section: object,
): EffectiveSection<Schema['properties']> {
  // The one narrowing of this file: the values are those of the table, key by key.
  return readSettings(schema, section) as EffectiveSection<Schema['properties']>;
}

function readSettings({ properties = {} }: SettingSchema, section: object): object {
  const given = new Map<string, unknown>(Object.entries(section));
  return Object.fromEntries(
    Object.entries(properties).map(([key, schema]) => {
      const value = given.get(key);
      const name = nameInCode(key, schema);
      if (schema.properties !== undefined) {
        return [name, readSettings(schema, isJsonObject(value) ? value : {})];
      }
      const usual = value ?? schema.default;
      const { unit, check } = schema;
      if (check && value !== undefined) {
        return [
          name,
          Array.isArray(value) ? value.map((text) => check(text)) : check(String(value)),
        ];
      }
      return [name, unit && typeof usual === 'number' ? usual * UNITS[unit] : usual];
    }),
  );
}

function nameInCode(key: string, { as }: SettingSchema): string {
  return as ?? key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

export const DEFAULTS: ProxySettings = readSection(PROXY_SCHEMA, {});

/** A key that is no setting's, with those its object may have, and which of them are free. */
interface UnknownKey extends Readonly<Record<'path' | 'known' | 'free', readonly string[]>> {
  readonly value: JsonValue;
}

/** The keys that nothing would ever read. */
export function findUnknownKeys(
  section: JsonObject,
  { properties = {}, additionalProperties: each }: SettingSchema = CONFIG_SCHEMA,
  above: readonly string[] = [],
): readonly UnknownKey[] {
  const known = Object.keys(properties);
  const free = known.filter((name) => !Object.hasOwn(section, name));
  return Object.entries(section).flatMap(([key, value]) => {
    const inner = Object.hasOwn(properties, key) ? properties[key] : each;
    const path = [...above, key];
    if (inner === undefined) return [{ path, value, known, free }];
    const holdsSettings =
      inner.properties !== undefined || inner.additionalProperties !== undefined;
    return isJsonObject(value) && holdsSettings ? findUnknownKeys(value, inner, path) : [];
  });
}

/** Where settings of this name are, such as `upstreams.<name>.base_url`. */
export function placesOf(
  name: string,
  { properties = {}, additionalProperties: each }: SettingSchema = CONFIG_SCHEMA,
  above: readonly string[] = [],
): readonly string[] {
  const below = Object.entries(properties);
  if (each !== undefined) below.push(['<name>', each]);
  return below.flatMap(([key, inner]) => {
    const path = [...above, key];
    return [...(key === name ? [path.join('.')] : []), ...placesOf(name, inner, path)];
  });
}
