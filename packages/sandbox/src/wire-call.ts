// A call over the Messages or the Chat wire, and how its errors are sent.

import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { SandboxError } from './errors.ts';
import { sendText } from './http.ts';
import type { PlayedCall } from './play.ts';
import type { Member, QuotaCounters, SandboxClock } from './state.ts';
import {
  chatLimits,
  messagesLimits,
  retryHeaders,
  writeChatError,
  writeMessagesError,
} from './wire-errors.ts';

export type Wire = 'messages' | 'chat';

export interface WireCall extends PlayedCall {
  readonly account: Member;
  readonly headers: IncomingHttpHeaders;
  readonly requestId: string;
}

const ID_HEADERS = { messages: 'request-id', chat: 'x-request-id' } as const;

export function idHeader(wire: Wire, requestId: string): Record<string, string> {
  return { [ID_HEADERS[wire]]: requestId };
}

interface FailedCall {
  readonly wire: Wire;
  readonly requestId: string;
  /** Undefined while nobody knows whose call it is, or of which model. */
  readonly spent?: { readonly account: Member; readonly modelId: string } | undefined;
}

/** Once the answer has begun, all that is left is to drop the connection. */
export function sendWireError(
  response: ServerResponse,
  error: SandboxError,
  { wire, requestId, spent }: FailedCall,
  { quotas, clock }: { readonly quotas: QuotaCounters; readonly clock: SandboxClock },
): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const isMessages = wire === 'messages';
  const body = isMessages ? writeMessagesError(error, requestId) : writeChatError(error);
  const left = spent && quotas.read(spent.account, spent.modelId);
  const limits = left && (isMessages ? messagesLimits(left) : chatLimits(left, clock.now()));
  sendText(response, error.status, JSON.stringify(body), {
    ...idHeader(wire, requestId),
    ...retryHeaders(error),
    ...(error.status === 429 && limits),
  });
}
