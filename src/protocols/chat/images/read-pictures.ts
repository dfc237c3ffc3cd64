// Reads the pictures of an edit: files of a form, or addresses in JSON; the bytes tell their type.

import { invalidRequest } from '../../../canonical/error.ts';
import { modalityOf, sniffMediaType, spellMediaType } from '../../../canonical/media-type.ts';
import type { MediaPart, Part } from '../../../canonical/request.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../lib/json.ts';
import type { UploadedFile } from '../../protocol.ts';
import { requireString, wrongType } from '../fields.ts';
import { readInline, readMediaUrl } from '../read-media.ts';

const MOST_PICTURES = 16;
const FILE_FIELDS: ReadonlySet<string> = new Set(['image', 'images', 'mask']);
const MASK_WORDS =
  'The last picture is a mask for the first one: change the first picture only where the mask is ' +
  'transparent, and keep everything else as it is.';

/** All pictures but the mask, in the client's order. @throws GatewayError 400 */
export function readPictures(
  body: JsonObject,
  files: readonly UploadedFile[],
): readonly MediaPart[] {
  const uploaded = files
    .filter(({ field }) => field === 'image' || field === 'images')
    .map((file) => readFile(file));
  const named = [...readListed(body, 'image'), ...readListed(body, 'images')];
  const pictures = [...uploaded, ...named];
  if (pictures.length <= MOST_PICTURES) return pictures;
  throw invalidRequest('image', `image may hold at most ${MOST_PICTURES} pictures.`);
}

/** The mask with the words that explain it; nothing without one. @throws GatewayError 400 */
export function readMask(body: JsonObject, files: readonly UploadedFile[]): readonly Part[] {
  const uploaded = files.filter(({ field }) => field === 'mask').map((file) => readFile(file));
  const masks = [...uploaded, ...readListed(body, 'mask')];
  if (masks.length > 1) throw invalidRequest('mask', 'mask may hold one picture only.');
  const [mask] = masks;
  return mask === undefined ? [] : [mask, { kind: 'text', text: MASK_WORDS }];
}

/** Names the files that belong to no field of an edit. */
export function unreadFiles(files: readonly UploadedFile[]): readonly string[] {
  return [...new Set(files.map(({ field }) => field))].filter((field) => !FILE_FIELDS.has(field));
}

/** Clients declare any type at all, so that the declared one counts only where the bytes say nothing. */
function readFile({ field, mediaType: declared, bytes }: UploadedFile): MediaPart {
  if (bytes.length === 0) throw invalidRequest(field, `${field}: the file is empty.`);
  const base64 = bytes.toString('base64');
  const mediaType = sniffMediaType(base64) ?? spellMediaType(declared);
  if (modalityOf(mediaType) !== 'image') throw noPicture(field, mediaType);
  return { kind: 'media', modality: 'image', mediaType, source: { kind: 'base64', base64 } };
}

function readListed(body: JsonObject, key: string): readonly MediaPart[] {
  const value = body[key];
  if (value === undefined || value === null || value === '') return [];
  const list = Array.isArray(value) ? value : [value];
  return list.map((item, index) => {
    const path = Array.isArray(value) ? `${key}[${index}]` : key;
    return readAddressed(item, path);
  });
}

/** `{image_url}`, an address or data URI alone, or bare base64. */
function readAddressed(value: JsonValue, path: string): MediaPart {
  if (isJsonObject(value) && (value.file_id ?? null) !== null) {
    throw invalidRequest(
      `${path}.file_id`,
      `${path}.file_id: the gateway stores no files; send the picture itself.`,
      'unsupported',
    );
  }
  const urlPath = isJsonObject(value) ? `${path}.image_url` : path;
  const url = isJsonObject(value) ? requireString(value, 'image_url', path) : value;
  if (typeof url !== 'string')
    throw wrongType(path, 'a picture as a file, an address or a data URI');
  const isAddress = /^[a-z][a-z0-9+.-]*:/i.test(url.slice(0, 20));
  const { mediaType, source } = isAddress
    ? readMediaUrl(url, urlPath)
    : readInline(url, { declared: '', path: urlPath });
  if (mediaType !== undefined && modalityOf(mediaType) !== 'image') {
    throw noPicture(urlPath, mediaType);
  }
  return { kind: 'media', modality: 'image', mediaType, source };
}

function noPicture(path: string, mediaType: string): Error {
  return invalidRequest(
    path,
    `${path}: a file of type "${mediaType}" is not a picture; send png, jpeg, webp, gif or heic.`,
    'unsupported',
  );
}
