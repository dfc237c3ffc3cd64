// Base64 as clients send it, put into the one form every upstream takes.

const STANDARD = /^[A-Za-z0-9+/]+={0,2}$/;
/** Longer texts are checked by decoding them, which node does thirty times as fast as a pattern. */
const MAX_FOR_PATTERN = 4_096;
/** Characters decoded at a time: what comes out is overwritten at once and stays in the cache. */
const SLICE_CHARACTERS = 65_536;
const scratch = Buffer.allocUnsafeSlow((SLICE_CHARACTERS / 4) * 3);

/**
 * The text without white space, in the standard alphabet, with its padding; the same string when it
 * is in that form already. Undefined for anything that is not base64, and for no bytes at all.
 */
export function tidyBase64(text: string): string | undefined {
  if (isTidy(text)) return text;
  const dense = text.replace(/\s+/g, '').replace(/-/g, '+').replace(/_/g, '/');
  const missing = (4 - (dense.length % 4)) % 4;
  const padded = missing === 3 ? dense : dense + '='.repeat(missing);
  return isTidy(padded) ? padded : undefined;
}

/** True for text that is padded base64 of either alphabet and nothing else, so that JSON escapes none of it. */
export function isDenseBase64(text: string): boolean {
  if (text.length === 0 || text.length % 4 !== 0) return false;
  for (let start = 0; start < text.length; start += SLICE_CHARACTERS) {
    const slice = text.slice(start, start + SLICE_CHARACTERS);
    const isLast = start + SLICE_CHARACTERS >= text.length;
    const padding = isLast ? countPadding(slice) : 0;
    // Of characters beyond ASCII node decodes the lower half alone.
    if (Buffer.byteLength(slice) !== slice.length) return false;
    // Whatever is not of the alphabet is passed over, and the bytes it stands for are missing.
    if (scratch.write(slice, 'base64') !== (slice.length / 4) * 3 - padding) return false;
  }
  return true;
}

function isTidy(text: string): boolean {
  if (text.length % 4 !== 0) return false;
  if (text.length <= MAX_FOR_PATTERN) return STANDARD.test(text);
  return !text.includes('-') && !text.includes('_') && isDenseBase64(text);
}

function countPadding(text: string): number {
  if (text.endsWith('==')) return 2;
  return text.endsWith('=') ? 1 : 0;
}
