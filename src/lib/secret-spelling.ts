// Finds a secret in a text in every spelling that software usually gives it.

/** Shorter secrets are found in too much that is none. */
const SHORTEST_SECRET = 6;
/** So many leading characters of a secret are enough to give it away. */
const TELLING_CHARACTERS = 12;
/** Fewer characters of an encoding stand in too many others by chance. */
const FEWEST_ENCODED = 6;

/**
 * The beginning of the secret in every usual spelling: what follows belongs to it. In base64 it is spelt
 * in three ways, by what stands before it, such as `Bearer `.
 */
export function spellSecret(secret: string): readonly string[] {
  if (secret.length < SHORTEST_SECRET) return [];
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
  if (own.length < FEWEST_ENCODED) return [];
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
    let end = at + spelling.length;
    while (isOfWord(text, end)) end += 1;
    clean += text.slice(from, at) + stand;
    from = end;
  }
}

function isOfWord(text: string, at: number): boolean {
  if (at >= text.length) return false;
  if (text[at] === '\\') return text[at + 1] === '/';
  return /[\w.~+/=%-]/.test(text.charAt(at));
}

/**
 * Finds any of many secrets in one walk through a text, and holds none of them: only digests of how
 * each begins in every spelling.
 */
export class SecretIndex {
  /** Rises with every change. */
  version = 0;
  readonly #digests = new Map<number, number>();
  /** Those too short for the window that walks. */
  readonly #short = new Map<string, number>();
  readonly #ofOwner = new Map<string, readonly string[]>();
  readonly #digestsOf = new Map<string, readonly number[]>();
  #seen = new Uint8Array(SEEN_SIZE);

  /** In place of what the owner had before. */
  set(owner: string, secrets: readonly string[]): void {
    this.delete(owner);
    const spelled = secrets.flatMap(spellSecret).map((text) => text.slice(0, TELLING_CHARACTERS));
    const short = spelled.filter(({ length }) => length < TELLING_CHARACTERS);
    const digests = spelled.flatMap((text) =>
      text.length < TELLING_CHARACTERS ? [] : [digestOf(text, 0, rollingOf(text))],
    );
    for (const digest of digests) this.#digests.set(digest, (this.#digests.get(digest) ?? 0) + 1);
    for (const text of short) this.#short.set(text, (this.#short.get(text) ?? 0) + 1);
    for (const text of spelled) this.#seen[seenAt(rollingOf(text))] = 1;
    this.#digestsOf.set(owner, digests);
    this.#ofOwner.set(owner, short);
    this.version += 1;
  }

  delete(owner: string): void {
    for (const digest of this.#digestsOf.get(owner) ?? []) takeOne(this.#digests, digest);
    for (const text of this.#ofOwner.get(owner) ?? []) takeOne(this.#short, text);
    this.#digestsOf.delete(owner);
    this.#ofOwner.delete(owner);
    this.version += 1;
  }

  /** The text with `stand` in place of each word that a secret begins, to the word's end. */
  hide(text: string, stand: string): string {
    let clean = text;
    for (const spelling of this.#short.keys()) {
      if (clean.includes(spelling)) clean = withoutSpelling(clean, spelling, stand);
    }
    return this.#digests.size === 0 ? clean : this.#walk(clean, stand);
  }

  #walk(text: string, stand: string): string {
    let clean = '';
    let from = 0;
    let rolling = rollingOf(text);
    for (let at = 0; at + TELLING_CHARACTERS <= text.length; at += 1) {
      if (at > 0) rolling = rollOn(rolling, text, at);
      if (this.#seen[seenAt(rolling)] === 0 || at < from) continue;
      if (!this.#digests.has(digestOf(text, at, rolling))) continue;
      let end = at + TELLING_CHARACTERS;
      while (isOfWord(text, end)) end += 1;
      clean += text.slice(from, at) + stand;
      from = end;
    }
    return from === 0 ? text : clean + text.slice(from);
  }
}

const SEEN_SIZE = 2 ** 18;
const FACTOR = 0x01000193;
const OTHER_FACTOR = 0x85ebca6b;
/** The factor of the character that leaves the window. */
const LEAVING = Array.from({ length: TELLING_CHARACTERS }).reduce<number>(
  (power) => Math.imul(power, FACTOR),
  1,
);

function rollingOf(text: string): number {
  let rolling = 0;
  for (let index = 0; index < TELLING_CHARACTERS && index < text.length; index += 1) {
    rolling = (Math.imul(rolling, FACTOR) + text.charCodeAt(index)) | 0;
  }
  return rolling;
}

/** Of the window at `at`, from that of the one before. */
function rollOn(rolling: number, text: string, at: number): number {
  const entered = text.charCodeAt(at + TELLING_CHARACTERS - 1);
  const left = Math.imul(text.charCodeAt(at - 1), LEAVING);
  return (Math.imul(rolling, FACTOR) + entered - left) | 0;
}

function seenAt(rolling: number): number {
  return (rolling ^ (rolling >>> 15)) & (SEEN_SIZE - 1);
}

/** 52 bits: two windows share one by chance once in many million texts. */
function digestOf(text: string, at: number, rolling: number): number {
  let other = 0;
  for (let index = at; index < at + TELLING_CHARACTERS; index += 1) {
    other = Math.imul(other ^ text.charCodeAt(index), OTHER_FACTOR);
    other ^= other >>> 13;
  }
  return (rolling >>> 0) * 2 ** 20 + (other >>> 12);
}

function takeOne<Key>(counts: Map<Key, number>, key: Key): void {
  const left = (counts.get(key) ?? 0) - 1;
  if (left > 0) counts.set(key, left);
  else counts.delete(key);
}
