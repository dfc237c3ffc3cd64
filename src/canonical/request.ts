// The request every client protocol is read into and every upstream is encoded from.

import type { JsonObject } from '../lib/json.ts';
import type { CacheHint } from './cache-hint.ts';
import type { Reasoning } from './effort.ts';
import type { ImageDetails, ImageOptions } from './image-options.ts';
import type { ClientNames } from './receipt.ts';
import type { SpokenText, Transcription } from './sound.ts';
import type { UserLocation } from './user-location.ts';

/** Invariants after the transforms ran: turns alternate user/assistant, start with user, hold no empty part. */
export interface CanonicalRequest {
  /** Instructions that stand before the conversation, in order. */
  readonly system: readonly TextPart[];
  readonly turns: readonly Turn[];
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice;
  /** False when the client wants at most one tool call an answer. */
  readonly parallelToolCalls?: boolean | undefined;
  readonly sampling: Sampling;
  /** Tokens, thinking included; absent when the client set no limit. */
  readonly maxOutputTokens?: number | undefined;
  readonly stopSequences: readonly string[];
  /** Number of alternative answers, at least 1. */
  readonly choices: number;
  readonly reasoning: Reasoning;
  readonly outputFormat: OutputFormat;
  /** What the answer may consist of; absent means text. */
  readonly outputModalities?: readonly OutputModality[] | undefined;
  readonly image?: ImageOptions | undefined;
  readonly imageDetails?: ImageDetails | undefined;
  /** Whether the client demands a picture: a model that draws none cannot answer. */
  readonly mustDraw?: boolean | undefined;
  /** How many unfinished pictures the client wants to see at most; absent means none. */
  readonly imageDrafts?: number | undefined;
  /** How to speak, in the words of the generate-content wire. */
  readonly speech?: JsonObject | undefined;
  /** Present where the last turn is a text to be spoken. */
  readonly spoken?: SpokenText | undefined;
  /** Present where a recording is to be written down: models that do nothing else have no use for the words of the turn. */
  readonly transcription?: Transcription | undefined;
  readonly mediaResolution?: MediaResolution | undefined;
  readonly safety: readonly SafetySetting[];
  readonly cachedContent?: string | undefined;
  /** In the client's own word: protocols have different ones. */
  readonly serviceTier?: string | undefined;
  /** Under which a service that asks for one caches what requests begin with. */
  readonly cacheKey?: string | undefined;
  /** `low`, `high` or another word of OpenAI's; absent for the usual length. */
  readonly verbosity?: string | undefined;
  /** True when the oldest turns may be left out of a conversation larger than the model takes. */
  readonly dropsOldest?: true | undefined;
  /** What the client calls the fields that receipts and errors name. */
  readonly clientNames?: ClientNames | undefined;
}

/** What errors and receipts may speak of. */
interface Placed {
  /** Path of it in the client's own request, such as `tools[2]`. */
  readonly path?: string | undefined;
}

/** Of a conversation that is relayed: what it was read from, which goes up as it came where no rule changes it. */
interface Relayed {
  readonly native?: JsonObject | undefined;
}

/** `system` turns are instructions given in mid-conversation; they keep their place. */
export type Turn =
  | ({ readonly role: 'user'; readonly parts: readonly Part[] } & Relayed)
  | ({ readonly role: 'assistant'; readonly parts: readonly Part[] } & Relayed)
  | { readonly role: 'system'; readonly parts: readonly TextPart[] };

export type Part =
  | TextPart
  | ThinkingPart
  | RedactedThinkingPart
  | MediaPart
  | ToolCallPart
  | ToolResultPart
  | ServerToolCallPart
  | ServerToolResultPart
  | CodePart
  | CodeResultPart;

export interface TextPart extends Relayed {
  readonly kind: 'text';
  readonly text: string;
  readonly signature?: Signature | undefined;
  /** The client asked to cache the prompt up to this part. */
  readonly cacheHint?: CacheHint | undefined;
}

export interface ThinkingPart {
  readonly kind: 'thinking';
  /** May be empty: the client was given the signature only. */
  readonly text: string;
  readonly signature?: Signature | undefined;
}

/** Thinking only its issuer can read. */
interface RedactedThinkingPart {
  readonly kind: 'redacted-thinking';
  readonly payload: string;
}

export const MODALITIES = ['image', 'audio', 'video', 'document'] as const;
export type Modality = (typeof MODALITIES)[number];

export interface MediaPart {
  readonly kind: 'media';
  readonly modality: Modality;
  /** IANA media type; absent only for a URL whose type the client did not say. */
  readonly mediaType?: string | undefined;
  readonly source: MediaSource;
  readonly resolution?: MediaResolution | undefined;
  readonly signature?: Signature | undefined;
  readonly cacheHint?: CacheHint | undefined;
  /** True for a picture that says where the first one of its turn may be changed. */
  readonly isMask?: true | undefined;
}

export type MediaSource =
  | { readonly kind: 'base64'; readonly base64: string }
  | ({ readonly kind: 'url'; readonly url: string } & Placed)
  /** A file stored with the upstream, by its address there. */
  | ({ readonly kind: 'file'; readonly uri: string } & Placed);

export interface ToolCallPart extends Relayed {
  readonly kind: 'tool-call';
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
  readonly signature?: Signature | undefined;
  readonly trace?: ServerToolHistory | undefined;
}

/** What an upstream did by itself before it called a client's tool. Sent back before the call, unchanged. */
export interface ServerToolHistory {
  /** The family of the model that wrote and signed it. */
  readonly family: string;
  /** Parts of the upstream's wire, in order; never empty. */
  readonly parts: readonly JsonObject[];
}

export interface ToolResultPart extends Relayed, Placed {
  readonly kind: 'tool-result';
  readonly callId: string;
  /** Absent when the protocol names results by id only; filled from the call. */
  readonly name?: string | undefined;
  readonly content: readonly ToolResultContent[];
  readonly isError: boolean;
  readonly cacheHint?: CacheHint | undefined;
}

export type ToolResultContent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'json'; readonly value: JsonObject }
  | MediaPart;

/** A tool the provider ran itself, seen in history. */
interface ServerToolCallPart {
  readonly kind: 'server-tool-call';
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
}

export interface ServerToolResultPart {
  readonly kind: 'server-tool-result';
  readonly callId: string;
  readonly name: string;
  /** The result as readable text. */
  readonly text: string;
}

export interface CodePart {
  readonly kind: 'code';
  readonly id?: string | undefined;
  readonly language: string;
  readonly code: string;
  readonly signature?: Signature | undefined;
}

export interface CodeResultPart {
  readonly kind: 'code-result';
  readonly id?: string | undefined;
  readonly outcome: 'ok' | 'failed' | 'timeout';
  readonly output: string;
  readonly signature?: Signature | undefined;
}

/** Opaque proof of a model's thinking, valid for its family and the kind of part it stood on. */
export interface Signature {
  readonly value: string;
  /** The issuing model family; absent when the client handed over a bare value. */
  readonly family?: string | undefined;
  /** The kind of part the upstream put it on. */
  readonly on?: 'thinking' | 'text' | 'tool-call' | 'media' | undefined;
}

export type Tool = (
  | FunctionTool
  | FreeformTool
  | {
      readonly kind: 'web-search';
      readonly allowedDomains?: readonly string[] | undefined;
      readonly blockedDomains?: readonly string[] | undefined;
      readonly userLocation?: UserLocation | undefined;
    }
  | { readonly kind: 'url-context' }
  | { readonly kind: 'code-execution' }
) &
  Placed;

export interface FunctionTool extends Placed {
  readonly kind: 'function';
  readonly name: string;
  readonly description?: string | undefined;
  /** JSON Schema of the arguments as the client sent it; absent for a tool without arguments. */
  readonly parameters?: JsonObject | boolean | undefined;
  /** Path of that schema in the client's own request. */
  readonly parametersPath?: string | undefined;
  readonly strict?: boolean | undefined;
  /** Members every call of this tool is shown with, and their values where the model left them out. */
  readonly shownDefaults?: JsonObject | undefined;
}

/** A tool that takes free text instead of arguments. */
export interface FreeformTool extends Placed {
  readonly kind: 'freeform';
  readonly name: string;
  readonly description?: string | undefined;
  readonly grammar?: { readonly syntax: string; readonly definition: string } | undefined;
}

/** `names` limits the choice to these tools; empty means all of them. */
export type ToolChoice = (
  | { readonly kind: 'none' }
  /** `validated`: calls are optional, but must match their schema. */
  | { readonly kind: 'auto' | 'required' | 'validated'; readonly names: readonly string[] }
) & {
  /** Absent: none beside `none` and `names`, else all. Without `names` they are the only tools allowed. */
  readonly serverTools?: readonly ServerToolKind[] | undefined;
};

export type ServerToolKind = Exclude<Tool['kind'], 'function' | 'freeform'>;

export interface Sampling {
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly topK?: number | undefined;
  readonly seed?: number | undefined;
  readonly presencePenalty?: number | undefined;
  readonly frequencyPenalty?: number | undefined;
  /** Log-probabilities of the chosen tokens and of this many alternatives. */
  readonly logprobs?: { readonly alternatives: number } | undefined;
}

export type OutputFormat =
  | { readonly kind: 'text' }
  | { readonly kind: 'json' }
  | {
      readonly kind: 'json-schema';
      readonly name?: string | undefined;
      readonly schema: JsonObject | boolean;
      readonly strict?: boolean | undefined;
      /** True where answers have no other members than the schema declares, which has no word for it. */
      readonly isClosed?: true | undefined;
    }
  | { readonly kind: 'enum'; readonly schema: JsonObject };

export type OutputModality = 'text' | 'image' | 'audio';

export type MediaResolution = 'low' | 'medium' | 'high';

interface SafetySetting {
  readonly category: string;
  readonly threshold: string;
}
