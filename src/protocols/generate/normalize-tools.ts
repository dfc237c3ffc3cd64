// Rules of the tool list: named functions, one schema form each, no empty elements.

import { invalidRequest } from '../../canonical/error.ts';
import { memberPath } from '../../canonical/field-reader.ts';
import type { JsonObject } from '../../lib/json.ts';
import { objectsAt, textAt } from './native-fields.ts';
import type { Place } from './place.ts';

/** The two forms of one schema: the JSON Schema form says more and wins. */
const SCHEMA_FORMS = [
  ['parameters', 'parametersJsonSchema'],
  ['response', 'responseJsonSchema'],
] as const;

export function normalizeTools(tools: readonly JsonObject[], place: Place): JsonObject[] {
  const path = memberPath(place.path, 'tools');
  return tools
    .map((tool, index) =>
      normalizeTool(tool, { path: `${path}[${index}]`, receipt: place.receipt }),
    )
    .filter((tool) => Object.keys(tool).length > 0);
}

function normalizeTool(tool: JsonObject, place: Place): JsonObject {
  const { functionDeclarations, ...others } = tool;
  const declarations = objectsAt(tool, 'functionDeclarations');
  if (functionDeclarations === undefined || declarations.length === 0) return others;
  const checked = declarations.map((declaration, index) =>
    normalizeDeclaration(declaration, {
      path: `${place.path}.functionDeclarations[${index}]`,
      receipt: place.receipt,
    }),
  );
  return { functionDeclarations: checked, ...others };
}

function normalizeDeclaration(declaration: JsonObject, place: Place): JsonObject {
  const name = textAt(declaration, 'name');
  if (name === undefined || name === '') {
    const path = `${place.path}.name`;
    throw invalidRequest(path, `${path} is required: every function has a name.`, 'missing-field');
  }
  const result = { ...declaration };
  for (const [form, jsonForm] of SCHEMA_FORMS) {
    if (result[form] === undefined || result[jsonForm] === undefined) continue;
    delete result[form];
    place.receipt.add('dropped', `${place.path}.${form}`, `${jsonForm} is given too and wins.`);
  }
  return result;
}
