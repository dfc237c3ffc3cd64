// Loads the sentences of the gateway in a language, where they are first needed.

import { FALLBACK, loadFaultTexts, loadSentenceTexts } from './languages.ts';
import { type SayIn, sayIn, sayInEnglish } from './sentences.ts';

let current = FALLBACK;
const all = new Map<string, SayIn>();
const few = new Map<string, SayIn>();

/** The language of the console has become another. */
export function speak(language: string): void {
  current = language;
}

/** English is what the gateway says. */
export async function loadSentences(language = current): Promise<SayIn> {
  if (language === FALLBACK) return sayInEnglish;
  const say = all.get(language) ?? sayIn(await loadSentenceTexts(language));
  all.set(language, say);
  return say;
}

/** Only what clients are told of requests that fail: the first page has room for no more. */
export async function loadFaults(language: string): Promise<SayIn> {
  if (language === FALLBACK) return sayInEnglish;
  const say = few.get(language) ?? sayIn(await loadFaultTexts(language));
  few.set(language, say);
  return say;
}
