// Sends a JSON answer or an error in the generate-content form.

import type { ServerResponse } from 'node:http';
import { type SandboxError, writeError } from '../errors.ts';
import type { JsonObject } from '../json.ts';

export function sendJson(response: ServerResponse, status: number, body: JsonObject): void {
  sendText(response, status, JSON.stringify(body));
}

/** Sends a text as JSON; answers of token endpoints must not be kept (RFC 6749, 5.1), nor need others be. */
export function sendText(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const bytes = Buffer.from(text);
  response.writeHead(status, {
    'content-type': 'application/json; charset=UTF-8',
    'content-length': bytes.length,
    'cache-control': 'no-store',
    ...headers,
  });
  response.end(bytes);
}

/** Sends the error; once the answer has begun, all that is left is to drop the connection. */
export function sendError(response: ServerResponse, error: SandboxError): void {
  if (response.headersSent) response.destroy();
  else sendJson(response, error.status, writeError(error));
}
