// Loads the sentences of the gateway in a language, where they are first needed.

import { type SayIn, sayIn, sayInEnglish } from './sentences.ts';

let current = 'en';
let all: SayIn | undefined;
let few: SayIn | undefined;

/** The language of the console has become another. */
export function speak(language: string): void {
  current = language;
}

/** English is what the gateway says. */
export async function loadSentences(language = current): Promise<SayIn> {
  if (language !== 'zh') return sayInEnglish;
  const { sentences } = await import('./zh/sentences.ts');
  all ??= sayIn(sentences);
  return all;
}

/** Only what clients are told of requests that fail: the first page has room for no more. */
export async function loadFaults(language: string): Promise<SayIn> {
  if (language !== 'zh') return sayInEnglish;
  const { faults } = await import('./zh/faults.ts');
  few ??= sayIn(faults);
  return few;
}
