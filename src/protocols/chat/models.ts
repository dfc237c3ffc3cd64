// Writes the model list in a shape the parsers of all three protocols take.

import {
  type ListedModel,
  pickModelPage,
  writeListElement,
  writeListFrame,
  writeNativeElement,
} from '../../canonical/model.ts';

import { definedFields, type JsonObject } from '../../lib/json.ts';

/**
 * `GET /v1/models` is asked by clients of three protocols. `data` serves the Chat and Messages
 * clients (`openai` resources/models.d.ts, Messages API: List Models), `models` the generate-content
 * ones (Gemini API: models.list). Without `limit` the page is the whole list.
 */
export function writeModels(models: readonly ListedModel[], query: URLSearchParams): JsonObject {
  const { page, hasMore } = pickModelPage(models, query);
  return {
    ...writeListFrame(page, hasMore),
    data: page.map(writeChatElement),
    models: page.map(writeNativeElement),
  };
}

/** One model with the fields of all three shapes. */
export function writeModel(model: ListedModel): JsonObject {
  return { ...writeNativeElement(model), ...writeChatElement(model) };
}

/** The limits are read by some chat apps. */
function writeChatElement(model: ListedModel): JsonObject {
  return {
    ...writeListElement(model),
    ...definedFields({
      context_length: model.inputTokenLimit,
      max_output_tokens: model.outputTokenLimit,
    }),
  };
}
