// Reads message content: a string, or a list of text, picture, audio, file and refusal parts.

import { invalidRequest } from '../../canonical/error.ts';
import { memberPath } from '../../canonical/field-reader.ts';
import type { MediaPart, MediaResolution, TextPart } from '../../canonical/request.ts';
import { splitInlineImages } from '../../canonical/split-inline-images.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import {
  asObject,
  missingField,
  readString,
  requireObject,
  requireString,
  unknownWord,
  wrongType,
} from './fields.ts';
import { readFilePart } from './read-file-part.ts';
import { readBase64, readMediaUrl, readModality } from './read-media.ts';

export type ContentPart = TextPart | MediaPart;

const AUDIO_TYPES = new Map([
  ['wav', 'audio/wav'],
  ['mp3', 'audio/mp3'],
  ['aac', 'audio/aac'],
  ['aiff', 'audio/aiff'],
  ['flac', 'audio/flac'],
  ['m4a', 'audio/m4a'],
  ['ogg', 'audio/ogg'],
  ['opus', 'audio/ogg'],
  ['webm', 'audio/webm'],
]);

const RESOLUTIONS = new Map<string, MediaResolution | undefined>([
  ['auto', undefined],
  ['low', 'low'],
  ['high', 'high'],
  ['original', 'high'],
]);

/** User, assistant and tool content. `null` and absent give no part. @throws GatewayError 400 */
export function readContent(value: JsonValue | undefined, path: string): readonly ContentPart[] {
  if (value === undefined || value === null) return [];
  if (typeof value === 'string') return splitInlineImages({ kind: 'text', text: value });
  if (!Array.isArray(value)) throw wrongType(path, 'a string or an array of content parts');
  return value.flatMap((part, index) => readPart(part, `${path}[${index}]`));
}

/** System content: a string or text parts, one part each. @throws GatewayError 400 */
export function readTextContent(value: JsonValue | undefined, path: string): readonly TextPart[] {
  if (value === undefined || value === null) throw missingField(path);
  if (typeof value === 'string') return [{ kind: 'text', text: value }];
  if (!Array.isArray(value)) throw wrongType(path, 'a string or an array of text parts');
  return value.map((item, index) => {
    const part = asObject(item, `${path}[${index}]`);
    const type = readString(part, 'type', `${path}[${index}]`);
    if (type === 'text' || type === 'input_text') return readTextPart(part, `${path}[${index}]`);
    throw unknownWord(`${path}[${index}].type`, ['text']);
  });
}

const PART_WORDS = ['text', 'image_url', 'video_url', 'input_audio', 'file', 'refusal'];

/** One part of a content list; pictures inside a text become parts of their own. @throws GatewayError 400 */
export function readPart(value: JsonValue, path: string): readonly ContentPart[] {
  const part = asObject(value, path);
  const type = requireString(part, 'type', path);
  switch (type) {
    case 'text':
    case 'input_text':
    case 'output_text':
      return splitInlineImages(readTextPart(part, path));
    case 'refusal':
      return [{ kind: 'text', text: requireText(part, 'refusal', path) }];
    case 'image_url':
    case 'input_image':
      return [readImagePart(part, path)];
    case 'video_url':
      return [readVideoPart(part, path)];
    case 'input_audio':
      return [readAudioPart(part, path)];
    case 'file':
      return readFilePart(part, path);
    default:
      throw unknownWord(`${path}.type`, PART_WORDS);
  }
}

function readTextPart(part: JsonObject, path: string): TextPart {
  const text = requireText(part, 'text', path);
  return { kind: 'text', text, cacheHint: hasCacheHint(part) ? true : undefined };
}

/** As required, but an empty text is legal. */
function requireText(part: JsonObject, key: string, path: string): string {
  const text = readString(part, key, path);
  if (text === undefined) throw missingField(memberPath(path, key));
  return text;
}

function readImagePart(part: JsonObject, path: string): MediaPart {
  const holder = isJsonObject(part.image_url) ? part.image_url : undefined;
  const { url, urlPath } = readAddress(part, 'image_url', path);
  const { mediaType, source } = readMediaUrl(url, urlPath);
  const modality = mediaType === undefined ? 'image' : readModality(mediaType, urlPath);
  const resolution = readDetail(holder ?? part, holder === undefined ? path : `${path}.image_url`);
  return {
    kind: 'media',
    modality,
    source,
    mediaType,
    resolution,
    cacheHint: hasCacheHint(part) ? true : undefined,
  };
}

/** As several servers of this protocol have it: an address like that of a picture. */
function readVideoPart(part: JsonObject, path: string): MediaPart {
  const { url, urlPath } = readAddress(part, 'video_url', path);
  const { mediaType, source } = readMediaUrl(url, urlPath);
  const modality = mediaType === undefined ? 'video' : readModality(mediaType, urlPath);
  const cacheHint = hasCacheHint(part) ? true : undefined;
  return { kind: 'media', modality, source, mediaType, cacheHint };
}

/** In an object; clients also send the bare address, as the Responses protocol has it. */
function readAddress(
  part: JsonObject,
  key: 'image_url' | 'video_url',
  path: string,
): { readonly url: string; readonly urlPath: string } {
  const holder = part[key];
  const place = `${path}.${key}`;
  if (!isJsonObject(holder)) return { url: requireString(part, key, path), urlPath: place };
  return { url: requireString(holder, 'url', place), urlPath: `${place}.url` };
}

function readDetail(holder: JsonObject, path: string): MediaResolution | undefined {
  const detail = readString(holder, 'detail', path);
  if (detail === undefined) return undefined;
  if (!RESOLUTIONS.has(detail)) throw unknownWord(`${path}.detail`, [...RESOLUTIONS.keys()]);
  return RESOLUTIONS.get(detail);
}

function readAudioPart(part: JsonObject, path: string): MediaPart {
  const audioPath = `${path}.input_audio`;
  const audio = requireObject(part, 'input_audio', path);
  const format = requireString(audio, 'format', audioPath).toLowerCase();
  const mediaType = AUDIO_TYPES.get(format);
  if (mediaType === undefined) {
    throw invalidRequest(
      `${audioPath}.format`,
      `${audioPath}.format must be one of: ${[...AUDIO_TYPES.keys()].join(', ')}.`,
      'unsupported',
    );
  }
  const base64 = readBase64(requireString(audio, 'data', audioPath), `${audioPath}.data`);
  return { kind: 'media', modality: 'audio', mediaType, source: { kind: 'base64', base64 } };
}

function hasCacheHint(part: JsonObject): boolean {
  return isJsonObject(part.cache_control) || isJsonObject(part.prompt_cache_breakpoint);
}
