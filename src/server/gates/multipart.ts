// Reads a multipart form within bounds: text fields and files, all in memory, nothing on disk.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError, invalidRequest } from '../../canonical/error.ts';
import type { JsonObject, JsonValue } from '../../lib/json.ts';
import type { UploadedFile } from '../../protocols/protocol.ts';
import { checkEncoding, wantBody } from './body.ts';
import { type PartHeader, readPartHeader } from './form-header.ts';
import { cutParts, malformed, readBoundary } from './form-parts.ts';
import { type ByteLimits, readBytes } from './read-bytes.ts';

export interface MultipartInput extends ByteLimits {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

export interface MultipartBody {
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

/** True for `multipart/form-data`, whatever its parameters. */
export function isMultipart(contentType: string | undefined): boolean {
  return /^multipart\/form-data\s*(?:;|$)/i.test(contentType?.trim() ?? '');
}

/**
 * @throws GatewayError as `readBytes`, unsupported-media-type for any other body, too-large for a field
 * beyond its limit, and invalid-request for a form that cannot be read.
 */
export async function readMultipart(input: MultipartInput): Promise<MultipartBody> {
  const { request } = input;
  const contentType = request.headers['content-type'] ?? '';
  checkEncoding(request);
  if (!isMultipart(contentType)) throw notMultipart();
  const boundary = readBoundary(contentType);
  wantBody(input);
  return readForm(await readBytes(request, input), boundary);
}

function readForm(form: Buffer, boundary: string): MultipartBody {
  const fields = new Map<string, JsonValue>();
  const files: UploadedFile[] = [];
  let fieldCount = 0;
  for (const { headers, content } of cutParts(form, boundary, LIMITS)) {
    const header = readPartHeader(headers);
    if (header.name.length > LIMITS.nameLength) {
      throw malformed(`the name of a part is longer than ${LIMITS.nameLength} characters`);
    }
    if (isFile(header)) {
      if (!isNoFile(header, content)) files.push(toFile(header, content));
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

/** What browsers send of a field in which no file was chosen. */
function isNoFile({ fileName }: PartHeader, content: Buffer): boolean {
  return fileName === '' && content.length === 0;
}

function toFile({ name, fileName, mediaType }: PartHeader, bytes: Buffer): UploadedFile {
  return {
    field: withoutIndex(name),
    fileName: fileName ?? '',
    mediaType: mediaType === '' ? 'application/octet-stream' : mediaType,
    bytes,
  };
}

/** `tags[]` and repeated `tags` are lists. */
function addField(fields: Map<string, JsonValue>, name: string, value: string): void {
  const key = withoutIndex(name);
  const known = fields.get(key);
  if (known !== undefined) fields.set(key, [...(Array.isArray(known) ? known : [known]), value]);
  else fields.set(key, key === name ? value : [value]);
}

/** @throws GatewayError too-large, and invalid-request for bytes that are no text of their charset */
function readText({ name, charset }: PartHeader, content: Buffer): string {
  if (content.length > LIMITS.fieldBytes) throw fieldTooLarge(name);
  try {
    return new TextDecoder(charset, { fatal: true }).decode(content);
  } catch {
    throw invalidRequest(name, `${name} is not text in ${charset}.`);
  }
}

function withoutIndex(name: string): string {
  return name.replace(/\[\d*\]$/, '');
}

function notMultipart(): GatewayError {
  return new GatewayError({
    kind: 'unsupported-media-type',
    source: 'client',
    message: 'Send the request body as a form, with Content-Type: multipart/form-data.',
  });
}

function tooManyParts(): GatewayError {
  const { files, fields } = LIMITS;
  return invalidRequest('body', `A form may hold at most ${files} files and ${fields} fields.`);
}

function fieldTooLarge(name: string): GatewayError {
  return new GatewayError({
    kind: 'too-large',
    source: 'client',
    field: name,
    message: `${name} is larger than ${LIMITS.fieldBytes} bytes, the limit of a text field.`,
  });
}
