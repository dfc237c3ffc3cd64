// Reads a minimal request with some fields set: what the reader tests share.

import { GatewayError } from '../../canonical/error.ts';
import { createReceipt } from '../../canonical/receipt.ts';
import type { CanonicalRequest } from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import { readChatRequest } from './read-request.ts';

export const USER = { role: 'user', content: 'U' };
export const TOOL = { type: 'function', function: { name: 'w' } };

export function read(
  fields: JsonObject,
): ReturnType<typeof readChatRequest> & { receipt: ReturnType<typeof createReceipt> } {
  const receipt = createReceipt();
  const body = { model: 'm', messages: [USER], ...fields };
  return { ...readChatRequest(body, receipt), receipt };
}

export function canonical(fields: JsonObject): CanonicalRequest {
  return read(fields).canonical;
}

/** The 400 these fields are answered with. */
export function refusal(fields: JsonObject): GatewayError {
  try {
    read(fields);
  } catch (error) {
    if (error instanceof GatewayError && error.kind === 'invalid-request') return error;
    throw error;
  }
  throw new Error('The request was accepted.');
}

/** The receipt as `action path` lines. */
export function notes(fields: JsonObject): string[] {
  return read(fields).receipt.entries.map((entry) => `${entry.action} ${entry.path}`);
}
