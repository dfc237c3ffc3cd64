// Takes secrets out of what a provider says before a person or the log may read it.

import { spellSecret } from '../lib/secret-spelling.ts';

const MAX_CHARACTERS = 200;
/** Longer words are no prose: they may be a token, whole or in part. */
const MAX_WORD = 20;
const PLAIN_WORD = /^[a-z_.:,;!'"()-]{1,40}$/i;
/** So many leading characters of a secret are enough to give it away. */
const TELLING_CHARACTERS = 8;

/** One line of prose; words that are, hold or begin a secret in any usual encoding become `[…]`. */
export function scrub(text: string, secrets: readonly string[]): string {
  const beginnings = secrets.flatMap(spellings).filter((spelling) => spelling !== '');
  const words = text
    .slice(0, 4 * MAX_CHARACTERS)
    .split(/[\s\p{Cc}]+/u)
    .filter((word) => word !== '')
    .map((word) => (isTelling(word, beginnings) ? '[…]' : word));
  return words.join(' ').slice(0, MAX_CHARACTERS);
}

function isTelling(word: string, beginnings: readonly string[]): boolean {
  if (beginnings.some((beginning) => word.includes(beginning))) return true;
  return word.length > MAX_WORD && !PLAIN_WORD.test(word);
}

function spellings(secret: string): string[] {
  return [secret, ...spellSecret(secret)].map((spelling) => spelling.slice(0, TELLING_CHARACTERS));
}
