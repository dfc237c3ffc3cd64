// Why a call that was aborted ended: the edge's own error, or the client's leaving.

import { GatewayError } from '../canonical/error.ts';
import { told } from '../lib/told.ts';

/** The edge may abort with an error of its own (a time limit); otherwise the client left. */
export function abortError(signal: AbortSignal): GatewayError {
  if (signal.reason instanceof GatewayError) return signal.reason;
  return new GatewayError({
    kind: 'client-gone',
    source: 'client',
    message: told`The client closed the connection.`,
  });
}
