// Halves of characters that stand alone: clients cut texts in the middle of one, and upstreams refuse them.

import { type Receipt, told } from './receipt.ts';

/** How `JSON.stringify` begins what it writes of such a half; of whole characters it writes nothing like it. */
const LONE_HALF = '\\ud';
const ESCAPE = /\\(?:u[0-9a-f]{4}|.)/g;

/** What `JSON.stringify` wrote, with U+FFFD for each half; the receipt says so once. */
export function mendText(json: string, receipt: Receipt | undefined): string {
  if (!json.includes(LONE_HALF)) return json;
  const mended = json.replace(ESCAPE, (word) => (word.startsWith(LONE_HALF) ? '\uFFFD' : word));
  if (mended === json) return json;
  receipt?.add('repaired', 'body', told`Halves of characters that stood alone became U+FFFD.`);
  return mended;
}
