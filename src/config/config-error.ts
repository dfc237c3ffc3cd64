// The error of a configuration that cannot be used: every problem, each naming its place.

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

/** Somebody else wrote the file after it was read for a change. */
export class StaleConfigError extends Error {
  override readonly name = 'StaleConfigError';
}
