// The settings of the settings page, by group, in the order they are shown.

import type { Field } from './fields.ts';

type Unplaced<Kind> = Kind extends Field ? Omit<Kind, 'section'> : never;

function inSection(section: string, fields: readonly Unplaced<Field>[]): readonly Field[] {
  return fields.map((field) => ({ ...field, section }));
}

const ACCESS_FIELDS = [
  ...inSection('auth', [
    { kind: 'secret', id: 'apiKey', path: ['api_key'], variable: 'API_KEY' },
    {
      kind: 'secret',
      id: 'adminPassword',
      path: ['admin_password'],
      variable: 'WEB_PASSWORD',
      leastLength: 8,
    },
  ]),
  ...inSection('console', [
    {
      kind: 'number',
      id: 'sessionHours',
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
      path: ['sign_in_link'],
      fallback: true,
      needsRestart: true,
    },
  ]),
];

const SIGN_IN_FIELDS = inSection('sign_in', [
  { kind: 'text', id: 'signInIssuer', path: ['issuer'] },
  { kind: 'text', id: 'signInClient', path: ['client_id'] },
  { kind: 'secret', id: 'signInSecret', path: ['client_secret'] },
  { kind: 'text', id: 'signInLabel', path: ['label'], fallback: 'OpenID Connect' },
  { kind: 'list', id: 'signInScopes', path: ['scopes'] },
  { kind: 'text', id: 'signInRedirect', path: ['redirect_url'] },
  { kind: 'text', id: 'roleClaim', path: ['role_claim'] },
  { kind: 'list', id: 'ownerValues', path: ['owners'] },
  { kind: 'list', id: 'operatorValues', path: ['operators'] },
  { kind: 'list', id: 'viewerValues', path: ['viewers'] },
  {
    kind: 'choice',
    id: 'defaultRole',
    path: ['default_role'],
    fallback: 'none',
    options: [
      { value: 'none', text: 'roleNone' },
      { value: 'viewer', text: 'roleViewer' },
      { value: 'operator', text: 'roleOperator' },
      { value: 'owner', text: 'roleOwner' },
    ],
  },
  { kind: 'list', id: 'allowedDomains', path: ['allowed_domains'] },
]);

const NETWORK_FIELDS = inSection('network', [
  {
    kind: 'text',
    id: 'host',
    path: ['host'],
    variable: 'HOST',
    fallback: '127.0.0.1',
    needsRestart: true,
  },
  {
    kind: 'number',
    id: 'port',
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
    path: ['tls_cert'],
    variable: 'ISTHMUS_TLS_CERT',
    needsRestart: true,
  },
  {
    kind: 'text',
    id: 'tlsKey',
    path: ['tls_key'],
    variable: 'ISTHMUS_TLS_KEY',
    needsRestart: true,
  },
  {
    kind: 'number',
    id: 'maxBodySize',
    path: ['max_body_size'],
    variable: 'ABV_MAX_BODY_SIZE',
    fallback: 104_857_600,
    least: 16_384,
    most: 2_147_483_647,
    isWhole: true,
    unit: 'bytes',
  },
  { kind: 'switch', id: 'webSockets', path: ['web_sockets'], fallback: true },
  {
    kind: 'switch',
    id: 'fetchRemoteMedia',
    path: ['fetch_remote_media'],
    variable: 'ISTHMUS_FETCH_REMOTE_MEDIA',
    fallback: false,
  },
  {
    kind: 'text',
    id: 'outboundProxy',
    path: ['outbound_proxy'],
    variable: 'ISTHMUS_OUTBOUND_PROXY',
  },
  { kind: 'secret', id: 'outboundProxyCredential', path: ['outbound_proxy_credential'] },
  { kind: 'list', id: 'noProxy', path: ['no_proxy'], variable: 'NO_PROXY' },
  {
    kind: 'choice',
    id: 'updateCheck',
    path: ['update_check'],
    variable: 'ISTHMUS_UPDATE_CHECK',
    fallback: 'auto',
    options: [
      { value: 'auto', text: 'authAuto' },
      { value: 'off', text: 'authOff' },
    ],
    needsRestart: true,
  },
]);

const POOL_FIELDS = inSection('pool', [
  {
    kind: 'choice',
    id: 'poolMode',
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
    path: ['max_wait_seconds'],
    fallback: 60,
    least: 0,
    most: 300,
    isWhole: true,
    unit: 'seconds',
  },
  { kind: 'account', id: 'fixedAccount', path: ['fixed_account'] },
  {
    kind: 'number',
    id: 'sessionTtl',
    path: ['session_ttl_minutes'],
    fallback: 60,
    least: 1,
    most: 10_080,
    isWhole: false,
    unit: 'minutes',
  },
]);

const QUOTA_FIELDS = inSection('quota', [
  {
    kind: 'number',
    id: 'quotaRefresh',
    path: ['refresh_minutes'],
    fallback: 5,
    least: 1,
    most: 1440,
    isWhole: false,
    unit: 'minutes',
  },
  { kind: 'switch', id: 'protection', path: ['protection', 'enabled'], fallback: false },
  {
    kind: 'number',
    id: 'protectionThreshold',
    path: ['protection', 'threshold_percent'],
    fallback: 10,
    least: 0,
    most: 100,
    isWhole: false,
    unit: 'percent',
  },
  { kind: 'list', id: 'protectionModels', path: ['protection', 'models'], offers: 'models' },
]);

const THINKING_FIELDS = inSection('thinking', [
  {
    kind: 'choice',
    id: 'thinkingMode',
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
    path: ['budget'],
    fallback: 24_576,
    least: 1024,
    most: 1_000_000,
    isWhole: true,
    unit: 'tokens',
  },
]);

const FAMILY_FIELDS = inSection('families', [
  { kind: 'list', id: 'familyPro', path: ['pro'], offers: 'models' },
  { kind: 'list', id: 'familyFlash', path: ['flash'], offers: 'models' },
  { kind: 'list', id: 'familyFlashLite', path: ['flash-lite'], offers: 'models' },
  { kind: 'list', id: 'familyImage', path: ['image'], offers: 'models' },
  { kind: 'list', id: 'familyEmbedding', path: ['embedding'], offers: 'models' },
  { kind: 'list', id: 'familyOpus', path: ['opus'], offers: 'models' },
  { kind: 'list', id: 'familySonnet', path: ['sonnet'], offers: 'models' },
  { kind: 'list', id: 'familyHaiku', path: ['haiku'], offers: 'models' },
  { kind: 'list', id: 'familyGpt', path: ['gpt'], offers: 'models' },
  { kind: 'list', id: 'familyMini', path: ['mini'], offers: 'models' },
  { kind: 'list', id: 'familyNano', path: ['nano'], offers: 'models' },
]);

const MONITOR_FIELDS = inSection('monitor', [
  { kind: 'switch', id: 'monitorEnabled', path: ['enabled'], fallback: true },
  { kind: 'switch', id: 'monitorBodies', path: ['bodies'], fallback: false },
  { kind: 'switch', id: 'monitorAccountNames', path: ['account_names'], fallback: false },
  {
    kind: 'number',
    id: 'retentionDays',
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
    path: ['max_bytes'],
    fallback: 1_073_741_824,
    least: 1_048_576,
    most: 1_099_511_627_776,
    isWhole: true,
    unit: 'bytes',
  },
]);

const ALERT_FIELDS = inSection('alerts', [
  {
    kind: 'number',
    id: 'alertHold',
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
    path: ['repeat_hours'],
    fallback: 4,
    least: 0.1,
    most: 720,
    isWhole: false,
    unit: 'hours',
  },
]);

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

const LOG_FIELDS = inSection('log', [
  {
    kind: 'choice',
    id: 'logLevel',
    path: ['log_level'],
    variable: 'LOG_LEVEL',
    fallback: 'info',
    options: LOG_LEVELS.map((value) => ({ value, text: value })),
  },
]);

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
