// Finds the syntax of code, as pieces of its text with what each is.

import { parse } from 'sugar-high/core';
import { lang, languages } from 'sugar-high/lang';

export interface Piece {
  text: string;
  /** Undefined for what has the colour of text. */
  readonly kind: string | undefined;
}

/** Time grows with the length of JSON, of other code with the square of a line and with each tag that is not closed. */
const MAX_JSON = 50_000;
const MAX_OTHER = 10_000;
const LONG_LINE = /[^\n]{501}/;
const OPEN_TAG = /<[^<>]*(?=<)/g;
const MAX_OPEN_TAGS = 100;

function takesLong(code: string): boolean {
  if (code.length > MAX_OTHER || LONG_LINE.test(code)) return true;
  return (code.match(OPEN_TAG) ?? []).length > MAX_OPEN_TAGS;
}

const COLOURED = new Set(['keyword', 'string', 'class', 'property', 'entity', 'comment']);

/** One piece for code that would take too long, or of a language that is not known. */
export function highlight(code: string, language: string): readonly Piece[] {
  const id = lang(language);
  const found = languages.find((one) => one.id === id);
  const plain = [{ text: code, kind: undefined }];
  if (found === undefined || (id === 'json' ? code.length > MAX_JSON : takesLong(code)))
    return plain;
  const pieces: Piece[] = [];
  const add = (text: string, kind: string | undefined): void => {
    if (text === '') return;
    const last = pieces.at(-1);
    if (last !== undefined && last.kind === kind) last.text += text;
    else pieces.push({ text, kind });
  };
  for (const { index, tokens, annotations } of parse(code, found.config).lines) {
    if (index > 0) add('\n', undefined);
    // Of a line as a whole, such as one that a diff adds.
    const [whole] = annotations;
    for (const { type, value } of tokens) {
      add(value, whole ?? (COLOURED.has(type) ? type : undefined));
    }
  }
  // What is shown is the code, whatever the library makes of it.
  return pieces.map(({ text }) => text).join('') === code ? pieces : plain;
}
