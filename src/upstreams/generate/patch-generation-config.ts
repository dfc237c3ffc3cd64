// Fits a native generation configuration to the model: its output limit, its thinking, its schemas.

import { isJsonObject, type JsonObject, type JsonValue, readNumber } from '../../lib/json.ts';
import type { EncodeTarget, PatchTarget } from '../upstream.ts';
import { editFields } from './edits.ts';
import { budgetIn, patchThinking } from './patch-thinking.ts';
import { cleanRelayedResponseSchema } from './schema/clean-response-schema.ts';
import { fitOutputLimit } from './thinking.ts';

export function patchGenerationConfig(config: JsonObject, target: PatchTarget): JsonObject {
  const thinkingConfig = patchThinking(config.thinkingConfig, target);
  return editFields(config, {
    thinkingConfig,
    maxOutputTokens: outputLimit(config.maxOutputTokens, budgetIn(thinkingConfig), target),
    responseSchema: responseSchema(config.responseSchema, target),
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
      `This model writes at most ${capabilities.outputTokenLimit} tokens.`,
    );
  } else if (fitted !== asked) {
    receipt.add('approximated', path, 'The limit was raised to leave room beside thinking.');
  }
  return fitted === asked ? value : fitted;
}

function responseSchema(
  schema: JsonValue | undefined,
  { receipt }: EncodeTarget,
): JsonValue | undefined {
  if (!isJsonObject(schema)) return schema;
  return cleanRelayedResponseSchema(schema, { receipt, path: 'generationConfig.responseSchema' });
}
