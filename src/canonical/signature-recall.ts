// What the gateway remembers of earlier answers, for the requests that continue them.

import type { JsonObject, JsonValue } from '../lib/json.ts';
import type { TraceRecall } from './call-trace.ts';
import type { Signature } from './request.ts';

/** Signatures remembered from earlier answers to the same client key. */
export interface SignatureRecall extends TraceRecall {
  call(id: string, name: string): Signature | undefined;
  /** The arguments its signature vouches for, of a call that `returned` as it was shown, or changed in nothing it says. */
  input(
    call: { readonly id: string; readonly name: string; readonly schema?: JsonValue | undefined },
    returned: JsonObject,
  ): JsonObject | undefined;
  /** Those arguments, whatever the call `returned`; undefined where it returned them. */
  issuedInput(
    call: { readonly id: string; readonly name: string },
    returned: JsonObject,
  ): JsonObject | undefined;
  thought(text: string): Signature | undefined;
  /** Of a text or a medium's base64, in the answer to what was `asked`. */
  content(content: string, asked: string): Signature | undefined;
  /** Of a call whose id says nothing, in the answer to what was `asked`. */
  answeredCall(
    call: { readonly name: string; readonly input: JsonObject },
    asked: () => string,
  ): Signature | undefined;
  /** A bare value as it was issued through this gateway, however its base64 is spelt now; undefined when it was not. */
  issued(value: string): Signature | undefined;
}
