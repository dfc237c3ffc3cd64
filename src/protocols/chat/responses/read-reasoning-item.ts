// Reads a reasoning item of the history: the thoughts a client was shown and the proof they came with.

import { memberPath } from '../../../canonical/field-reader.ts';
import type { Turn } from '../../../canonical/request.ts';
import { readCarrier } from '../../../canonical/signature-carrier.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { asObject, readArray, readString } from '../fields.ts';

/** `encrypted_content` is where answers of this gateway carry the signature. @throws GatewayError 400 */
export function readReasoningItem(item: JsonObject, path: string): Turn {
  const raw = readTexts(item, 'content', path);
  const text = raw === '' ? readTexts(item, 'summary', path) : raw;
  const signature = readCarrier(readString(item, 'encrypted_content', path));
  return { role: 'assistant', parts: [{ kind: 'thinking', text, signature }] };
}

/** Summary parts were shown one paragraph each. */
function readTexts(item: JsonObject, key: 'content' | 'summary', path: string): string {
  const parts = readArray(item, key, path) ?? [];
  return parts
    .map((value, index) => {
      const partPath = `${memberPath(path, key)}[${index}]`;
      return readString(asObject(value, partPath), 'text', partPath) ?? '';
    })
    .join('\n\n');
}
