// Thought signatures on this wire: the service's own values, and carriers wrapped as base64.

import { told } from '../../canonical/receipt.ts';
import type { Signature } from '../../canonical/request.ts';
import { isSignatureValue, readCarrier, writeCarrier } from '../../canonical/signature-carrier.ts';
import type { JsonValue } from '../../lib/json.ts';
import type { Place } from './place.ts';

const CARRIER_START = 'gw1:';
/** The base64 of `gw1` and of the first six bits of the colon. */
const WRAPPED_CARRIER_START = 'Z3cxO';

/**
 * The signature a client hands back, a wrapped carrier unwrapped to `gw1:…`. The API's field holds
 * bytes, so a value that cannot be base64 is no signature: dropped with a receipt.
 */
export function normalizeSignature(raw: JsonValue, place: Place): string | undefined {
  if (raw === '') return undefined;
  if (typeof raw === 'string') {
    if (raw.startsWith(CARRIER_START)) return raw;
    if (isSignatureValue(raw)) return unwrapCarrier(raw);
  }
  place.receipt.add('dropped', place.path, told`The value is not base64, so it is no signature.`);
  return undefined;
}

/** The signature of a part of the given kind; `on` defaults to that kind. */
export function readPartSignature(
  text: string | undefined,
  on: NonNullable<Signature['on']>,
): Signature | undefined {
  const signature = readCarrier(text);
  return signature && { ...signature, on: signature.on ?? on };
}

/** The field's value for a signature: SDKs that decode the field need valid base64. */
export function writePartSignature(signature: Signature): string {
  return Buffer.from(writeCarrier(signature), 'utf8').toString('base64');
}

function unwrapCarrier(text: string): string {
  if (!text.startsWith(WRAPPED_CARRIER_START)) return text;
  const carrier = Buffer.from(text, 'base64').toString('utf8');
  return carrier.startsWith(CARRIER_START) ? carrier : text;
}
