// Cuts a form into its parts at the boundary (RFC 2046, RFC 7578), strictly and without copying them.

import { invalidRequest } from '../../canonical/error.ts';

interface FormPart {
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  /** A piece of the form itself. */
  readonly content: Buffer;
}

interface PartLimits {
  readonly parts: number;
  readonly headerPairs: number;
  readonly headerBytes: number;
}

/** RFC 2046: longer ones would only serve to make the search for them slow. */
const LONGEST_BOUNDARY = 70;
const LINE_END = '\r\n';
const HEADER_END = '\r\n\r\n';
const DASH = 0x2d;
const NO_HEADERS = 'a part has no headers, or no empty line behind them';
const HEADER_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*)$/s;

/** @throws GatewayError invalid-request when the header names none, or one that no form may have */
export function readBoundary(contentType: string): string {
  const match = /;\s*boundary=(?:"([^"]*)"|([^\s;"]+))/i.exec(contentType);
  const boundary = match?.[1] ?? match?.[2] ?? '';
  if (boundary !== '' && boundary.length <= LONGEST_BOUNDARY) return boundary;
  throw malformed(`its Content-Type needs a boundary of 1 to ${LONGEST_BOUNDARY} characters`);
}

/**
 * The parts in order; what stands before the first and behind the last boundary is no part of the form.
 * @throws GatewayError invalid-request for a form that is cut, not well formed or beyond the limits
 */
export function* cutParts(
  form: Buffer,
  boundary: string,
  limits: PartLimits,
): Generator<FormPart, void> {
  const delimiter = Buffer.from(`${LINE_END}--${boundary}`, 'latin1');
  const opening = delimiter.subarray(LINE_END.length);
  const startsAtOnce = form.subarray(0, opening.length).equals(opening);
  const found = startsAtOnce ? 0 : form.indexOf(delimiter);
  if (found === -1) throw malformed('its boundary is not in the body');
  let at = startsAtOnce ? opening.length : found + delimiter.length;
  for (let count = 0; !isEnd(form, at); count += 1) {
    if (count === limits.parts) throw malformed(`it has more than ${limits.parts} parts`);
    const start = skipLineEnd(form, at);
    const end = findDelimiter(form, start, delimiter);
    yield readPart(form.subarray(start, end), limits);
    at = end + delimiter.length;
  }
}

export function malformed(what: string): Error {
  return invalidRequest('body', `The request body is not a well-formed form: ${what}.`);
}

function isEnd(form: Buffer, at: number): boolean {
  return form[at] === DASH && form[at + 1] === DASH;
}

/** Blanks may stand between a boundary and the end of its line. */
function skipLineEnd(form: Buffer, at: number): number {
  let end = at;
  while (form[end] === 0x20 || form[end] === 0x09) end += 1;
  if (form[end] === 0x0d && form[end + 1] === 0x0a) return end + LINE_END.length;
  throw malformed('a boundary is not followed by the end of its line');
}

/** A part without headers and content may begin with the boundary's own line end. */
function findDelimiter(form: Buffer, start: number, delimiter: Buffer): number {
  const end = form.indexOf(delimiter, start - LINE_END.length);
  if (end >= start) return end;
  throw malformed(end === -1 ? 'it ends without its last boundary' : 'a part is empty');
}

function readPart(part: Buffer, limits: PartLimits): FormPart {
  const end = part.indexOf(HEADER_END);
  if (end === -1 || end > limits.headerBytes) {
    const isLong = part.length > limits.headerBytes;
    throw malformed(
      isLong ? `a part has more than ${limits.headerBytes} bytes of headers` : NO_HEADERS,
    );
  }
  const lines = part.toString('utf8', 0, end).split(LINE_END);
  if (lines.length > limits.headerPairs) {
    throw malformed(`a part has more than ${limits.headerPairs} headers`);
  }
  return { headers: readHeaders(lines), content: part.subarray(end + HEADER_END.length) };
}

function readHeaders(lines: readonly string[]): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const match = HEADER_LINE.exec(line);
    if (match === null) throw malformed('a header of a part is not "name: value"');
    const name = String(match[1]).toLowerCase();
    if (headers.has(name)) throw malformed(`a part has two ${name} headers`);
    headers.set(name, String(match[2]).trim());
  }
  return headers;
}
