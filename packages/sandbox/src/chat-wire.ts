// The requests of the Chat wire: their shape as data, and their types once that was checked.
// Sources: the types of `openai` (resources/chat/completions, resources/embeddings).

import type { JsonObject } from './json.ts';
import {
  ANY,
  FLAG,
  fields,
  listOf,
  OBJECT,
  type Shape,
  type Shapes,
  TEXT,
  tagged,
  textOr,
  WHOLE,
  words,
} from './shapes.ts';
import type { ChatModel } from './wire-models.ts';

export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly ChatTool[];
  readonly tool_choice?: 'none' | 'auto' | 'required' | ChatToolChoice;
  readonly parallel_tool_calls?: boolean;
  readonly response_format?: {
    readonly type: 'text' | 'json_object' | 'json_schema';
    readonly json_schema?: {
      readonly name: string;
      readonly schema?: JsonObject;
      readonly strict?: boolean | null;
    };
  } | null;
  readonly stream?: boolean | null;
  readonly stream_options?: { readonly include_usage?: boolean } | null;
  readonly n?: number | null;
  readonly stop?: string | readonly string[] | null;
  readonly max_tokens?: number | null;
  readonly max_completion_tokens?: number | null;
  readonly temperature?: number | null;
  readonly top_p?: number | null;
  readonly presence_penalty?: number | null;
  readonly frequency_penalty?: number | null;
  readonly logit_bias?: JsonObject | null;
  readonly logprobs?: boolean | null;
  readonly top_logprobs?: number | null;
  readonly seed?: number | null;
  readonly reasoning_effort?: string | null;
  readonly verbosity?: string | null;
  readonly metadata?: JsonObject | null;
  readonly store?: boolean | null;
  readonly web_search_options?: JsonObject;
}

export interface ChatMessage {
  readonly role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  readonly content?: string | readonly ChatPart[] | null;
  readonly refusal?: string | null;
  readonly reasoning_content?: string | null;
  readonly tool_calls?: readonly ChatCall[];
  readonly tool_call_id?: string;
}

export interface ChatPart {
  readonly type: 'text' | 'image_url' | 'input_audio' | 'file' | 'refusal';
  readonly text?: string;
  readonly refusal?: string;
  readonly image_url?: { readonly url: string };
  readonly input_audio?: { readonly data: string; readonly format: 'wav' | 'mp3' };
  readonly file?: {
    readonly file_data?: string;
    readonly file_id?: string;
    readonly filename?: string;
  };
}

interface ChatCall {
  readonly id: string;
  readonly type: 'function' | 'custom';
  readonly function?: { readonly name: string; readonly arguments: string };
  readonly custom?: { readonly name: string; readonly input: string };
}

export interface ChatTool {
  readonly type: 'function' | 'custom';
  readonly function?: {
    readonly name: string;
    readonly description?: string;
    readonly parameters?: JsonObject;
    readonly strict?: boolean | null;
  };
  readonly custom?: { readonly name: string; readonly description?: string };
}

interface ChatToolChoice {
  readonly type: 'function' | 'custom' | 'allowed_tools';
  readonly function?: { readonly name: string };
  readonly custom?: { readonly name: string };
  readonly allowed_tools?: {
    readonly mode: 'auto' | 'required';
    readonly tools: readonly { readonly function?: { name: string }; custom?: { name: string } }[];
  };
}

export interface EmbeddingsRequest {
  readonly model: string;
  readonly input: string | readonly string[] | readonly number[] | readonly (readonly number[])[];
  readonly encoding_format?: 'float' | 'base64';
  readonly dimensions?: number;
}

/** A number of a range. */
function range(min: number, max: number): Shape {
  return { kind: 'number', min, max };
}

const NAME: Shape = { kind: 'text', max: 64, pattern: /^[a-zA-Z0-9_-]+$/ };
const SPEAKER: Shape = { kind: 'text', max: 64, pattern: /^[^\s<|\\/>]+$/ };
const CALL_ID: Shape = { kind: 'text', max: 40 };
const BREAKPOINT: Shapes = { prompt_cache_breakpoint: OBJECT };
const TEXT_PART = fields({ type: ANY, text: TEXT }, BREAKPOINT);
const PARTS: Shapes = {
  text: TEXT_PART,
  image_url: fields(
    {
      type: ANY,
      image_url: fields({ url: TEXT }, { detail: words('auto', 'low', 'high', 'original') }),
    },
    BREAKPOINT,
  ),
  input_audio: fields(
    { type: ANY, input_audio: fields({ data: TEXT, format: words('wav', 'mp3') }) },
    BREAKPOINT,
  ),
  file: fields(
    { type: ANY, file: fields({}, { file_data: TEXT, file_id: TEXT, filename: TEXT }) },
    BREAKPOINT,
  ),
};
const WORDS_ALONE = textOr(listOf(tagged({ text: TEXT_PART }), { min: 1 }));
const ASSISTANT_PART = tagged({
  text: TEXT_PART,
  refusal: fields({ type: ANY, refusal: TEXT }),
});
const CALL = tagged({
  function: fields({
    type: ANY,
    id: CALL_ID,
    function: fields({ name: NAME, arguments: TEXT }, {}, { parsed_arguments: ANY }),
  }),
  custom: fields({ type: ANY, id: CALL_ID, custom: fields({ name: NAME, input: TEXT }) }),
});

/** Helpers of the official client leave `parsed` and `parsed_arguments` in the history they send. */
function messageShape({ showsReasoning }: Partial<ChatModel>): Shape {
  const instructions = fields({ role: ANY, content: WORDS_ALONE }, { name: SPEAKER });
  return tagged(
    {
      system: instructions,
      developer: instructions,
      user: fields(
        { role: ANY, content: textOr(listOf(tagged(PARTS), { min: 1 })) },
        { name: SPEAKER },
      ),
      assistant: fields(
        { role: ANY },
        { name: SPEAKER, tool_calls: listOf(CALL, { min: 1 }), annotations: listOf(OBJECT) },
        {
          content: textOr(listOf(ASSISTANT_PART, { min: 1 })),
          refusal: TEXT,
          parsed: ANY,
          ...(showsReasoning === true && { reasoning_content: TEXT }),
        },
      ),
      tool: fields({ role: ANY, content: WORDS_ALONE, tool_call_id: TEXT }),
    },
    { tag: 'role' },
  );
}

const GRAMMAR = fields({ syntax: words('lark', 'regex'), definition: TEXT });
const TOOL = tagged({
  function: fields({
    type: ANY,
    function: fields({ name: NAME }, { description: TEXT, parameters: OBJECT }, { strict: FLAG }),
  }),
  custom: fields({
    type: ANY,
    custom: fields(
      { name: NAME },
      {
        description: TEXT,
        format: tagged({
          text: fields({ type: ANY }),
          grammar: fields({ type: ANY, grammar: GRAMMAR }),
        }),
      },
    ),
  }),
});
const TOOL_CHOICE = textOr(
  tagged({
    function: fields({ type: ANY, function: fields({ name: TEXT }) }),
    custom: fields({ type: ANY, custom: fields({ name: TEXT }) }),
    allowed_tools: fields({
      type: ANY,
      allowed_tools: fields({
        mode: words('auto', 'required'),
        tools: listOf(OBJECT, { min: 1 }),
      }),
    }),
  }),
);
const RESPONSE_FORMAT = tagged({
  text: fields({ type: ANY }),
  json_object: fields({ type: ANY }),
  json_schema: fields({
    type: ANY,
    json_schema: fields({ name: NAME }, { description: TEXT, schema: OBJECT }, { strict: FLAG }),
  }),
});
const PLACE = fields({ type: words('approximate'), approximate: OBJECT });

export function chatShape(model: Partial<ChatModel>): Shape {
  return fields(
    { model: TEXT, messages: listOf(messageShape(model), { min: 1 }) },
    {
      tools: listOf(TOOL, { min: 1, max: 128 }),
      tool_choice: TOOL_CHOICE,
      parallel_tool_calls: FLAG,
      user: TEXT,
      web_search_options: fields(
        {},
        { search_context_size: words('low', 'medium', 'high') },
        { user_location: PLACE },
      ),
      prompt_cache_options: OBJECT,
    },
    {
      frequency_penalty: range(-2, 2),
      presence_penalty: range(-2, 2),
      temperature: range(0, 2),
      top_p: range(0, 1),
      logit_bias: OBJECT,
      response_format: RESPONSE_FORMAT,
      logprobs: FLAG,
      top_logprobs: { kind: 'whole', min: 0, max: 20 },
      max_tokens: { kind: 'whole', min: 1 },
      max_completion_tokens: { kind: 'whole', min: 1 },
      n: { kind: 'whole', min: 1, max: 128 },
      seed: WHOLE,
      stop: textOr(listOf(TEXT, { max: 4 })),
      stream: FLAG,
      stream_options: fields({}, { include_usage: FLAG, include_obfuscation: FLAG }),
      reasoning_effort: words('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
      verbosity: words('low', 'medium', 'high'),
      modalities: listOf(words('text')),
      metadata: OBJECT,
      store: FLAG,
      safety_identifier: { kind: 'text', max: 64 },
      prompt_cache_key: { kind: 'text', max: 64 },
      prompt_cache_retention: words('in_memory', '24h'),
      service_tier: words('auto', 'default', 'flex', 'scale', 'priority', 'fast'),
      prediction: fields({ type: words('content'), content: WORDS_ALONE }),
      ...(model.wantsReasoning === true && {
        thinking: fields({ type: words('enabled', 'disabled') }),
      }),
    },
  );
}

export const EMBEDDINGS_SHAPE: Shape = fields(
  { model: TEXT, input: textOr(listOf(ANY, { min: 1, max: 2048 })) },
  {
    encoding_format: words('float', 'base64'),
    dimensions: { kind: 'whole', min: 1 },
    user: TEXT,
  },
);

export function partsOfMessage({ content }: ChatMessage): readonly ChatPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return content ?? [];
}

export function nameOfTool({ function: plain, custom }: Pick<ChatTool, 'function' | 'custom'>) {
  return (plain ?? custom)?.name ?? '';
}
