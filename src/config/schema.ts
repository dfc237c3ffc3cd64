// The shape of `gui_config.json`: every key with its meaning and default.

import type { XStatic } from 'typebox/schema';
import { CONSOLE_SCHEMA, IP_FILTER_SCHEMA } from './door-schema.ts';
import { FAMILIES_SCHEMA } from './family-schema.ts';
import { MONITOR_SCHEMA } from './monitor-schema.ts';
import { POOL_SCHEMA, QUOTA_SCHEMA } from './pool-schema.ts';
import { UPSTREAMS_SCHEMA } from './upstream-schema.ts';

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
export const EXTPROV_DEFAULTS = EXTPROV_SCHEMA.properties;
