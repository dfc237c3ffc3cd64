// Upstream keys that can be none: words of examples, and keys of this gateway itself.

import { looksLikeKeySecret } from '../lib/key-shape.ts';
import { type Sentence, told } from '../lib/told.ts';

/** Words that documentation, examples and tests put where a key belongs. */
const PLACEHOLDERS =
  /^(?:x+|\*+|\.+|-+|any|none|null|undefined|test|dummy|fake|example|sample|placeholder|changeme|change-me|replace-?me|todo|secret|password|key|token|api-?key|(?:any|my|your|the|some|test|dummy|fake|example|sample|insert|placeholder|unused)(?:-?(?:own|gemini|google|openai|upstream|real|actual|secret))*-?(?:api-?)?(?:key|token)(?:-?here)?|sk-(?:x+|\.+|test|any|dummy|fake|example|placeholder|your-?(?:api-?)?key|no-?key-?required))$/;

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
    .replaceAll(/[<>[\]{}$"']/g, '')
    .replaceAll(/[_\s]/g, '-');
  if (plain === '' || (isPublic && PLACEHOLDERS.test(plain))) {
    return told`is a placeholder, not a key: put the key that the upstream gave you`;
  }
  if (ownKeys.includes(key) || looksLikeKeySecret(key)) {
    return told`is a key of this gateway, not of an upstream: put the key that the upstream gave you`;
  }
  return undefined;
}
