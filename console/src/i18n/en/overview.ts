// The overview page.

export const overview = {
  cost: 'Cost',
  costDetails: 'Usage',
  today: 'Today',
  costHint: '{{flatRate}} at list price on flat-rate accounts · {{saved}} saved by caches',
  thisMonth: 'This month',
  ok: 'All systems operational',
  okHint: 'Accounts have quota and requests succeed.',
  attention_one: '{{count}} item needs attention',
  attention_other: '{{count}} items need attention',
  attentionHint_one: 'Requests are served. Check the item below when you have time.',
  attentionHint_other: 'Requests are served. Check the items below when you have time.',
  away: 'The gateway does not respond',
  awayHint: 'The values below are the last ones received.',
  served: 'Requests are served',
  errorsHint: '{{count}} of {{total}} requests failed in the last five minutes.',
  pastErrorsHint:
    '{{count}} of {{total}} requests failed in the last hour, none in the last five minutes.',
  trouble: 'Requests are failing',
  unserved: 'Requests cannot be served',
  exposed: 'Not secure',
  troubleHint: 'Start with the first item below.',
  sandbox: 'Sandbox',
  sandboxHint: 'All clients work with the built-in sandbox, which returns made-up responses.',
  address: 'Base URL',
  authMode: 'API key required',
  authModes: { off: 'never', auto: 'except on this machine', strict: 'always' },
  version: 'Version',
  upSince: 'Uptime',
  needsAttention: 'Needs attention',
  attentions: {
    'no-accounts': {
      message: 'No accounts: requests cannot be served',
      wayOut: 'Add an account of an upstream.',
    },
    'no-usable-account': {
      message: 'No account is available: requests cannot be served',
      wayOut: 'See why each account is unavailable, or add another.',
    },
    'model-unserved': {
      message: '{{problems}}',
      wayOut: 'See why each account is unavailable, or add another.',
    },
    'open-to-all': {
      message: 'Anyone who can reach this address can use your accounts without a key',
      wayOut: 'Require keys: choose Auto or Strict mode.',
    },
    'key-opens-console': {
      message: 'Anyone with the gateway key can open this console and change everything',
      wayOut: 'Set a separate console password under Settings.',
    },
    'no-console-password': {
      message: 'The console has no password, so it is available on this machine only',
      wayOut: 'Set one under Settings to use it from other machines.',
    },
    'config-refused': {
      message: 'The config file is invalid, so the previous settings stay in effect: {{problems}}',
      wayOut: 'Correct gui_config.json. Until then no setting can be changed here.',
    },
    'all-refused': {
      message: 'Every request of the last {{count}} minutes was rejected: {{problems}}',
      wayOut: 'Open the account: give it a new key or sign in again, then test it.',
    },
    'account-failing': {
      message: 'Failing accounts: {{problems}}',
      wayOut:
        'Open the account and test it. Where the upstream refuses it, give it a new key or sign in again.',
    },
    'setting-unused': {
      message: '{{problems}}',
      wayOut: 'Correct or remove it where the gateway is started or in gui_config.json.',
    },
    'many-errors': {
      message: '{{count}} of {{total}} requests failed in the last five minutes',
      wayOut: 'See the errors.',
    },
    'upstream-overloaded': {
      message: 'The upstream {{upstream}} is overloaded; cooling down for {{models}}',
      wayOut:
        'The gateway retries automatically within a minute. Clear the cooldown of one of its accounts to retry now.',
    },
    'account-out': { message: '{{account}} is unavailable: {{reason}}', wayOut: '{{wayOut}}' },
    'account-doubtful': {
      message: '{{account}} may become unavailable: {{reason}}',
      wayOut: '{{wayOut}}',
    },
    'accounts-out': { message: 'And {{count}} more unavailable', wayOut: 'See the accounts.' },
    'quota-low': {
      message: '{{family}} has {{percent}} of its quota left',
      wayOut: 'Wait for the reset, map its models to others, or add an account.',
    },
    'budget-low': {
      message: 'Budgets almost used up: {{problems}}',
      wayOut: 'See who uses them.',
    },
    'budget-spent': {
      message: 'Budgets used up: {{problems}}',
      wayOut: 'Raise them, or wait for the next period.',
    },
    'not-lasting': {
      message:
        'The disk had no space for the database: new data is kept in memory and lost when the gateway stops',
      wayOut: 'Free some disk space and restart the gateway.',
    },
    'database-lost': {
      message: 'PostgreSQL cannot be reached: requests are served from memory, changes are refused',
      wayOut:
        'Check PostgreSQL and the network. The gateway retries automatically. A restart now loses the request records waiting in memory.',
    },
    'certificate-refused': {
      message: 'New TLS certificate not usable, the previous one stays in use: {{problems}}',
      wayOut: 'Correct the files. They are read again automatically.',
    },
    'certificate-expires': {
      message: 'TLS certificate expires in {{count}} days',
      wayOut: 'Renew it and replace the files. They are read again automatically.',
    },
    'certificate-expired': {
      message: 'TLS certificate expired: clients reject it',
      wayOut: 'Renew it and replace the files. They are read again automatically.',
    },
    'upstream-certificate-expires': {
      message: 'TLS certificate of upstream {{upstream}} expires in {{count}} days',
      wayOut: 'Ask whoever runs the upstream to renew it. Requests fail once it has expired.',
    },
    'upstream-certificate-expired': {
      message: 'TLS certificate of upstream {{upstream}} expired',
      wayOut: 'Ask whoever runs the upstream to renew it.',
    },
    'disk-low': {
      message: 'The disk of the data folder has {{count}} MB left',
      wayOut: 'Free space, or keep fewer request logs.',
    },
    'disk-full': {
      message: 'The disk of the data folder is full: {{count}} MB left',
      wayOut: 'Free space now: new data may be lost.',
    },
    'log-unwritten': {
      message: 'The log cannot be written to its files ({{reason}})',
      wayOut:
        'Free some disk space, or make the log folder writable again. Until then only the error output has the lines.',
    },
    'valkey-lost': {
      message:
        'Valkey cannot be reached: this replica works on its own and enforces key limits alone',
      wayOut: 'Check Valkey and the network. The gateway retries automatically.',
    },
    'valkey-refuses': {
      message:
        'Valkey refuses this replica ({{reason}}): it works on its own and enforces key limits alone',
      wayOut: 'Check REDIS_URL and the state of Valkey. The gateway retries automatically.',
    },
    'records-unsaved': {
      message: 'Database not writable; {{count}} request records waiting in memory',
      wayOut:
        'Requests are still served. See the log for the reason, usually a full disk. A restart now loses these records.',
    },
    'records-dropped': {
      message: '{{count}} request records could not be stored',
      wayOut: 'Requests are still served. See the log for the reason, usually a full disk.',
    },
    'newer-version': {
      message: 'isthmus {{version}} is published',
      wayOut: 'Run "isthmus update" to see how to get it.',
    },
    sandbox: {
      message: 'Responses come from the built-in sandbox, not from a real model',
      wayOut: 'Add an account of a real upstream.',
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
    'Requests of the last 60 minutes: {{requests}} in total, {{errors}} failed; peak of {{peak}} per minute.',
  chartMinute: '{{requests}} requests, {{errors}} errors, {{tokens}} tokens',
  succeeded: 'Succeeded',
  failed: 'Failed',
  noTraffic: 'No requests in the last hour',
  noTrafficHint: 'Point a client at the base URL above. Its requests appear here within a second.',
  accounts: 'Accounts',
  accountsOf: 'of {{total}} available',
  usable: 'Healthy',
  untried: 'Not tried yet',
  failing: 'Failing',
  cooling: 'Cooling down',
  disabled: 'Disabled',
  manageAccounts: 'Manage accounts',
  addAccount: 'Add an account',
  quota: 'Quota by model family',
  quotaHint: 'Average of the quota left on all accounts.',
  imagesOf: '{{family}} (images)',
  quotaEmpty: 'No quota data yet',
  quotaEmptyHint:
    'Quota appears after the first response of an upstream that reports it, or is estimated from usage.',
  models_one: '{{count}} model',
  models_other: '{{count}} models',
  recentErrors: 'Recent errors',
  allFailed: 'All failed requests',
  noErrors: 'No recent errors',
  noErrorsHint: 'Failed requests appear here with their reason.',
  when: 'When',
  model: 'Model',
  account: 'Account',
  status: 'Status',
  reason: 'Reason',
} as const;
