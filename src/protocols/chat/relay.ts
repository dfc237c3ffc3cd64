// The relay lane of Chat Completions: chunks of an upstream of the same wire, forwarded as they came.

import type { ReceiptEntry } from '../../canonical/receipt.ts';
import { type CanonicalRequest, openingText } from '../../canonical/request.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import { DATA_START, dataFrame, EVENT_STREAM_TYPE, FRAME_END } from '../../stream/sse.ts';
import { CHAT_WIRE } from '../../wire/chat.ts';
import { forwardedHeaders } from '../forwarded-headers.ts';
import type { RelayCall, RelayWriter, RouteInput } from '../protocol.ts';
import type { AnswerOptions } from './answer-parts.ts';
import { writeErrorBody } from './errors.ts';

interface ReadBody {
  readonly request: CanonicalRequest;
  /** What of the body `request` has no words for. */
  readonly losses: readonly ReceiptEntry[];
  readonly answer: Pick<AnswerOptions, 'includeUsage'>;
}

export function createRelayCall(
  { body, headers }: Pick<RouteInput, 'body' | 'headers'>,
  { request, losses, answer }: ReadBody,
): RelayCall {
  const declared = new Set(request.tools.map((tool) => ('name' in tool ? tool.name : undefined)));
  return {
    wire: CHAT_WIRE,
    body,
    headers: forwardedHeaders(headers),
    losses,
    choices: request.choices,
    openingText: () => openingText(request),
    renameCalls: (frame, rename) =>
      declared.size === 0
        ? frame
        : renameCalls(frame, (name) => (declared.has(name) ? name : rename(name))),
    createStreamWriter: () => createRelayWriter(answer.includeUsage),
    // The wire never answers in pieces what was asked for whole.
    writeReply: ([reply = {}]) => reply,
  };
}

/** Usage is asked of every upstream; the chunk that has nothing else is for clients that asked for it. */
function createRelayWriter(includesUsage: boolean): RelayWriter {
  return {
    contentType: EVENT_STREAM_TYPE,
    write(frame, text) {
      const { choices } = frame;
      const isUsageAlone =
        Array.isArray(choices) && choices.length === 0 && isJsonObject(frame.usage);
      return isUsageAlone && !includesUsage ? '' : DATA_START + text + FRAME_END;
    },
    end: () => dataFrame('[DONE]'),
    error: (error) => dataFrame(JSON.stringify(writeErrorBody(error))),
    keepAlive: () => `: keep-alive${FRAME_END}`,
  };
}

/** The names in a chunk or a whole answer; the same object when nothing changes. */
function renameCalls(frame: JsonObject, rename: (name: string) => string): JsonObject {
  const { choices } = frame;
  if (!Array.isArray(choices)) return frame;
  const renamed = choices.map((choice) => renameInChoice(choice, rename));
  return renamed.every((choice, at) => choice === choices[at])
    ? frame
    : { ...frame, choices: renamed };
}

function renameInChoice(choice: JsonValue, rename: (name: string) => string): JsonValue {
  if (!isJsonObject(choice)) return choice;
  const key = isJsonObject(choice.delta) ? 'delta' : 'message';
  const message = choice[key];
  if (!isJsonObject(message) || !Array.isArray(message.tool_calls)) return choice;
  const calls = message.tool_calls;
  const renamed = calls.map((call) => renameCall(call, rename));
  if (renamed.every((call, at) => call === calls[at])) return choice;
  return { ...choice, [key]: { ...message, tool_calls: renamed } };
}

function renameCall(call: JsonValue, rename: (name: string) => string): JsonValue {
  if (!isJsonObject(call)) return call;
  const key = isJsonObject(call.custom) ? 'custom' : 'function';
  const holder = call[key];
  if (!isJsonObject(holder) || typeof holder.name !== 'string' || holder.name === '') return call;
  const name = rename(holder.name);
  return name === holder.name ? call : { ...call, [key]: { ...holder, name } };
}
