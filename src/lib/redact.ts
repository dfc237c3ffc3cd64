// Removes credentials from texts: of records and logs, of upstream errors, and of what a provider says of a sign-in.

import { crc32 } from 'node:zlib';
import { tally } from './collections.ts';
import { isJsonObject, isRawNumber, type JsonObject, type JsonValue } from './json.ts';
import { copyBeginning } from './long-text.ts';
import { remember } from './once.ts';

/** Shorter secrets are found in too much that is none. */
const MIN_SECRET_LENGTH = 6;
/** So many leading characters of a secret are enough to give it away. */
const TELLING_CHARACTERS = 12;
/** Fewer characters of an encoding stand in too many others by chance. */
const MIN_ENCODED_LENGTH = 6;

/**
 * The beginning of the secret in every usual spelling: what follows belongs to it. In base64 it is spelt
 * in three ways, by what stands before it, such as `Bearer `.
 */
function spellSecret(secret: string): readonly string[] {
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
function withoutSpelling(text: string, spelling: string, stand: string): string {
  let clean = '';
  let from = 0;
  for (;;) {
    const at = text.indexOf(spelling, from);
    if (at === -1) return clean + text.slice(from);
    clean += text.slice(from, at) + stand;
    from = endOfWord(text, at + spelling.length);
  }
}

function endOfWord(text: string, at: number): number {
  let end = at;
  while (/[\w.~+/=%-]/.test(text.charAt(end)) || text.startsWith('\\/', end)) end += 1;
  return end;
}

export interface Redactor {
  text(text: string): string;
  /** So much of the beginning, without that of a credential that reaches over its end. */
  beginning(text: string, maxCharacters: number): string;
  /** JSON text of at most `maxCharacters`; `isWhole` is false when anything was changed or left out. */
  json(
    value: JsonValue,
    maxCharacters: number,
  ): { readonly text: string; readonly isWhole: boolean };
}

/** What stands in the place of a credential. */
export const HIDDEN = '[redacted]';

/** Credentials whose beginning gives them away. */
const API_KEY = /\bAIza[\w-]{20,}/g;
const ACCESS_TOKEN = /\bya29\.[\w.-]+/g;
const AUTHORIZATION = /\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi;

const MAX_SPELLED = 256;
/** What is looked at behind the end of a beginning: longer than any credential. */
export const BEHIND_CHARACTERS = 8_192;

/**
 * What credentials look like wherever they stand, and what stands in their place. What is looked
 * through may be JSON, and stays it: none reaches over a quote, or takes an escape apart.
 */
const SHAPES: readonly (readonly [pattern: RegExp, stand: string])[] = [
  [API_KEY, HIDDEN],
  [ACCESS_TOKEN, HIDDEN],
  [/\b1\/\/[\w-]{20,}/g, HIDDEN],
  [/\b(?:sk|pk|rk|pat|ghp|gho|xox[abp])[-_][\w-]{12,}/g, HIDDEN],
  [/(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, HIDDEN],
  [AUTHORIZATION, `$1 ${HIDDEN}`],
  [
    /([?&;](?:key|api_?key|access_token|refresh_token|id_token|token|code|client_secret|password|sig(?:nature)?)=)(?:[^&;\s"'#\\]|\\[^"])+/gi,
    `$1${HIDDEN}`,
  ],
  [/\b((?:__Host-)?isthmus_session\w*=)(?:[^;\s"'\\]|\\[^"])+/g, `$1${HIDDEN}`],
  [/([a-z][a-z\d+.-]{0,20}:\/\/)[^/?#@\s"']{1,512}@/gi, `$1${HIDDEN}@`],
  [
    /-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[^"\\]|\\[^"])*?(?:-----END [A-Z ]*PRIVATE KEY-----|(?=\\?")|$)/g,
    HIDDEN,
  ],
];

/**
 * Could any shape be in a text? One look that is cheap on the many texts that hold none: ids are full
 * of letters, so that the case counts where it does in the shapes.
 */
const SUSPICIOUS =
  /AIza|ya29\.|1\/\/|\b(?:sk|pk|rk|pat|ghp|gho|xox[abp])[-_]|eyJ|[Bb][Ee][Aa][Rr][Ee][Rr]|[Bb][Aa][Ss][Ii][Cc]|[?&;]\w+=|isthmus_session|:\/\/|PRIVATE KEY/;

/** Fields whose text is a credential whatever it looks like. */
const SECRET_FIELD =
  /^(?:authorization|proxy-authorization|cookie|set-cookie|password|passwd|secret|(?:[\w-]*[-_])?api[-_]?key|(?:access|refresh|id|auth|authorization)[-_]?token|client[-_]?secret|private[-_]?key)$/i;

/** Base64 of more than this many characters is media. */
const MAX_BASE64 = 1024;
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;
const DATA_URL = /data:([\w.+-]+\/[\w.+-]+)((?:;[\w=.+-]+)*);base64,([A-Za-z0-9+/_=-]{256,})/g;

/**
 * @param secrets credentials that are known, removed in every usual spelling
 * @param spell gives those spellings; a kept one saves the work for secrets that come often
 * @param stored credentials of accounts, of which there may be many
 */
export function createRedactor(
  secrets: readonly string[],
  spell: (secret: string) => readonly string[] = spellSecret,
  stored?: Pick<SecretIndex, 'hide'>,
): Redactor {
  const known = secrets.flatMap(spell);
  const text = (original: string): string => {
    let clean = stored?.hide(original, HIDDEN) ?? original;
    for (const spelling of known) {
      if (clean.includes(spelling)) clean = withoutSpelling(clean, spelling, HIDDEN);
    }
    if (!SUSPICIOUS.test(clean)) return clean;
    for (const [pattern, stand] of SHAPES) clean = clean.replace(pattern, stand);
    return clean;
  };
  const beginning = (original: string, maxCharacters: number): string =>
    copyBeginning(text(original.slice(0, maxCharacters + BEHIND_CHARACTERS)), maxCharacters);
  return {
    text,
    beginning,
    json: (value, maxCharacters) => new Copy({ text, beginning }, maxCharacters).write(value),
  };
}

/**
 * Takes known secrets out of a text that comes in pieces, however these cut it. What it holds back until the next
 * piece is what a secret may begin with.
 */
export function createPieceRedactor(secrets: readonly string[]) {
  const spellings = secrets.flatMap(spellSecret);
  const most = Math.max(0, ...spellings.map(({ length }) => length));
  const beginnings = spellings.map((spelling) => RegExp.escape(spelling)).join('|');
  const secret = new RegExp(beginnings, 'g');
  let held = '';
  let isWithin = false;
  const startOfHeld = (text: string): number => {
    for (let at = Math.max(0, text.length - most + 1); at < text.length; at += 1)
      if (spellings.some((spelling) => spelling.startsWith(text.slice(at)))) return at;
    return text.length;
  };
  return {
    next(piece: string): string {
      if (spellings.length === 0) return piece;
      const text = held + piece;
      const from = isWithin ? endOfWord(text, 0) : 0;
      // An escape may be cut as well.
      held = isWithin && text.slice(from) === '\\' ? '\\' : '';
      if (isWithin && from + held.length === text.length) return '';
      let end = from;
      let clean = '';
      for (;;) {
        secret.lastIndex = end;
        const found = secret.exec(text);
        if (found === null) break;
        clean += text.slice(end, found.index) + HIDDEN;
        end = endOfWord(text, secret.lastIndex);
      }
      const rest = text.slice(end);
      isWithin = end > from && (rest === '' || rest === '\\');
      held = isWithin ? rest : rest.slice(startOfHeld(rest));
      return clean + rest.slice(0, rest.length - held.length);
    },
    /** What was held back at the end of the text. */
    end: (): string => held,
  };
}

/** Spells each secret once, as long as there are not too many of them. */
export function createSpeller(): (secret: string) => readonly string[] {
  return remember(MAX_SPELLED, spellSecret);
}

/** A copy of a JSON value that holds no credential and no more than there is room for. */
class Copy {
  readonly #redactor: Pick<Redactor, 'text' | 'beginning'>;
  readonly #maxCharacters: number;
  #room: number;
  #isWhole = true;

  constructor(redactor: Pick<Redactor, 'text' | 'beginning'>, maxCharacters: number) {
    this.#redactor = redactor;
    this.#maxCharacters = maxCharacters;
    this.#room = maxCharacters;
  }

  write(value: JsonValue): { readonly text: string; readonly isWhole: boolean } {
    const text = JSON.stringify(this.#copy(value));
    if (text.length <= this.#maxCharacters) return { text, isWhole: this.#isWhole };
    // Escapes made it longer than its values: it is cut as text then, and says so.
    return { text: `${text.slice(0, this.#maxCharacters)}…`, isWhole: false };
  }

  #copy(value: JsonValue): JsonValue {
    if (typeof value === 'string') return this.#text(value);
    this.#room -= 6;
    if (Array.isArray(value)) return this.#list(value);
    if (isJsonObject(value)) return this.#object(value);
    if (isRawNumber(value)) this.#room -= 32;
    return value;
  }

  #list(items: readonly JsonValue[]): JsonValue {
    const copied: JsonValue[] = [];
    for (const item of items) {
      if (this.#isFull()) {
        copied.push(`[${items.length - copied.length} more left out]`);
        break;
      }
      copied.push(this.#copy(item));
    }
    return copied;
  }

  #object(fields: JsonObject): JsonValue {
    const copied: [string, JsonValue][] = [];
    for (const [name, value] of Object.entries(fields)) {
      if (this.#isFull()) {
        copied.push(['…', 'left out']);
        break;
      }
      const isSecret = typeof value === 'string' && SECRET_FIELD.test(name);
      if (isSecret) this.#isWhole = false;
      copied.push([this.#text(name), isSecret ? HIDDEN : this.#copy(value)]);
    }
    // Own keys only, whatever they are called.
    return Object.fromEntries(copied);
  }

  #text(text: string): string {
    const short = shorten(text);
    const room = Math.max(0, this.#room);
    const copied =
      short.length > room
        ? `${this.#redactor.beginning(short, room)}… [${short.length - room} more characters]`
        : this.#redactor.text(short);
    if (copied !== text) this.#isWhole = false;
    this.#room -= copied.length + 4;
    return copied;
  }

  #isFull(): boolean {
    if (this.#room > 0) return false;
    this.#isWhole = false;
    return true;
  }
}

/** Media as their type and size. */
function shorten(text: string): string {
  if (text.length <= MAX_BASE64) return text;
  if (BASE64.test(text)) return `[base64 of ${text.length} characters]`;
  if (!text.includes(';base64,')) return text;
  return text.replace(
    DATA_URL,
    (_whole, type: string, parameters: string, base64: string) =>
      `data:${type}${parameters};base64,[${base64.length} characters]`,
  );
}

/** Of the credentials that clients show, and of short texts for each. */
const MAX_REDACTORS = 64;
const MAX_TEXTS = 256;
const MAX_TEXT = 256;

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
    if (isOther || known.size > MAX_REDACTORS) known.clear();
    source = current;
    version = stored?.version;
    const key = credentials.length === 1 ? (credentials[0] ?? '') : JSON.stringify(credentials);
    const found = known.get(key);
    if (found !== undefined) return found;
    const redactor = createRedactor([...credentials, ...current], spell, stored);
    // Models, paths and user agents are nearly always the same.
    const shortText = remember(MAX_TEXTS, redactor.text);
    const text = (one: string) => (one.length > MAX_TEXT ? redactor.text(one) : shortText(one));
    const remembering = { ...redactor, text };
    known.set(key, remembering);
    return remembering;
  };
}

/**
 * Finds any of many secrets in one walk through a text, and holds none of them: only digests of how
 * each begins in every spelling.
 */
export class SecretIndex {
  /** Rises with every change. */
  version = 0;
  /** How many have each: digests, and what is too short for the window that walks. */
  readonly #digests = new Map<number, number>();
  readonly #short = new Map<string, number>();
  readonly #ofOwner = new Map<string, readonly (string | number)[]>();
  #seen = new Uint8Array(SEEN_SIZE);

  /** In place of what the owner had before. */
  set(owner: string, secrets: readonly string[]): void {
    this.delete(owner);
    const spelled = secrets.flatMap(spellSecret).map((text) => text.slice(0, TELLING_CHARACTERS));
    for (const text of spelled) this.#seen[seenAt(rollingOf(text))] = 1;
    const marks = spelled.map((text) =>
      text.length < TELLING_CHARACTERS ? text : digestOf(text, 0, rollingOf(text)),
    );
    for (const mark of marks) this.#count(mark, 1);
    this.#ofOwner.set(owner, marks);
    this.version += 1;
  }

  delete(owner: string): void {
    for (const mark of this.#ofOwner.get(owner) ?? []) this.#count(mark, -1);
    this.#ofOwner.delete(owner);
    this.version += 1;
  }

  #count(mark: string | number, change: 1 | -1): void {
    if (typeof mark === 'string') tally(this.#short, mark, change);
    else tally(this.#digests, mark, change);
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
      clean += text.slice(from, at) + stand;
      from = endOfWord(text, at + TELLING_CHARACTERS);
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

const MAX_CHARACTERS = 200;
/** Longer words are no prose: they may be a token, whole or in part. */
const MAX_WORD = 20;
const PLAIN_WORD = /^[a-z_.:,;!'"()-]{1,40}$/i;
/** So many leading characters of a secret are enough to give it away. */
const SECRET_CHARACTERS = 8;

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
  return [secret, ...spellSecret(secret)].map((spelling) => spelling.slice(0, SECRET_CHARACTERS));
}

const MAX_MESSAGE_LENGTH = 1000;
const SCRUBBED = '<hidden>';

/** What each kind of secret looks like, and what stands in its place. */
const SECRETS: readonly (readonly [pattern: RegExp, stand: string])[] = [
  [API_KEY, '<key>'],
  [ACCESS_TOKEN, '<key>'],
  [/\bsk-[\w-]{8,}/g, '<key>'],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, '<key>'],
  [AUTHORIZATION, '$1 <key>'],
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
    if (secret.length >= 4) clean = clean.replaceAll(secret, SCRUBBED);
    for (const spelling of spellSecret(secret)) clean = withoutSpelling(clean, spelling, SCRUBBED);
  }
  for (const [pattern, stand] of SECRETS) clean = clean.replace(pattern, stand);
  return clean.length > MAX_MESSAGE_LENGTH ? `${clean.slice(0, MAX_MESSAGE_LENGTH)}…` : clean;
}

const OWN_KEY = /^sk-[0-9a-z]{38}$/;
const CHECK_CHARACTERS = 7;

/** True for keys that this gateway issues to persons: known without a lookup, and false for misspelt ones. */
export function looksLikeKeySecret(text: string): boolean {
  if (!OWN_KEY.test(text)) return false;
  const body = text.slice(0, -CHECK_CHARACTERS);
  return checksumOf(body) === text.slice(-CHECK_CHARACTERS);
}

export function checksumOf(body: string): string {
  return crc32(body).toString(36).padStart(CHECK_CHARACTERS, '0');
}
