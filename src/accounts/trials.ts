// How accounts did when they were last tried apart from requests: their model list read, or a one-token answer asked for.

export interface Trial {
  readonly what: 'models' | 'answer';
  readonly isGood: boolean;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly durationMs: number;
  /** What came of it, for the operator alone. */
  readonly message: string;
}

/** In memory alone: after a restart each account is tried again. */
export class AccountTrials {
  readonly #last = new Map<string, Trial>();

  /** What an answer has shown, a model list read later does not say better, unless it is refused. */
  note(accountId: string, trial: Trial): void {
    const known = this.#last.get(accountId);
    if (trial.what === 'models' && trial.isGood && known?.what === 'answer') return;
    this.#last.set(accountId, trial);
  }

  last(accountId: string): Trial | undefined {
    return this.#last.get(accountId);
  }

  forget(accountId: string): void {
    this.#last.delete(accountId);
  }
}
