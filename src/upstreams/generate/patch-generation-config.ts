// Fits a native generation configuration to the model: its output limit, its thinking, its schemas.

import { told } from '../../canonical/receipt.ts';
import { isJsonObject, type JsonObject, type JsonValue, readNumber } from '../../lib/json.ts';
import type { EncodeTarget, PatchTarget } from '../upstream.ts';
import { editFields, type FieldEdits } from './edits.ts';
import { budgetIn, patchThinking } from './patch-thinking.ts';
import {
  cleanRelayedResponseSchema,
  cleanRelayedTypedResponseSchema,
} from './schema/clean-response-schema.ts';
import { isTooDeep } from './schema/schema-depth.ts';
import { fitOutputLimit } from './thinking.ts';

/** Its values are texts whatever the schema. */
const ENUM_TYPE = 'text/x.enum';

export function patchGenerationConfig(config: JsonObject, target: PatchTarget): JsonObject {
  const thinkingConfig = patchThinking(config.thinkingConfig, target);
  return editFields(config, {
    thinkingConfig,
    maxOutputTokens: outputLimit(config.maxOutputTokens, budgetIn(thinkingConfig), target),
    ...responseSchema(config, target),
  });
}

function outputLimit(
  value: JsonValue | undefined,
  budget: number,
  { capabilities, receipt }: EncodeTarget,
): JsonValue | undefined {
  const asked = readNumber(value);
  if (asked === undefined) return value;
  const path = 'generationConfig.maxOutputTokens';
  const fitted = fitOutputLimit(asked, budget, capabilities);
  if (asked > capabilities.outputTokenLimit) {
    receipt.add(
      'capped',
      path,
      told`This model writes at most ${capabilities.outputTokenLimit} tokens.`,
    );
  } else if (fitted !== asked) {
    receipt.add('approximated', path, told`The limit was raised to leave room beside thinking.`);
  }
  return fitted === asked ? value : fitted;
}

/**
 * A JSON Schema goes as it came, unless it is too deep: the other form says what is left out. What that
 * form has only texts for goes as JSON Schema where the upstream takes it.
 */
function responseSchema(config: JsonObject, { receipt, capabilities }: EncodeTarget): FieldEdits {
  const key = isTooDeep(config.responseJsonSchema) ? 'responseJsonSchema' : 'responseSchema';
  const schema = config[key];
  if (!isJsonObject(schema)) return {};
  const options = { receipt, path: `generationConfig.${key}` };
  if (capabilities.takesJsonSchema && config.responseMimeType !== ENUM_TYPE) {
    return { [key]: undefined, ...cleanRelayedTypedResponseSchema(schema, options) };
  }
  return { [key]: undefined, responseSchema: cleanRelayedResponseSchema(schema, options) };
}
