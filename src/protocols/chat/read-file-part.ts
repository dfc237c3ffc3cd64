// Reads `file` parts: documents become media behind their name, text files a text with a title line.

import { invalidRequest } from '../../canonical/error.ts';
import type { MediaPart, TextPart } from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import { missingField, readString, requireObject } from './fields.ts';
import { type ReadMedia, readInline, readMediaUrl, readModality } from './read-media.ts';

const TEXT_TYPES = new Set([
  'application/json',
  'application/xml',
  'application/yaml',
  'application/x-yaml',
  'application/javascript',
  'application/x-ndjson',
]);

type FilePart = TextPart | MediaPart;

/** @throws GatewayError 400; `file_id` is refused, for the gateway stores no files. */
export function readFilePart(part: JsonObject, path: string): readonly FilePart[] {
  return readFile(requireObject(part, 'file', path), `${path}.file`);
}

/**
 * `{file_data, filename}` at `filePath`; the content may stand in another field. The name is what a question calls
 * the file by, and the upstream has no field for it: it stands before the file. @throws GatewayError 400
 */
export function readFile(
  file: JsonObject,
  filePath: string,
  key: 'file_data' | 'file_url' = 'file_data',
): readonly FilePart[] {
  const title = readString(file, 'filename', filePath) ?? '';
  const content = readString(file, key, filePath);
  if (content === undefined) throw missingContent(file, filePath);
  const contentPath = `${filePath}.${key}`;
  const media = readFileContent(content, contentPath);
  const { mediaType, source } = media;
  if (mediaType !== undefined && isText(mediaType) && source.kind === 'base64') {
    const text = Buffer.from(source.base64, 'base64').toString('utf8');
    return [{ kind: 'text', text: title === '' ? text : `${title}\n${text}` }];
  }
  const modality = mediaType === undefined ? 'document' : readModality(mediaType, contentPath);
  const bytes: FilePart = { kind: 'media', modality, source, mediaType };
  return title === '' ? [bytes] : [{ kind: 'text', text: title }, bytes];
}

/** A data URI or an address; some clients send the base64 alone. */
function readFileContent(content: string, path: string): ReadMedia {
  const isAddress = /^[A-Za-z][A-Za-z0-9+.-]*:/.test(content.slice(0, 40));
  return isAddress ? readMediaUrl(content, path) : readInline(content, { declared: '', path });
}

function isText(mediaType: string): boolean {
  return mediaType.startsWith('text/') || TEXT_TYPES.has(mediaType);
}

function missingContent(file: JsonObject, filePath: string): Error {
  if (file.file_id === undefined || file.file_id === null) {
    return missingField(`${filePath}.file_data`);
  }
  return invalidRequest(
    `${filePath}.file_id`,
    `${filePath}.file_id: the gateway stores no files; send the content as file_data.`,
    'unsupported',
  );
}
