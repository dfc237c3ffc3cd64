// The page of the log.

export const logs = {
  subtitle:
    'What the gateway itself has to say, the newest first. Keys and tokens never stand in it.',
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
  openRequest: 'Open the request',
  empty: 'The log is empty',
  emptyHint:
    'Lines appear here as they are written, from the level on that the settings name. The log files of this gateway are kept for a week.',
  noMatch: 'No line matches',
  noMatchHint: 'Take a lower level, or search for less.',
} as const;
