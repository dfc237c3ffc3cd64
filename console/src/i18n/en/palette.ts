// The palette that leads to everything.

export const palette = {
  title: 'Find anything',
  placeholder: 'Page, setting, account, key, model or request ID',
  found: 'Found',
  none: 'Nothing matches.',
  request: 'Open request {{id}}',
  setUp: 'Set up {{name}}',
  groups: {
    requests: 'Requests',
    pages: 'Pages',
    actions: 'Actions',
    settings: 'Settings',
    accounts: 'Accounts',
    keys: 'Keys',
    models: 'Models',
    clients: 'Clients',
  },
} as const;
