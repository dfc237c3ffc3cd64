// Rejects requests with an ambiguous target or identity before any route is looked up.

import { clientError, invalidRequest } from '../../canonical/error.ts';
import { told } from '../../lib/localized-message.ts';
import { HEADER_SPELLINGS } from '../../wire/vocabulary.ts';

/** Headers that decide who asks and what for: a second line would leave that to the reader. */
const SINGLE_HEADERS = new Set<string>([
  'host',
  'authorization',
  'api-key',
  'x-api-key',
  'content-type',
  ...HEADER_SPELLINGS.generateApiKey,
]);

const DOT_SEGMENT = /(?:^|\/)\.{1,2}(?:\/|$)/;

/** Below it a slash is a part of the name, as in `vendor/model`: the official OpenAI SDK sends it encoded. */
const MODEL_FOLDER =
  /^\/(?:v1(?:alpha|beta)?\/(?:openai\/)?models|openai\/(?:(?:v1\/)?models|deployments))\/./;

/**
 * The target of a request line, split and decoded.
 * @throws GatewayError invalid-request for absolute-form and other non-origin forms, `//`, dot
 * segments (also encoded), encoded slashes outside a model's name, backslashes and control
 * characters, bad percent escapes, and any character outside visible ASCII.
 * @returns the path, percent-decoded once and never again, and the query without its question mark; '' when there is none
 */
export function readTarget(url: string): { readonly path: string; readonly query: string } {
  const queryAt = url.indexOf('?');
  const rawPath = queryAt === -1 ? url : url.slice(0, queryAt);
  const query = queryAt === -1 ? '' : url.slice(queryAt + 1);
  const path = readPath(rawPath);
  if (path === undefined) {
    throw invalidRequest(
      'path',
      told`The request target is not canonical: send an absolute path without empty or dot segments, backslashes, or encoded slashes and control characters.`,
    );
  }
  return { path, query };
}

/**
 * Checks that exactly one `Host` line and at most one line of each credential header came. HTTP/1.0,
 * which health checks of balancers still speak, has no need of a `Host` (RFC 9112, 3.2).
 * @param rawHeaders names and values alternating, as received.
 * @throws GatewayError invalid-request naming the header.
 */
export function checkSingleHeaders(rawHeaders: readonly string[], httpVersion = '1.1'): void {
  const seen: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? '';
    if (!SINGLE_HEADERS.has(name)) continue;
    if (seen.includes(name)) {
      throw invalidRequest(name, told`The header ${name} came more than once; send it once.`);
    }
    seen.push(name);
  }
  if (!seen.includes('host') && httpVersion !== '1.0') {
    throw invalidRequest('host', told`The Host header is missing.`, 'missing-field');
  }
}

/** Node undoes `chunked` alone. @throws GatewayError not-implemented for other codings (RFC 9112, 6.1) */
export function checkTransferCoding(codings: string): void {
  if (!/,\s*chunked\s*$/i.test(codings)) return;
  const message = told`Transfer-Encoding may only be "chunked"; send the body without another coding.`;
  throw clientError('not-implemented', message, { field: 'transfer-encoding' });
}

function readPath(rawPath: string): string | undefined {
  if (rawPath.charCodeAt(0) !== 0x2f) return undefined;
  const mayHoldSlash = MODEL_FOLDER.test(rawPath);
  let escaped = false;
  for (let index = 0; index < rawPath.length; index++) {
    const code = rawPath.charCodeAt(index);
    if (code <= 0x20 || code >= 0x7f || code === 0x5c || code === 0x23) return undefined;
    if (code === 0x2f && rawPath.charCodeAt(index + 1) === 0x2f) return undefined;
    if (code !== 0x25) continue;
    const digits = rawPath.slice(index + 1, index + 3);
    const isSlash = digits.toLowerCase() === '2f';
    if (!isHarmlessEscape(digits) && !(mayHoldSlash && isSlash)) return undefined;
    escaped = true;
  }
  const path = escaped ? decode(rawPath) : rawPath;
  if (path === undefined || DOT_SEGMENT.test(path)) return undefined;
  return escaped && path.includes('//') ? undefined : path;
}

function isHarmlessEscape(digits: string): boolean {
  if (!/^[0-9a-fA-F]{2}$/.test(digits)) return false;
  const code = Number.parseInt(digits, 16);
  return code >= 0x20 && code !== 0x2f && code !== 0x5c && code !== 0x7f;
}

function decode(rawPath: string): string | undefined {
  try {
    return decodeURIComponent(rawPath);
  } catch {
    return undefined;
  }
}
