// What this protocol's clients call the fields that the gateway's rules speak of.

import type { ClientNames } from '../../canonical/client-names.ts';
import type { JsonObject } from '../../lib/json.ts';

const NAMES: ClientNames = {
  system: 'messages',
  redacted_thinking: 'messages',
  response_schema: 'response_format.json_schema.schema',
  tool_calls: 'choices.message.tool_calls',
  answer: 'choices.message.content',
};

const LEGACY_NAMES: ClientNames = {
  tool_choice: 'function_call',
  parallel_tool_calls: 'functions',
  tool_calls: 'choices.message.function_call',
};

/** Of several names for one field the client's own; `thinkingPath` is absent when no field says it. */
export function clientNamesOf(
  body: JsonObject,
  {
    thinkingPath,
    isLegacy,
  }: { readonly thinkingPath: string | undefined; readonly isLegacy: boolean },
): ClientNames {
  const firstOf = (...keys: readonly [string, ...string[]]): string =>
    keys.find((key) => (body[key] ?? null) !== null) ?? keys[0];
  return {
    ...NAMES,
    max_tokens: firstOf('max_completion_tokens', 'max_tokens'),
    thinking: thinkingPath ?? 'model',
    size: firstOf('size', 'imageSize', 'quality'),
    ...(isLegacy ? LEGACY_NAMES : {}),
  };
}
