// The settings of the settings page, by group, in the order they are shown.

import type { Field } from './fields.ts';

const ACCESS_FIELDS: readonly Field[] = [
  { kind: 'secret', id: 'apiKey', section: 'auth', path: ['api_key'], variable: 'API_KEY' },
  {
    kind: 'secret',
    id: 'adminPassword',
    section: 'auth',
    path: ['admin_password'],
    variable: 'WEB_PASSWORD',
    leastLength: 8,
  },
  {
    kind: 'number',
    id: 'sessionHours',
    section: 'console',
    path: ['session_idle_hours'],
    fallback: 12,
    least: 0.1,
    most: 168,
    isWhole: false,
    unit: 'hours',
  },
  {
    kind: 'switch',
    id: 'signInLink',
    section: 'console',
    path: ['sign_in_link'],
    fallback: true,
    needsRestart: true,
  },
];

const SIGN_IN_FIELDS: readonly Field[] = [
  { kind: 'text', id: 'signInIssuer', section: 'sign_in', path: ['issuer'] },
  { kind: 'text', id: 'signInClient', section: 'sign_in', path: ['client_id'] },
  { kind: 'secret', id: 'signInSecret', section: 'sign_in', path: ['client_secret'] },
  {
    kind: 'text',
    id: 'signInLabel',
    section: 'sign_in',
    path: ['label'],
    fallback: 'OpenID Connect',
  },
  { kind: 'list', id: 'signInScopes', section: 'sign_in', path: ['scopes'] },
  { kind: 'text', id: 'signInRedirect', section: 'sign_in', path: ['redirect_url'] },
  { kind: 'text', id: 'roleClaim', section: 'sign_in', path: ['role_claim'] },
  { kind: 'list', id: 'ownerValues', section: 'sign_in', path: ['owners'] },
  { kind: 'list', id: 'operatorValues', section: 'sign_in', path: ['operators'] },
  { kind: 'list', id: 'viewerValues', section: 'sign_in', path: ['viewers'] },
  {
    kind: 'choice',
    id: 'defaultRole',
    section: 'sign_in',
    path: ['default_role'],
    fallback: 'none',
    options: [
      { value: 'none', text: 'roleNone' },
      { value: 'viewer', text: 'roleViewer' },
      { value: 'operator', text: 'roleOperator' },
      { value: 'owner', text: 'roleOwner' },
    ],
  },
  { kind: 'list', id: 'allowedDomains', section: 'sign_in', path: ['allowed_domains'] },
];

const NETWORK_FIELDS: readonly Field[] = [
  {
    kind: 'text',
    id: 'host',
    section: 'network',
    path: ['host'],
    variable: 'HOST',
    fallback: '127.0.0.1',
    needsRestart: true,
  },
  {
    kind: 'number',
    id: 'port',
    section: 'network',
    path: ['port'],
    variable: 'PORT',
    fallback: 8045,
    least: 0,
    most: 65_535,
    isWhole: true,
    needsRestart: true,
  },
  {
    kind: 'text',
    id: 'tlsCert',
    section: 'network',
    path: ['tls_cert'],
    variable: 'ISTHMUS_TLS_CERT',
    needsRestart: true,
  },
  {
    kind: 'text',
    id: 'tlsKey',
    section: 'network',
    path: ['tls_key'],
    variable: 'ISTHMUS_TLS_KEY',
    needsRestart: true,
  },
  {
    kind: 'number',
    id: 'maxBodySize',
    section: 'network',
    path: ['max_body_size'],
    variable: 'ABV_MAX_BODY_SIZE',
    fallback: 104_857_600,
    least: 16_384,
    most: 2_147_483_647,
    isWhole: true,
    unit: 'bytes',
  },
  {
    kind: 'switch',
    id: 'webSockets',
    section: 'network',
    path: ['web_sockets'],
    fallback: true,
  },
  {
    kind: 'switch',
    id: 'fetchRemoteMedia',
    section: 'network',
    path: ['fetch_remote_media'],
    variable: 'ISTHMUS_FETCH_REMOTE_MEDIA',
    fallback: false,
  },
  {
    kind: 'text',
    id: 'outboundProxy',
    section: 'network',
    path: ['outbound_proxy'],
    variable: 'ISTHMUS_OUTBOUND_PROXY',
  },
  {
    kind: 'secret',
    id: 'outboundProxyCredential',
    section: 'network',
    path: ['outbound_proxy_credential'],
  },
  { kind: 'list', id: 'noProxy', section: 'network', path: ['no_proxy'], variable: 'NO_PROXY' },
  {
    kind: 'choice',
    id: 'updateCheck',
    section: 'network',
    path: ['update_check'],
    variable: 'ISTHMUS_UPDATE_CHECK',
    fallback: 'auto',
    options: [
      { value: 'auto', text: 'authAuto' },
      { value: 'off', text: 'authOff' },
    ],
    needsRestart: true,
  },
];

const POOL_FIELDS: readonly Field[] = [
  {
    kind: 'choice',
    id: 'poolMode',
    section: 'pool',
    path: ['mode'],
    fallback: 'balance',
    options: [
      { value: 'balance', text: 'balance' },
      { value: 'cache-first', text: 'cacheFirst' },
      { value: 'performance-first', text: 'performanceFirst' },
    ],
  },
  {
    kind: 'number',
    id: 'maxWait',
    section: 'pool',
    path: ['max_wait_seconds'],
    fallback: 60,
    least: 0,
    most: 300,
    isWhole: true,
    unit: 'seconds',
  },
  { kind: 'account', id: 'fixedAccount', section: 'pool', path: ['fixed_account'] },
  {
    kind: 'number',
    id: 'sessionTtl',
    section: 'pool',
    path: ['session_ttl_minutes'],
    fallback: 60,
    least: 1,
    most: 10_080,
    isWhole: false,
    unit: 'minutes',
  },
];

const QUOTA_FIELDS: readonly Field[] = [
  {
    kind: 'number',
    id: 'quotaRefresh',
    section: 'quota',
    path: ['refresh_minutes'],
    fallback: 5,
    least: 1,
    most: 1440,
    isWhole: false,
    unit: 'minutes',
  },
  {
    kind: 'switch',
    id: 'protection',
    section: 'quota',
    path: ['protection', 'enabled'],
    fallback: false,
  },
  {
    kind: 'number',
    id: 'protectionThreshold',
    section: 'quota',
    path: ['protection', 'threshold_percent'],
    fallback: 10,
    least: 0,
    most: 100,
    isWhole: false,
    unit: 'percent',
  },
  {
    kind: 'list',
    id: 'protectionModels',
    section: 'quota',
    path: ['protection', 'models'],
    offers: 'models',
  },
];

const THINKING_FIELDS: readonly Field[] = [
  {
    kind: 'choice',
    id: 'thinkingMode',
    section: 'thinking',
    path: ['mode'],
    fallback: 'auto',
    options: [
      { value: 'auto', text: 'thinkingAuto' },
      { value: 'passthrough', text: 'passthrough' },
      { value: 'custom', text: 'custom' },
      { value: 'adaptive', text: 'adaptive' },
    ],
  },
  {
    kind: 'number',
    id: 'thinkingBudget',
    section: 'thinking',
    path: ['budget'],
    fallback: 24_576,
    least: 1024,
    most: 1_000_000,
    isWhole: true,
    unit: 'tokens',
  },
];

const FAMILY_FIELDS: readonly Field[] = [
  { kind: 'list', id: 'familyPro', section: 'families', path: ['pro'], offers: 'models' },
  { kind: 'list', id: 'familyFlash', section: 'families', path: ['flash'], offers: 'models' },
  {
    kind: 'list',
    id: 'familyFlashLite',
    section: 'families',
    path: ['flash-lite'],
    offers: 'models',
  },
  { kind: 'list', id: 'familyImage', section: 'families', path: ['image'], offers: 'models' },
  {
    kind: 'list',
    id: 'familyEmbedding',
    section: 'families',
    path: ['embedding'],
    offers: 'models',
  },
  { kind: 'list', id: 'familyOpus', section: 'families', path: ['opus'], offers: 'models' },
  { kind: 'list', id: 'familySonnet', section: 'families', path: ['sonnet'], offers: 'models' },
  { kind: 'list', id: 'familyHaiku', section: 'families', path: ['haiku'], offers: 'models' },
];

const MONITOR_FIELDS: readonly Field[] = [
  {
    kind: 'switch',
    id: 'monitorEnabled',
    section: 'monitor',
    path: ['enabled'],
    fallback: true,
  },
  {
    kind: 'switch',
    id: 'monitorBodies',
    section: 'monitor',
    path: ['bodies'],
    fallback: false,
  },
  {
    kind: 'switch',
    id: 'monitorAccountNames',
    section: 'monitor',
    path: ['account_names'],
    fallback: false,
  },
  {
    kind: 'number',
    id: 'retentionDays',
    section: 'monitor',
    path: ['retention_days'],
    fallback: 7,
    least: 0.01,
    most: 365,
    isWhole: false,
    unit: 'days',
  },
  {
    kind: 'number',
    id: 'monitorMaxBytes',
    section: 'monitor',
    path: ['max_bytes'],
    fallback: 1_073_741_824,
    least: 1_048_576,
    most: 1_099_511_627_776,
    isWhole: true,
    unit: 'bytes',
  },
];

const ALERT_FIELDS: readonly Field[] = [
  {
    kind: 'number',
    id: 'alertHold',
    section: 'alerts',
    path: ['hold_seconds'],
    fallback: 60,
    least: 0,
    most: 86_400,
    isWhole: true,
    unit: 'seconds',
  },
  {
    kind: 'number',
    id: 'alertRepeat',
    section: 'alerts',
    path: ['repeat_hours'],
    fallback: 4,
    least: 0.1,
    most: 720,
    isWhole: false,
    unit: 'hours',
  },
];

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

const LOG_FIELDS: readonly Field[] = [
  {
    kind: 'choice',
    id: 'logLevel',
    section: 'log',
    path: ['log_level'],
    variable: 'LOG_LEVEL',
    fallback: 'info',
    options: LOG_LEVELS.map((value) => ({ value, text: value })),
  },
];

export const GROUPS = [
  { id: 'access', fields: ACCESS_FIELDS },
  { id: 'signIn', fields: SIGN_IN_FIELDS },
  { id: 'network', fields: NETWORK_FIELDS },
  { id: 'upstreams', fields: [] },
  { id: 'pool', fields: POOL_FIELDS },
  { id: 'quota', fields: QUOTA_FIELDS },
  { id: 'families', fields: FAMILY_FIELDS },
  { id: 'thinking', fields: THINKING_FIELDS },
  { id: 'monitor', fields: MONITOR_FIELDS },
  { id: 'alerts', fields: ALERT_FIELDS },
  { id: 'log', fields: LOG_FIELDS },
  { id: 'environment', fields: [] },
] as const satisfies readonly { readonly id: string; readonly fields: readonly Field[] }[];

export type GroupId = (typeof GROUPS)[number]['id'];
