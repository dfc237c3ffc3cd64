// Translates one request for an upstream, at once or in steps.

import { clientField, receiptInClientNames, renameField } from '../canonical/receipt.ts';
import type { CanonicalRequest } from '../canonical/request.ts';
import { nextTurn } from '../lib/chunked-json.ts';
import type { JsonObject } from '../lib/json.ts';
import { applyTransforms, rulesFor } from '../transforms/index.ts';
import type { PatchTarget, Upstream } from '../upstreams/upstream.ts';

/** The rules, then the wire body; what they note and what they refuse names the client's own fields. */
export function translateRequest(
  asked: CanonicalRequest,
  upstream: Pick<Upstream, 'encode'>,
  target: PatchTarget,
): JsonObject {
  const named = { ...target, receipt: receiptInClientNames(asked.clientNames, target.receipt) };
  try {
    return upstream.encode(applyTransforms(asked, named), named);
  } catch (error) {
    throw inNamesOf(asked, error);
  }
}

/** The same with a turn for others behind each rule. */
export async function translateInSteps(
  asked: CanonicalRequest,
  upstream: Pick<Upstream, 'encode'>,
  target: PatchTarget,
): Promise<JsonObject> {
  const named = { ...target, receipt: receiptInClientNames(asked.clientNames, target.receipt) };
  try {
    let done = asked;
    for (const transform of rulesFor(asked, named)) {
      done = transform(done, named);
      await nextTurn();
    }
    return upstream.encode(done, named);
  } catch (error) {
    throw inNamesOf(asked, error);
  }
}

function inNamesOf({ clientNames }: CanonicalRequest, error: unknown): unknown {
  return renameField(error, (field) => clientField(field, clientNames));
}
