// Sends a JSON answer or an error in the generate-content form.

import type { ServerResponse } from 'node:http';
import type { JsonObject } from '../../lib/json.ts';
import { type SandboxError, writeError } from '../errors.ts';

export function sendJson(response: ServerResponse, status: number, body: JsonObject): void {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, {
    'content-type': 'application/json; charset=UTF-8',
    'content-length': bytes.length,
  });
  response.end(bytes);
}

/** Sends the error; once the answer has begun, all that is left is to drop the connection. */
export function sendError(response: ServerResponse, error: SandboxError): void {
  if (response.headersSent) response.destroy();
  else sendJson(response, error.status, writeError(error));
}
