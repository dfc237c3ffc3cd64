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

/**
 * What is not among `texts` stays as it is. Sentences may stand behind the name of a place
 * (`proxy.port: must be …`), in a row, and in a list parted by semicolons; values may be sentences.
 */
export function sayIn(texts: SentenceTexts): SayIn {
  const whole = new Map<string, string>();
  const patterns: Pattern[] = [];
  for (const [sentence, text] of Object.entries(texts)) {
    if (sentence.includes(PLACE)) patterns.push({ parts: sentence.split(PLACE), text });
    else whole.set(sentence, text);
  }
  // Of two that fit, the one that says more is meant.
  patterns.sort((a, b) => b.parts.join('').length - a.parts.join('').length);
  const say: SayIn = (words) => sayOne(words) ?? sayRow(words) ?? words;
  return say;

  function sayOne(words: string): string | undefined {
    return whole.get(words) ?? fill(words) ?? sayPlaced(words) ?? sayStopped(words);
  }

  function fill(words: string): string | undefined {
    for (const { parts, text } of patterns) {
      const values = valuesIn(words, parts);
      if (values !== undefined) {
        return text.replace(/\{(\d)\}/g, (_, place) =>
          isolate(say(values[Number(place) - 1] ?? '')),
        );
      }
    }
    return undefined;
  }

  function sayPlaced(words: string): string | undefined {
    const [, place = '', rest = ''] = PLACED.exec(words) ?? [];
    const said = rest === '' ? undefined : sayOne(rest);
    return said === undefined ? undefined : `${place}: ${said}`;
  }

  /** A clause is made a sentence by its end mark. */
  function sayStopped(words: string): string | undefined {
    const said = words.endsWith('.') ? sayOne(words.slice(0, -1)) : undefined;
    return said === undefined ? undefined : `${said}。`;
  }

  /** The first of them has to be known: it says where the next one begins. */
  function sayRow(words: string): string | undefined {
    for (const { index, 0: space } of words.matchAll(/(?<=\.) |; /g)) {
      const first = sayOne(words.slice(0, index));
      if (first !== undefined) {
        return first + (space === ' ' ? '' : space) + say(words.slice(index + space.length));
      }
    }
    return undefined;
  }
}

/** The place of a setting or a field, in which names may stand in quotes. */
const PLACED = /^((?:[^\s:"]|"(?:[^"\\]|\\.)*")+): (.+)$/s;

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
