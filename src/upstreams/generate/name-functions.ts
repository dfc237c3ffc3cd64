// Says which function an upstream means that tells it by its place among the declarations.

import { isJsonObject, type JsonValue } from '../../lib/json.ts';

/** "GenerateContentRequest.tools[0].function_declarations[3].parameters…: should be non-empty", in either spelling. */
const PLACE = /\btools\[(\d+)\]\.function_?declarations\[(\d+)\]/gi;

/** The complaint with the name behind each place: clients know their tools by name, and may have sent others as well. */
export function nameFunctions(complaint: string, tools: JsonValue | undefined): string {
  return complaint.replace(PLACE, (place, tool: string, declaration: string) => {
    const name = nameAt(tools, Number(tool), Number(declaration));
    return name === undefined ? place : `${place} ("${name}")`;
  });
}

function nameAt(tools: JsonValue | undefined, tool: number, at: number): string | undefined {
  const group = Array.isArray(tools) ? tools[tool] : undefined;
  const list = isJsonObject(group) ? group.functionDeclarations : undefined;
  const declaration = Array.isArray(list) ? list[at] : undefined;
  return isJsonObject(declaration) && typeof declaration.name === 'string'
    ? declaration.name
    : undefined;
}
