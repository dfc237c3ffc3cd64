// What `isthmus doctor` finds: each with its severity, and the way out where something is wrong.

export type Finding = {
  /** What was looked at, such as `port`. */
  readonly check: string;
  readonly severity: 'ok' | 'info' | 'warning' | 'error';
  readonly message: string;
  /** Absent where nothing is to be done. */
  readonly wayOut?: string;
};

type Problem = readonly [message: string, wayOut?: string];

export function findingsOf(check: string) {
  const make =
    (severity: Finding['severity']) =>
    (...[message, wayOut]: Problem): Finding => ({
      ...{ check, severity, message },
      ...(wayOut !== undefined && { wayOut }),
    });
  return { ok: make('ok'), info: make('info'), warning: make('warning'), error: make('error') };
}

const COSTS: Readonly<Record<Finding['severity'], number>> = {
  ok: 0,
  info: 0,
  warning: 10,
  error: 30,
};

/** 100 when nothing is wrong; less for each warning and error. */
export function scoreOf(findings: readonly Finding[]): number {
  const cost = findings.reduce((sum, { severity }) => sum + COSTS[severity], 0);
  return Math.max(0, 100 - cost);
}
