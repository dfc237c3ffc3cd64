// Writes into a native body what the requested model name asked for and the body itself did not say.

import type { ModelVariant } from '../../canonical/model.ts';
import type { Effort } from '../../canonical/request.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import { editFields } from './edits.ts';

export function applyVariant(body: JsonObject, variant: ModelVariant): JsonObject {
  return withThinking(variant.webSearch ? withSearch(body) : body, variant);
}

function withSearch(body: JsonObject): JsonObject {
  const tools = Array.isArray(body.tools) ? body.tools : [];
  const hasSearch = tools.some((tool) => isJsonObject(tool) && tool.googleSearch !== undefined);
  return hasSearch ? body : { ...body, tools: [...tools, { googleSearch: {} }] };
}

function withThinking(body: JsonObject, { effort, thinking }: ModelVariant): JsonObject {
  if (effort === undefined && thinking === undefined) return body;
  const config = isJsonObject(body.generationConfig) ? body.generationConfig : {};
  const said = isJsonObject(config.thinkingConfig) ? config.thinkingConfig : {};
  if (said.thinkingBudget !== undefined || said.thinkingLevel !== undefined) return body;
  const asked = effort === undefined ? { thinkingBudget: -1 } : { thinkingLevel: levelOf(effort) };
  return editFields(body, {
    generationConfig: { ...config, thinkingConfig: { ...said, ...asked } },
  });
}

function levelOf(effort: Effort): string {
  return effort === 'xhigh' || effort === 'max' ? 'HIGH' : effort.toUpperCase();
}
