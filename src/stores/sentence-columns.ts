// A sentence as two columns: its English text, and what it is made of.

import { asSentence, type Sentence } from '../lib/localized-message.ts';

/** The second is JSON; absent of a text from elsewhere. */
export function toColumns({ code, params, text }: Sentence): [text: string, parts?: string] {
  return code === null ? [text] : [text, JSON.stringify({ code, params })];
}

/** Rows of earlier versions have the text alone. */
export function fromColumns(text: string, parts: string | undefined): Sentence {
  // The one narrowing of this file: it wrote them.
  return { ...asSentence(text), ...(parts === undefined ? {} : (JSON.parse(parts) as object)) };
}
