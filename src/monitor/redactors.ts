// Redactors of requests: one for each set of credentials, which remembers the short texts that come often.

import type { SecretIndex } from '../lib/secret-spelling.ts';
import { createRedactor, createSpeller, type Redactor } from './redact.ts';

/** Of the credentials that clients show, and of short texts for each. */
const MOST_REDACTORS = 64;
const MOST_TEXTS = 256;
const LONGEST_TEXT = 256;

/**
 * @param secrets credentials of the gateway; with another list, all is built anew
 * @param stored those of accounts
 */
export function createRedactors(
  secrets: () => readonly string[],
  stored?: Pick<SecretIndex, 'hide' | 'version'>,
): (credentials: readonly string[]) => Redactor {
  const spell = createSpeller();
  const known = new Map<string, Redactor>();
  let source: readonly string[] | undefined;
  let version: number | undefined;
  return (credentials) => {
    const current = secrets();
    const isOther = current !== source || stored?.version !== version;
    if (isOther || known.size > MOST_REDACTORS) known.clear();
    source = current;
    version = stored?.version;
    const key = credentials.length === 1 ? (credentials[0] ?? '') : JSON.stringify(credentials);
    const found = known.get(key);
    if (found !== undefined) return found;
    const redactor = remembering(createRedactor([...credentials, ...current], spell, stored));
    known.set(key, redactor);
    return redactor;
  };
}

/** Models, paths and user agents are nearly always the same. */
function remembering(redactor: Redactor): Redactor {
  const known = new Map<string, string>();
  return {
    ...redactor,
    text(text) {
      if (text.length > LONGEST_TEXT) return redactor.text(text);
      const found = known.get(text);
      if (found !== undefined) return found;
      if (known.size === MOST_TEXTS) known.clear();
      const clean = redactor.text(text);
      known.set(text, clean);
      return clean;
    },
  };
}
