// How fast a request is served, in the words of the wire it goes to.

import type { Receipt } from '../canonical/receipt.ts';
import { told } from '../lib/localized-message.ts';

/** What protocols call the service of the standard price. */
const STANDARD: ReadonlySet<string> = new Set(['default', 'standard', 'standard_only']);

/**
 * @param words those of the wire, in small letters
 * @returns what to send: the wire's own word for the standard service, and nothing, with a receipt, for a tier it does not
 *   have
 */
export function encodeServiceTier(
  tier: string | undefined,
  words: readonly string[],
  receipt: Receipt,
): string | undefined {
  if (tier === undefined) return undefined;
  const word = tier.toLowerCase();
  if (words.includes(word)) return word;
  const standard = STANDARD.has(word) ? words.find((one) => STANDARD.has(one)) : undefined;
  // Who says only that nothing special is wanted loses nothing.
  const isUsual = word === 'auto' || word === 'default' || word === 'standard';
  if (standard === undefined && !isUsual) {
    receipt.add('dropped', 'service_tier', told`The upstream has no such service tier.`);
  }
  return standard;
}
