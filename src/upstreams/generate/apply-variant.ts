// Writes into a native body what the requested model name asked for and the body itself did not say.

import type { ModelVariant } from '../../canonical/model.ts';
import { told } from '../../canonical/receipt.ts';
import type { Effort } from '../../canonical/request.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import type { PatchTarget } from '../upstream.ts';
import { drawnSize } from './drawn-size.ts';
import { editFields } from './edits.ts';

export function applyVariant(body: JsonObject, target: PatchTarget): JsonObject {
  const { variant } = target;
  const asked = withThinking(variant.webSearch ? withSearch(body, target) : body, variant);
  return withImage(asked, target);
}

function withSearch(body: JsonObject, { capabilities, receipt }: PatchTarget): JsonObject {
  const tools = Array.isArray(body.tools) ? body.tools : [];
  const has = (key: string): boolean =>
    tools.some((tool) => isJsonObject(tool) && tool[key] !== undefined);
  if (has('googleSearch')) return body;
  if (has('functionDeclarations') && !capabilities.searchWithFunctions) {
    receipt.add('dropped', 'model', told`This model takes no web-search beside function tools.`);
    return body;
  }
  if (hasFormat(body) && capabilities.outputFormats === 'without-tools') {
    receipt.add('dropped', 'model', told`This model takes no web-search beside an output format.`);
    return body;
  }
  return { ...body, tools: [...tools, { googleSearch: {} }] };
}

function hasFormat({ generationConfig }: JsonObject): boolean {
  const type = isJsonObject(generationConfig) ? generationConfig.responseMimeType : undefined;
  return type !== undefined && type !== 'text/plain';
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

/** What the body says comes first (the product's order: `imageSize`, `quality`, then the suffix of the model name). */
function withImage(body: JsonObject, target: PatchTarget): JsonObject {
  const { capabilities, receipt } = target;
  const { image } = target.variant;
  if (image === undefined) return body;
  if (!capabilities.drawsImages) {
    receipt.add(
      'dropped',
      'model',
      told`This model draws no images; the suffix of its name has no use.`,
    );
    return body;
  }
  const config = isJsonObject(body.generationConfig) ? body.generationConfig : {};
  const said = isJsonObject(config.imageConfig) ? config.imageConfig : {};
  if (image.size !== undefined && (said.imageSize ?? image.size) !== image.size) {
    receipt.add(
      'approximated',
      'model',
      told`The size in the request wins over the one in the model name.`,
    );
  }
  const imageConfig = editFields(said, {
    aspectRatio: said.aspectRatio ?? image.aspectRatio,
    imageSize: said.imageSize ?? drawnSize(image.size, target, 'model'),
  });
  if (imageConfig === said) return body;
  return editFields(body, { generationConfig: { ...config, imageConfig } });
}

function levelOf(effort: Effort): string {
  return effort === 'xhigh' || effort === 'max' ? 'HIGH' : effort.toUpperCase();
}
