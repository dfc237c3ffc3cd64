// The relay lane: frames of an upstream of the same wire, forwarded as they came.

import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import { EVENT_STREAM_TYPE, eventFrame } from '../../stream/sse.ts';
import { MESSAGES_WIRE } from '../../wire/messages.ts';
import { forwardedHeaders } from '../forwarded-headers.ts';
import type { LateReading, RelayBody, RelayCall, RelayWriter, RouteInput } from '../protocol.ts';
import { writeStreamError } from './errors.ts';
import type { Body } from './schema.ts';
import { PING } from './write-events.ts';

type Received = Pick<RouteInput, 'body' | 'headers'>;

/** The body as the client sent it; what the gateway itself has no words for is lost only where it is translated. */
export function relayBody({ body, headers }: Received, reading: LateReading): RelayBody {
  return {
    wire: MESSAGES_WIRE,
    body,
    headers: forwardedHeaders(headers),
    get losses() {
      return reading().losses;
    },
  };
}

/** `checked` is the same body with its types known. */
export function createRelayCall(
  { body, headers }: Received,
  checked: Body,
  reading: LateReading,
): RelayCall {
  return {
    wire: MESSAGES_WIRE,
    body,
    get headers() {
      return forwardedHeaders(headers);
    },
    openingText: () => readOpeningText(checked),
    get losses() {
      return reading().losses;
    },
    declaredNames: () => declaredNames(body.tools),
    renameCalls,
    createStreamWriter: createRelayWriter,
    isPiece: ({ type }) => type === 'message_start',
    writeReply: ([answer = {}]) => answer,
  };
}

const MIN_TEXT_LENGTH = 10;
const MAX_TEXT_LENGTH = 4096;

/**
 * The system text and the first user text of at least ten characters, each cut to 4096 characters; undefined when no
 * user text is that long. The same as of the canonical request, so that a session stays with its account.
 */
function readOpeningText({ system, messages }: Body): string | undefined {
  for (const { role, content } of messages) {
    if (role !== 'user') continue;
    const texts = typeof content === 'string' ? [content] : content.map(textIn);
    for (const text of texts) {
      if (text.length < MIN_TEXT_LENGTH) continue;
      const before = typeof system === 'string' ? [system] : (system ?? []).map(textIn);
      return `${before.join('\n').slice(0, MAX_TEXT_LENGTH)}\n${text.slice(0, MAX_TEXT_LENGTH)}`;
    }
  }
  return undefined;
}

function textIn(block: object): string {
  return 'text' in block && typeof block.text === 'string' ? block.text : '';
}

function declaredNames(tools: JsonValue | undefined): ReadonlySet<string> {
  const declared = Array.isArray(tools) ? tools.filter(isJsonObject) : [];
  return new Set(declared.map(({ name }) => name).filter((name) => typeof name === 'string'));
}

/** Calls stand in the opening of a block, or in a whole answer. */
function renameCalls(frame: JsonObject, rename: (name: string) => string): JsonObject {
  if (frame.type === 'content_block_start') {
    const block = renameCall(frame.content_block, rename);
    return block === frame.content_block || block === undefined
      ? frame
      : { ...frame, content_block: block };
  }
  if (frame.type !== 'message' || !Array.isArray(frame.content)) return frame;
  const { content } = frame;
  const renamed = content.map((block) => renameCall(block, rename) ?? block);
  return renamed.every((block, index) => block === content[index])
    ? frame
    : { ...frame, content: renamed };
}

function renameCall(
  block: JsonValue | undefined,
  rename: (name: string) => string,
): JsonValue | undefined {
  if (!isJsonObject(block) || block.type !== 'tool_use') return block;
  const name = typeof block.name === 'string' ? rename(block.name) : block.name;
  return name === undefined || name === block.name ? block : { ...block, name };
}

/** Each frame goes out under its own type; an error of the upstream is told in the gateway's words. */
function createRelayWriter(): RelayWriter {
  let name = '';
  return {
    contentType: EVENT_STREAM_TYPE,
    write(frame, text) {
      name = typeof frame.type === 'string' ? frame.type : 'message';
      return eventFrame(name, text);
    },
    repeat: (text) => eventFrame(name, text),
    end: () => '',
    error: writeStreamError,
    keepAlive: () => PING,
  };
}
