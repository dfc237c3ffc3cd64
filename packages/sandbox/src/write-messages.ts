// Writes an answer in the form of the Messages wire, whole or as a stream.
// Source: platform.claude.com, "Messages API", "Streaming Messages".

import { isJsonObject, type JsonObject, type JsonValue } from './json.ts';
import type { CachedPrompt } from './messages-cache.ts';
import { type Answer, type Candidate, countOutputTokens } from './simulate.ts';
import { createId, type Fault, type Seals } from './state.ts';
import { writeMessagesError } from './wire-errors.ts';
import { damage, type Frames, splitText } from './write-answer.ts';

export interface MessagesForm {
  readonly seals: Seals;
  readonly prompt: CachedPrompt;
  readonly requestId: string;
  /** Version 2026-10-21 names fields that hold nothing. */
  readonly isNewer: boolean;
  /** False where thoughts come without their words. */
  readonly showsThoughts: boolean;
  /** Thoughts come as `redacted_thinking`. */
  readonly isRedacted: boolean;
  /** What a search of the web fails with. */
  readonly searchError: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

const BROKEN = 'event: content_block_delta\ndata: {"type":"content_block_de\n\n';

/** A fault's damage included. */
export function writeMessagesFrames(
  answer: Answer,
  form: MessagesForm,
  { isStream, fault }: { isStream: boolean; fault: Fault },
): Frames {
  const { headers } = form;
  if (!isStream) {
    const text =
      fault.garbage === true ? BROKEN : JSON.stringify(writeMessage(answer, form, fault));
    return { contentType: 'application/json', headers, list: [text] };
  }
  const events = fault.emptyStream === true ? [] : writeEvents(answer, form);
  const list = damage(events.map(writeEvent), fault, {
    error: (error) => writeMessagesError(error, form.requestId),
    frame: writeEvent,
    broken: BROKEN,
  });
  return { contentType: 'text/event-stream; charset=utf-8', headers, list };
}

function writeEvent(event: JsonObject): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

function writeMessage(answer: Answer, form: MessagesForm, { emptyStream }: Fault): JsonObject {
  const content = emptyStream === true ? [] : writeBlocks(answer, form);
  return {
    ...{ id: answer.responseId, type: 'message', role: 'assistant', model: answer.modelId },
    content,
    ...writeEnding(answer, form),
    usage: writeUsage(answer, form),
    ...(form.isNewer && { container: null, diagnostics: null }),
  };
}

function writeEvents(answer: Answer, form: MessagesForm): JsonObject[] {
  const { usage, ...message } = writeMessage(answer, form, {});
  const none = { stop_reason: null, stop_sequence: null };
  const start = {
    ...message,
    ...none,
    content: [],
    usage: { ...(isJsonObject(usage) ? usage : {}), output_tokens: 1 },
  };
  const blocks = Array.isArray(message.content) ? message.content.filter(isJsonObject) : [];
  const {
    cache_creation: _split,
    service_tier: _tier,
    ...figures
  } = isJsonObject(usage) ? usage : {};
  return [
    { type: 'message_start', message: start },
    ...blocks.flatMap((block, index) => {
      const [first, ...rest] = writeBlockEvents(block, index);
      return index === 0 && first !== undefined ? [first, PING, ...rest] : [first ?? PING, ...rest];
    }),
    ...(blocks.length === 0 ? [PING] : []),
    { type: 'message_delta', delta: { ...writeEnding(answer, form) }, usage: figures },
    { type: 'message_stop' },
  ];
}

const PING: JsonObject = { type: 'ping' };

function writeBlockEvents(block: JsonObject, index: number): JsonObject[] {
  const { start, deltas } = openBlock(block);
  return [
    { type: 'content_block_start', index, content_block: start },
    ...deltas.map((delta): JsonObject => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

/** A block as it begins, and what is added to it. */
function openBlock(block: JsonObject): { start: JsonObject; deltas: JsonObject[] } {
  const pieces = (name: string): string[] => splitText(String(block[name]));
  switch (block.type) {
    case 'text': {
      const citations = Array.isArray(block.citations) ? block.citations : [];
      return {
        start: { ...block, text: '', ...(citations.length > 0 && { citations: [] }) },
        deltas: [
          ...citations.map((citation) => ({ type: 'citations_delta', citation })),
          ...pieces('text').map((text) => ({ type: 'text_delta', text })),
        ],
      };
    }
    case 'thinking':
      return {
        start: { ...block, thinking: '', signature: '' },
        deltas: [
          ...pieces('thinking').map((thinking) => ({ type: 'thinking_delta', thinking })),
          { type: 'signature_delta', signature: block.signature ?? '' },
        ],
      };
    case 'tool_use':
    case 'server_tool_use':
      return {
        start: { ...block, input: {} },
        deltas: ['', ...splitText(JSON.stringify(block.input))].map((partial_json) => ({
          type: 'input_json_delta',
          partial_json,
        })),
      };
    default:
      return { start: block, deltas: [] };
  }
}

function writeBlocks(answer: Answer, form: MessagesForm): JsonObject[] {
  const [candidate] = answer.candidates;
  if (candidate === undefined) return [];
  const { text, calls } = candidate;
  const direct = form.isNewer ? { caller: { type: 'direct' } } : {};
  const grounding = candidate.groundingMetadata;
  return [
    ...writeThoughts(candidate, form),
    ...(grounding === undefined
      ? text === ''
        ? []
        : [{ type: 'text', text, ...(form.isNewer && { citations: null }) }]
      : writeSearch(text, grounding, form)),
    ...calls.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args, ...direct })),
  ];
}

function writeThoughts({ thoughts }: Candidate, form: MessagesForm): JsonObject[] {
  const { seals, isRedacted, showsThoughts } = form;
  if (thoughts === '') return [];
  if (isRedacted) return [{ type: 'redacted_thinking', data: seals.issue('redacted', '') }];
  const thinking = showsThoughts ? thoughts : '';
  return [{ type: 'thinking', thinking, signature: seals.issue('thinking', thinking) }];
}

/** A search the provider runs itself: the call, its results, and the text that cites the first of them. */
function writeSearch(text: string, grounding: JsonObject, form: MessagesForm): JsonObject[] {
  const { seals, searchError } = form;
  const id = createId('srvtoolu_').replaceAll('-', '_');
  const queries = Array.isArray(grounding.webSearchQueries) ? grounding.webSearchQueries : [];
  const chunks = Array.isArray(grounding.groundingChunks) ? grounding.groundingChunks : [];
  const pages = chunks.map(pageOf);
  const results = pages.map(({ url, title }) => ({
    ...{ type: 'web_search_result', url, title, page_age: null },
    encrypted_content: seals.issue('content', url),
  }));
  const citations = pages.slice(0, 1).map(({ url, title }) => ({
    ...{ type: 'web_search_result_location', url, title },
    encrypted_index: seals.issue('index', url),
    cited_text: text.slice(0, 150),
  }));
  const call = {
    type: 'server_tool_use',
    id,
    name: 'web_search',
    input: { query: queries[0] ?? '' },
  };
  if (searchError !== undefined) {
    const content = { type: 'web_search_tool_result_error', error_code: searchError };
    return [
      call,
      { type: 'web_search_tool_result', tool_use_id: id, content },
      { type: 'text', text },
    ];
  }
  return [
    call,
    { type: 'web_search_tool_result', tool_use_id: id, content: results },
    { type: 'text', text, citations },
  ];
}

function pageOf(chunk: JsonValue): { url: string; title: string } {
  const web = isJsonObject(chunk) && isJsonObject(chunk.web) ? chunk.web : {};
  return { url: String(web.uri), title: String(web.title) };
}

/** Endings of the simulation in the words of this wire; others keep their own, in lower case. */
const STOP_REASONS = new Map([
  ['STOP', 'end_turn'],
  ['MAX_TOKENS', 'max_tokens'],
  ['LENGTH', 'max_tokens'],
  ['TOOL_CALLS', 'tool_use'],
  ...['SAFETY', 'RECITATION', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'CONTENT_FILTER'].map(
    (word) => [word, 'refusal'] as const,
  ),
]);

function writeEnding({ candidates: [candidate] }: Answer, { isNewer }: MessagesForm): JsonObject {
  const { finishReason = 'SAFETY', stopSequence = null, calls = [] } = candidate ?? {};
  const word = STOP_REASONS.get(finishReason) ?? finishReason.toLowerCase();
  const ended = calls.length > 0 ? 'tool_use' : stopSequence === null ? word : 'stop_sequence';
  const reason = word === 'end_turn' ? ended : word;
  const details = { type: 'refusal', category: null, explanation: 'The sandbox was told to.' };
  const isRefusal = reason === 'refusal';
  return {
    stop_reason: reason,
    stop_sequence: stopSequence,
    ...((isRefusal || isNewer) && { stop_details: isRefusal ? details : null }),
  };
}

function writeUsage(answer: Answer, { prompt, isNewer }: MessagesForm): JsonObject {
  const [candidate] = answer.candidates;
  const words = candidate === undefined ? 0 : countOutputTokens(candidate.text, candidate.calls);
  const { thinkingTokens } = answer;
  return {
    input_tokens: prompt.fresh,
    cache_creation_input_tokens: prompt.writtenShort + prompt.writtenLong,
    cache_read_input_tokens: prompt.read,
    cache_creation: {
      ephemeral_5m_input_tokens: prompt.writtenShort,
      ephemeral_1h_input_tokens: prompt.writtenLong,
    },
    output_tokens: Math.max(1, thinkingTokens + words),
    service_tier: 'standard',
    ...(thinkingTokens > 0 && { output_tokens_details: { thinking_tokens: thinkingTokens } }),
    ...(candidate?.groundingMetadata !== undefined && {
      server_tool_use: { web_search_requests: 1, web_fetch_requests: 0 },
    }),
    ...(isNewer && { inference_geo: null, speed: null }),
  };
}
