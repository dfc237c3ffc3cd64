// Refusals in the form of OAuth: an error code, a description for people, and the HTTP status.

import type { JsonObject } from '../json.ts';

export class OAuthError extends Error {
  override readonly name = 'OAuthError';
  /** Of RFC 6749, 4.1.2.1 and 5.2, or what a scripted fault asks for. */
  readonly code: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: string,
    description: string,
    { status = 400, headers = {} }: ErrorOptions = {},
  ) {
    super(description);
    this.code = code;
    this.status = status;
    this.headers = headers;
  }
}

interface ErrorOptions {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** `{error, error_description}`. */
export function writeOAuthError(code: string, description: string): JsonObject {
  return { error: code, error_description: description };
}
