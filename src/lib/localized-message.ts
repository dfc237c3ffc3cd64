// Sentences the console shows: made in one way, so that all there are can be listed and said in other languages.

declare const sentence: unique symbol;

/** What {@link told} made; the console has the Chinese of each. */
export type Sentence = string & { readonly [sentence]: true };

/**
 * Makes a sentence, or a clause of one, from a template literal. What is put in are names, values and
 * numbers, or what `told` made itself: words of any other kind would stay English.
 */
export function told(
  parts: TemplateStringsArray,
  ...values: readonly (string | number)[]
): Sentence {
  return String.raw({ raw: parts }, ...values) as Sentence;
}
