// Calls over the Messages and the Chat wire, and their errors: the form of each wire with its headers, and how they are sent.

import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { SandboxError } from './errors.ts';
import { sendText } from './http.ts';
import type { JsonObject, JsonValue } from './json.ts';
import type { PlayedCall } from './play.ts';
import type { Member, QuotaCounters, SandboxClock } from './state.ts';

/** The fields by which the wires tell errors apart, where they are not the usual ones of the status. */
interface ErrorFields {
  readonly type?: string;
  /** Chat alone: the parameter at fault and the machine-readable word. */
  readonly param?: string | null;
  readonly code?: string | null;
}

/** An error that says more than its status. */
export class WireError extends SandboxError {
  readonly fields: ErrorFields;

  constructor(status: number, message: string, fields: ErrorFields = {}) {
    super(status, message);
    this.fields = fields;
  }
}

/** Messages API, "Errors". */
const MESSAGES_TYPES = new Map([
  [401, 'authentication_error'],
  [402, 'billing_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [409, 'conflict_error'],
  [413, 'request_too_large'],
  [429, 'rate_limit_error'],
  [504, 'timeout_error'],
  [529, 'overloaded_error'],
]);

export function writeMessagesError(error: SandboxError, requestId: string): JsonObject {
  const type = typeOf(error) ?? MESSAGES_TYPES.get(error.status) ?? usualType(error.status);
  return { type: 'error', error: { type, message: error.message }, request_id: requestId };
}

function usualType(status: number): string {
  return status >= 500 ? 'api_error' : 'invalid_request_error';
}

/** platform.openai.com, "Error codes": type and code by status. */
const CHAT_FIELDS = new Map<number, readonly [type: string, code: string | null]>([
  [401, ['invalid_request_error', 'invalid_api_key']],
  [403, ['permission_error', null]],
  [429, ['tokens', 'rate_limit_exceeded']],
  [503, ['service_unavailable_error', 'server_is_overloaded']],
]);

export function writeChatError(error: SandboxError): JsonObject {
  const { message, status } = error;
  const [usual, usualCode] = CHAT_FIELDS.get(status) ?? [
    status >= 500 ? 'server_error' : 'invalid_request_error',
    null,
  ];
  const fields = error instanceof WireError ? error.fields : {};
  const isUsedUp = status === 429 && isExhausted(error);
  const { type = isUsedUp ? 'insufficient_quota' : usual, param = null } = fields;
  const { code = isUsedUp ? 'insufficient_quota' : usualCode } = fields;
  return { error: { message, type, param, code } };
}

function typeOf(error: SandboxError): string | undefined {
  return error instanceof WireError ? error.fields.type : undefined;
}

function isExhausted({ details }: SandboxError): boolean {
  return details.some(({ reason }: JsonObject) => reason === 'QUOTA_EXHAUSTED');
}

/** Both families of clients obey these. */
function retryHeaders(error: SandboxError): Record<string, string> {
  const delay = error.details
    .map(({ retryDelay }: JsonObject) => readSeconds(retryDelay))
    .find((seconds) => seconds !== undefined);
  const isWorthIt = [408, 409, 429].includes(error.status) || error.status >= 500;
  return {
    ...(delay !== undefined && { 'retry-after': String(Math.ceil(delay)) }),
    'x-should-retry': String(isWorthIt && !isExhausted(error)),
  };
}

function readSeconds(duration: JsonValue | undefined): number | undefined {
  const text = typeof duration === 'string' ? /^(\d+(?:\.\d+)?)s$/.exec(duration)?.[1] : undefined;
  return text === undefined ? undefined : Number(text);
}

/** What is left of a window of calls. */
interface CallsLeft {
  readonly requests: number;
  readonly remaining: number;
  readonly resetsAt: number;
}

export function messagesLimits({ requests, remaining, resetsAt }: CallsLeft) {
  return {
    'anthropic-ratelimit-requests-limit': String(requests),
    'anthropic-ratelimit-requests-remaining': String(remaining),
    'anthropic-ratelimit-requests-reset': new Date(resetsAt).toISOString(),
  };
}

export function chatLimits({ requests, remaining, resetsAt }: CallsLeft, now: number) {
  return {
    'x-ratelimit-limit-requests': String(requests),
    'x-ratelimit-remaining-requests': String(remaining),
    'x-ratelimit-reset-requests': `${Math.ceil((resetsAt - now) / 1000)}s`,
  };
}

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
  /** Undefined until the account and the model of the call are known. */
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
