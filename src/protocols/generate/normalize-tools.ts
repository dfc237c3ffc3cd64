// Rules of the tool list: named functions, one schema form each, no empty elements.

import { invalidRequest } from '../../canonical/error.ts';
import { memberPath } from '../../canonical/field-reader.ts';
import { told } from '../../canonical/receipt.ts';
import type { JsonObject } from '../../lib/json.ts';
import { objectAt, objectsAt, textAt } from './native-fields.ts';
import type { Place } from './place.ts';

/** The two forms of one schema: the JSON Schema form says more and wins. */
const SCHEMA_FORMS = [
  ['parameters', 'parametersJsonSchema'],
  ['response', 'responseJsonSchema'],
] as const;

/** Elements left empty stay, so that the others keep the client's indices; they are not sent on. */
export function normalizeTools(tools: readonly JsonObject[], place: Place): JsonObject[] {
  const path = memberPath(place.path, 'tools');
  const { receipt } = place;
  const normalized = tools.map((tool, index) =>
    normalizeTool(tool, { path: `${path}[${index}]`, receipt }),
  );
  const isEmpty = normalized.every((tool) => Object.keys(tool).length === 0);
  if (isEmpty) refuseNameless(tools, path);
  return isEmpty ? [] : mergeSearches(normalized, { path, receipt });
}

/** Functions without a name are left out where others are left; alone they are the client's mistake. */
function refuseNameless(tools: readonly JsonObject[], path: string): void {
  const index = tools.findIndex((tool) => objectsAt(tool, 'functionDeclarations').length > 0);
  if (index === -1) return;
  const name = `${path}[${index}].functionDeclarations[0].name`;
  throw invalidRequest(name, `${name} is required: every function has a name.`, 'missing-field');
}

/** Clients unsure of the right word send several: one search is left, the first one's options win. */
function mergeSearches(tools: readonly JsonObject[], { path, receipt }: Place): JsonObject[] {
  const searches = tools.map((tool) => objectAt(tool, 'googleSearch'));
  const first = searches.findIndex((search) => search !== undefined);
  const merged: JsonObject = {};
  for (const [index, search] of searches.entries()) {
    for (const [option, value] of Object.entries(search ?? {})) {
      if (!Object.hasOwn(merged, option)) merged[option] = value;
      else {
        const reason = told`An earlier search tool sets this option.`;
        receipt.add('dropped', `${path}[${index}].googleSearch.${option}`, reason);
      }
    }
  }
  return tools.map((tool, index) => {
    if (index < first || searches[index] === undefined) return tool;
    const { googleSearch: _search, ...others } = tool;
    return index === first ? { ...tool, googleSearch: merged } : others;
  });
}

function normalizeTool(tool: JsonObject, place: Place): JsonObject {
  const { functionDeclarations, ...others } = renewSearch(tool, place);
  const declarations = objectsAt(tool, 'functionDeclarations');
  if (functionDeclarations === undefined || declarations.length === 0) return others;
  const checked = declarations.flatMap((declaration, index) => {
    const path = `${place.path}.functionDeclarations[${index}]`;
    if (hasName(declaration)) return normalizeDeclaration(declaration, { ...place, path });
    place.receipt.add('dropped', path, told`A tool without a name cannot be called.`);
    return [];
  });
  return checked.length === 0 ? others : { functionDeclarations: checked, ...others };
}

/** Source: Gemini API, "Grounding with Google Search": current models take `googleSearch` alone. */
function renewSearch(tool: JsonObject, place: Place): JsonObject {
  const { googleSearchRetrieval, ...others } = tool;
  if (googleSearchRetrieval === undefined) return tool;
  const path = `${place.path}.googleSearchRetrieval`;
  place.receipt.add('approximated', path, told`Models now search when they see fit: googleSearch.`);
  return { googleSearch: {}, ...others };
}

function hasName(declaration: JsonObject): boolean {
  return (textAt(declaration, 'name') ?? '') !== '';
}

function normalizeDeclaration(declaration: JsonObject, place: Place): JsonObject {
  const result = { ...declaration };
  for (const [form, jsonForm] of SCHEMA_FORMS) {
    if (result[form] === undefined || result[jsonForm] === undefined) continue;
    delete result[form];
    place.receipt.add('dropped', `${place.path}.${form}`, told`${jsonForm} is given too and wins.`);
  }
  return result;
}
