// Finds JSON that is small to send and dear to parse, by one pass over its bytes.

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
const BYTES_BEFORE_LEAP = 48;

/**
 * The first limit the text goes over; undefined when it keeps all of them. Text that is not JSON
 * gives any answer: the parser refuses it afterwards.
 */
export function findJsonExcess(bytes: Buffer, limits: JsonLimits): JsonExcess | undefined {
  let depth = 0;
  let tokens = 0;
  let stringBytes = 0;
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
        if (depth > limits.maxDepth) return 'depth';
        break;
      case 0x7d: // }
      case 0x5d: // ]
        depth--;
        tokens++;
        break;
      case 0x3a: // :
        tokens++;
        if (stringBytes > limits.maxKeyBytes) return 'key';
        break;
      case 0x2c: // ,
        tokens++;
        if (tokens > limits.maxTokens) return 'tokens';
        break;
      default:
    }
  }
  return tokens > limits.maxTokens ? 'tokens' : undefined;
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
