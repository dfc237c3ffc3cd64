// Finds a secret in a text in every spelling that software usually gives it.

/** Shorter secrets are found in too much that is none. */
const SHORTEST_SECRET = 6;
/** So many leading characters of a secret are enough to give it away. */
const TELLING_CHARACTERS = 12;

/** The beginning of the secret in every usual spelling: what follows belongs to it. */
export function spellSecret(secret: string): readonly string[] {
  if (secret.length < SHORTEST_SECRET) return [];
  const bytes = Buffer.from(secret);
  const all = [
    secret,
    encodeURIComponent(secret),
    bytes.toString('base64'),
    bytes.toString('base64url'),
    bytes.toString('hex'),
  ];
  return [...new Set(all.map((spelling) => spelling.slice(0, TELLING_CHARACTERS)))];
}

/** The text with `stand` in place of each word that begins with the spelling, to the word's end. */
export function withoutSpelling(text: string, spelling: string, stand: string): string {
  let clean = '';
  let from = 0;
  for (;;) {
    const at = text.indexOf(spelling, from);
    if (at === -1) return clean + text.slice(from);
    let end = at + spelling.length;
    while (end < text.length && /[\w.~+/=%-]/.test(text.charAt(end))) end += 1;
    clean += text.slice(from, at) + stand;
    from = end;
  }
}
