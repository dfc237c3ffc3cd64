// Takes secrets and identities of the pool's accounts out of upstream texts before anyone reads them.

import { spellSecret, withoutSpelling } from '../../lib/secret-spelling.ts';

const MAX_MESSAGE_LENGTH = 1000;
const HIDDEN = '<hidden>';

/** What each kind of secret looks like, and what stands in its place. */
const SECRETS: readonly (readonly [pattern: RegExp, stand: string])[] = [
  [/\bAIza[\w-]{20,}/g, '<key>'],
  [/\bya29\.[\w.-]+/g, '<key>'],
  [/\bsk-[\w-]{8,}/g, '<key>'],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, '<key>'],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi, '$1 <key>'],
  [/([?&](?:key|access_token)=)[^&\s"']+/gi, '$1<key>'],
  [/\bapi_key:[\w-]+/gi, 'api_key:<key>'],
  [/[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+/g, '<email>'],
  [/\bprojects\/[\w.:-]+/gi, 'projects/<project>'],
  [/\b(project(?:[_ ]?(?:number|id))?)([:=]\s*|\s+['"`]?)(?=[\w-]*\d)[\w-]{4,}/gi, '$1$2<project>'],
];

/**
 * The text without API keys, tokens, e-mail addresses and project ids, at most 1000 characters long.
 * @param known secrets of the account in use, removed wherever they stand, encoded or cut short as well.
 */
export function scrubText(text: string, known: readonly string[] = []): string {
  let clean = text.slice(0, MAX_MESSAGE_LENGTH * 8);
  for (const secret of known) {
    if (secret.length >= 4) clean = clean.replaceAll(secret, HIDDEN);
    for (const spelling of spellSecret(secret)) clean = withoutSpelling(clean, spelling, HIDDEN);
  }
  for (const [pattern, stand] of SECRETS) clean = clean.replace(pattern, stand);
  return clean.length > MAX_MESSAGE_LENGTH ? `${clean.slice(0, MAX_MESSAGE_LENGTH)}…` : clean;
}
