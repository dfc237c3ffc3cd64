// The items of an answer, whole as they stand in `output` (`openai` resources/responses/responses.d.ts).

import { readCallInput } from '../../../canonical/call-input.ts';
import type { GroundingEvent } from '../../../canonical/event.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../lib/json.ts';
import { writeFreeformInput } from '../answer-shapes.ts';
import { completeClientCall } from './client-tools.ts';
import type { ToolIdentity } from './tool-directory.ts';

type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

export interface TextContent {
  readonly text: string;
  readonly annotations: readonly JsonObject[];
  readonly logprobs: readonly JsonObject[];
}

export function textPart({ text, annotations, logprobs }: TextContent): JsonObject {
  return {
    type: 'output_text',
    text,
    annotations: [...annotations],
    logprobs: [...logprobs],
  };
}

export function refusalPart(refusal: string): JsonObject {
  return { type: 'refusal', refusal };
}

/** `parts` are empty while the message has none. */
export function messageItem(
  id: string,
  status: ItemStatus,
  parts: readonly JsonObject[],
): JsonObject {
  return {
    id,
    type: 'message',
    status,
    role: 'assistant',
    content: [...parts],
  };
}

/** False for thoughts, and for a message that is blank. */
export function showsSomething({ type, content }: JsonObject): boolean {
  if (type !== 'message' || !Array.isArray(content)) return type !== 'reasoning';
  const isBlank = (part: JsonValue): boolean =>
    isJsonObject(part) && typeof part.text === 'string' && part.text.trim() === '';
  return !content.every(isBlank);
}

export function summaryPart(text: string): JsonObject {
  return { type: 'summary_text', text };
}

/** Text of undefined means that there is only the proof. */
export function reasoningItem(
  id: string,
  { text, proof }: { readonly text: string | undefined; readonly proof: string | undefined },
): JsonObject {
  return {
    id,
    type: 'reasoning',
    summary: text === undefined ? [] : [summaryPart(text)],
    ...(proof === undefined ? {} : { encrypted_content: proof }),
  };
}

export interface CallDraft {
  readonly id: string;
  readonly callId: string;
  /** Undeclared names are called as functions. */
  readonly tool: ToolIdentity;
}

/** The item of a call; `json` is the text of its arguments, '' for none yet. */
export function callItem(
  { id, callId, tool }: CallDraft,
  status: 'in_progress' | 'completed',
  json: string,
): JsonObject {
  const { form, name, namespace } = tool;
  const place = namespace === undefined ? {} : { namespace };
  const isDone = status === 'completed';
  switch (form) {
    case 'function': {
      const text = isDone && json === '' ? '{}' : json;
      return {
        id,
        type: 'function_call',
        status,
        call_id: callId,
        name,
        ...place,
        arguments: text,
      };
    }
    case 'custom': {
      const input = isDone ? freeformInput(json) : '';
      return { id, type: 'custom_tool_call', status, call_id: callId, name, ...place, input };
    }
    case 'local_shell': {
      const action = completeClientCall(form, readCallInput(json));
      return { id, type: 'local_shell_call', status, call_id: callId, action };
    }
    case 'shell': {
      const action = completeClientCall(form, readCallInput(json));
      return { id, type: 'shell_call', status, call_id: callId, action, environment: null };
    }
    case 'apply_patch':
      return {
        id,
        type: 'apply_patch_call',
        status,
        call_id: callId,
        operation: readCallInput(json),
      };
    case 'tool_search':
      return {
        id,
        type: 'tool_search_call',
        status,
        call_id: callId,
        execution: 'client',
        arguments: readCallInput(json),
      };
    default:
      return form satisfies never;
  }
}

/** The free text of a call: its one argument `input`, else the arguments as they are. */
export function freeformInput(json: string): string {
  return json === '' ? '' : writeFreeformInput(readCallInput(json));
}

/** What a search item tells of what was found. */
export interface SearchShow {
  readonly namesSources: boolean;
  readonly namesResults: boolean;
}

/** `sources` and `results` only where they are asked for. */
export function searchItem(
  id: string,
  { queries, sources }: GroundingEvent,
  { namesSources, namesResults }: SearchShow,
): JsonObject {
  return {
    id,
    type: 'web_search_call',
    status: 'completed',
    action: {
      type: 'search',
      query: queries[0] ?? '',
      queries: [...queries],
      ...(namesSources ? { sources: sources.map(({ url }) => ({ type: 'url', url })) } : {}),
    },
    ...(namesResults ? { results: sources.map(({ url, title }) => ({ url, title })) } : {}),
  };
}

export function drawingItem(
  id: string,
  status: 'in_progress' | 'completed' | 'failed',
  base64: string | null,
): JsonObject {
  return { id, type: 'image_generation_call', status, result: base64 };
}
