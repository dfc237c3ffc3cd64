// Rules of generationConfig that concern several fields at once.

import { invalidRequest } from '../../canonical/error.ts';
import { memberPath } from '../../canonical/field-reader.ts';
import { told } from '../../canonical/receipt.ts';
import type { JsonObject } from '../../lib/json.ts';
import { objectAt, objectsAt, textAt, textsAt } from './native-fields.ts';
import type { Place } from './place.ts';
import { foldResponseFormats } from './response-format.ts';

/**
 * The config with at most one thinking control and one schema form, and `responseFormat` folded
 * into the older fields.
 */
export function normalizeGenerationConfig(config: JsonObject, place: Place): JsonObject {
  const inner = { path: memberPath(place.path, 'generationConfig'), receipt: place.receipt };
  checkStopSequences(config, inner);
  const { responseFormat: _responseFormat, ...rest } = config;
  const formats = objectsAt(config, 'responseFormat');
  const result = { ...rest, ...foldResponseFormats(formats, rest, inner) };
  keepOneSchema(result, inner);
  const thinking = objectAt(result, 'thinkingConfig');
  if (thinking !== undefined) result.thinkingConfig = normalizeThinking(thinking, inner);
  return result;
}

function checkStopSequences(config: JsonObject, place: Place): void {
  const index = textsAt(config, 'stopSequences').indexOf('');
  if (index === -1) return;
  const path = `${place.path}.stopSequences[${index}]`;
  throw invalidRequest(path, `${path} must not be empty.`);
}

function keepOneSchema(config: JsonObject, place: Place): void {
  if (config.responseSchema === undefined || config.responseJsonSchema === undefined) return;
  delete config.responseSchema;
  const path = `${place.path}.responseSchema`;
  place.receipt.add('dropped', path, told`responseJsonSchema is given too and wins.`);
}

/** The service refuses a budget and a level together; here the exact figure wins. */
function normalizeThinking(thinking: JsonObject, place: Place): JsonObject {
  const { thinkingLevel: _level, ...rest } = thinking;
  const level = textAt(thinking, 'thinkingLevel');
  if (level === undefined || level === 'THINKING_LEVEL_UNSPECIFIED') return rest;
  if (thinking.thinkingBudget === undefined) return thinking;
  const path = `${place.path}.thinkingConfig.thinkingLevel`;
  place.receipt.add('dropped', path, told`thinkingBudget is given too and wins.`);
  return rest;
}
