// Says sentences of the gateway in another language: those made of parts in its code, with values put in.

import { isolate } from './formatter.ts';

/** By the English sentence, `{}` for each value in it; in the other language `{1}` is the first of them. */
export type SentenceTexts = Readonly<Record<string, string>>;

export type SayIn = (sentence: string) => string;

interface Pattern {
  /** What stands before, between and behind the values. */
  readonly parts: readonly string[];
  readonly text: string;
}

const PLACE = '{}';

/** What is not among `texts` stays as it is. */
export function sayIn(texts: SentenceTexts): SayIn {
  const whole = new Map<string, string>();
  const patterns: Pattern[] = [];
  for (const [sentence, text] of Object.entries(texts)) {
    if (sentence.includes(PLACE)) patterns.push({ parts: sentence.split(PLACE), text });
    else whole.set(sentence, text);
  }
  // Of two that fit, the one that says more is meant.
  patterns.sort((a, b) => b.parts.join('').length - a.parts.join('').length);
  return (sentence) => whole.get(sentence) ?? sayWithValues(sentence, patterns) ?? sentence;
}

function sayWithValues(sentence: string, patterns: readonly Pattern[]): string | undefined {
  for (const { parts, text } of patterns) {
    const values = valuesIn(sentence, parts);
    if (values !== undefined) {
      return text.replace(/\{(\d)\}/g, (_, place) => isolate(values[Number(place) - 1] ?? ''));
    }
  }
  return undefined;
}

/** The values between the parts; undefined where the sentence is not made of them. */
function valuesIn(sentence: string, parts: readonly string[]): readonly string[] | undefined {
  const [first = '', ...rest] = parts;
  const last = rest.pop() ?? '';
  if (!sentence.startsWith(first) || !sentence.endsWith(last)) return undefined;
  const end = sentence.length - last.length;
  const values: string[] = [];
  let from = first.length;
  for (const part of rest) {
    const at = sentence.indexOf(part, from);
    if (at < 0 || at + part.length > end) return undefined;
    values.push(sentence.slice(from, at));
    from = at + part.length;
  }
  return from > end ? undefined : [...values, sentence.slice(from, end)];
}
