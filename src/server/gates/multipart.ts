// Reads a multipart form within limits: text fields and files, all in memory.

import { clientError, type GatewayError, invalidRequest } from '../../canonical/error.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import type { UploadedFile } from '../../protocols/protocol.ts';
import { type BodyInput, checkEncoding, readBytes, wantBody } from './body.ts';

interface MultipartBody {
  readonly fields: JsonObject;
  readonly files: readonly UploadedFile[];
}

/** Sixteen pictures and a mask are the most any route takes. */
const LIMITS = {
  parts: 50,
  files: 17,
  fields: 32,
  headerPairs: 32,
  headerBytes: 16 * 1024,
  nameLength: 200,
  fieldBytes: 1024 * 1024,
} as const;

export function isMultipart(contentType: string | undefined): boolean {
  return /^multipart\/form-data\s*(?:;|$)/i.test(contentType?.trim() ?? '');
}

/** @throws GatewayError as `readBytes`; unsupported-media-type, too-large or invalid-request */
export async function readMultipart(input: BodyInput): Promise<MultipartBody> {
  const { request } = input;
  const contentType = request.headers['content-type'] ?? '';
  checkEncoding(request);
  if (!isMultipart(contentType)) {
    const message = 'Send the request body as a form, with Content-Type: multipart/form-data.';
    throw clientError('unsupported-media-type', message);
  }
  const boundary = readBoundary(contentType);
  wantBody(input);
  return readForm(await readBytes(request, input), boundary);
}

function readForm(form: Buffer, boundary: string): MultipartBody {
  const fields = new Map<string, JsonValue>();
  const files: UploadedFile[] = [];
  let fieldCount = 0;
  for (const { headers, content } of cutParts(form, boundary)) {
    const header = readPartHeader(headers);
    if (header.name.length > LIMITS.nameLength) {
      throw malformed(`the name of a part is longer than ${LIMITS.nameLength} characters`);
    }
    if (isFile(header)) {
      // What browsers send of a field in which no file was chosen.
      const isNone = header.fileName === '' && content.length === 0;
      if (!isNone) files.push(toFile(header, content));
      if (files.length > LIMITS.files) throw tooManyParts();
    } else {
      fieldCount += 1;
      if (fieldCount > LIMITS.fields) throw tooManyParts();
      addField(fields, header.name, readText(header, content));
    }
  }
  return { fields: Object.fromEntries(fields), files };
}

/** Some clients leave the name of a file out, but not its type. */
function isFile({ fileName, mediaType }: PartHeader): boolean {
  if (fileName !== undefined) return true;
  return !(mediaType === '' || mediaType === 'application/json' || mediaType.startsWith('text/'));
}

function toFile({ name, fileName, mediaType }: PartHeader, bytes: Buffer): UploadedFile {
  return {
    field: withoutIndex(name),
    fileName: fileName ?? '',
    mediaType: mediaType === '' ? 'application/octet-stream' : mediaType,
    bytes,
  };
}

/** `tags[]` and repeated `tags` are lists, `cut[type]` is a member of `cut`: so the official clients write objects. */
function addField(fields: Map<string, JsonValue>, name: string, value: string): void {
  const key = withoutIndex(name);
  const [, holder, member] = /^([^[\]]+)\[([^[\]]+)\]$/.exec(key) ?? [];
  if (holder !== undefined && member !== undefined) {
    const held = fields.get(holder);
    fields.set(holder, { ...(isJsonObject(held) ? held : {}), [member]: value });
    return;
  }
  const known = fields.get(key);
  if (known !== undefined) fields.set(key, [...(Array.isArray(known) ? known : [known]), value]);
  else fields.set(key, key === name ? value : [value]);
}

function readText({ name, charset }: PartHeader, content: Buffer): string {
  if (content.length > LIMITS.fieldBytes) {
    const message = `${name} is larger than ${LIMITS.fieldBytes} bytes, the limit of a text field.`;
    throw clientError('too-large', message, { field: name });
  }
  try {
    return new TextDecoder(charset, { fatal: true }).decode(content);
  } catch {
    throw invalidRequest(name, `${name} is not text in ${charset}.`);
  }
}

function withoutIndex(name: string): string {
  return name.replace(/\[\d*\]$/, '');
}

function tooManyParts(): GatewayError {
  const { files, fields } = LIMITS;
  return invalidRequest('body', `A form may hold at most ${files} files and ${fields} fields.`);
}

/** A part of a form (RFC 2046, RFC 7578): names of headers in lower case, and a piece of the form itself. */
type FormPart = ReturnType<typeof readPart>;

/** RFC 2046: longer ones would only serve to make the search for them slow. */
const MAX_BOUNDARY = 70;
const LINE_END = '\r\n';
const HEADER_END = '\r\n\r\n';
const DASH = 0x2d;
const NO_HEADERS = 'a part has no headers, or no empty line behind them';
const HEADER_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*)$/s;

function readBoundary(contentType: string): string {
  const match = /;\s*boundary=(?:"([^"]*)"|([^\s;"]+))/i.exec(contentType);
  const boundary = match?.[1] ?? match?.[2] ?? '';
  if (boundary !== '' && boundary.length <= MAX_BOUNDARY) return boundary;
  throw malformed(`its Content-Type needs a boundary of 1 to ${MAX_BOUNDARY} characters`);
}

/** The parts in order, without what is before and after them. @throws GatewayError invalid-request */
function* cutParts(form: Buffer, boundary: string): Generator<FormPart, void> {
  const delimiter = Buffer.from(`${LINE_END}--${boundary}`, 'latin1');
  const opening = delimiter.subarray(LINE_END.length);
  const startsAtOnce = form.subarray(0, opening.length).equals(opening);
  const found = startsAtOnce ? 0 : form.indexOf(delimiter);
  if (found === -1) throw malformed('its boundary is not in the body');
  let at = startsAtOnce ? opening.length : found + delimiter.length;
  for (let count = 0; form[at] !== DASH || form[at + 1] !== DASH; count += 1) {
    if (count === LIMITS.parts) throw malformed(`it has more than ${LIMITS.parts} parts`);
    const start = skipLineEnd(form, at);
    const end = findDelimiter(form, start, delimiter);
    yield readPart(form.subarray(start, end));
    at = end + delimiter.length;
  }
}

function malformed(what: string): Error {
  return invalidRequest('body', `The request body is not a well-formed form: ${what}.`);
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

function readPart(part: Buffer) {
  const end = part.indexOf(HEADER_END);
  if (end === -1 || end > LIMITS.headerBytes) {
    const isLong = part.length > LIMITS.headerBytes;
    throw malformed(
      isLong ? `a part has more than ${LIMITS.headerBytes} bytes of headers` : NO_HEADERS,
    );
  }
  const lines = part.toString('utf8', 0, end).split(LINE_END);
  if (lines.length > LIMITS.headerPairs) {
    throw malformed(`a part has more than ${LIMITS.headerPairs} headers`);
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

interface PartHeader {
  readonly name: string;
  /** Without folders; undefined for what is no file. */
  readonly fileName: string | undefined;
  /** In lower case, without parameters; '' when the part does not say. */
  readonly mediaType: string;
  readonly charset: string;
}

/** One parameter; in quotes, only a quote and a backslash are escaped: Windows paths are not. */
const PARAMETER = /;\s*([^\s=;]+)\s*=\s*(?:"((?:[^"\\]|\\["\\]|\\(?!["\\]))*)"|([^\s;"]*))\s*/y;
const PLAIN_ENCODINGS = ['7bit', '8bit', 'binary'];

function readPartHeader(headers: ReadonlyMap<string, string>): PartHeader {
  const { word, parameters } = readParameters(headers.get('content-disposition') ?? '');
  if (word !== 'form-data') throw malformed('a part has no Content-Disposition: form-data');
  const name = parameters.get('name');
  if (name === undefined || name === '') throw malformed('a part has no name');
  const encoding = (headers.get('content-transfer-encoding') ?? 'binary').toLowerCase();
  if (!PLAIN_ENCODINGS.includes(encoding)) {
    throw malformed('a part has a Content-Transfer-Encoding; send its bytes as they are');
  }
  const type = readParameters(headers.get('content-type') ?? '');
  if (type.word.startsWith('multipart/')) {
    throw malformed('a part is a form of its own; send each file as a part');
  }
  const fileName = readExtended(parameters.get('filename*')) ?? parameters.get('filename');
  return {
    name,
    fileName: fileName?.replace(/^.*[/\\]/s, ''),
    mediaType: type.word,
    charset: type.parameters.get('charset') ?? 'utf-8',
  };
}

/** RFC 5987: `UTF-8''caf%C3%A9.png`. Undefined for what cannot be read, then the plain name counts. */
function readExtended(value: string | undefined): string | undefined {
  const match = /^utf-8'[^']*'(.*)$/is.exec(value ?? '');
  if (match === null) return undefined;
  try {
    return decodeURIComponent(String(match[1]));
  } catch {
    return undefined;
  }
}

/** The word and its parameters in lower case; the first of several counts. @throws GatewayError invalid-request */
function readParameters(header: string) {
  const end = header.indexOf(';');
  const word = (end === -1 ? header : header.slice(0, end)).trim().toLowerCase();
  const parameters = new Map<string, string>();
  let at = end;
  while (at !== -1 && at < header.length) {
    PARAMETER.lastIndex = at;
    const match = PARAMETER.exec(header);
    if (match === null) {
      if (/^;\s*$/.test(header.slice(at))) break;
      throw malformed('the parameters of a header cannot be read');
    }
    const name = String(match[1]).toLowerCase();
    const value = match[2]?.replace(/\\(["\\])/g, '$1') ?? match[3] ?? '';
    if (!parameters.has(name)) parameters.set(name, value);
    at = PARAMETER.lastIndex;
  }
  return { word, parameters };
}
