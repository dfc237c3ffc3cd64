// A request as the body that an upstream takes: the rules, then its wire.

import { clientField, receiptInClientNames, renameField } from '../canonical/receipt.ts';
import type { CanonicalRequest } from '../canonical/request.ts';
import type { JsonObject } from '../lib/json.ts';
import { applyTransforms } from '../transforms/index.ts';
import type { PatchTarget, Upstream } from '../upstreams/upstream.ts';

/** The rules, then the wire body; what they note and what they refuse names the client's own fields. */
export function translateRequest(
  asked: CanonicalRequest,
  upstream: Pick<Upstream, 'encode'>,
  target: PatchTarget,
): JsonObject {
  const { clientNames } = asked;
  const named = { ...target, receipt: receiptInClientNames(clientNames, target.receipt) };
  try {
    return upstream.encode(applyTransforms(asked, named), named);
  } catch (error) {
    throw renameField(error, (field) => clientField(field, clientNames));
  }
}
