// Loads the sentences of the gateway in a language, where they are first needed.

import { type SayIn, sayIn } from './sentences.ts';

let current = 'en';
let chinese: SayIn | undefined;

/** The language of the console has become another. */
export function speak(language: string): void {
  current = language;
}

/** English is what the gateway says. */
export async function loadSentences(language = current): Promise<SayIn> {
  if (language !== 'zh') return (sentence) => sentence;
  const { sentences } = await import('./zh/sentences.ts');
  chinese ??= sayIn(sentences);
  return chinese;
}
