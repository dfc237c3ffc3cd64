// Models as the listing endpoints show them. Three protocols share a path, so some keys are in all lists.

import type { ModelTask } from './model.ts';

/** A model as the listing endpoints show it. */
export interface ListedModel {
  readonly id: string;
  readonly displayName: string;
  readonly description: string;
  /** Seconds since the epoch; constant for one release of the catalogue. */
  readonly createdAt: number;
  readonly inputTokenLimit: number;
  readonly outputTokenLimit: number;
  readonly supportsThinking: boolean;
  readonly drawsImages: boolean;
  readonly tasks: readonly ModelTask[];
}

/** What the parsers of the Chat and of the Messages protocol both need of a list element. */
export type ListElement = {
  id: string;
  object: 'model';
  /** Seconds since the epoch. */
  created: number;
  owned_by: string;
  type: 'model';
  display_name: string;
  /** RFC 3339. */
  created_at: string;
};

/** What the generate-content protocol shows of a model (Gemini API: models.list). */
export type NativeElement = {
  name: string;
  displayName: string;
  description: string;
  inputTokenLimit: number;
  outputTokenLimit: number;
  supportedGenerationMethods: string[];
  thinking: boolean;
};

/** The members of a list beside its `data`. */
export type ListFrame = {
  object: 'list';
  has_more: boolean;
  first_id: string | null;
  last_id: string | null;
};

/** The methods of each task; the prefix of the path is the model's own. */
const METHODS: Readonly<Record<ModelTask, readonly string[]>> = {
  generate: ['generateContent', 'streamGenerateContent', 'countTokens'],
  embed: ['embedContent', 'batchEmbedContents', 'countTokens'],
};

export function writeListElement(model: ListedModel): ListElement {
  return {
    id: model.id,
    object: 'model',
    created: model.createdAt,
    owned_by: 'isthmus',
    type: 'model',
    display_name: model.displayName,
    created_at: new Date(model.createdAt * 1000).toISOString().replace('.000Z', 'Z'),
  };
}

export function writeNativeElement(model: ListedModel): NativeElement {
  return {
    name: `models/${model.id}`,
    displayName: model.displayName,
    description: model.description,
    inputTokenLimit: model.inputTokenLimit,
    outputTokenLimit: model.outputTokenLimit,
    supportedGenerationMethods: [...new Set(model.tasks.flatMap((task) => METHODS[task]))],
    thinking: model.supportsThinking,
  };
}

/** `hasMore` tells whether there is more in the direction of paging. */
export function writeListFrame(page: readonly ListedModel[], hasMore: boolean): ListFrame {
  return {
    object: 'list',
    has_more: hasMore,
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  };
}
