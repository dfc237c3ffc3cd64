// The shape of `proxy.pool` and `proxy.quota` in `gui_config.json`.

export const POOL_SCHEMA = {
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

export const QUOTA_SCHEMA = {
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
