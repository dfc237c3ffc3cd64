// What a native body says, read when somebody first asks: a relayed one never is.

import { GatewayError } from '../canonical/error.ts';
import { createReceipt, type Receipt, type ReceiptEntry } from '../canonical/receipt.ts';
import type { CanonicalRequest } from '../canonical/request.ts';
import { once } from '../lib/once.ts';
import type { CountTokensCall, GenerateCall } from './protocol.ts';

export type LateReading = () => {
  readonly request: CanonicalRequest;
  /** What it leaves out. */
  readonly losses: readonly ReceiptEntry[];
};

export function readLate(read: (receipt: Receipt) => CanonicalRequest): LateReading {
  return once(() => {
    const receipt = createReceipt();
    return { request: read(receipt), losses: receipt.entries };
  });
}

/** Undefined where the body is not understood here, which a relay need not mind. @throws where there is none */
export function understood(
  call: Pick<GenerateCall | CountTokensCall, 'request' | 'relay'>,
): CanonicalRequest | undefined {
  try {
    return call.request;
  } catch (error) {
    if (error instanceof GatewayError && call.relay !== undefined) return undefined;
    throw error;
  }
}
