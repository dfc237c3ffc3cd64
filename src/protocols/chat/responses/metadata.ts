// Reads `metadata`: small notes of the client's own, which come back with what they were put on.

import { invalidRequest } from '../../../canonical/error.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { readObject, wrongType } from '../fields.ts';

/** Source: `openai` resources/shared, `Metadata`. */
const MOST_PAIRS = 16;
const LONGEST_KEY = 64;
const LONGEST_VALUE = 512;

/** Undefined when there is none. @throws GatewayError 400 for what is over a limit */
export function readMetadata(body: JsonObject): JsonObject | undefined {
  const metadata = readObject(body, 'metadata');
  if (metadata === undefined) return undefined;
  const entries = Object.entries(metadata);
  if (entries.length > MOST_PAIRS) {
    throw invalidRequest('metadata', `metadata may hold at most ${MOST_PAIRS} pairs.`);
  }
  for (const [key, value] of entries) {
    if (key.length > LONGEST_KEY) {
      throw invalidRequest(
        'metadata',
        `A key of metadata has more than ${LONGEST_KEY} characters.`,
      );
    }
    if (typeof value !== 'string') throw wrongType(`metadata.${key}`, 'a string');
    if (value.length > LONGEST_VALUE) {
      const message = `metadata.${key} has more than ${LONGEST_VALUE} characters.`;
      throw invalidRequest(`metadata.${key}`, message);
    }
  }
  return metadata;
}
