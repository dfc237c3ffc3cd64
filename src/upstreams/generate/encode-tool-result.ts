// Writes tool results: `{"output": …}`, `{"error": …}` or the result object itself, media inside or beside.

import { told } from '../../canonical/receipt.ts';
import type { MediaPart, ToolResultContent, ToolResultPart } from '../../canonical/request.ts';
import type { JsonObject, JsonValue } from '../../lib/json.ts';
import type {
  WireFunctionResponse,
  WireFunctionResponsePart,
  WirePart,
} from '../../wire/generate.ts';
import type { EncodeContext } from './encode-context.ts';
import { encodeMedia } from './encode-media.ts';

export interface EncodedToolResult {
  readonly part: WirePart;
  /** Media the model only takes outside of the response; they belong behind the last response. */
  readonly beside: readonly WirePart[];
}

/** `name` is the name of the call, which the wire demands beside the id. */
export function encodeToolResult(
  result: ToolResultPart,
  name: string,
  context: EncodeContext,
): EncodedToolResult {
  const media = result.content.filter((item) => item.kind === 'media');
  const response = encodeResponse(result);
  const functionResponse: WireFunctionResponse = { id: result.callId, name, response };
  const encoded = media.map((item) => encodeMedia(item, context));
  if (encoded.length === 0) return { part: { functionResponse }, beside: [] };
  if (!context.target.capabilities.mediaInFunctionResponse) {
    return { part: { functionResponse }, beside: encoded };
  }
  return {
    part: {
      functionResponse: {
        ...functionResponse,
        parts: encoded.flatMap((part) => asResponsePart(part, context)),
      },
    },
    beside: [],
  };
}

function encodeResponse({ content, isError }: ToolResultPart): JsonObject {
  const readable = content.filter((item) => item.kind !== 'media');
  const [only] = readable;
  if (readable.length === 1 && only?.kind === 'json') {
    return isError ? { error: only.value } : only.value;
  }
  const text: JsonValue = readable.map(asText).join('\n');
  return isError ? { error: text } : { output: text };
}

function asText(item: Exclude<ToolResultContent, MediaPart>): string {
  return item.kind === 'text' ? item.text : JSON.stringify(item.value);
}

/** Inside a response stand only the bytes or the address; a resolution has no place there. */
function asResponsePart(
  { inlineData, fileData, mediaResolution }: WirePart,
  { target }: EncodeContext,
): WireFunctionResponsePart[] {
  if (mediaResolution !== undefined) {
    const reason = told`Media inside a tool result have no detail level of their own.`;
    target.receipt.add('dropped', 'messages', reason);
  }
  if (inlineData !== undefined) return [{ inlineData }];
  return fileData === undefined ? [] : [{ fileData }];
}
