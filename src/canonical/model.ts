// What a model can do, as far as a translation has to know. Rules ask for capabilities, never for names.

import type { Effort, ImageOptions } from './request.ts';

/** What a model can be asked for: answers, or vectors of what it is given. */
export type ModelTask = 'generate' | 'embed';

export interface ModelCapabilities {
  /** Largest accepted prompt, in tokens. */
  readonly inputTokenLimit: number;
  /** Largest accepted `maxOutputTokens`. */
  readonly outputTokenLimit: number;
  readonly thinking: ThinkingCapability;
  /** How unsigned tool calls of the current turn are met by the upstream. */
  readonly unsignedCalls: 'accepted' | 'sentinel' | 'refused';
  /** Which models accept each other's signatures: models of one family do. */
  readonly signatureFamily: string;
  /** False for models that refuse function declarations. */
  readonly callsFunctions: boolean;
  /** True when instructions stand apart from the conversation; else they are part of it. */
  readonly takesInstructions: boolean;
  /** True when search and function declarations may stand in one request. */
  readonly searchWithFunctions: boolean;
  /** Whether an output format may be asked for: beside tools (functions or built-in ones), without them, not at all. */
  readonly outputFormats: 'everywhere' | 'without-tools' | 'nowhere';
  /** True when schemas may also be given as JSON Schema, which has words for objects of free member names. */
  readonly takesJsonSchema: boolean;
  /** True when a function response may hold media parts; else the media stands beside it. */
  readonly mediaInFunctionResponse: boolean;
  /** True when one request may ask for several answers; else each of them is a request of its own. */
  readonly severalAnswers: boolean;
  /** True when the model draws images. */
  readonly drawsImages: boolean;
}

export type ThinkingCapability =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'budget';
      readonly minTokens: number;
      readonly maxTokens: number;
      /** False when a budget of 0 is refused. */
      readonly canDisable: boolean;
    }
  | {
      readonly kind: 'level';
      /** Accepted levels by rising amount, in the upstream's own words. */
      readonly levels: readonly ThinkingLevel[];
    };

export type ThinkingLevel = 'MINIMAL' | 'LOW' | 'MEDIUM' | 'HIGH';

/** What the requested model name asks for beside the model itself; the request's own fields win. */
export interface ModelVariant {
  readonly effort?: Effort | undefined;
  readonly thinking?: 'on' | undefined;
  readonly webSearch: boolean;
  readonly image?: ImageOptions | undefined;
}
