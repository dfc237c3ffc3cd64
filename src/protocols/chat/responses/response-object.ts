// The response object: what every life-cycle event and the unary answer hold.

import type { GatewayError } from '../../../canonical/error.ts';
import type { ChoiceEnd } from '../../../canonical/event.ts';
import { blockMessage } from '../../../canonical/text-forms.ts';
import {
  cacheWriteTokens,
  inputTokens,
  outputTokens,
  totalTokens,
  type Usage,
} from '../../../canonical/usage.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../lib/json.ts';
import { flattenString } from '../../../lib/long-text.ts';
import { eventFrame, eventStart, FRAME_END } from '../../../stream/sse.ts';
import type { ChatErrorType } from '../../../wire/chat.ts';
import { writeErrorBody } from '../errors.ts';

/** How a response ended; `in_progress` while it has not. */
export type Ending =
  | { readonly status: 'in_progress' | 'queued' | 'cancelled' }
  | { readonly status: 'completed'; readonly completedAt: number }
  | { readonly status: 'incomplete'; readonly reason: 'max_output_tokens' | 'content_filter' }
  | ({ readonly status: 'failed' } & Failure);

interface Failure {
  readonly code: string;
  readonly message: string;
  /** The field of the request that is to blame. */
  readonly param?: string | null;
}

interface ResponseHead {
  readonly id: string;
  /** Seconds since the epoch. */
  readonly createdAt: number;
  readonly model: string;
  readonly echo: JsonObject;
}

interface ResponseContent {
  readonly output: readonly JsonObject[];
  readonly usage: Usage | undefined;
  /** Searches of the web that stand behind the output. */
  readonly searches: number;
}

export function responseObject(
  { id, createdAt, model, echo }: ResponseHead,
  ending: Ending,
  { output, usage, searches }: ResponseContent,
): JsonObject {
  return {
    id,
    object: 'response',
    created_at: createdAt,
    completed_at: ending.status === 'completed' ? ending.completedAt : null,
    status: ending.status,
    error: ending.status === 'failed' ? failedError(ending) : null,
    incomplete_details: ending.status === 'incomplete' ? { reason: ending.reason } : null,
    model,
    output: [...output],
    ...echo,
    usage: usage === undefined ? null : writeUsage(usage),
    // Pictures are no work of a tool here: their tokens are in the usage (`openai` responses, `ToolUsage`).
    ...(searches === 0
      ? {}
      : { tool_usage: { image_gen: NO_TOKENS, web_search: { num_requests: searches } } }),
  };
}

/** Codes that coding CLIs act on, each differently (wire protocols, Codex), and the types of their errors. */
const FAILURE_TYPES: ReadonlyMap<string, ChatErrorType> = new Map([
  ['insufficient_quota', 'insufficient_quota'],
  ['rate_limit_exceeded', 'rate_limit_error'],
  ['server_is_overloaded', 'service_unavailable_error'],
  ['context_length_exceeded', 'invalid_request_error'],
  ['invalid_prompt', 'invalid_request_error'],
]);

/** Without `type` the AI SDK takes the whole response for no JSON (`openaiResponsesResponseSchema`). */
export function failedError({ code, message, param = null }: Failure): JsonObject {
  const type = FAILURE_TYPES.get(code) ?? 'server_error';
  return { code, message, type, ...(param !== null && { param }) };
}

function writeUsage(usage: Usage): JsonObject {
  return {
    input_tokens: inputTokens(usage),
    input_tokens_details: {
      cached_tokens: usage.cachedTokens,
      cache_write_tokens: cacheWriteTokens(usage),
    },
    output_tokens: outputTokens(usage),
    output_tokens_details: { reasoning_tokens: usage.thoughtTokens },
    total_tokens: totalTokens(usage),
  };
}

const NO_TOKENS: JsonObject = {
  input_tokens: 0,
  input_tokens_details: { image_tokens: 0, text_tokens: 0 },
  output_tokens: 0,
  total_tokens: 0,
};

/**
 * An answer without anything to show or call is no success: it ran out of room for one, as models do
 * whose thoughts use up the limit.
 */
export function endingOf(
  end: ChoiceEnd | undefined,
  { hasContent, at }: { readonly hasContent: boolean; readonly at: number },
): Ending {
  switch (end?.reason) {
    case 'max-tokens':
      return { status: 'incomplete', reason: 'max_output_tokens' };
    case 'safety':
      return { status: 'incomplete', reason: 'content_filter' };
    case 'prompt-blocked':
      return {
        status: 'failed',
        code: 'invalid_prompt',
        message: blockMessage(end)?.text ?? 'The prompt was refused by a safety rule.',
      };
    default:
      return hasContent
        ? { status: 'completed', completedAt: at }
        : { status: 'incomplete', reason: 'max_output_tokens' };
  }
}

export function failureOf(error: GatewayError): Ending {
  if (error.kind === 'client-gone') return { status: 'cancelled' };
  const { code: cause, message, param, type } = writeErrorBody(error).error;
  // What the request is to blame for is not asked again; `invalid_prompt` is the only word for it.
  const other = type === 'invalid_request_error' ? 'invalid_prompt' : 'server_error';
  const code = FAILURE_TYPES.has(cause ?? '') ? (cause ?? other) : other;
  if (code !== 'rate_limit_exceeded') return { status: 'failed', code, message, param };
  return { status: 'failed', code, message: withWait(error) };
}

/** Codex waits as long as the message itself says: "try again in 12s" (codex-rs, `try_parse_retry_after`). */
function withWait({ message, retryAfterMs }: GatewayError): string {
  if (retryAfterMs === undefined || /try again in \d/i.test(message)) return message;
  return `${message} Please try again in ${Math.max(1, Math.ceil(retryAfterMs / 1000))}s.`;
}

/** Kinds that have a status wherever they are shown (`openai` resources/responses, `ResponseItem`). */
const WITH_STATUS =
  /^(?:message|(?:function|custom_tool|local_shell|shell)_call(?:_output)?|tool_search_(?:call|output))$/;

/** What items of a kind hold besides. */
const ITEM_DEFAULTS: ReadonlyMap<JsonValue | undefined, JsonObject> = new Map([
  ['shell_call_output', { max_output_length: null }],
  ['tool_search_call', { execution: 'client' }],
  ['tool_search_output', { execution: 'client' }],
]);

/** What parts of content always hold when they are shown. */
const PART_DEFAULTS: ReadonlyMap<JsonValue | undefined, JsonObject> = new Map([
  ['input_image', { detail: 'auto' }],
  ['output_text', { annotations: [] }],
]);

/** The item as lists and single reads hold it; what it says itself stays. */
export function showItem(item: JsonObject): JsonObject {
  const shown = { ...ITEM_DEFAULTS.get(item.type), ...item };
  if (typeof item.type === 'string' && WITH_STATUS.test(item.type)) {
    shown.status = item.status ?? 'completed';
  }
  for (const key of ['content', 'output']) {
    const parts = item[key];
    if (!Array.isArray(parts)) continue;
    shown[key] = parts.map((part) =>
      isJsonObject(part) ? { ...PART_DEFAULTS.get(part.type), ...part } : part,
    );
  }
  return shown;
}

/** False for thoughts, and for a message that is blank. */
export function showsSomething({ type, content }: JsonObject): boolean {
  if (type !== 'message' || !Array.isArray(content)) return type !== 'reasoning';
  const isBlank = (part: JsonValue): boolean =>
    isJsonObject(part) && typeof part.text === 'string' && part.text.trim() === '';
  return !content.every(isBlank);
}

/** In UTF-16 units: the last frames of an answer repeat its text, and are made only as they are sent. */
const LONG = 65_536;
const PIECE = 16_384;

/** Every event carries its name twice and a number without gaps (`openai` lib/responses). */
export class Frames {
  #isSilent = false;
  #next: number;
  readonly #waiting: Iterator<string>[] = [];

  /** @param first the number of the first event */
  constructor(first = 0) {
    this.#next = first;
  }

  /** From now on nothing is written: the whole response alone is wanted. */
  silence(): void {
    this.#isSilent = true;
  }

  /** '' for a frame that holds a long text, and for all behind it until `more` has given them. */
  write(type: string, fields: JsonObject): string {
    if (this.#isSilent) return '';
    const data = { type, sequence_number: this.#next, ...fields };
    this.#next += 1;
    if (!holdsLong(data)) return this.#inOrder(eventFrame(type, JSON.stringify(data)));
    this.#waiting.push(longFrame(type, data));
    return '';
  }

  /** A writer for many events that differ in one text only. */
  deltas(type: string, fields: JsonObject): (delta: string) => string {
    if (this.#isSilent) return () => '';
    const rest = JSON.stringify({ type, ...fields }).slice(1, -1);
    const head = flattenString([eventStart(type), `{${rest},"sequence_number":`]);
    return (delta) => {
      const frame = `${head}${this.#next},"delta":${JSON.stringify(delta)}}${FRAME_END}`;
      this.#next += 1;
      return this.#inOrder(frame);
    };
  }

  /** The next piece of what was not given at once; '' when nothing is left. */
  more(): string {
    let text = '';
    while (text.length < PIECE && this.#waiting[0] !== undefined) {
      const { done, value } = this.#waiting[0].next();
      if (done === true) this.#waiting.shift();
      else text += value;
    }
    return text;
  }

  /** All that was not given at once. */
  rest(): string {
    let text = '';
    for (let more = this.more(); more !== ''; more = this.more()) text += more;
    return text;
  }

  #inOrder(frame: string): string {
    if (this.#waiting.length === 0) return frame;
    this.#waiting.push([frame].values());
    return '';
  }
}

function* longFrame(type: string, data: JsonObject): Generator<string, undefined> {
  yield eventStart(type);
  yield* jsonInPieces(data);
  yield FRAME_END;
}

function holdsLong(value: JsonValue | undefined): boolean {
  if (typeof value === 'string') return value.length > LONG;
  if (typeof value !== 'object' || value === null) return false;
  return (Array.isArray(value) ? value : Object.values(value)).some(holdsLong);
}

/** What `JSON.stringify` gives, long texts in pieces. */
function* jsonInPieces(value: JsonValue): Generator<string, void> {
  if (!holdsLong(value)) yield JSON.stringify(value);
  else if (typeof value === 'string') {
    yield '"';
    for (let at = 0; at < value.length; ) {
      const end = endOfPiece(value, at);
      yield JSON.stringify(value.slice(at, end)).slice(1, -1);
      at = end;
    }
    yield '"';
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      yield index === 0 ? '[' : ',';
      yield* jsonInPieces(item);
    }
    yield ']';
  } else if (value !== null && typeof value === 'object') {
    let before = '{';
    for (const [name, item] of Object.entries(value)) {
      if (item === undefined) continue;
      yield `${before}${JSON.stringify(name)}:`;
      yield* jsonInPieces(item);
      before = ',';
    }
    yield '}';
  }
}

/** Not between the halves of a character, which JSON writes differently when they stand alone. */
function endOfPiece(text: string, start: number): number {
  const end = start + PIECE;
  return ((text.codePointAt(end - 1) ?? 0) > 0xffff ? 1 : 0) + end;
}
