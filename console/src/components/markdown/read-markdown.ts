// Reads a text as Markdown, where a person may have written it.

import { Marked, type Token } from 'marked';

/** Longer ones would make the page slow, and are shown as they are. */
const MAX_CHARACTERS = 200_000;
/** In one block of lines: the reader compares each of these with each. */
const MAX_MARKS = 2_000;

const MARKED = new Marked({ gfm: true, breaks: true });

/** Undefined for what is no Markdown that a person would write. */
export function readMarkdown(text: string): readonly Token[] | undefined {
  if (text.length > MAX_CHARACTERS) return undefined;
  const isBusy = (block: string): boolean => (block.match(/[*_~]/g)?.length ?? 0) > MAX_MARKS;
  if (text.split(/\n\s*\n/).some(isBusy)) return undefined;
  try {
    return MARKED.lexer(text);
  } catch {
    // Nested so deep that the reader gives up: it is shown as it is.
    return undefined;
  }
}

/** Whether a block of code has its closing fence: while a text arrives, its last one has none (CommonMark 4.5). */
export function isClosed(raw: string): boolean {
  return /^ {0,3}(`{3,}(?!`)|~{3,}(?!~))[^\n]*\n(?:[\s\S]*\n)? {0,3}\1[`~]* *\n*$/.test(raw);
}
