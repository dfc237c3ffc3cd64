// Base64 as clients send it, put into the one form every upstream takes.

const STANDARD = /^[A-Za-z0-9+/]+={0,2}$/;

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

function isTidy(text: string): boolean {
  return text.length % 4 === 0 && STANDARD.test(text);
}
