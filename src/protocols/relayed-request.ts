// What a relayed request takes along: headers of its client, and what its native body says, read when somebody first asks: most
// relayed ones never are.

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

/** Names, or their beginnings: who the client is, which version and features it speaks, what it says of its work. */
const FORWARDED = [
  ...['anthropic-', 'vendorb-', 'openai-', 'x-stainless-', 'x-claude-', 'x-app'],
  ...['user-agent', 'http-referer', 'x-title'],
];

/** Credentials and what belongs to one connection or to this gateway stay here, with all that is not listed. */
export function forwardedHeaders(
  headers: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const forwarded: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined && FORWARDED.some((begin) => name.startsWith(begin))) {
      forwarded[name] = value;
    }
  }
  return forwarded;
}
