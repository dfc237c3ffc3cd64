// Takes media out of native function responses for models that only read them beside the responses.

import { isJsonObject, type JsonValue } from '../../lib/json.ts';
import type { EncodeTarget } from '../upstream.ts';
import { editFields, editItems } from './edits.ts';

/**
 * A history may have been written for a newer model than the one asked now. Media stand behind the
 * last response of their content then, as those of every other client; the same list when none moves.
 */
export function patchResponseMedia(contents: JsonValue[], target: EncodeTarget): JsonValue[] {
  if (target.capabilities.mediaInFunctionResponse) return contents;
  return editItems(contents, (content) => {
    if (!isJsonObject(content) || !Array.isArray(content.parts)) return content;
    return editFields(content, { parts: withMediaBeside(content.parts) });
  });
}

function withMediaBeside(parts: JsonValue[]): JsonValue[] {
  const media: JsonValue[] = [];
  const bare = editItems(parts, (part) => {
    const response = isJsonObject(part) ? part.functionResponse : undefined;
    if (!isJsonObject(part) || !isJsonObject(response)) return part;
    if (!Array.isArray(response.parts)) return part;
    media.push(...response.parts);
    return editFields(part, { functionResponse: editFields(response, { parts: undefined }) });
  });
  if (media.length === 0) return bare;
  const last = bare.findLastIndex((part) => isJsonObject(part) && 'functionResponse' in part);
  return bare.toSpliced(last + 1, 0, ...media);
}
