// How a secret may be spelt in a text, and the text without it.

/** Shorter secrets are found in too much that is none. */
const MIN_SECRET_LENGTH = 6;
/** So many leading characters of a secret are enough to give it away. */
export const TELLING_CHARACTERS = 12;
/** Fewer characters of an encoding stand in too many others by chance. */
const MIN_ENCODED_LENGTH = 6;

/**
 * The beginning of the secret in every usual spelling: what follows belongs to it. In base64 it is spelt
 * in three ways, by what stands before it, such as `Bearer `.
 */
export function spellSecret(secret: string): readonly string[] {
  if (secret.length < MIN_SECRET_LENGTH) return [];
  // All that a beginning is made of: a secret may be a long text.
  const bytes = Buffer.from(secret.slice(0, TELLING_CHARACTERS));
  const hex = bytes.toString('hex');
  const encoded = [0, 1, 2].flatMap((before) => spellBase64(bytes, before));
  const plain = [secret.slice(0, TELLING_CHARACTERS), ...encoded];
  const all = [
    ...plain,
    ...plain.flatMap(escapedForms),
    ...[hex, hex.toUpperCase()].map((text) => text.slice(0, TELLING_CHARACTERS)),
  ];
  return [...new Set(all)];
}

/** The characters that the secret alone decides, behind so many other bytes; in both alphabets (RFC 4648). */
function spellBase64(bytes: Buffer, before: number): readonly string[] {
  const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
  const from = Math.ceil((before * 8) / 6);
  const to = Math.floor(((before + bytes.length) * 8) / 6);
  const own = text.slice(from, Math.min(to, from + TELLING_CHARACTERS));
  if (own.length < MIN_ENCODED_LENGTH) return [];
  return [own, own.replaceAll('+', '-').replaceAll('/', '_')];
}

/** As addresses and JSON texts hold it. */
function escapedForms(text: string): readonly string[] {
  const percent = encodeURIComponent(text.toWellFormed());
  const json = JSON.stringify(text).slice(1, -1);
  return [
    percent,
    percent.replaceAll(/%../g, (code) => code.toLowerCase()),
    json,
    json.replaceAll('/', '\\/'),
  ];
}

/** The text with `stand` in place of each word that begins with the spelling, to the word's end. */
export function withoutSpelling(text: string, spelling: string, stand: string): string {
  let clean = '';
  let from = 0;
  for (;;) {
    const at = text.indexOf(spelling, from);
    if (at === -1) return clean + text.slice(from);
    clean += text.slice(from, at) + stand;
    from = endOfWord(text, at + spelling.length);
  }
}

export function endOfWord(text: string, at: number): number {
  let end = at;
  while (/[\w.~+/=%-]/.test(text.charAt(end)) || text.startsWith('\\/', end)) end += 1;
  return end;
}
