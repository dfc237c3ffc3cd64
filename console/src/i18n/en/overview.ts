// The overview page.

export const overview = {
  ok: 'All is well',
  okHint: 'Accounts have room and requests succeed.',
  attention_one: '{{count}} thing needs attention',
  attention_other: '{{count}} things need attention',
  attentionHint: 'Requests are served. Look at what is below when you have a moment.',
  away: 'The gateway does not answer',
  awayHint: 'The figures below are its last ones.',
  served: 'Requests are served',
  errorsHint: '{{count}} of {{total}} requests failed in the last five minutes.',
  pastErrorsHint:
    '{{count}} of {{total}} requests failed in the last hour, none in the last five minutes.',
  trouble: 'Requests are failing',
  exposed: 'Not safe as it is',
  troubleHint: 'Begin with the first entry below.',
  sandbox: 'Sandbox',
  sandboxHint: 'Every client works against the built-in sandbox, on made-up answers.',
  address: 'Base URL',
  authMode: 'Key needed',
  authModes: {
    off: 'never',
    auto: 'except on this machine',
    strict: 'always',
  },
  version: 'Version',
  upSince: 'Running for',
  needsAttention: 'Needs attention',
  attentions: {
    'no-accounts': {
      message: 'There is no account, so no request can be answered',
      wayOut: 'Add an account of an upstream.',
    },
    'no-usable-account': {
      message: 'No account can be used now, so no request can be answered',
      wayOut: 'See why each is out of use, or add another.',
    },
    'open-to-all': {
      message: 'Everybody who reaches this address can use your accounts without a key',
      wayOut: 'Ask for keys: choose the mode Auto or Strict.',
    },
    'key-opens-console': {
      message: 'Whoever has the gateway key can open this console and change everything',
      wayOut: 'Set a console password of its own under Settings.',
    },
    'no-console-password': {
      message: 'The console has no password, so it opens on this machine only',
      wayOut: 'Set one under Settings to use it from elsewhere.',
    },
    'config-refused': {
      message: 'The config file cannot be used, so older settings stay in force: {{problems}}',
      wayOut: 'Correct gui_config.json. Until then no setting can be changed here.',
    },
    'all-refused': {
      message: 'Every request of the last {{count}} minutes was refused: {{problems}}',
      wayOut: 'Open the account: give it a new key or sign in again, then test it.',
    },
    'account-failing': {
      message: 'Accounts that fail: {{problems}}',
      wayOut: 'Open the account: give it a new key or sign in again, then test it.',
    },
    'setting-unused': {
      message: '{{problems}}',
      wayOut: 'Correct it where the gateway is started or in gui_config.json, or take it out.',
    },
    'many-errors': {
      message: '{{count}} of {{total}} requests failed in the last five minutes',
      wayOut: 'Look at what they say.',
    },
    'upstream-overloaded': {
      message: 'The upstream {{upstream}} is overloaded and rests for {{models}}',
      wayOut:
        'It is tried again by itself within a minute. End the rest at one of its accounts to try at once.',
    },
    'account-out': {
      message: '{{account}} is out of use: {{reason}}',
      wayOut: '{{wayOut}}',
    },
    'account-doubtful': {
      message: '{{account}} may drop out: {{reason}}',
      wayOut: '{{wayOut}}',
    },
    'accounts-out': {
      message: 'And {{count}} more out of use',
      wayOut: 'See the accounts.',
    },
    'quota-low': {
      message: '{{family}} has {{percent}} of its quota left',
      wayOut: 'Wait for its reset, map its models to others, or add an account.',
    },
    'not-lasting': {
      message:
        'The disk had no room for the database: what is added is kept in memory and lost when the gateway stops',
      wayOut: 'Free some room and start the gateway again.',
    },
    'records-unsaved': {
      message: 'The database takes nothing; request records that wait in memory: {{count}}',
      wayOut:
        'Requests themselves go on. The log says why: a full disk, mostly. A restart before would lose them.',
    },
    'records-dropped': {
      message: 'Request records that could not be stored: {{count}}',
      wayOut: 'Requests themselves go on. The log says why: a full disk, mostly.',
    },
    sandbox: {
      message: 'The answers come from the built-in sandbox, not from a real model',
      wayOut: 'Add an account of a real upstream to change that.',
    },
  },
  requests: 'Requests',
  tokens: 'Tokens',
  errors: 'Errors',
  inFlight: 'In flight',
  perMinute: 'per minute',
  now: 'now',
  lastHour: 'Last 60 minutes',
  chartLabel:
    'Requests of the last 60 minutes: {{requests}} in all, {{errors}} of them failed; the busiest minute had {{peak}}.',
  chartMinute: '{{requests}} requests, {{errors}} errors, {{tokens}} tokens',
  succeeded: 'Succeeded',
  failed: 'Failed',
  noTraffic: 'No requests in the last hour',
  noTrafficHint: 'Point a client at the base URL above. Its requests appear here within a second.',
  accounts: 'Accounts',
  accountsOf: 'of {{total}} can serve',
  usable: 'Healthy',
  untried: 'Not tried yet',
  failing: 'Failing',
  cooling: 'Cooling down',
  disabled: 'Disabled',
  manageAccounts: 'Manage accounts',
  addAccount: 'Add an account',
  quota: 'Quota by model family',
  quotaHint: 'The mean of what the accounts have left.',
  imagesOf: '{{family}} (images)',
  quotaEmpty: 'No figures yet',
  quotaEmptyHint:
    'They come with the first answer of an upstream that reports quota, or are estimated from use.',
  models_one: '{{count}} model',
  models_other: '{{count}} models',
  recentErrors: 'Recent errors',
  allFailed: 'All failed requests',
  noErrors: 'No recent errors',
  noErrorsHint: 'Failed requests show up here with their reason.',
  when: 'When',
  model: 'Model',
  account: 'Account',
  status: 'Status',
  reason: 'Reason',
} as const;
