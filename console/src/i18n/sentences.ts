// Says messages of the gateway in another language: by their code, with their params put in.

import type { Message } from '../../../src/admin/contract.ts';
import { isolate } from './text-values.ts';

/** By the code, the English text with `{}` for each param; in the other language `{1}` is the first of them. */
export type SentenceTexts = Readonly<Record<string, string>>;

export type SayIn = (message: Message) => string;

/** A message without a code, or with one that is not among `texts`, stays English. */
export function sayIn(texts: SentenceTexts): SayIn {
  const say: SayIn = ({ code, params, text }) => {
    if (code === null || !Object.hasOwn(texts, code)) return text;
    const values: readonly unknown[] = Array.isArray(params) ? params : [];
    return (texts[code] ?? '').replace(/\{(\d)\}/g, (_, place) => {
      const value = values[Number(place) - 1];
      return isolate(isMessage(value) ? say(value) : String(value ?? ''));
    });
  };
  return say;
}

/** As the gateway says it. */
export const sayInEnglish: SayIn = ({ text }) => text;

export function isMessage(value: unknown): value is Message {
  return (
    typeof value === 'object' &&
    value !== null &&
    'text' in value &&
    typeof value.text === 'string' &&
    'code' in value &&
    'params' in value
  );
}
