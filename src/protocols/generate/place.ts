// Where a value stands in the client's request, for errors and receipts.

import { type GatewayError, invalidRequest } from '../../canonical/error.ts';
import type { Receipt } from '../../canonical/receipt.ts';

export interface Place {
  /** Path in the client's own spelling; '' for the body itself. */
  readonly path: string;
  readonly receipt: Receipt;
}

/** The error for a value of the wrong JSON type. */
export function wrongType(place: Place, expected: string): GatewayError {
  const name = place.path === '' ? 'The body' : place.path;
  return invalidRequest(place.path, `${name} must be ${expected}.`, 'invalid-type');
}
