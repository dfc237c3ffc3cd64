// What this protocol's clients call the fields that the gateway's rules speak of.

import type { ClientNames } from '../../canonical/client-names.ts';
import type { JsonObject } from '../../lib/json.ts';

const NAMES: ClientNames = {
  system: 'systemInstruction',
  messages: 'contents',
  tool_choice: 'toolConfig.functionCallingConfig',
  max_tokens: 'generationConfig.maxOutputTokens',
  stop: 'generationConfig.stopSequences',
  n: 'generationConfig.candidateCount',
  seed: 'generationConfig.seed',
  top_k: 'generationConfig.topK',
  logprobs: 'generationConfig.responseLogprobs',
  thinking: 'generationConfig.thinkingConfig',
  size: 'generationConfig.imageConfig',
  service_tier: 'serviceTier',
  tool_calls: 'candidates.content.functionCall',
  answer: 'candidates.content.text',
};

/** `config` is the body's `generationConfig`: its schema has two spellings. */
export function clientNamesOf(config: JsonObject): ClientNames {
  const key = config.responseJsonSchema === undefined ? 'responseSchema' : 'responseJsonSchema';
  const path = `generationConfig.${key}`;
  return { ...NAMES, response_format: path, response_schema: path };
}
