// The error of a configuration that cannot be used: every problem, each naming its place.

import { isOutOfRoom } from '../lib/out-of-room.ts';

export class ConfigError extends Error {
  override readonly name: string = 'ConfigError';
  /** One line each, starting with the variable or JSON path; never holds a secret. */
  readonly problems: readonly string[];

  constructor(source: string, problems: readonly string[]) {
    super([`${source} cannot be used:`, ...problems.map((problem) => `  ${problem}`)].join('\n'));
    this.problems = problems;
  }
}

/** The file is wrong as it stands: what was to be changed in it has no part in that. */
export class UnusableFileError extends ConfigError {
  override readonly name = 'UnusableFileError';
}

/** The disk or its rights are in the way; the file is as it was. */
export class UnwritableFileError extends Error {
  override readonly name = 'UnwritableFileError';

  constructor(path: string, cause: unknown) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : 'unknown error';
    const why = isOutOfRoom(cause)
      ? ': its disk has no room left. Free some and try again.'
      : ` (${code}). Let the user of this process write to it and to its folder.`;
    super(`The config file ${path} could not be written${why}`, { cause });
  }
}

/** Somebody else wrote the file after it was read for a change. */
export class StaleConfigError extends Error {
  override readonly name = 'StaleConfigError';
}
