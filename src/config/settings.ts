// The shape of `gui_config.json`: every key with its meaning and default.

import type { XStatic } from 'typebox/schema';

// The shape of `proxy.families` in `gui_config.json`.

const PREFERRED = {
  type: 'array',
  items: { type: 'string', minLength: 1, maxLength: 256 },
  default: [],
  description:
    'Model ids, or patterns with `*`, to use for the family, best first; the newest version where an account offers none of them.',
} as const;

const FAMILIES_SCHEMA = {
  type: 'object',
  description: 'Which of the models that an account offers serve the names of a family.',
  properties: {
    pro: PREFERRED,
    flash: PREFERRED,
    'flash-lite': PREFERRED,
    image: PREFERRED,
    embedding: PREFERRED,
    opus: PREFERRED,
    sonnet: PREFERRED,
    haiku: PREFERRED,
  },
} as const;

/** The families of models that well-known names go to. */
export type ModelFamily = keyof typeof FAMILIES_SCHEMA.properties;

/** What the operator prefers in a family. */
export type FamiliesSettings = XStatic<typeof FAMILIES_SCHEMA>;

// The shape of `proxy.pool` and `proxy.quota` in `gui_config.json`.

const POOL_SCHEMA = {
  type: 'object',
  description: 'How an account is chosen for a request.',
  properties: {
    mode: {
      enum: ['balance', 'cache-first', 'performance-first'],
      default: 'balance',
      description:
        '`balance` spreads sessions and keeps each with its account; `cache-first` lets a session wait ' +
        'for its account; `performance-first` takes the best account for every request.',
    },
    max_wait_seconds: {
      type: 'integer',
      minimum: 0,
      maximum: 300,
      default: 60,
      description: 'Longest wait of a session for its account, with `cache-first`.',
    },
    fixed_account: {
      type: 'string',
      minLength: 1,
      description: 'Id or label of the account that gets every request while it can be used.',
    },
    session_ttl_minutes: {
      type: 'number',
      minimum: 1,
      maximum: 10_080,
      default: 60,
      description: 'How long an idle session keeps its account.',
    },
  },
} as const;

const QUOTA_SCHEMA = {
  type: 'object',
  description: 'Quotas of the accounts.',
  properties: {
    refresh_minutes: {
      type: 'number',
      minimum: 1,
      maximum: 1440,
      default: 5,
      description: 'How often the figures of each account are read again.',
    },
    protection: {
      type: 'object',
      description: 'Keeps a rest of the quota for other uses.',
      properties: {
        enabled: { type: 'boolean', default: false, description: 'Protects quotas.' },
        threshold_percent: {
          type: 'number',
          minimum: 0,
          maximum: 100,
          default: 10,
          description: 'An account strictly below it is not used for the model.',
        },
        models: {
          type: 'array',
          items: { type: 'string', minLength: 1 },
          default: [],
          description: 'Protected models, as clients or upstreams name them; all when empty.',
        },
      },
    },
  },
} as const;

// The shape of `proxy.ip_filter` and `proxy.console` in `gui_config.json`.

const IP_FILTER_SCHEMA = {
  type: 'object',
  description: 'Who is let in by address; the rules themselves stand in the database.',
  properties: {
    enabled: { type: 'boolean', default: false, description: 'Enables the address filter.' },
    default: {
      enum: ['allow', 'deny'],
      default: 'allow',
      description: 'What becomes of an address that no rule covers.',
    },
    allow_beats_deny: {
      type: 'boolean',
      default: false,
      description: 'Lets an allow rule win over a deny rule; otherwise deny wins.',
    },
  },
} as const;

const CONSOLE_SCHEMA = {
  type: 'object',
  description: 'Signing in to the web console.',
  properties: {
    session_idle_hours: {
      type: 'number',
      minimum: 0.1,
      maximum: 168,
      default: 12,
      description: 'How long an idle browser stays signed in; a week is the most in any case.',
    },
    sign_in_link: {
      type: 'boolean',
      default: true,
      description: 'Prints a link at the start that signs a browser of this machine in once.',
    },
  },
} as const;

// The shape of `proxy.monitor` in `gui_config.json`.

const MONITOR_SCHEMA = {
  type: 'object',
  description: 'The records of model requests.',
  properties: {
    enabled: { type: 'boolean', default: true, description: 'Keeps a record of each request.' },
    bodies: {
      type: 'boolean',
      default: false,
      description:
        'Keeps what was asked and answered, up to 256 KB each, without credentials; prompts are then stored.',
    },
    retention_days: {
      type: 'number',
      minimum: 0.01,
      maximum: 365,
      default: 7,
      description: 'Records leave when they are older; sums of usage stay for a year.',
    },
    max_bytes: {
      type: 'integer',
      minimum: 1_048_576,
      maximum: 1_099_511_627_776,
      default: 1_073_741_824,
      description: 'When the records take more, the oldest leave until half of it is taken.',
    },
  },
} as const;

// The shape of `upstreams` in `gui_config.json`: one section an upstream, by an id of the operator's choice.

const TEXT = { type: 'string', minLength: 1 } as const;

const OAUTH_SCHEMA = {
  type: 'object',
  description: 'Your own OAuth client at the provider, for accounts that sign in.',
  required: ['client_id'],
  properties: {
    client_id: { ...TEXT, description: 'Its id.' },
    client_secret: {
      ...TEXT,
      description: 'Its secret, plain or sealed (`sealed:v1:…`); absent for public clients.',
    },
    authorization_url: {
      ...TEXT,
      description:
        'Where people sign in. The profiles `gemini-api` and `vertex` know this and the next three addresses.',
    },
    token_url: { ...TEXT, description: 'Where codes and refresh tokens are traded.' },
    revocation_url: { ...TEXT, description: 'Where the token of a removed account is revoked.' },
    userinfo_url: { ...TEXT, description: 'Where the e-mail address of an account is read.' },
    issuer: { ...TEXT, description: 'The only issuer that sign-ins may come back from.' },
    scopes: {
      type: 'array',
      items: TEXT,
      minItems: 1,
      description:
        'What is asked for; with the profiles `gemini-api` and `vertex`: `openid`, `email` and the cloud platform.',
    },
    redirect_url: {
      ...TEXT,
      description:
        "Address registered at the provider, where sign-ins come back to; without one this gateway's own loopback address.",
    },
    extra_parameters: {
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

const UPSTREAM_SCHEMA = {
  type: 'object',
  required: ['profile'],
  properties: {
    profile: {
      enum: ['sandbox', 'generic', 'gemini-api', 'vertex'],
      description: 'How the upstream is reached.',
    },
    base_url: { ...TEXT, description: "Its address; without one the profile's own." },
    vocabulary: {
      enum: ['real', 'neutral'],
      description: 'Words a `generic` upstream takes; `neutral` when absent.',
    },
    auth: {
      enum: ['bearer', 'header', 'query'],
      description: 'How a key travels to a `generic` upstream; `bearer` when absent.',
    },
    location: {
      ...TEXT,
      description: 'Region of a `vertex` upstream, such as `us-central1`; `global` when absent.',
    },
    quota_path: {
      ...TEXT,
      description:
        'Path below the address of a `generic` upstream that answers with quota figures; `/v1beta/quota` ' +
        'when absent. An upstream without it is asked once an hour.',
    },
    limits: {
      type: 'object',
      additionalProperties: LIMIT_SCHEMA,
      description:
        'Limits by model id, from which quotas are estimated where the upstream reports none.',
    },
    oauth: OAUTH_SCHEMA,
  },
} as const;

const UPSTREAMS_SCHEMA = {
  type: 'object',
  description: 'Upstreams by id. An id that is the name of a profile must be of that profile.',
  additionalProperties: UPSTREAM_SCHEMA,
} as const;

const SWITCH = { type: 'boolean', default: false } as const;
const TEXT_MAP = { type: 'object', additionalProperties: { type: 'string' } } as const;
const TEXTS = { type: 'array', items: { type: 'string' } } as const;

const EXTPROV_SCHEMA = {
  type: 'object',
  description: 'External provider that speaks the Messages protocol.',
  properties: {
    enabled: {
      ...SWITCH,
      description:
        'Enables the external provider. All keys of `extprov` are checked and kept, but not in use yet.',
    },
    base_url: { type: 'string', description: 'Address of the provider.' },
    api_key: {
      type: 'string',
      description:
        'Key of the provider, plain or sealed (`sealed:v1:…`); needed when it is enabled.',
    },
    dispatch_mode: {
      enum: ['off', 'exclusive', 'pooled', 'fallback'],
      default: 'off',
      description:
        '`off` never; `exclusive` all Messages requests; `pooled` one slot beside the accounts; ' +
        '`fallback` when no account is usable.',
    },
    model_mapping: {
      ...TEXT_MAP,
      default: {},
      description: 'Client model id → provider model id.',
    },
    models: {
      type: 'object',
      description: 'Provider models by family, where `model_mapping` says nothing.',
      properties: {
        opus: { type: 'string', default: 'extmodel-4.7', description: 'For the opus family.' },
        sonnet: { type: 'string', default: 'extmodel-4.7', description: 'For the sonnet family.' },
        haiku: {
          type: 'string',
          default: 'extmodel-4.5-air',
          description: 'For the haiku family.',
        },
      },
    },
    mcp: {
      type: 'object',
      description: 'MCP services of the provider.',
      properties: {
        enabled: { ...SWITCH, description: 'Enables the MCP endpoints.' },
        web_search_enabled: { ...SWITCH, description: 'Web search.' },
        web_reader_enabled: { ...SWITCH, description: 'Web reader.' },
        vision_enabled: { ...SWITCH, description: 'Vision.' },
      },
    },
  },
} as const;

const AUTH_MODE = {
  enum: ['off', 'auto', 'strict', 'Off', 'Auto', 'Strict', 'OFF', 'AUTO', 'STRICT'],
} as const;

const THINKING_SCHEMA = {
  type: 'object',
  description: 'What becomes of the thinking that clients ask for.',
  properties: {
    mode: {
      enum: ['auto', 'passthrough', 'custom', 'adaptive'],
      default: 'auto',
      description:
        '`auto` fits the amount to the model; `passthrough` sends budgets as they are; `custom` puts ' +
        '`budget` in place of every amount; `adaptive` lets the model decide.',
    },
    budget: {
      type: 'integer',
      minimum: 1024,
      maximum: 1_000_000,
      default: 24_576,
      description: 'Tokens of the mode `custom`, up to what the model takes.',
    },
  },
} as const;

const PROXY_SCHEMA = {
  type: 'object',
  description: 'The gateway itself.',
  properties: {
    host: { type: 'string', default: '127.0.0.1', description: 'Address to listen on.' },
    port: {
      type: 'integer',
      minimum: 0,
      maximum: 65_535,
      default: 8045,
      description: 'Port to listen on; 0 takes a free one.',
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
      default: {},
      description: 'Requested model name, exact or with `*`, → target model.',
    },
    families: FAMILIES_SCHEMA,
    extprov: EXTPROV_SCHEMA,
    max_body_size: {
      type: 'integer',
      // Below it no client would get a word through, which is nobody's wish.
      minimum: 16_384,
      maximum: 2_147_483_647,
      default: 104_857_600,
      description: 'Largest body of a model request, in bytes; at least `16384`.',
    },
    trusted_proxies: {
      ...TEXTS,
      default: [],
      description: 'Addresses and CIDR ranges whose `X-Forwarded-For` is believed.',
    },
    cors_origins: {
      ...TEXTS,
      default: [],
      description: 'Origins of web pages that may call with a key.',
    },
    allowed_hosts: {
      ...TEXTS,
      default: [],
      description: 'Host names, besides the loopback ones, under which local requests may come.',
    },
    fetch_remote_media: {
      ...SWITCH,
      description:
        'Fetches images and documents that requests name by https address, from public hosts only.',
    },
    thinking: THINKING_SCHEMA,
    pool: POOL_SCHEMA,
    quota: QUOTA_SCHEMA,
    ip_filter: IP_FILTER_SCHEMA,
    console: CONSOLE_SCHEMA,
    monitor: MONITOR_SCHEMA,
    log_level: {
      enum: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
      default: 'info',
      description: 'Least level that is logged.',
    },
  },
} as const;

/** Keys that stand nowhere here are kept as they are. */
export const CONFIG_SCHEMA = {
  type: 'object',
  properties: {
    api_key: {
      type: 'string',
      minLength: 1,
      description: 'Key that clients send with model requests.',
    },
    admin_password: { type: 'string', minLength: 1, description: 'Password of the web console.' },
    auth_mode: { ...AUTH_MODE, description: 'The same as `proxy.auth_mode`, which wins.' },
    proxy: PROXY_SCHEMA,
    upstreams: UPSTREAMS_SCHEMA,
  },
} as const;

/** A checked config file; every key may be missing. */
export type ConfigFile = XStatic<typeof CONFIG_SCHEMA>;

/** The defaults the schema states. */
export const PROXY_DEFAULTS = PROXY_SCHEMA.properties;
const EXTPROV_DEFAULTS = EXTPROV_SCHEMA.properties;

// The settings of the address filter and the console, with their defaults filled in.

export interface AddressFilterSettings {
  readonly enabled: boolean;
  /** What becomes of an address that no rule covers. */
  readonly fallback: 'allow' | 'deny';
  readonly allowBeatsDeny: boolean;
}

export interface ConsoleSettings {
  readonly sessionIdleMs: number;
  /** Whether the start prints a one-time sign-in link. */
  readonly hasSignInLink: boolean;
}

type Sections = NonNullable<ConfigFile['proxy']>;

const FILTER = IP_FILTER_SCHEMA.properties;
const CONSOLE = CONSOLE_SCHEMA.properties;
const HOUR_MS = 3_600_000;

export function readAddressFilterSettings(
  section: Sections['ip_filter'] = {},
): AddressFilterSettings {
  return {
    enabled: section.enabled ?? FILTER.enabled.default,
    fallback: section.default ?? FILTER.default.default,
    allowBeatsDeny: section.allow_beats_deny ?? FILTER.allow_beats_deny.default,
  };
}

export function readConsoleSettings(section: Sections['console'] = {}): ConsoleSettings {
  return {
    sessionIdleMs: (section.session_idle_hours ?? CONSOLE.session_idle_hours.default) * HOUR_MS,
    hasSignInLink: section.sign_in_link ?? CONSOLE.sign_in_link.default,
  };
}

// The settings of the monitor, with their defaults filled in.

export interface MonitorSettings {
  readonly enabled: boolean;
  readonly keepsBodies: boolean;
  readonly retentionMs: number;
  readonly maxBytes: number;
}

const MONITOR = MONITOR_SCHEMA.properties;
const DAY_MS = 86_400_000;

export function readMonitorSettings(section: Sections['monitor'] = {}): MonitorSettings {
  return {
    enabled: section.enabled ?? MONITOR.enabled.default,
    keepsBodies: section.bodies ?? MONITOR.bodies.default,
    retentionMs: (section.retention_days ?? MONITOR.retention_days.default) * DAY_MS,
    maxBytes: section.max_bytes ?? MONITOR.max_bytes.default,
  };
}

// The settings of the account pool and its quotas, with their defaults filled in.

const POOL_MODES = ['balance', 'cache-first', 'performance-first'] as const;

export interface PoolSettings {
  readonly mode: (typeof POOL_MODES)[number];
  /** Longest wait of a session for its account, with `cache-first`. */
  readonly maxWaitMs: number;
  /** Id or label of the one account to use. */
  readonly fixedAccount: string | undefined;
  readonly sessionIdleMs: number;
}

export interface QuotaSettings {
  readonly refreshIntervalMs: number;
  readonly protection: {
    readonly enabled: boolean;
    /** 0 to 100. */
    readonly thresholdPercent: number;
    /** Empty protects every model. */
    readonly models: readonly string[];
  };
}

const POOL = POOL_SCHEMA.properties;
const QUOTA = QUOTA_SCHEMA.properties;
const MINUTE_MS = 60_000;

export function readPoolSettings(section: Sections['pool'] = {}): PoolSettings {
  return {
    mode: POOL_MODES.find((mode) => mode === section.mode) ?? POOL.mode.default,
    maxWaitMs: (section.max_wait_seconds ?? POOL.max_wait_seconds.default) * 1000,
    fixedAccount: section.fixed_account,
    sessionIdleMs: (section.session_ttl_minutes ?? POOL.session_ttl_minutes.default) * MINUTE_MS,
  };
}

export function readQuotaSettings(section: Sections['quota'] = {}): QuotaSettings {
  const { enabled, threshold_percent: threshold } = QUOTA.protection.properties;
  const { protection = {} } = section;
  return {
    refreshIntervalMs: (section.refresh_minutes ?? QUOTA.refresh_minutes.default) * MINUTE_MS,
    protection: {
      enabled: protection.enabled ?? enabled.default,
      thresholdPercent: protection.threshold_percent ?? threshold.default,
      models: protection.models ?? [],
    },
  };
}

// The external provider's settings with their defaults filled in.

type DispatchMode = 'off' | 'exclusive' | 'pooled' | 'fallback';

export interface ExternalProviderSettings {
  /** False whatever the file says, until it works. */
  readonly enabled: false;
  readonly baseUrl: string | undefined;
  /** Perhaps sealed (`sealed:v1:…`). */
  readonly apiKey: string | undefined;
  readonly dispatchMode: DispatchMode;
  readonly modelMapping: Readonly<Record<string, string>>;
  readonly models: { readonly opus: string; readonly sonnet: string; readonly haiku: string };
  readonly mcp: {
    readonly enabled: boolean;
    readonly webSearchEnabled: boolean;
    readonly webReaderEnabled: boolean;
    readonly visionEnabled: boolean;
  };
}

type ProviderSection = NonNullable<NonNullable<ConfigFile['proxy']>['extprov']>;

const DISPATCH_MODES: readonly DispatchMode[] = ['off', 'exclusive', 'pooled', 'fallback'];

export function readExternalProvider(section: ProviderSection = {}): ExternalProviderSettings {
  const { models = {}, mcp = {} } = section;
  const families = EXTPROV_DEFAULTS.models.properties;
  return {
    enabled: false,
    baseUrl: section.base_url,
    apiKey: section.api_key,
    dispatchMode: DISPATCH_MODES.find((mode) => mode === section.dispatch_mode) ?? 'off',
    modelMapping: section.model_mapping ?? {},
    models: {
      opus: models.opus ?? families.opus.default,
      sonnet: models.sonnet ?? families.sonnet.default,
      haiku: models.haiku ?? families.haiku.default,
    },
    mcp: {
      enabled: mcp.enabled ?? false,
      webSearchEnabled: mcp.web_search_enabled ?? false,
      webReaderEnabled: mcp.web_reader_enabled ?? false,
      visionEnabled: mcp.vision_enabled ?? false,
    },
  };
}
