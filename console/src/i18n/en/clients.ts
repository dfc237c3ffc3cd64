// The page on which clients are set up.

export const clients = {
  subtitle:
    'Ready-to-copy settings that connect coding CLIs, SDKs and apps to this gateway, {{address}}.',
  list: 'Clients',
  client: 'Client',
  searchLabel: 'Search clients',
  searchHint: 'Search',
  noneFound: 'No client has that name. “Any other app” shows what every client needs.',
  groups: { clis: 'Coding CLIs', sdks: 'SDKs', others: 'Other' },
  otherApp: 'Any other app',
  ways: 'Set up {{name}}',
  model: 'Model',
  modelHint: 'Any model name the gateway accepts',
  modelLost: 'Unknown model',
  key: 'Key',
  keyHint: 'Filled into the snippets; not stored',
  needs: {
    never: 'This gateway requires no key. Where a client needs one, any value works.',
    elsewhere:
      'Clients on this machine need no key: any value works. Clients on other machines need a key and an address that reaches this machine.',
    noWrong:
      'Clients on this machine need no key, but a wrong key is rejected, and most clients send one: enter one of yours.',
    always: 'Every client needs a key: enter one of yours.',
  },
  toKeys: 'Create a key',
  steps: {
    variables: 'Set these environment variables',
    file: 'Add this to its config file',
    signIn: 'Select API key as the sign-in method',
    once: 'Run this once',
    install: 'Install it',
    code: 'Use it',
    start: 'Start it',
    list: 'List the models',
    ask: 'Send a request',
    address: 'Base URL',
    key: 'Key',
    model: 'Model',
  },
  hints: {
    variables: 'Valid in this terminal only. To keep them, add them to {{profile}}.',
    file: 'If the file already has content, merge this into it.',
    signIn: 'If the file already has content, merge this into it.',
    once: 'The settings are saved.',
    address:
      'Apps call it base URL, endpoint or API host. Above, choose the vendor whose protocol the app uses; for most that is OpenAI.',
  },
  copy: 'Copy: {{name}}',
  worksTitle: 'Check that it works',
  worksHint:
    'Send a message with it. It appears under Requests immediately; if it fails, open it to see why.',
  toAccounts: 'Open Accounts',
  toRequests: 'Open Requests',
  permissionNote:
    'In its permission mode “auto” Claude Code asks the server to check dangerous tool calls. The gateway does not perform this check: choose another mode where that matters.',
} as const;
