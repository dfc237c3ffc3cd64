// How likely the tokens of an answer were.

/** Log-probabilities (natural logarithms, at most 0) of a choice. */
export interface Logprobs {
  /** The chosen tokens in order; empty when only the average is known. */
  readonly tokens: readonly TokenLogprob[];
  /** Of all tokens of the choice. */
  readonly average?: number | undefined;
}

export interface TokenLogprob extends RatedToken {
  /** The likeliest tokens at its place, likeliest first; may hold the chosen one. */
  readonly alternatives: readonly RatedToken[];
}

export interface RatedToken {
  readonly token: string;
  /** The upstream's own number for it. */
  readonly id?: number | undefined;
  readonly logprob: number;
}
