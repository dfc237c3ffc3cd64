// Which errors are the same: their kind, and what they say without the names and numbers in it.

import { paramsOf, type Sentence } from '../lib/localized-message.ts';

const MAX_CHARACTERS = 200;

/** The same for all errors that differ only in names, numbers and ids. */
export function errorGroup(kind: string, sentence: Sentence | undefined): string {
  if (sentence === undefined) return kind;
  const words = plainWords(sentence);
  const text = words.length > MAX_CHARACTERS ? `${words.slice(0, MAX_CHARACTERS)}…` : words;
  return `${kind}: ${text}`;
}

/** A message of ours has a template, and what is put into that may be a message again. */
function plainWords(sentence: Sentence): string {
  const { code, text } = sentence;
  if (code === null) return withoutValues(text);
  const params = paramsOf(sentence).values();
  return code.replaceAll('{}', () => {
    const param = params.next().value;
    return typeof param === 'object' ? plainWords(param) : '…';
  });
}

/** Of a text from elsewhere nobody knows the template: what looks like a value is taken for one. */
const VALUES = [
  /"[^"]*"|'[^']*'|`[^`]*`/g,
  /\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b/g,
  /https?:\/\/\S+/g,
  /\b(?=[\w-]*\d)[\w-]{6,}\b/g,
  /\d+(?:[.,:]\d+)*/g,
] as const;

function withoutValues(text: string): string {
  return VALUES.reduce((rest, value) => rest.replace(value, '…'), text)
    .replace(/\s+/g, ' ')
    .trim();
}
