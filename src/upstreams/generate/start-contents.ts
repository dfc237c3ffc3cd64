// Makes native contents start with the user, as every upstream demands.

import { invalidRequest } from '../../canonical/error.ts';
import { type Receipt, told } from '../../canonical/receipt.ts';
import { isJsonObject, type JsonValue } from '../../lib/json.ts';

/**
 * The same list when it starts with the user. Clients that cut the oldest turns off a long history
 * may leave the model's words first.
 * @throws GatewayError (invalid-request) when nothing is left to send.
 */
export function startContents(contents: JsonValue[], receipt: Receipt): JsonValue[] {
  const [first] = contents;
  if (first === undefined) {
    throw invalidRequest('contents', 'contents: there is nothing to answer; send some content.');
  }
  if (!isJsonObject(first) || first.role !== 'model') return contents;
  receipt.add('approximated', 'contents', told`A user turn "…" was put before the first answer.`);
  return [{ role: 'user', parts: [{ text: '…' }] }, ...contents];
}
