// Writes into the access log who was turned away at the door.

import type { GatewayError } from '../canonical/error.ts';
import type { AccessVerdict } from '../door/access-log.ts';
import { isAdminPath } from './admin-error.ts';
import type { Edge, Exchange } from './edge.ts';
import { readCredentials } from './gates/credentials.ts';

/** Does nothing for errors that have another cause. */
export function noteRefusal(edge: Edge, exchange: Exchange, error: GatewayError): void {
  // The rates of keys are the monitor's matter.
  const isStranger = isAdminPath(exchange.path) || exchange.clientKeyId === '';
  const verdict = verdictOf(error, isStranger);
  if (verdict === undefined) return;
  const entry = {
    verdict,
    address: exchange.clientAddress,
    method: exchange.request.method ?? 'GET',
    path: exchange.path,
    keyId: exchange.clientKeyId === '' ? undefined : exchange.clientKeyId,
    reason: error.message,
  };
  edge.door.accessLog.add(entry, readCredentials(exchange.headers, exchange.query));
}

function verdictOf(error: GatewayError, isStranger: boolean): AccessVerdict | undefined {
  if (error.source !== 'client') return undefined;
  switch (error.kind) {
    case 'unauthenticated':
      return 'unauthenticated';
    case 'forbidden':
      return error.reason === 'address-blocked' ? 'blocked' : 'rejected';
    case 'rate-limited':
      return isStranger ? 'throttled' : undefined;
    default:
      return undefined;
  }
}
