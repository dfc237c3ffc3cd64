// Reads assistant messages of the history: thoughts, text, tool calls with their signatures.

import { invalidRequest } from '../../canonical/error.ts';
import { memberPath } from '../../canonical/field-reader.ts';
import type { Part, Signature, ToolCallPart } from '../../canonical/request.ts';
import { readCarrier } from '../../canonical/signature-carrier.ts';
import type { JsonObject, JsonValue } from '../../lib/json.ts';
import {
  asObject,
  readArray,
  readObject,
  readString,
  requireObject,
  requireString,
  unknownWord,
} from './fields.ts';
import { readArguments } from './read-arguments.ts';
import { type ReadContext, readExtension } from './read-context.ts';
import { readMediaUrl } from './read-media.ts';
import { type ContentPart, readContent } from './read-parts.ts';

export interface AssistantContext {
  readonly path: string;
  readonly context: ReadContext;
  readonly legacyCalls: LegacyCalls;
}

/** The deprecated `function_call` has no id; results find their call by name, oldest first. */
export interface LegacyCalls {
  add(name: string): string;
  /** @throws GatewayError 400 when no such call waits for its result. */
  take(name: string, path: string): string;
}

export function createLegacyCalls(): LegacyCalls {
  const waiting = new Map<string, { readonly ids: string[]; next: number }>();
  let count = 0;
  return {
    add(name) {
      const id = `call_function_${count++}`;
      const calls = waiting.get(name);
      if (calls === undefined) waiting.set(name, { ids: [id], next: 0 });
      else calls.ids.push(id);
      return id;
    },
    take(name, path) {
      const calls = waiting.get(name);
      const id = calls?.ids[calls.next];
      if (calls !== undefined && id !== undefined) {
        calls.next += 1;
        return id;
      }
      throw invalidRequest(
        memberPath(path, 'name'),
        `${memberPath(path, 'name')}: no earlier assistant message calls the function "${name}".`,
      );
    },
  };
}

/** Thoughts first, then content, then calls: the order in which the model produced them. @throws GatewayError 400 */
export function readAssistantParts(message: JsonObject, assistant: AssistantContext): Part[] {
  const { path, context } = assistant;
  const parts: Part[] = [];
  const thoughts = readThoughts(message);
  if (thoughts !== '') parts.push({ kind: 'thinking', text: thoughts });
  const content = readContent(message.content, `${path}.content`);
  const signature = readSignature(message, path, context);
  const drawn = readDrawnImages(message, content, path);
  for (const part of [...withSignature(content, signature), ...drawn]) parts.push(part);
  const refusal = readString(message, 'refusal', path);
  if (refusal !== undefined) parts.push({ kind: 'text', text: refusal });
  for (const [index, value] of (readArray(message, 'tool_calls', path) ?? []).entries()) {
    parts.push(readToolCall(value, `${path}.tool_calls[${index}]`, context));
  }
  const legacy = readObject(message, 'function_call', path);
  if (legacy !== undefined) parts.push(readLegacyCall(legacy, assistant));
  return parts;
}

/** The vendor's own service signs a message where its last text was signed. */
function withSignature(
  content: readonly ContentPart[],
  signature: Signature | undefined,
): readonly ContentPart[] {
  const last = content.findLastIndex((part) => part.kind === 'text');
  if (signature === undefined) return content;
  return content.map((part, index) => (index === last ? { ...part, signature } : part));
}

/** `reasoning` is an object with some clients: then it is not the thoughts. */
function readThoughts(message: JsonObject): string {
  if (typeof message.reasoning_content === 'string') return message.reasoning_content;
  return typeof message.reasoning === 'string' ? message.reasoning : '';
}

/** Drawn pictures stand in the content too; `images` counts only when a client cut them out of it. */
function readDrawnImages(
  message: JsonObject,
  content: readonly ContentPart[],
  path: string,
): Part[] {
  if (content.some((part) => part.kind === 'media')) return [];
  return (readArray(message, 'images', path) ?? []).map((value, index) => {
    const imagePath = `${path}.images[${index}]`;
    const holder = requireObject(asObject(value, imagePath), 'image_url', imagePath);
    const urlPath = `${imagePath}.image_url`;
    const { mediaType, source } = readMediaUrl(requireString(holder, 'url', urlPath), urlPath);
    return { kind: 'media', modality: 'image', mediaType, source };
  });
}

function readToolCall(value: JsonValue, path: string, context: ReadContext): ToolCallPart {
  const call = asObject(value, path);
  const id = requireString(call, 'id', path);
  const signature = readSignature(call, path, context);
  const type = readString(call, 'type', path) ?? 'function';
  switch (type) {
    case 'function': {
      const holder = requireObject(call, 'function', path);
      const functionPath = `${path}.function`;
      const name = requireString(holder, 'name', functionPath);
      const input = readArguments(holder.arguments, `${functionPath}.arguments`, context);
      return { kind: 'tool-call', id, name, input, signature };
    }
    case 'custom': {
      const holder = requireObject(call, 'custom', path);
      const name = requireString(holder, 'name', `${path}.custom`);
      const input = { input: readString(holder, 'input', `${path}.custom`) ?? '' };
      return { kind: 'tool-call', id, name, input, signature };
    }
    default:
      throw unknownWord(`${path}.type`, ['function', 'custom']);
  }
}

function readLegacyCall(call: JsonObject, { path, context, legacyCalls }: AssistantContext): Part {
  const callPath = `${path}.function_call`;
  const name = requireString(call, 'name', callPath);
  const input = readArguments(call.arguments, `${callPath}.arguments`, context);
  return { kind: 'tool-call', id: legacyCalls.add(name), name, input };
}

/** Stands in `extra_content.<vendor>.thought_signature` (ai.google.dev, "OpenAI compatibility"). */
function readSignature(
  holder: JsonObject,
  path: string,
  context: ReadContext,
): Signature | undefined {
  const extra = readObject(holder, 'extra_content', path);
  const extension = readExtension(extra, `${path}.extra_content`, context);
  if (extension === undefined) return undefined;
  return readCarrier(readString(extension.value, 'thought_signature', extension.path));
}
