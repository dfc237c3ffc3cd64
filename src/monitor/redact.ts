// Takes credentials out of what is kept of requests, and shortens media.

import { copyBeginning } from '../lib/flat-text.ts';
import { isJsonObject, isRawNumber, type JsonObject, type JsonValue } from '../lib/json.ts';
import { type SecretIndex, spellSecret, withoutSpelling } from '../lib/secret-spelling.ts';

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

const HIDDEN = '[redacted]';
const MOST_SPELLED = 256;
/** What is looked at behind the end of a beginning: longer than any credential. */
const BEHIND_CHARACTERS = 8_192;

/**
 * What credentials look like wherever they stand, and what stands in their place. What is looked
 * through may be JSON, and stays it: none reaches over a quote, or takes an escape apart.
 */
const SHAPES: readonly (readonly [pattern: RegExp, stand: string])[] = [
  [/\bAIza[\w-]{20,}/g, HIDDEN],
  [/\bya29\.[\w.-]+/g, HIDDEN],
  [/\b1\/\/[\w-]{20,}/g, HIDDEN],
  [/\b(?:sk|pk|rk|pat|ghp|gho|xox[abp])[-_][\w-]{12,}/g, HIDDEN],
  [/(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, HIDDEN],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${HIDDEN}`],
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
const MOST_BASE64 = 1024;
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

/** Spells each secret once, as long as there are not too many of them. */
export function createSpeller(): (secret: string) => readonly string[] {
  const known = new Map<string, readonly string[]>();
  return (secret) => {
    const found = known.get(secret);
    if (found !== undefined) return found;
    if (known.size >= MOST_SPELLED) known.clear();
    const spelled = spellSecret(secret);
    known.set(secret, spelled);
    return spelled;
  };
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
  if (text.length <= MOST_BASE64) return text;
  if (BASE64.test(text)) return `[base64 of ${text.length} characters]`;
  if (!text.includes(';base64,')) return text;
  return text.replace(
    DATA_URL,
    (_whole, type: string, parameters: string, base64: string) =>
      `data:${type}${parameters};base64,[${base64.length} characters]`,
  );
}
