// The languages of the console besides English: each is a folder with texts.

import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';

const FOLDER = '../../console/src/i18n';

export const LANGUAGES = readdirSync(resolve(import.meta.dirname, FOLDER), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== 'en')
  .map(({ name }) => name);

/** Those that may miss nothing, with a letter of theirs; what another misses is shown in English. */
export const WHOLE: ReadonlyMap<string, RegExp> = new Map([
  ['ja', /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u],
  ['zh', /\p{Script=Han}/u],
]);

/** What `<part>.ts` of the language exports as `<part>`. */
export async function loadPart<Texts extends object>(
  language: string,
  part: string,
): Promise<Texts> {
  return (await import(`${FOLDER}/${language}/${part}.ts`))[part];
}
