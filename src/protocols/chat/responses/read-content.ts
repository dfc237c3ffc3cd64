// Reads the content of messages and tool outputs: a string, or parts in the words of this surface.

import { invalidRequest } from '../../../canonical/error.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../lib/json.ts';
import { missingField, unknownWord } from '../fields.ts';
import { readFile } from '../read-file-part.ts';
import { type ContentPart, readContent, readPart } from '../read-parts.ts';

const OWN_TYPES = [
  'input_text',
  'output_text',
  'input_image',
  'input_file',
  'input_audio',
  'refusal',
];
/** Clients mix in the words of chat completions. */
const PART_TYPES: ReadonlySet<string> = new Set([
  ...OWN_TYPES,
  'text',
  'image_url',
  'video_url',
  'file',
]);

/** User, assistant and tool content. @throws GatewayError 400 */
export function readItemContent(
  value: JsonValue | undefined,
  path: string,
): readonly ContentPart[] {
  if (!Array.isArray(value)) return readContent(value, path);
  return value.flatMap((part, index) => readItemPart(part, `${path}[${index}]`));
}

/** As chat completions have them, but files are flat and pictures may be named by an id. @throws GatewayError 400 */
export function readItemPart(value: JsonValue, path: string): readonly ContentPart[] {
  if (!isJsonObject(value)) return readPart(value, path);
  if (value.type === 'input_image' && isAbsent(value.image_url)) {
    throw missingSource(value, path, 'image_url');
  }
  if (typeof value.type === 'string' && !PART_TYPES.has(value.type)) {
    throw unknownWord(`${path}.type`, OWN_TYPES);
  }
  if (value.type !== 'input_file') return readPart(value, path);
  const key = isAbsent(value.file_data) ? 'file_url' : 'file_data';
  if (isAbsent(value[key])) throw missingSource(value, path, 'file_data');
  return readFile(value, path, key);
}

function missingSource(part: JsonObject, path: string, wanted: string): Error {
  if (isAbsent(part.file_id)) return missingField(`${path}.${wanted}`);
  return invalidRequest(
    `${path}.file_id`,
    `${path}.file_id: the gateway stores no files; send the content as ${wanted}.`,
    'unsupported',
  );
}

function isAbsent(value: JsonValue | undefined): boolean {
  return value === undefined || value === null;
}
