// Reads from a request body what was declared in JSON Schema.

import { NOTHING_TYPED, type TypedValues } from '../../canonical/typed-values.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';

/** What a translated body asks for in `responseJsonSchema` and `parametersJsonSchema`. */
export function typedValues({ generationConfig, tools }: JsonObject): TypedValues {
  const answer = isJsonObject(generationConfig) && 'responseJsonSchema' in generationConfig;
  let functions: Set<string> | undefined;
  for (const tool of itemsOf(tools)) {
    for (const declaration of isJsonObject(tool) ? itemsOf(tool.functionDeclarations) : NONE) {
      if (!isJsonObject(declaration) || !('parametersJsonSchema' in declaration)) continue;
      functions ??= new Set();
      functions.add(String(declaration.name));
    }
  }
  if (!answer && functions === undefined) return NOTHING_TYPED;
  return { answer, functions: functions ?? NOTHING_TYPED.functions };
}

const NONE: readonly JsonValue[] = [];

function itemsOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : NONE;
}
