// What a model can do, as far as a translation has to know. Rules ask for capabilities, never for names.

import type { Effort, ThinkingCapability } from './effort.ts';
import type { ImageDetail, ImageOptions } from './image-options.ts';
import type { Modality, ServerToolKind } from './request.ts';

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
  /** True when instructions may also stand in mid-conversation; absent where they become marked user text there. */
  readonly takesSystemTurns?: boolean | undefined;
  /** True when the upstream can be told to call one function at a time; absent where only the model is told. */
  readonly takesSerialCalls?: boolean | undefined;
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
  /** True where a client's own body may not ask for several either; absent where the upstream judges that. */
  readonly relaysOneAnswer?: true | undefined;
  readonly drawsImages: boolean;
  /** True when a mask has a place of its own; else the model is told what it is. */
  readonly takesMasks?: true | undefined;
  /** Details that can be asked of a drawing; absent for none. */
  readonly imageDetails?: readonly ImageDetail[] | undefined;
  /** True when it can be said how a recording is cut before it is written down. */
  readonly takesChunking?: true | undefined;
  /** True for a model with a request form of its own, to which no client's body is relayed. */
  readonly hasOwnForm?: true | undefined;
  /** True where tools of free text are unknown: a client's body that has some is not relayed. */
  readonly refusesFreeText?: true | undefined;
  /** True when a search can be given domains and a place; else the model is told. */
  readonly searchSettings?: true | undefined;
  /** True when names of tools may have letters, digits, `_` and `-` alone. */
  readonly plainToolNames?: true | undefined;
  /** True where a mark of the client says up to where the prompt is cached; else it says nothing. */
  readonly takesCacheMarks?: boolean | undefined;
  /** Media that cannot be shown to it; absent where it is not known to refuse any. */
  readonly refusesMedia?: readonly Modality[] | undefined;
  /** Tools that its upstream runs for it; absent where nobody knows. */
  readonly serverTools?: readonly ServerToolKind[] | undefined;
  /** True when a format can be asked for, but no schema of it: the model is told that. */
  readonly refusesSchemas?: true | undefined;
  /** True for a model that does not go on from its own words. */
  readonly refusesPrefill?: true | undefined;
  /** True for a model that gives no log-probabilities: asked for them, it does without or refuses the request. */
  readonly refusesLogprobs?: true | undefined;
  /** True where its upstream has no call that counts tokens. */
  readonly countsNoTokens?: true | undefined;
  /** True for a model that never answers aloud. */
  readonly refusesSpeech?: true | undefined;
}

/** What the requested model name asks for beside the model itself; the request's own fields win. */
export interface ModelVariant {
  readonly effort?: Effort | undefined;
  readonly thinking?: 'on' | undefined;
  readonly webSearch: boolean;
  readonly image?: ImageOptions | undefined;
}

/** A model as the upstream's own list describes it; absent figures are unknown. */
export interface UpstreamModel {
  readonly id: string;
  readonly displayName?: string | undefined;
  readonly description?: string | undefined;
  readonly inputTokenLimit?: number | undefined;
  readonly outputTokenLimit?: number | undefined;
  readonly supportsThinking?: boolean | undefined;
  readonly refusesMedia?: readonly Modality[] | undefined;
  readonly callsFunctions?: boolean | undefined;
  readonly refusesSchemas?: true | undefined;
  readonly refusesLogprobs?: true | undefined;
  readonly tasks?: readonly ModelTask[] | undefined;
}

/** A model as the listing endpoints show it. */
export interface ListedModel {
  readonly id: string;
  readonly displayName: string;
  readonly description: string;
  /** Seconds since the epoch; constant for one release of the catalogue. */
  readonly createdAt: number;
  /** Undefined where neither the upstream nor the catalogue tells: clients then go by what they know. */
  readonly inputTokenLimit: number | undefined;
  readonly outputTokenLimit: number | undefined;
  readonly supportsThinking: boolean;
  readonly drawsImages: boolean;
  readonly tasks: readonly ModelTask[];
}

/** The methods of each task; the prefix of the path is the model's own. */
const METHODS: Readonly<Record<ModelTask, readonly string[]>> = {
  generate: ['generateContent', 'streamGenerateContent', 'countTokens'],
  embed: ['embedContent', 'batchEmbedContents', 'countTokens'],
};

/** What the parsers of the Chat and of the Messages protocol both need: three protocols share a path. */
export function writeListElement(model: ListedModel) {
  return {
    id: model.id,
    object: 'model' as const,
    created: model.createdAt,
    owned_by: 'isthmus',
    type: 'model' as const,
    display_name: model.displayName,
    created_at: new Date(model.createdAt * 1000).toISOString().replace('.000Z', 'Z'),
  };
}

/** Taken where nobody tells a limit, and told to Generate-Content clients, who are promised both of every model. */
export const UNTOLD_LIMITS = { inputTokenLimit: 1_048_576, outputTokenLimit: 65_536 };

/** What the generate-content protocol shows of a model (Gemini API: models.list). */
export function writeNativeElement(model: ListedModel) {
  return {
    name: `models/${model.id}`,
    displayName: model.displayName,
    description: model.description,
    inputTokenLimit: model.inputTokenLimit ?? UNTOLD_LIMITS.inputTokenLimit,
    outputTokenLimit: model.outputTokenLimit ?? UNTOLD_LIMITS.outputTokenLimit,
    supportedGenerationMethods: [...new Set(model.tasks.flatMap((task) => METHODS[task]))],
    thinking: model.supportsThinking,
  };
}

/** The members of a list beside its `data`; `hasMore` tells of more in the direction of paging. */
export function writeListFrame(page: readonly ListedModel[], hasMore: boolean) {
  return {
    object: 'list' as const,
    has_more: hasMore,
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  };
}

/** Largest page that is handed out. */
const MAX_LIMIT = 1000;

/** Without `limit` the page is the whole list, so that clients which never page see everything. */
export function pickModelPage(
  models: readonly ListedModel[],
  query: URLSearchParams,
): { readonly page: readonly ListedModel[]; readonly hasMore: boolean } {
  const limit = readLimit(query.get('limit'));
  const beforeId = query.get('before_id');
  const place = (id: string): number => models.findIndex((model) => model.id === id);
  if (beforeId) {
    const end = Math.max(0, place(beforeId));
    const start = Math.max(0, end - limit);
    return { page: models.slice(start, end), hasMore: start > 0 };
  }
  const afterId = query.get('after_id');
  // An unknown id ends the paging: starting over would never end.
  const start = afterId ? place(afterId) + 1 || models.length : 0;
  return { page: models.slice(start, start + limit), hasMore: start + limit < models.length };
}

function readLimit(text: string | null): number {
  if (text === null || !/^\d{1,6}$/.test(text)) return MAX_LIMIT;
  return Math.min(MAX_LIMIT, Math.max(1, Number(text)));
}

/** Without surrounding white space and without the resource prefix some SDKs add. */
export function plainModelName(text: string): string {
  return text.trim().replace(/^models\//, '');
}

/** The first word of its id, under which people see models together; one that draws says so in its id. */
export function groupOfModel(model: string): {
  readonly family: string;
  readonly kind: 'text' | 'image';
} {
  const name = model.slice(model.lastIndexOf('/') + 1);
  const words = name.toLowerCase().split(/[-_.]/);
  return { family: words[0] || name, kind: words.includes('image') ? 'image' : 'text' };
}
