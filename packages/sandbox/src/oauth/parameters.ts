// Reads the parameters of OAuth requests, from a query or a form: each at most once, none of them huge.

import type { IncomingMessage } from 'node:http';
import { OAuthError } from './oauth-error.ts';

/** Parameters without a value count as absent (RFC 6749, 3.1). */
export type Parameters = ReadonlyMap<string, string>;

const MAX_FORM_BYTES = 64 * 1024;
const MAX_VALUE_CHARACTERS = 16 * 1024;

/** @throws OAuthError invalid_request for a form of another type, too large, or with a parameter given twice. */
export async function readForm(request: IncomingMessage): Promise<Parameters> {
  const type = request.headers['content-type'] ?? '';
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type)) {
    throw new OAuthError(
      'invalid_request',
      'The Content-Type must be application/x-www-form-urlencoded.',
    );
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    const buffer = Buffer.from(chunk);
    bytes += buffer.length;
    if (bytes > MAX_FORM_BYTES) {
      throw new OAuthError('invalid_request', `The form is larger than ${MAX_FORM_BYTES} bytes.`, {
        status: 413,
      });
    }
    chunks.push(buffer);
  }
  return readParameters(new URLSearchParams(Buffer.concat(chunks).toString('utf8')));
}

/** @throws OAuthError invalid_request for a parameter given twice or too long. */
export function readParameters(given: URLSearchParams): Parameters {
  const parameters = new Map<string, string>();
  for (const [name, value] of given) {
    if (value === '') continue;
    if (parameters.has(name)) {
      throw new OAuthError('invalid_request', `${show(name)} must be given once only.`);
    }
    if (value.length > MAX_VALUE_CHARACTERS) {
      throw new OAuthError('invalid_request', `${show(name)} is too long.`);
    }
    parameters.set(name, value);
  }
  return parameters;
}

/** @throws OAuthError invalid_request when it is absent. */
export function requireParameter(parameters: Parameters, name: string): string {
  const value = parameters.get(name);
  if (value === undefined) throw new OAuthError('invalid_request', `${name} is missing.`);
  return value;
}

function show(name: string): string {
  return JSON.stringify(name.slice(0, 40));
}
