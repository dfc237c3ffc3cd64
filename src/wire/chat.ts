// The Chat Completions wire format as types: what the gateway answers, and the words it recognises; and the calls of an
// answer, put together from their pieces.
//
// Shapes follow `openai` (resources/chat/completions/completions.d.ts); `reasoning_content`,
// `extra_content` and `images` are conventions of compatible servers that clients read.

import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  readNumber,
  tryParse,
} from '../lib/json.ts';
import { KeptText, TextDigest } from '../lib/long-text.ts';
import { ObjectEnd } from '../lib/object-end.ts';
import { textOf } from '../lib/read-values.ts';
import { CHAT_EXTENSION_KEYS } from './vocabulary.ts';

/** Name of the wire; upstreams that speak it get the bodies of its clients. */
export const CHAT_WIRE = 'chat';

/** Stands for `[DONE]` among the chunks of an upstream: this object itself. */
export const DONE: JsonObject = { choices: [] };

/** True of a chunk with the usage and nothing of an answer: without choices, or with empty ones, as LiteLLM has it. */
export function isUsageAlone({ choices, usage }: JsonObject): boolean {
  return isJsonObject(usage) && Array.isArray(choices) && choices.every(saysNothing);
}

function saysNothing(choice: JsonValue): boolean {
  if (!isJsonObject(choice) || !isJsonObject(choice.delta)) return false;
  return Object.keys(choice.delta).length === 0 && typeof choice.finish_reason !== 'string';
}

/** The words of a part that thinks: one text, or parts of it (docs.mistral.ai, "Reasoning"). */
export function thoughtIn({ thinking }: { readonly thinking?: JsonValue | undefined }): string {
  if (!Array.isArray(thinking)) return typeof thinking === 'string' ? thinking : '';
  const texts = thinking.map((part) => (isJsonObject(part) ? part.text : undefined));
  return texts.filter((text) => typeof text === 'string').join('');
}

export type ChatExtensionKey = (typeof CHAT_EXTENSION_KEYS)[number];

export type ChatFinishReason =
  | 'stop'
  | 'length'
  | 'tool_calls'
  | 'content_filter'
  | 'function_call';

/** What services of this wire say for it. */
const NATURAL_ENDS: ReadonlySet<string> = new Set([
  ...['stop', 'eos', 'eos_token', 'end_turn', 'stop_sequence', 'completed'],
  ...['tool_calls', 'function_call', 'tool_use', 'tool_call'],
]);

/** True where the model ended by itself: at the end of what it said, or to have functions called. */
export function isNaturalEnd(finishReason: string): boolean {
  return NATURAL_ENDS.has(finishReason.toLowerCase());
}

export type ChatCompletion = {
  id: string;
  object: 'chat.completion';
  /** Seconds since the epoch. */
  created: number;
  model: string;
  choices: ChatChoice[];
  service_tier?: ChatTier;
  usage: ChatUsage;
};

export type ChatChoice = {
  index: number;
  message: ChatMessage;
  logprobs: ChatLogprobs | null;
  finish_reason: ChatFinishReason;
  /** The stop sequence at which it ended, where that is known; a field of vLLM. */
  stop_reason?: string;
};

export type ChatMessage = {
  role: 'assistant';
  content: string | null;
  /** Why an answer was held back. */
  refusal: string | null;
  annotations: ChatAnnotation[];
  reasoning_content?: string;
  images?: ChatImage[];
  tool_calls?: ChatToolCall[];
  /** Only for requests with the deprecated `functions`. */
  function_call?: { name: string; arguments: string };
};

export type ChatToolCall =
  | {
      id: string;
      type: 'function';
      function: { name: string; arguments: string };
      extra_content?: JsonObject;
    }
  | {
      id: string;
      type: 'custom';
      custom: { name: string; input: string };
      extra_content?: JsonObject;
    };

/** How fast an answer was served (`openai` resources/chat/completions, `service_tier`). */
export const CHAT_TIERS = ['default', 'flex', 'scale', 'priority', 'fast'] as const;
export type ChatTier = (typeof CHAT_TIERS)[number];

/** A picture the model drew; `url` is a data URI. */
export type ChatImage = { type: 'image_url'; index: number; image_url: { url: string } };

/** Positions count UTF-16 units of `content`. */
export type ChatAnnotation = {
  type: 'url_citation';
  url_citation: { start_index: number; end_index: number; title: string; url: string };
};

/** `completion_tokens` includes `reasoning_tokens`. */
export type ChatUsage = {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  prompt_tokens_details: {
    cached_tokens: number;
    cache_write_tokens?: number;
    audio_tokens?: number;
    image_tokens?: number;
  };
  completion_tokens_details: {
    reasoning_tokens: number;
    audio_tokens?: number;
    image_tokens?: number;
  };
};

export type ChatErrorType =
  | 'invalid_request_error'
  | 'permission_error'
  | 'rate_limit_error'
  | 'insufficient_quota'
  | 'service_unavailable_error'
  | 'server_error';

/** `param` and `code` are always present. */
export type ChatErrorBody = {
  error: { message: string; type: ChatErrorType; param: string | null; code: string | null };
};

/** What image routes answer when no account has quota left. */
export type ImageQuotaErrorBody = { error: { message: string; type: 'quota_exceeded' } };

/** Tool types and tool keys that ask for a hosted web search; `web_search…` types are matched by prefix. */
export const CHAT_SEARCH_WORDS: readonly string[] = [
  'googleSearch',
  'google_search',
  'googleSearchRetrieval',
  'vendoraSearch',
  'vendora_search',
  'vendoraSearchRetrieval',
];

/** The shapes of `openai` resources/chat/completions/completions.d.ts, `ChatCompletionTokenLogprob`. */
export type ChatLogprobs = { content: ChatTokenLogprob[]; refusal: null };

/** Natural logarithms; `bytes` are the token's UTF-8, null when it is no whole text. */
export type ChatTopLogprob = { token: string; bytes: number[] | null; logprob: number };

type ChatTokenLogprob = ChatTopLogprob & { top_logprobs: ChatTopLogprob[] };

/** A call as far as its pieces have come. */
export interface PartialCall {
  /** The how manyth of its choice, from 0. */
  readonly place: number;
  /** The upstream's own number; undefined where it gave none. */
  readonly number: number | undefined;
  id: string | undefined;
  name: string | undefined;
  /** Its arguments, or the free text. */
  readonly said: KeptText;
  /** The last piece of it. */
  piece: string;
  /** What that said that was not said before. */
  added: string;
  /** True while each piece began with all of the one before. */
  isRestated: boolean;
  isBlank: boolean;
  /** Of all that it says, by which the whole is known that is said again. */
  readonly digest: TextDigest;
  readonly end: ObjectEnd;
  /** Which Google's endpoint of this wire gives, and wants back. */
  signature: string | undefined;
  /** True for one that takes free text. */
  readonly isFreeform: boolean;
}

/** More calls in one answer mean nothing. */
const MAX_CALLS = 1000;

/** Those of one choice; their pieces come in any order among those of others. */
export class PartialCalls {
  readonly #most: number | undefined;
  #calls: PartialCall[] = [];
  /** How many have begun, those that were taken among them. */
  begun = 0;
  /** Of what those that have come say. */
  heldBytes = 0;

  /** @param most UTF-16 units of what each call says that are kept; all of them where it is absent */
  constructor(most?: number) {
    this.#most = most;
  }

  /** The call of a piece: that of its number, of its id, or the last one. Undefined once there are too many. */
  add(piece: JsonObject): PartialCall | undefined {
    // Some servers (Snowflake) give the form that a call is not as well, with nothing in it.
    const isFreeform =
      isJsonObject(piece.custom) && (piece.type === 'custom' || !isJsonObject(piece.function));
    const holder = isFreeform ? piece.custom : piece.function;
    const { name: named, arguments: given, input } = isJsonObject(holder) ? holder : {};
    const id = textOf(withoutNoId(piece).id);
    const name = textOf(named);
    const number = readNumber(piece.index);
    let call = this.#find(number, id);
    if (call === undefined || beginsAnother(call, id, name)) {
      if (this.#calls.length >= MAX_CALLS) return undefined;
      const none = { isBlank: true, piece: '', added: '', isRestated: true, signature: undefined };
      const opening = { place: this.begun, number, id, name, isFreeform, ...none };
      const said = new KeptText(this.#most);
      call = { ...opening, said, digest: new TextDigest(), end: new ObjectEnd() };
      this.#calls.push(call);
      this.begun += 1;
    }
    call.id ??= id;
    call.name ??= name;
    call.signature ??= signatureIn(piece);
    const said = given ?? input;
    call.added = '';
    if (said === undefined || said === null) return call;
    const text = typeof said === 'string' ? said : JSON.stringify(said);
    call.isRestated &&= text.startsWith(call.piece);
    call.added = addedBy(call, text);
    this.heldBytes -= call.said.heldBytes;
    call.said.add(call.added);
    this.heldBytes += call.said.heldBytes;
    call.isBlank &&= text.trim() === '';
    call.piece = text;
    call.digest.add(call.added);
    call.end.read(call.added);
    return call;
  }

  /** Those that have come, but for those that were taken. */
  get open(): readonly PartialCall[] {
    return this.#calls;
  }

  get isEmpty(): boolean {
    return this.#calls.length === 0;
  }

  /** Those that have come, which are forgotten. */
  take(): readonly PartialCall[] {
    const calls = this.#calls;
    this.#calls = [];
    this.heldBytes = 0;
    return calls;
  }

  #find(number: number | undefined, id: string | undefined): PartialCall | undefined {
    if (number === undefined) {
      const known = id === undefined ? undefined : this.#calls.find((call) => call.id === id);
      return known ?? this.#calls.at(-1);
    }
    return this.#calls.findLast((call) => call.number === number) ?? this.#unnumbered(id);
  }

  /** Streams that number the first piece alone, or none but the later ones. */
  #unnumbered(id: string | undefined): PartialCall | undefined {
    return id === undefined
      ? undefined
      : this.#calls.find((call) => call.id === id && call.number === undefined);
  }
}

/** The deprecated form of a call, unless nothing is in it, as Snowflake has it beside every text. */
export function deprecatedCall({ function_call: call }: JsonObject): JsonObject | undefined {
  if (!isJsonObject(call)) return undefined;
  return (textOf(call.name) ?? textOf(call.arguments)) === undefined ? undefined : call;
}

/** In `extra_content.<vendor>.thought_signature` (ai.google.dev, "Thought signatures", OpenAI compatibility). */
export function signatureIn({ extra_content: extra }: JsonObject): string | undefined {
  if (!isJsonObject(extra)) return undefined;
  for (const key of CHAT_EXTENSION_KEYS) {
    const holder = extra[key];
    const value = isJsonObject(holder) ? textOf(holder.thought_signature) : undefined;
    if (value !== undefined) return value;
  }
  return undefined;
}

/** The field of a call that says it. */
export function writeSignature(value: string): JsonObject {
  return { extra_content: { [CHAT_EXTENSION_KEYS[0]]: { thought_signature: value } } };
}

/**
 * Some servers number all calls alike, or not at all: another id, or a name behind whole arguments, is another call. LM
 * Studio was seen to give each piece an id of its own: without a name it goes on with what is not whole
 * (NousResearch/hermes-agent#5331).
 */
function beginsAnother(
  call: PartialCall,
  id: string | undefined,
  name: string | undefined,
): boolean {
  if (id !== undefined && call.id !== undefined && id !== call.id)
    return name !== undefined || call.name === undefined || call.end.isReached;
  if (name === undefined || call.name === undefined) return false;
  if (id !== undefined && id === call.id) return false;
  // A free text has no end of its own.
  return call.end.isReached && !call.isFreeform;
}

/** Mistral's word for no id, in pieces that go on with a call (langchain-ai/langchainjs#11505, zed-industries/zed#53605). */
const NO_ID = 'null';

/** Without an id that is none, which accumulators take for the call's own; the same object where there is no such. */
export function withoutNoId(call: JsonObject): JsonObject {
  if (call.id !== NO_ID) return call;
  const { id: _none, ...rest } = call;
  return rest;
}

/** Some servers send all so far in each piece, and not what is new, or the whole once more behind its pieces. */
function addedBy(call: PartialCall, text: string): string {
  const { isFreeform, isRestated, piece, end, digest } = call;
  // No object has its own beginning behind its beginning.
  if (isFreeform || !text.trimStart().startsWith('{')) return text;
  if (isRestated && piece.trim() !== '') return text.slice(piece.length);
  return end.isReached && TextDigest.of(text).value === digest.value ? '' : text;
}

/** As the text of a JSON object. A text is read once more; any other value becomes its one member. */
export function readArguments(json: string): string | undefined {
  if (json.trim() === '') return '{}';
  const value = tryParse(json);
  if (value === undefined) return readRepeated(json);
  if (isJsonObject(value)) return json;
  if (value === null) return '{}';
  const inner = typeof value === 'string' ? tryParse(value) : undefined;
  return JSON.stringify(isJsonObject(inner) ? inner : { value });
}

/** Of one object that is said again: some servers send the whole behind its pieces, or an empty one in front. */
function readRepeated(json: string): string | undefined {
  const said = new Set<string>();
  let [end, start] = [new ObjectEnd(), 0];
  for (let at = 0; at < json.length; at += 1) {
    end.read(json.charAt(at));
    if (!end.isReached) continue;
    said.add(json.slice(start, at + 1).trim());
    [end, start] = [new ObjectEnd(), at + 1];
  }
  said.add(json.slice(start).trim());
  for (const nothing of ['{}', '']) said.delete(nothing);
  const [only = '{}'] = said;
  return said.size <= 1 && isJsonObject(tryParse(only)) ? only : undefined;
}
