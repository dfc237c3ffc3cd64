// The Chat Completions wire format as types: what the gateway answers, and the words it recognises.
//
// Shapes follow `openai` (resources/chat/completions/completions.d.ts); `reasoning_content`,
// `extra_content` and `images` are conventions of compatible servers that clients read.

import { isJsonObject, type JsonObject, type JsonValue } from '../lib/json.ts';
import type { CHAT_EXTENSION_KEYS } from './vocabulary.ts';

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

export type ChatCompletion = {
  id: string;
  object: 'chat.completion';
  /** Seconds since the epoch. */
  created: number;
  model: string;
  choices: ChatChoice[];
  usage: ChatUsage;
};

export type ChatChoice = {
  index: number;
  message: ChatMessage;
  logprobs: ChatLogprobs | null;
  finish_reason: ChatFinishReason;
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
  completion_tokens_details: { reasoning_tokens: number };
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
