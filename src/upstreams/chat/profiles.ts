// How one upstream of the Chat Completions wire is reached, what it does differently, and which of its models have an
// endpoint of their own: data, never a name.

import type { Effort } from '../../canonical/effort.ts';
import type { ImageDetail } from '../../canonical/image-options.ts';
import type { Transcription } from '../../canonical/sound.ts';
import type { JsonObject } from '../../lib/json.ts';
import { createWildcard, foldCase, type Wildcard } from '../../lib/names.ts';
import { remember } from '../../lib/once.ts';
import { MAX_NAMES, trimBaseUrl, userAgentOf } from '../wire-parts.ts';

export interface ChatProfile {
  readonly id: string;
  /** Without a slash at the end; may end in a version segment such as `/v1`. */
  readonly baseUrl: string;
  readonly userAgent: string;
  readonly paths: ChatPaths;
  /** Parameters of every address, such as `api-version`. */
  readonly query: Readonly<Record<string, string>>;
  /** `bearer`, or the name of the header that carries the key. */
  readonly auth: 'bearer' | { readonly header: string };
  /** Headers of every request beside the credential. */
  readonly headers: Readonly<Record<string, string>>;
  readonly quirks: ChatQuirks;
  /** How a model is asked that has an endpoint of its own; undefined for one that takes part in conversations. */
  readonly findMediaModel: (modelId: string) => MediaModel | undefined;
}

/** Below the base URL. `{model}` stands for the model's id, percent-encoded. */
export interface ChatPaths {
  readonly chat: string;
  readonly models: string;
  readonly embeddings: string;
  readonly images: string;
  readonly edits: string;
  readonly transcriptions: string;
  readonly translations: string;
  readonly speech: string;
}

/** A field of the assistant's message that holds its thoughts. */
export type ReasoningField = 'reasoning_content' | 'reasoning' | 'reasoning_details';

export type EffortWord = Effort | 'none';

interface ThinkingSwitch {
  readonly on: JsonObject;
  readonly off: JsonObject;
}

/** Of DeepSeek, Kimi K2 and GLM. */
const TYPE_SWITCH: ThinkingSwitch = {
  on: { thinking: { type: 'enabled' } },
  off: { thinking: { type: 'disabled' } },
};
/** Of models' own chat templates. */
const TEMPLATE_SWITCH: ThinkingSwitch = {
  on: { chat_template_kwargs: { enable_thinking: true } },
  off: { chat_template_kwargs: { enable_thinking: false } },
};

/** What an upstream of this wire takes, where they differ. */
export interface ChatQuirks {
  readonly limitField: 'max_tokens' | 'max_completion_tokens';
  /** The role of instructions; `developer` is sent to models that reason, which prefer it. */
  readonly instructionsRole: 'system' | 'developer';
  /** Whether messages may name who speaks. */
  readonly takesNames: boolean;
  /** Whether a result may name its tool, which its call does: some templates of models read it there alone. */
  readonly takesResultNames: boolean;
  /** Whether instructions may stand in mid-conversation; else they are marked user text there. */
  readonly takesSystemTurns: boolean;
  /** Whether a message of calls alone may have null for its content; else it is an empty text. */
  readonly takesNullContent: boolean;
  /**
   * Where thoughts of earlier turns go back: `as-told`, in the field that the service gave them in itself; absent where
   * they stay out.
   */
  readonly sendsReasoning?: ReasoningField | 'as-told' | undefined;
  /** True where thoughts are parts of the content. */
  readonly takesThinkingParts?: boolean | undefined;
  /** What a call comes back with whose thoughts nobody knows, where it has to come with some; not all take an empty text. */
  readonly wantsReasoning?: string | undefined;
  /** True where answers have to come with some as well, once functions are offered. */
  readonly wantsReasoningOfAnswers?: true | undefined;
  /**
   * How an effort is said: `reasoning_effort`, `reasoning: {effort}`, `reasoning_effort` with a switch, or the switch
   * alone; absent where it cannot be.
   */
  readonly effort?: 'field' | 'object' | 'field-and-switch' | 'switch' | undefined;
  /** What switches thinking on and off. Beside other forms of an effort it is sent where a refusal demands it. */
  readonly thinkingSwitch?: ThinkingSwitch | undefined;
  /** The words it has for an effort, by rising amount. Where the id of the model says more, that counts. */
  readonly efforts: readonly EffortWord[];
  /**
   * Whether ids are those of the public API, whose generations that reason refuse `max_tokens` and settings of sampling
   * and whose others refuse an effort: `all` of them, `some`, where other ids say nothing, or `none`.
   */
  readonly publicIds: 'all' | 'some' | 'none';
  /** Whether streams tell their usage when `stream_options.include_usage` asks for it. */
  readonly takesIncludeUsage: boolean;
  /** Fields of every streamed request, where the client does not say them. */
  readonly streamFields?: JsonObject | undefined;
  /**
   * Whether a stream has a `finish_reason`. Where it has none, `[DONE]` ends it; elsewhere it was cut off:
   * proxies write `[DONE]` behind broken streams as well (QuantumNous/new-api, `OaiStreamHandler`).
   */
  readonly namesEnds: boolean;
  /** The most functions of one request; absent where none are too many, or nobody knows: then it says so itself. */
  readonly maxFunctions?: number | undefined;
  /** Whether functions may be strict. */
  readonly takesStrict: boolean;
  /**
   * The most it takes; `schema-alone` is `json_schema` without `json_object`, and `object-schema` a schema beside
   * `json_object`.
   */
  readonly responseFormat: 'json-schema' | 'schema-alone' | 'object-schema' | 'json-object';
  readonly takesParallelToolCalls: boolean;
  /** Whether a choice may be limited to some of the tools; else only those are offered. */
  readonly takesAllowedTools: boolean;
  /** Whether `n` may be more than 1. */
  readonly takesChoices: boolean;
  readonly takesLogprobs: boolean;
  readonly takesPenalties: boolean;
  readonly takesTopK: boolean;
  readonly takesServiceTier: boolean;
  /** What brings requests of one conversation to one cache. */
  readonly cacheKeyField?: 'prompt_cache_key' | 'session_id' | undefined;
  /** Whether `cache_control` of texts and tools says up to where the prompt is cached. */
  readonly takesCacheMarks: boolean;
  /** Of the fields that some services alone have, those that it takes; absent where it passes over the others. */
  readonly ownFields?: readonly string[] | undefined;
  /** Tools beside functions that it runs itself, each by its type or what that begins with; absent where nobody knows. */
  readonly ownTools?: readonly string[] | undefined;
  /** Whether models of the newer public generations take `verbosity` and tools of free text (`custom`). */
  readonly takesCustomTools: boolean;
  /** Whether `web_search_options` asks for a search of the web. */
  readonly takesWebSearch: boolean;
  readonly seedField?: 'seed' | 'random_seed' | undefined;
  /** How many stop sequences are taken. */
  readonly maxStops: number;
  /** Pictures by any address, or as data alone. */
  readonly images: 'any' | 'base64';
  readonly takesAudio: boolean;
  /** Whether documents may be sent as `file` parts. */
  readonly takesFiles: boolean;
  /** The form of the ids of tool calls: up to 40 characters, or exactly nine letters and digits. */
  readonly callIds: 'up-to-40' | 'nine';
  /** Models that it asks at endpoints of their own. */
  readonly mediaModels: MediaModels;
  /** Patterns of models that draw in a conversation, where `modalities` asks for it. */
  readonly drawsInChat: readonly string[];
  /** Fields of every request; they win over its own. */
  readonly extraBody: JsonObject;
}

/** openrouter.ai/docs, "Parameters", "Provider Routing", "Model Fallbacks", "Usage Accounting". */
const OPENROUTER_FIELDS = [
  ...['provider', 'models', 'route', 'transforms', 'plugins', 'preset', 'usage', 'session_id'],
  ...['trace', 'image_config', 'include_reasoning', 'min_p', 'top_a', 'repetition_penalty'],
];
/** `groq-sdk`, resources/chat/completions. */
const GROQ_FIELDS = [
  ...['include_reasoning', 'reasoning_format', 'documents', 'citation_options', 'search_settings'],
  ...['include_domains', 'exclude_domains', 'compound_custom', 'disable_tool_validation'],
];
/** The types of `mistralai` 3.7 (ChatCompletionStreamRequest); `prefix` is one of an assistant's message. */
const MISTRAL_FIELDS = [
  ...['safe_prompt', 'prompt_mode', 'guardrails', 'prefix', 'min_tokens', 'repetition_penalty'],
  ...['prompt_logprobs', 'top_prompt_logprobs'],
];
/** docs.x.ai, "Chat completions". */
const XAI_FIELDS = ['search_parameters', 'deferred'];
/** Of services without a profile, in the types of their SDKs: Cerebras, Together, Hugging Face. */
const OTHER_FIELDS = [
  ...['min_tokens', 'min_completion_tokens', 'disable_reasoning', 'clear_thinking'],
  ...['safety_model', 'context_length_exceeded_behavior', 'compliance', 'tool_prompt'],
  // Of vLLM, SGLang, NVIDIA's NIM and llama.cpp.
  'chat_template_kwargs',
];

/** Fields that no other service has: one that refuses unknown fields is sent its own alone. */
export const SERVICE_FIELDS: ReadonlySet<string> = new Set([
  ...[...OPENROUTER_FIELDS, ...GROQ_FIELDS, ...MISTRAL_FIELDS, ...XAI_FIELDS],
  ...OTHER_FIELDS,
]);

// Models of this wire that are asked at an endpoint of their own (pictures, recordings, speech), as data.

/** Of each kind the first entry that matches a model counts. */
interface MediaModels {
  readonly images: readonly ImageModels[];
  readonly transcriptions: readonly TranscriptionModels[];
  readonly speech: readonly SpeechModels[];
}

interface NamedModels {
  /** Patterns of model ids, in which `*` stands for any run of characters. */
  readonly names: readonly string[];
}

export interface ImageModels extends NamedModels {
  /** `<width>x<height>` each; `any` for all whose sides can be divided by 16, `none` where no size is taken. */
  readonly sizes: readonly string[] | 'any' | 'none';
  /** Words by rising quality; empty where none is taken. */
  readonly qualities: readonly string[];
  /** What else is taken, under the same names. */
  readonly details: readonly ImageDetail[];
  /** Whether `response_format` asks for the picture itself; others give nothing else. */
  readonly takesFormat: boolean;
  /** Whether pictures can be changed, too. */
  readonly edits: boolean;
  /** Whether unfinished pictures can be shown in a stream. */
  readonly streams: boolean;
}

export interface TranscriptionModels extends NamedModels {
  /** Of what it tells the times, as `verbose_json`, or as `diarized_json` where it tells speakers apart. */
  readonly tells: readonly Transcription['times'][];
  /** Whether there is an endpoint that translates into English as well. */
  readonly translates: boolean;
  readonly streams: boolean;
  /** Whether several languages and keywords have fields; else the first language has one, and keywords are in the prompt. */
  readonly takesLists: boolean;
  /** Whether `chunking_strategy` says how the recording is cut. */
  readonly takesChunking: boolean;
}

export interface SpeechModels extends NamedModels {
  /** What is asked for; samples are 16 bits, 24,000 a second. */
  readonly format: 'pcm' | 'wav';
  /** Where the client names none that is known here. */
  readonly voice: string;
  /** Whether `instructions` say how to speak. */
  readonly takesInstructions: boolean;
  /** Whether it comes as events, piece by piece. */
  readonly streams: boolean;
}

export type MediaModel =
  | { readonly kind: 'images'; readonly traits: ImageModels }
  | { readonly kind: 'transcriptions'; readonly traits: TranscriptionModels }
  | { readonly kind: 'speech'; readonly traits: SpeechModels };

const STANDARD_SIZES = ['1024x1024', '1536x1024', '1024x1536'];
const QUALITIES = ['low', 'medium', 'high'];
const DETAILS: readonly ImageDetail[] = [
  'background',
  'moderation',
  'output_format',
  'output_compression',
];
const GPT_IMAGE: Omit<ImageModels, 'names'> = {
  sizes: 'any',
  qualities: QUALITIES,
  details: DETAILS,
  takesFormat: false,
  edits: true,
  streams: true,
};
const GPT_TRANSCRIBE = {
  tells: [],
  translates: false,
  streams: true,
  takesChunking: true,
} as const;

/** What nothing is known of but its name. */
const PLAIN_IMAGES: Omit<ImageModels, 'names'> = {
  sizes: 'any',
  qualities: [],
  details: [],
  takesFormat: true,
  edits: true,
  streams: false,
};
const PLAIN_TRANSCRIPTIONS: Omit<TranscriptionModels, 'names'> = {
  tells: ['segments', 'words', 'speakers'],
  translates: true,
  streams: false,
  takesLists: false,
  takesChunking: false,
};
const PLAIN_SPEECH: Omit<SpeechModels, 'names'> = {
  format: 'wav',
  voice: 'alloy',
  takesInstructions: false,
  streams: false,
};

const NO_MEDIA_MODELS: MediaModels = { images: [], transcriptions: [], speech: [] };

/** Sources: the types of `openai` (resources/images, audio/transcriptions, audio/translations, audio/speech). */
const OPENAI_MEDIA_MODELS: MediaModels = {
  images: [
    {
      names: ['gpt-image-1*', 'chatgpt-image*'],
      ...GPT_IMAGE,
      sizes: STANDARD_SIZES,
      details: [...DETAILS, 'input_fidelity'],
    },
    { names: ['gpt-image-2', 'gpt-image-2-*'], ...GPT_IMAGE },
    {
      names: ['gpt-image-*'],
      ...GPT_IMAGE,
      qualities: [...QUALITIES, 'xhigh', 'max'],
      details: [...DETAILS, 'complexity', 'frame_count', 'frame_duration_ms'],
    },
    // Retired, but other servers have models of these names.
    {
      names: ['dall-e-3'],
      ...PLAIN_IMAGES,
      sizes: ['1024x1024', '1792x1024', '1024x1792'],
      qualities: ['standard', 'hd'],
      details: ['style'],
      edits: false,
    },
    { names: ['dall-e-2'], ...PLAIN_IMAGES, sizes: ['256x256', '512x512', '1024x1024'] },
  ],
  transcriptions: [
    { names: ['whisper*'], ...PLAIN_TRANSCRIPTIONS, tells: ['segments', 'words'] },
    { names: ['gpt-*diarize*'], ...GPT_TRANSCRIBE, tells: ['speakers'], takesLists: false },
    { names: ['gpt-transcribe*'], ...GPT_TRANSCRIBE, takesLists: true },
    { names: ['gpt-*transcribe*'], ...GPT_TRANSCRIBE, takesLists: false },
  ],
  speech: [
    { names: ['tts-1*'], ...PLAIN_SPEECH, format: 'pcm' },
    {
      names: ['gpt-*tts*'],
      ...PLAIN_SPEECH,
      format: 'pcm',
      takesInstructions: true,
      streams: true,
    },
  ],
};

type Compiled = readonly { readonly wildcards: readonly Wildcard[]; readonly model: MediaModel }[];

/** How a model is asked that has an endpoint of its own; undefined for one that takes part in conversations. */
function createMediaModelFinder(models: MediaModels): (modelId: string) => MediaModel | undefined {
  const compiled = compile(models);
  return remember(MAX_NAMES, (modelId) => findModel(compiled, modelId));
}

function compile({ images, transcriptions, speech }: MediaModels): Compiled {
  const models: readonly MediaModel[] = [
    ...images.map((traits) => ({ kind: 'images', traits }) as const),
    ...transcriptions.map((traits) => ({ kind: 'transcriptions', traits }) as const),
    ...speech.map((traits) => ({ kind: 'speech', traits }) as const),
  ];
  return models.map((model) => ({ wildcards: model.traits.names.map(createWildcard), model }));
}

/** With the vendor before it, or without: `openai/gpt-image-2`. */
function findModel(compiled: Compiled, modelId: string): MediaModel | undefined {
  const id = foldCase(modelId);
  const names = [id, id.replace(/^.*\//, '')];
  const found = compiled.find(({ wildcards }) =>
    wildcards.some((wildcard) => names.some((name) => wildcard.matches(name))),
  );
  return found?.model;
}

// The services.

/**
 * Sources: the types of `openai` (resources/chat/completions); platform.openai.com, "Reasoning models". Its refusal of too
 * many functions is `array_above_max_length`.
 */
const OPENAI: ChatQuirks = {
  limitField: 'max_completion_tokens',
  instructionsRole: 'developer',
  takesNames: true,
  takesResultNames: false,
  takesSystemTurns: true,
  takesNullContent: true,
  effort: 'field',
  efforts: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'],
  publicIds: 'all',
  takesIncludeUsage: true,
  namesEnds: true,
  maxFunctions: 128,
  takesStrict: true,
  responseFormat: 'json-schema',
  takesParallelToolCalls: true,
  takesAllowedTools: true,
  takesChoices: true,
  takesLogprobs: true,
  takesPenalties: true,
  takesTopK: false,
  takesServiceTier: true,
  cacheKeyField: 'prompt_cache_key',
  takesCacheMarks: false,
  ownFields: [],
  ownTools: [],
  takesCustomTools: true,
  takesWebSearch: true,
  seedField: 'seed',
  maxStops: 4,
  images: 'any',
  takesAudio: true,
  takesFiles: true,
  callIds: 'up-to-40',
  mediaModels: OPENAI_MEDIA_MODELS,
  drawsInChat: [],
  extraBody: {},
};

/** What most compatible servers take, in the fields they have had for longest. */
const COMPATIBLE: ChatQuirks = {
  ...OPENAI,
  limitField: 'max_tokens',
  instructionsRole: 'system',
  efforts: ['none', 'minimal', 'low', 'medium', 'high'],
  publicIds: 'none',
  maxFunctions: undefined,
  takesStrict: false,
  takesAllowedTools: false,
  takesServiceTier: false,
  cacheKeyField: undefined,
  ownFields: undefined,
  takesCustomTools: false,
  takesWebSearch: false,
  takesFiles: false,
};

/**
 * A service of which nothing is known: a proxy of the public API, Azure, or one with models of its own. Some refuse any
 * other name for thoughts than their own ("property 'messages.2.assistant.reasoning_content' is unsupported",
 * Kilo-Org/kilocode#10375), some a call without them ("The `reasoning_content` in the thinking mode must be passed back
 * to the API", can1357/oh-my-pi#787).
 */
const UNNAMED: ChatQuirks = {
  ...COMPATIBLE,
  publicIds: 'some',
  // Of Qwen as well.
  thinkingSwitch: {
    on: TYPE_SWITCH.on,
    off: { ...TYPE_SWITCH.off, enable_thinking: false },
  },
  sendsReasoning: 'as-told',
  ownTools: undefined,
};

/** Servers that put models' own chat templates to use, many of which refuse instructions that do not come first. */
const LOCAL: ChatQuirks = {
  ...COMPATIBLE,
  takesResultNames: true,
  takesSystemTurns: false,
  mediaModels: NO_MEDIA_MODELS,
};

/**
 * What services and servers document to do differently. An operator chooses one by name; nothing here looks at
 * addresses or models.
 */
const QUIRK_PRESETS = {
  /**
   * openrouter.ai/docs, "Reasoning Tokens": `reasoning: {effort, max_tokens}` with the words from none to xhigh,
   * thoughts in `reasoning` and `reasoning_details`, whose sequence goes back as it came; "Parameters": top_k,
   * strict tools, `file` parts; "Image Generation": models draw in the conversation; "Prompt Caching": marks; "Server
   * Tools".
   */
  openrouter: {
    ...COMPATIBLE,
    ownTools: ['openrouter:'],
    cacheKeyField: 'session_id',
    takesCacheMarks: true,
    mediaModels: NO_MEDIA_MODELS,
    drawsInChat: ['*-image*', '*/flux*', '*/seedream*'],
    effort: 'object',
    efforts: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'],
    sendsReasoning: 'reasoning_details',
    takesStrict: true,
    takesTopK: true,
    takesFiles: true,
  },
  /**
   * LiteLLM's proxy, seen with 1.105.7 in front of a service of this wire: strict schemas go on to it, and thoughts come and
   * go as `reasoning_content`. docs.litellm.ai, "Using PDF Input": `file` parts; "Prompt Caching": marks.
   */
  litellm: {
    ...COMPATIBLE,
    takesCacheMarks: true,
    sendsReasoning: 'reasoning_content',
    takesStrict: true,
    takesFiles: true,
  },
  /**
   * console.groq.com/docs/openai: logprobs, top_logprobs, logit_bias and messages[].name are a 400, n must be 1, and
   * of other services' fields it says "property … is unsupported".
   * console.groq.com/docs/reasoning: `reasoning_effort`, thoughts in `reasoning`. /docs/speech-to-text: Whisper, with
   * times; /docs/text-to-speech: WAV alone. /docs/browser-search, /docs/code-execution: tools of its own.
   */
  groq: {
    ...COMPATIBLE,
    ownTools: ['browser_search', 'code_interpreter'],
    mediaModels: {
      images: [],
      transcriptions: [{ names: ['whisper*', 'distil-whisper*'], ...PLAIN_TRANSCRIPTIONS }],
      speech: [
        { names: ['playai-tts*'], ...PLAIN_SPEECH, voice: 'Fritz-PlayAI' },
        { names: ['orpheus*'], ...PLAIN_SPEECH, voice: 'troy' },
      ],
    },
    limitField: 'max_completion_tokens',
    takesNames: false,
    // Its API reference, "Create chat completion".
    maxFunctions: 128,
    ownFields: GROQ_FIELDS,
    efforts: ['none', 'low', 'medium', 'high'],
    sendsReasoning: 'reasoning',
    takesChoices: false,
    takesLogprobs: false,
    takesAudio: false,
  },
  /**
   * docs.mistral.ai/api: `random_seed`; `stream_options` with `stream_tool_calls` as its own coding client sends it
   * (`mistral-vibe` 3.0). Ids of
   * calls are nine letters and digits: "Tool call id was … but must be a-z, A-Z, 0-9, with a length of 9"
   * (langchain-ai/langchain#24668, anomalyco/opencode#1680). Fields it does not know are a 422, "extra_forbidden"
   * (BerriAI/litellm#30882). "Audio & Transcription": `/audio/transcriptions`.
   */
  mistral: {
    ...COMPATIBLE,
    mediaModels: {
      ...NO_MEDIA_MODELS,
      transcriptions: [
        {
          names: ['voxtral-*transcribe*'],
          ...PLAIN_TRANSCRIPTIONS,
          translates: false,
          streams: true,
        },
      ],
    },
    takesResultNames: true,
    // mistralai/mistral-common: "Unexpected role 'system' after role 'user'".
    takesSystemTurns: false,
    efforts: ['none', 'high'],
    ownFields: [...MISTRAL_FIELDS, 'metadata', 'stream_options.stream_tool_calls'],
    // docs.mistral.ai, "Reasoning".
    takesThinkingParts: true,
    takesStrict: true,
    takesTopK: true,
    takesLogprobs: false,
    takesAudio: false,
    seedField: 'random_seed',
    callIds: 'nine',
  },
  /**
   * api-docs.deepseek.com/guides/thinking_mode: the switch `thinking: {type}`, efforts low, high and max, and
   * `reasoning_content`, which has to come back, as an empty text too, of every turn of a request with tools
   * (openclaw/openclaw#73417); /api/create-chat-completion: `max_tokens`, up to 16 stop sequences and 128
   * functions, `json_object` alone, roles system, user, assistant and tool; /guides/vision: pictures by data or address, of
   * some models.
   */
  deepseek: {
    ...COMPATIBLE,
    mediaModels: NO_MEDIA_MODELS,
    effort: 'field-and-switch',
    thinkingSwitch: TYPE_SWITCH,
    efforts: ['none', 'low', 'high', 'max'],
    sendsReasoning: 'reasoning_content',
    wantsReasoning: '',
    wantsReasoningOfAnswers: true,
    maxFunctions: 128,
    responseFormat: 'json-object',
    takesParallelToolCalls: false,
    takesChoices: false,
    seedField: undefined,
    maxStops: 16,
    takesAudio: false,
  },
  /**
   * platform.kimi.ai/docs: `max_completion_tokens`, efforts low, high and max (Kimi K3), one answer, pictures as data,
   * thoughts in `reasoning_content`, without which a call is refused in a tool loop: "thinking is enabled but
   * reasoning_content is missing in assistant tool call message", of an empty one too (earendil-works/pi#4251). Kimi K2
   * has `thinking: {type}` in place of efforts (can1357/oh-my-pi#1077). "Web Search": `builtin_function`.
   */
  moonshot: {
    ...COMPATIBLE,
    ownTools: ['builtin_function'],
    mediaModels: NO_MEDIA_MODELS,
    limitField: 'max_completion_tokens',
    efforts: ['low', 'high', 'max'],
    thinkingSwitch: TYPE_SWITCH,
    sendsReasoning: 'reasoning_content',
    wantsReasoning: '(not kept)',
    takesChoices: false,
    takesLogprobs: false,
    images: 'base64',
    takesAudio: false,
  },
  /**
   * docs.z.ai, "Chat Completion": one stop sequence, `json_object` alone; "Thinking Mode": `thinking: {type}`, thoughts
   * in `reasoning_content`, which come back in a tool loop. "Deep Thinking": `reasoning_effort` in low, high and max, and
   * GLM-5.3 refuses any other word and to be switched off. "Tool Streaming Output": without `tool_stream` a stream is
   * silent until the arguments of a call are complete.
   */
  zai: {
    ...COMPATIBLE,
    ownTools: ['web_search', 'retrieval'],
    mediaModels: NO_MEDIA_MODELS,
    effort: 'field-and-switch',
    thinkingSwitch: TYPE_SWITCH,
    efforts: ['none', 'low', 'high', 'max'],
    sendsReasoning: 'reasoning_content',
    streamFields: { tool_stream: true },
    responseFormat: 'json-object',
    takesParallelToolCalls: false,
    takesChoices: false,
    takesLogprobs: false,
    takesPenalties: false,
    seedField: undefined,
    maxStops: 1,
    takesAudio: false,
  },
  /**
   * platform.minimax.io/docs/api-reference/text-openai-api: `max_completion_tokens`, one answer, no penalties and no
   * logit_bias; `reasoning_split`, without which thoughts stand in the text as `<think>`, and `reasoning_details`, which
   * come back; /text-chat-openai: `thinking: {type}`, adaptive or disabled. Instructions in mid-conversation are a 400
   * ("chat content has invalid message role: system", BigPizzaV3/CodexPlusPlus#267).
   */
  minimax: {
    ...COMPATIBLE,
    ownTools: [],
    mediaModels: NO_MEDIA_MODELS,
    limitField: 'max_completion_tokens',
    takesSystemTurns: false,
    effort: 'switch',
    thinkingSwitch: { on: { thinking: { type: 'adaptive' } }, off: TYPE_SWITCH.off },
    sendsReasoning: 'reasoning_details',
    takesChoices: false,
    takesLogprobs: false,
    takesPenalties: false,
    takesAudio: false,
    extraBody: { reasoning_split: true },
  },
  /**
   * help.aliyun.com, Model Studio, "Deep thinking": `enable_thinking`, thoughts in `reasoning_content`; "OpenAI compatible
   * - Chat": top_k, one answer of a model that thinks.
   */
  qwen: {
    ...COMPATIBLE,
    mediaModels: NO_MEDIA_MODELS,
    takesSystemTurns: false,
    effort: 'switch',
    thinkingSwitch: { on: { enable_thinking: true }, off: { enable_thinking: false } },
    sendsReasoning: 'as-told',
    takesChoices: false,
    takesTopK: true,
  },
  /**
   * docs.x.ai, "Reasoning": presence_penalty, frequency_penalty and stop are refused by models that reason, which
   * most are now; thoughts in `reasoning_content`. The gateway cuts at stop sequences itself. "Image Generations":
   * "quality, size or style are not supported".
   */
  xai: {
    ...COMPATIBLE,
    mediaModels: {
      ...NO_MEDIA_MODELS,
      images: [{ names: ['grok-*image*'], ...PLAIN_IMAGES, sizes: 'none', edits: false }],
    },
    limitField: 'max_completion_tokens',
    efforts: ['none', 'low', 'medium', 'high'],
    takesStrict: true,
    takesPenalties: false,
    maxStops: 0,
    takesAudio: false,
  },
  /**
   * docs.vllm.ai, "OpenAI-Compatible Server": top_k among the extra parameters, `chat_template_kwargs`; "Reasoning
   * Outputs": `reasoning`, which was called `reasoning_content`, and `enable_thinking` of the template; "Transcriptions
   * API", "Translations API": Whisper.
   */
  vllm: {
    ...LOCAL,
    mediaModels: {
      ...NO_MEDIA_MODELS,
      transcriptions: [{ names: ['*whisper*'], ...PLAIN_TRANSCRIPTIONS, streams: true }],
    },
    effort: 'switch',
    thinkingSwitch: TEMPLATE_SWITCH,
    sendsReasoning: 'reasoning',
    takesTopK: true,
  },
  /**
   * ggml-org/llama.cpp, tools/server/README.md: `chat_template_kwargs` with `enable_thinking`, `reasoning_content`,
   * `response_format` with a schema; one answer a request.
   */
  'llama.cpp': {
    ...LOCAL,
    effort: 'switch',
    thinkingSwitch: TEMPLATE_SWITCH,
    sendsReasoning: 'reasoning_content',
    takesChoices: false,
    takesTopK: true,
  },
  /**
   * Its server, seen with 0.3.36: null for a content and `json_schema` are a 500, a schema stands beside
   * `json_object`; n, parallel_tool_calls, efforts and a demand for any tool are passed over, and streams tell no usage.
   */
  'llama-cpp-python': {
    ...LOCAL,
    takesNullContent: false,
    effort: undefined,
    takesIncludeUsage: false,
    responseFormat: 'object-schema',
    takesParallelToolCalls: false,
    takesChoices: false,
    takesTopK: true,
    takesAudio: false,
  },
  /**
   * lmstudio.ai/docs/developer/openai-compat/chat-completions: model, top_p, top_k, messages, temperature,
   * max_tokens, stream, stop, both penalties, logit_bias, seed; "Structured Output": json_schema, which is the only
   * format beside text.
   */
  'lm-studio': {
    ...LOCAL,
    effort: undefined,
    responseFormat: 'schema-alone',
    takesParallelToolCalls: false,
    takesChoices: false,
    takesLogprobs: false,
    takesTopK: true,
    images: 'base64',
    takesAudio: false,
  },
  /**
   * docs.ollama.com/api/openai-compatibility, "Supported request fields": no n and no parallel_tool_calls;
   * `reasoning_effort` in high, medium, low, none, and thoughts in `reasoning`.
   */
  ollama: {
    ...LOCAL,
    efforts: ['none', 'low', 'medium', 'high'],
    sendsReasoning: 'reasoning',
    takesParallelToolCalls: false,
    takesChoices: false,
    images: 'base64',
    takesAudio: false,
  },
} as const satisfies Readonly<Record<string, ChatQuirks>>;

export type QuirkPreset = keyof typeof QUIRK_PRESETS;

/** What an operator may say of an upstream of this wire. */
interface ChatProfileOptions {
  readonly id?: string | undefined;
  readonly version?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly paths?: Partial<ChatPaths> | undefined;
  readonly query?: Readonly<Record<string, string>> | undefined;
  readonly auth?: ChatProfile['auth'] | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** A preset, the fields that differ, or both. */
  readonly quirks?:
    | QuirkPreset
    | (Partial<ChatQuirks> & { readonly preset?: QuirkPreset })
    | undefined;
  /** Patterns of models that have endpoints of their own, beside those that are known. */
  readonly endpoints?: EndpointModels | undefined;
}

export interface EndpointModels {
  readonly images?: readonly string[] | undefined;
  readonly transcriptions?: readonly string[] | undefined;
  readonly speech?: readonly string[] | undefined;
}

/** Azure's addresses fit as well: `paths.chat` `/openai/deployments/{model}/chat/completions`, `query` `api-version`. */
const PATHS: ChatPaths = {
  chat: '/chat/completions',
  models: '/models',
  embeddings: '/embeddings',
  images: '/images/generations',
  edits: '/images/edits',
  transcriptions: '/audio/transcriptions',
  translations: '/audio/translations',
  speech: '/audio/speech',
};

/** The public API. */
export function createOpenAiProfile(options: ChatProfileOptions = {}): ChatProfile {
  const { id = 'openai', baseUrl = 'https://api.openai.com/v1' } = options;
  return createProfile({ ...options, id, baseUrl }, OPENAI);
}

/** Any service or server that speaks the wire. */
export function createCompatibleProfile(
  options: ChatProfileOptions & { readonly baseUrl: string },
): ChatProfile {
  return createProfile({ ...options, id: options.id ?? 'openai-compatible' }, UNNAMED);
}

function createProfile(
  options: ChatProfileOptions & { readonly id: string; readonly baseUrl: string },
  usual: ChatQuirks,
): ChatProfile {
  const { id, version, baseUrl, paths, query = {}, auth = 'bearer', headers = {} } = options;
  const quirks = withEndpoints(quirksOf(options.quirks, usual), options.endpoints);
  return {
    id,
    baseUrl: trimBaseUrl(baseUrl),
    userAgent: userAgentOf(version),
    paths: { ...PATHS, ...paths },
    query,
    auth,
    headers,
    quirks,
    findMediaModel: createMediaModelFinder(quirks.mediaModels),
  };
}

/** An empty list says that the upstream has no such endpoint. */
function withEndpoints(quirks: ChatQuirks, endpoints: EndpointModels | undefined): ChatQuirks {
  if (endpoints === undefined) return quirks;
  const { mediaModels } = quirks;
  const put = <Traits>(
    known: readonly Traits[],
    names: readonly string[] | undefined,
    plain: Omit<Traits, 'names'>,
  ) => (names?.length === 0 ? [] : [...known, ...(names ? [{ names, ...plain }] : [])]);
  return {
    ...quirks,
    mediaModels: {
      images: put(mediaModels.images, endpoints.images, PLAIN_IMAGES),
      transcriptions: put(
        mediaModels.transcriptions,
        endpoints.transcriptions,
        PLAIN_TRANSCRIPTIONS,
      ),
      speech: put(mediaModels.speech, endpoints.speech, PLAIN_SPEECH),
    },
  };
}

function quirksOf(said: ChatProfileOptions['quirks'], usual: ChatQuirks): ChatQuirks {
  if (said === undefined) return usual;
  if (typeof said === 'string') return QUIRK_PRESETS[said];
  const { preset, ...changed } = said;
  return { ...(preset === undefined ? usual : QUIRK_PRESETS[preset]), ...changed };
}
