// Under which ids an upstream may know a model: the spellings of its name in both vocabularies.

import { neutralModelName, realModelName, type Vocabulary } from '../../../wire/vocabulary.ts';

const FLASH = 'gemini-3-flash-preview';
const PRO = 'gemini-3.1-pro-preview';

/** What stands for the catalogue's names where an account's list is unknown, so that none can be chosen from it. */
const UNLISTED_IDS: ReadonlyMap<string, string> = new Map([
  ['alpha-3-flash', FLASH],
  ['alpha-3-pro-high', PRO],
  ['alpha-3-pro-low', PRO],
  ['alpha-3-pro-image', 'gemini-3-pro-image-preview'],
  ['beta-sonnet-4-6', PRO],
  ['beta-sonnet-4-6-thinking', PRO],
  ['beta-opus-4-6-thinking', PRO],
]);

/** The id to ask an upstream of the real models for while its list is unknown. */
export function unlistedRealId(name: string): string {
  return UNLISTED_IDS.get(neutralModelName(name)) ?? realModelName(name);
}

/** The spellings of a name, that of the upstream's vocabulary first. */
export function spellingsIn(vocabulary: Vocabulary, name: string): readonly string[] {
  const [own, other] =
    vocabulary === 'real'
      ? [realModelName(name), neutralModelName(name)]
      : [neutralModelName(name), realModelName(name)];
  return [...new Set([own, name, other])];
}
