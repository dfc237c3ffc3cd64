// Reads `messages` into instructions and turns, one turn a message, in the client's own order.

import { invalidRequest } from '../../canonical/error.ts';
import { told } from '../../canonical/receipt.ts';
import type { TextPart, ToolResultContent, ToolResultPart, Turn } from '../../canonical/request.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import {
  asObject,
  missingField,
  readArray,
  readString,
  requireString,
  unknownWord,
} from './fields.ts';
import { createLegacyCalls, type LegacyCalls, readAssistantParts } from './read-assistant.ts';
import type { ReadContext } from './read-context.ts';
import { type ContentPart, readContent, readTextContent } from './read-parts.ts';

export interface Conversation {
  readonly system: readonly TextPart[];
  readonly turns: readonly Turn[];
}

const ROLES = ['system', 'developer', 'user', 'assistant', 'tool', 'function'];

/** Leading system and developer messages are the instructions; later ones keep their place. @throws GatewayError 400 */
export function readMessages(body: JsonObject, context: ReadContext): Conversation {
  const messages = readArray(body, 'messages');
  if (messages === undefined) throw missingField('messages');
  if (messages.length === 0) {
    throw invalidRequest('messages', 'messages must hold at least one message.');
  }
  const system: TextPart[] = [];
  const turns: Turn[] = [];
  const legacyCalls = createLegacyCalls();
  for (const [index, value] of messages.entries()) {
    const path = `messages[${index}]`;
    const turn = readMessage({ value, path, context, legacyCalls });
    if (turn.role !== 'system' || turns.length > 0) turns.push(turn);
    else for (const part of turn.parts) system.push(part);
  }
  return { system, turns };
}

interface MessageInput {
  readonly value: JsonValue;
  readonly path: string;
  readonly context: ReadContext;
  readonly legacyCalls: LegacyCalls;
}

function readMessage({ value, path, context, legacyCalls }: MessageInput): Turn {
  const message = asObject(value, path);
  const place = { path, context };
  const role = requireString(message, 'role', path);
  switch (role) {
    case 'system':
    case 'developer':
      return { role: 'system', parts: readNamed(message, readSystem(message, path), place) };
    case 'user':
      return { role: 'user', parts: readNamed(message, readUser(message, path), place) };
    case 'assistant':
      noteAssistantName(message, place);
      return {
        role: 'assistant',
        parts: readAssistantParts(message, { path, context, legacyCalls }),
      };
    case 'tool':
      return {
        role: 'user',
        parts: [readResult(message, path, requireString(message, 'tool_call_id', path))],
      };
    case 'function': {
      const name = requireString(message, 'name', path);
      return { role: 'user', parts: [readResult(message, path, legacyCalls.take(name, path))] };
    }
    default:
      throw unknownWord(`${path}.role`, ROLES);
  }
}

function readSystem(message: JsonObject, path: string): readonly TextPart[] {
  return readTextContent(message.content, `${path}.content`);
}

function readUser(message: JsonObject, path: string): ReturnType<typeof readContent> {
  if (message.content === undefined || message.content === null) {
    throw missingField(`${path}.content`);
  }
  return readContent(message.content, `${path}.content`);
}

type Place = Pick<MessageInput, 'path' | 'context'>;

/**
 * `name` tells participants of one role apart: https://platform.openai.com/docs/api-reference/chat/create. The
 * upstream has no field for it, so it stands before what was said.
 */
function readNamed<P extends ContentPart>(
  message: JsonObject,
  parts: readonly P[],
  { path, context }: Place,
): readonly (P | TextPart)[] {
  const name = readString(message, 'name', path) ?? '';
  const isSilent = parts.every((part) => part.kind === 'text' && part.text === '');
  if (name === '' || isSilent) return withHint(message, parts);
  context.receipt.add('approximated', `${path}.name`, told`said in the text`);
  const [first, ...others] = parts;
  if (first?.kind !== 'text') {
    return withHint(message, [{ kind: 'text', text: `${name}:` } as const, ...parts]);
  }
  return withHint(message, [{ ...first, text: `${name}: ${first.text}` }, ...others]);
}

/** Not told in the text: a model goes on as its own turns begin, and its answer would begin with a name. */
function noteAssistantName(message: JsonObject, { path, context }: Place): void {
  if ((readString(message, 'name', path) ?? '') === '') return;
  context.receipt.add(
    'dropped',
    `${path}.name`,
    told`Upstreams have no place for the names of assistants.`,
  );
}

/** A cache mark on the whole message is one on its last part. */
function withHint<P extends object>(message: JsonObject, parts: readonly P[]): readonly P[] {
  const last = parts.at(-1);
  if (last === undefined || !isJsonObject(message.cache_control)) return parts;
  return [...parts.slice(0, -1), { ...last, cacheHint: true }];
}

/** Tool messages may be empty: clients send no content for calls that printed nothing. */
function readResult(message: JsonObject, path: string, callId: string): ToolResultPart {
  const name = readString(message, 'name', path);
  return {
    kind: 'tool-result',
    callId,
    name: name === '' ? undefined : name,
    content: readResultContent(message.content, `${path}.content`),
    isError: false,
    cacheHint: isJsonObject(message.cache_control) ? true : undefined,
  };
}

/** A plain string is the tool's own output and stays as it is, also when it looks like markdown. */
function readResultContent(
  value: JsonValue | undefined,
  path: string,
): readonly ToolResultContent[] {
  if (typeof value === 'string') return [{ kind: 'text', text: value }];
  return readContent(value, path).map((part) =>
    part.kind === 'text' ? { kind: 'text', text: part.text } : part,
  );
}
