// The page of the log.

export const logs = {
  subtitle: 'Log of the gateway, newest first. It never contains keys or tokens.',
  follow: 'Follow',
  pause: 'Pause',
  search: 'Search the log',
  level: 'Level',
  anyLevel: 'All levels',
  levels: {
    trace: 'trace and above',
    debug: 'debug and above',
    info: 'info and above',
    warn: 'warn and above',
    error: 'error and above',
    fatal: 'fatal only',
  },
  list: 'Log lines',
  newLines_one: '{{count}} new line',
  newLines_other: '{{count}} new lines',
  fields: 'Fields',
  openRequest: 'View request',
  empty: 'The log is empty',
  emptyHint:
    'Lines at or above the configured log level appear here as they are written. Log files are kept for a week.',
  noMatch: 'No lines match',
  noMatchHint: 'Choose a lower level or shorten the search.',
} as const;
