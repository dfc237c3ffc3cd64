// Upstream keys that can be none: words of examples, and keys of this gateway itself.

import { looksLikeKeySecret } from '../lib/key-shape.ts';
import { type Sentence, told } from '../lib/told.ts';

/** What documentation, examples and tests put where a key belongs: it is made of these words alone. */
const EXAMPLE_WORDS = [
  'a actual add ai an any anything api change dummy empty enter example fake from gemini goes google',
  'here ignored insert is isthmus key local me my n/a needed no none not null openai own password paste',
  'placeholder put real replace required sample secret sk some studio test the this todo token',
  'undefined unused upstream value with x your',
].flatMap((line) => line.split(' '));

const EXAMPLE = new RegExp(`^(?:\\d+|(?:${EXAMPLE_WORDS.join('|')})*|[*.]+)$`);

/** A name whose value was not put in, and a key that was shortened for the eye. */
const UNFILLED = /^(?:\$\{?\w+\}?|%\w+%|<.*>|\{\{.*\}\})$|\.{3}|…|\*{3}|x{6}/i;

/**
 * Why a key is not taken for that of an upstream; undefined when it may be one. The key is never repeated.
 * `isPublic`: it is for a public API; a service of one's own may take any word.
 */
export function refusedKey(
  key: string,
  { ownKeys, isPublic }: { readonly ownKeys: readonly string[]; readonly isPublic: boolean },
): Sentence | undefined {
  const plain = key
    .trim()
    .toLowerCase()
    .replaceAll(/[<>[\]{}$%"']/g, '');
  const words = plain.split(/[-_\s]+/);
  const isPlaceholder = UNFILLED.test(key.trim()) || words.every((word) => EXAMPLE.test(word));
  if (plain === '' || (isPublic && isPlaceholder)) {
    return told`is a placeholder, not a key: put the key that the upstream gave you`;
  }
  if (ownKeys.includes(key) || looksLikeKeySecret(key)) {
    return told`is a key of this gateway, not of an upstream: put the key that the upstream gave you`;
  }
  return undefined;
}
