// Errors of the sandbox in the generate-content form: HTTP status, status word, message and typed details.

import type { JsonObject, JsonValue } from './json.ts';

/** One fault in a request: where (snake_case path, '' for the whole) and what. */
export interface Violation {
  readonly field: string;
  readonly description: string;
}

export class SandboxError extends Error {
  override readonly name = 'SandboxError';
  readonly status: number;
  readonly details: readonly JsonObject[];

  constructor(status: number, message: string, details: readonly JsonObject[] = []) {
    super(message);
    this.status = status;
    this.details = details;
  }
}

const DETAIL_TYPE = 'type.vendoraapis.example/vendora.rpc.';
const MAX_LISTED_VIOLATIONS = 20;

/** HTTP status → status word (generate-content API, "Errors"). */
const STATUS_WORDS = new Map([
  [400, 'INVALID_ARGUMENT'],
  [401, 'UNAUTHENTICATED'],
  [403, 'PERMISSION_DENIED'],
  [404, 'NOT_FOUND'],
  [409, 'ABORTED'],
  [413, 'INVALID_ARGUMENT'],
  [429, 'RESOURCE_EXHAUSTED'],
  [499, 'CANCELLED'],
  [500, 'INTERNAL'],
  [501, 'UNIMPLEMENTED'],
  [502, 'UNAVAILABLE'],
  [503, 'UNAVAILABLE'],
  [504, 'DEADLINE_EXCEEDED'],
  [529, 'UNAVAILABLE'],
]);

/** `{error: {code, message, status, details?}}`. */
export function writeError(error: SandboxError): JsonObject {
  const body: JsonObject = {
    code: error.status,
    message: error.message,
    status: STATUS_WORDS.get(error.status) ?? 'UNKNOWN',
  };
  if (error.details.length > 0) body.details = [...error.details];
  return { error: body };
}

/** 400 naming every violation found (at most 20 are listed). */
export function badRequest(violations: readonly Violation[]): SandboxError {
  const listed = violations.slice(0, MAX_LISTED_VIOLATIONS);
  const message = listed
    .map(({ field, description }) => (field === '' ? description : `${field}: ${description}`))
    .join('\n');
  const fieldViolations: JsonValue = listed.map((violation) => ({ ...violation }));
  return new SandboxError(400, message, [{ '@type': `${DETAIL_TYPE}BadRequest`, fieldViolations }]);
}

export function notFound(message: string): SandboxError {
  return new SandboxError(404, message);
}

/** `retryDelay` is a duration text such as `12s`. */
export function retryDetail(retryDelay: string): JsonObject {
  return { '@type': `${DETAIL_TYPE}RetryInfo`, retryDelay };
}

/** A machine-readable reason, such as `QUOTA_EXHAUSTED`. */
export function reasonDetail(reason: string, metadata: JsonObject = {}): JsonObject {
  return { '@type': `${DETAIL_TYPE}ErrorInfo`, reason, domain: 'vendoraapis.example', metadata };
}

interface ScriptedError {
  readonly reason?: string;
  readonly retryDelay?: string;
  readonly message?: string;
}

/** The HTTP error a fault or a directive asks for. */
export function writeScriptedError(status: number, fault: ScriptedError): SandboxError {
  const { reason, retryDelay, message = `The sandbox was told to answer ${status}.` } = fault;
  return new SandboxError(status, message, [
    ...(reason === undefined ? [] : [reasonDetail(reason)]),
    ...(retryDelay === undefined ? [] : [retryDetail(retryDelay)]),
  ]);
}
