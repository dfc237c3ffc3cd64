// The error of a configuration that cannot be used: every problem, each naming its place.

export class ConfigError extends Error {
  /** One line each, starting with the variable or JSON path; never holds a secret. */
  readonly problems: readonly string[];

  constructor(source: string, problems: readonly string[]) {
    super([`${source} cannot be used:`, ...problems.map((problem) => `  ${problem}`)].join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}
