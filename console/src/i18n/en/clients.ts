// The page on which clients are set up.

export const clients = {
  subtitle:
    'Ready to copy: how coding CLIs, SDKs and apps are pointed at this gateway, {{address}}.',
  list: 'Clients to choose from',
  client: 'Client',
  searchLabel: 'Search clients',
  searchHint: 'Search',
  noneFound: 'No client has that name. “Any other app” says what every client needs.',
  groups: { clis: 'Coding CLIs', sdks: 'SDKs', others: 'Anything else' },
  otherApp: 'Any other app',
  ways: 'How to set up {{name}}',
  model: 'Model',
  modelHint: 'Any name the gateway knows',
  modelLost: 'The gateway knows no such model',
  key: 'Key',
  keyHint: 'Fills the snippets; forgotten when you leave',
  needs: {
    never: 'This gateway asks nobody for a key. Where a client wants one, any word will do.',
    elsewhere:
      'On this machine no key is needed: any word will do. Clients elsewhere need one, and the address under which they reach this machine.',
    noWrong:
      'On this machine no key is needed, but a wrong one is refused, and most clients send one: put in one of yours.',
    always: 'Every client needs a key: put in one of yours.',
  },
  toKeys: 'Make a key',
  steps: {
    variables: 'Set these variables',
    keyVariable: 'Put the key into its variable',
    file: 'Write this into its file',
    signIn: 'Choose the key as its way to sign in',
    once: 'Run this once',
    install: 'Install it',
    code: 'Use it',
    start: 'Start it',
    list: 'See which models there are',
    ask: 'Ask a model',
    address: 'Base address',
    key: 'Key',
    model: 'Model',
  },
  hints: {
    variables: 'They count in this terminal. To keep them, add them to {{profile}}.',
    keyVariable: 'It counts in this terminal. To keep it, add it to {{profile}}.',
    file: 'Where the file holds something already, add this to it.',
    signIn: 'Where the file holds something already, add this to it.',
    once: 'It remembers what it is told.',
    address:
      'Apps call it base URL, endpoint or API host. Above, choose the vendor whose protocol the app speaks; for most that is OpenAI.',
  },
  copy: 'Copy: {{name}}',
  worksTitle: 'See that it works',
  worksHint:
    'Send something with it. It appears under Requests as it happens; if it fails, its record says why.',
  toAccounts: 'Open Accounts',
  toRequests: 'Open Requests',
  permissionNote:
    'In its permission mode “auto” Claude Code asks the server to vet dangerous tool calls. The gateway gives no such verdict: choose another mode where that matters.',
} as const;
