// The bytes of a request body, for wires whose bodies need no special care.

import type { Receipt } from '../canonical/receipt.ts';
import { mendText } from '../canonical/text-forms.ts';
import type { JsonObject } from '../lib/json.ts';

/** Bytes, so that the text is encoded once. What no UTF-8 can say is mended, and noted in the receipt. */
export function encodeJson(body: JsonObject, receipt: Receipt | undefined): Buffer {
  return Buffer.from(mendText(JSON.stringify(body), receipt));
}
