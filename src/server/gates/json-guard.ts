// Looks over the bytes of JSON once before it is parsed: bombs, and numbers a double cannot hold.

/** Nesting, structural tokens (brackets, commas, colons) and bytes of one key. */
export interface JsonLimits {
  readonly maxDepth: number;
  readonly maxTokens: number;
  readonly maxKeyBytes: number;
}

export const JSON_LIMITS: JsonLimits = { maxDepth: 200, maxTokens: 2_000_000, maxKeyBytes: 1024 };

export type JsonExcess = 'depth' | 'tokens' | 'key';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const NUMBER_BYTES: ReadonlySet<number> = new Set(Buffer.from('0123456789+-.eE'));
/** A double holds fifteen digits whatever they are; sign and point only make the check stricter. */
const RISKY_BYTES = 16;
const BYTES_BEFORE_LEAP = 48;

export interface JsonSurvey {
  /** The first limit the text goes over; undefined when it keeps all of them. */
  readonly excess: JsonExcess | undefined;
  /** False when every number outside strings surely fits a double. */
  readonly mayHoldRiskyNumber: boolean;
}

/** Text that is not JSON gives any answer: the parser refuses it afterwards. */
export function surveyJson(bytes: Buffer, limits: JsonLimits): JsonSurvey {
  let depth = 0;
  let tokens = 0;
  let stringBytes = 0;
  let mayHoldRiskyNumber = false;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index];
    switch (byte) {
      case QUOTE: {
        const end = findStringEnd(bytes, index + 1);
        stringBytes = end - index - 1;
        index = end;
        break;
      }
      case 0x7b: // {
      case 0x5b: // [
        depth++;
        tokens++;
        if (depth > limits.maxDepth) return { excess: 'depth', mayHoldRiskyNumber };
        break;
      case 0x7d: // }
      case 0x5d: // ]
        depth--;
        tokens++;
        break;
      case 0x3a: // :
        tokens++;
        if (stringBytes > limits.maxKeyBytes) return { excess: 'key', mayHoldRiskyNumber };
        break;
      case 0x2c: // ,
        tokens++;
        if (tokens > limits.maxTokens) return { excess: 'tokens', mayHoldRiskyNumber };
        break;
      default:
        if (byte === MINUS || isDigit(byte)) {
          const end = findNumberEnd(bytes, index);
          mayHoldRiskyNumber ||= isRiskyNumber(bytes, index, end);
          index = end - 1;
        }
    }
  }
  return { excess: tokens > limits.maxTokens ? 'tokens' : undefined, mayHoldRiskyNumber };
}

/**
 * Index of the quote that closes the string which begins at `start`; the length when none does.
 * Looks byte by byte first, then leaps to the next quote: neither long strings nor dense escapes
 * are dear.
 */
function findStringEnd(bytes: Buffer, start: number): number {
  let index = start;
  while (index < bytes.length) {
    const stop = Math.min(index + BYTES_BEFORE_LEAP, bytes.length);
    while (index < stop) {
      const byte = bytes[index];
      if (byte === QUOTE) return index;
      index += byte === BACKSLASH ? 2 : 1;
    }
    const quote = bytes.indexOf(QUOTE, index);
    if (quote === -1) return bytes.length;
    if (!isEscaped(bytes, quote, index)) return quote;
    index = quote + 1;
  }
  return bytes.length;
}

/** True when an odd number of backslashes stands between `from`, itself not escaped, and `quote`. */
function isEscaped(bytes: Buffer, quote: number, from: number): boolean {
  let first = quote;
  while (first > from && bytes[first - 1] === BACKSLASH) first--;
  return (quote - first) % 2 === 1;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= NINE;
}

/** Index of the first byte behind a number that begins at `start`. */
function findNumberEnd(bytes: Buffer, start: number): number {
  let index = start + 1;
  while (index < bytes.length && NUMBER_BYTES.has(bytes[index] ?? 0)) index++;
  return index;
}

/** Long enough to lose digits, an exponent, or a zero with a sign: the parser looks closer at these. */
function isRiskyNumber(bytes: Buffer, start: number, end: number): boolean {
  if (end - start >= RISKY_BYTES) return true;
  if (bytes[start] === MINUS && bytes[start + 1] === ZERO) return true;
  for (let index = start; index < end; index++) {
    if (bytes[index] === 0x65 || bytes[index] === 0x45) return true;
  }
  return false;
}
