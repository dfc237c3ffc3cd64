// Which values of an answer come in their own types.

/** Which outputs were requested by JSON Schema; the other values come as texts. */
export interface TypedValues {
  /** The structured answer. */
  readonly answer: boolean;
  /** Names, as they were sent, of functions whose arguments do. */
  readonly functions: ReadonlySet<string>;
}

export const NOTHING_TYPED: TypedValues = Object.freeze({
  answer: false,
  functions: new Set<string>(),
});
