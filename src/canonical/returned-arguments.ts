// What clients change of a call's arguments without saying anything else by it: defaults that its schema declares
// stand where the model left members out, and blanks at line ends are gone.

import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject, type JsonValue } from '../lib/json.ts';
import { once } from '../lib/once.ts';
import type { Tool } from './request.ts';

/** What the client declares of the arguments of one function. */
export interface ArgumentSchema {
  readonly schema: JsonValue | undefined;
  /** True where a client may fill in what the model left out; looked for once. */
  hasDefaults(): boolean;
}

/** By the function's name; the first of a name counts. */
export type ArgumentSchemas = ReadonlyMap<string, ArgumentSchema>;

export function argumentSchemas(
  functions: Iterable<readonly [name: string, schema: JsonValue | undefined]>,
): ArgumentSchemas {
  const schemas = new Map<string, ArgumentSchema>();
  for (const [name, schema] of functions) {
    if (schemas.has(name)) continue;
    schemas.set(name, { schema, hasDefaults: once(() => declaresDefaults(schema)) });
  }
  return schemas;
}

export function declaredArguments(tools: readonly Tool[]): ArgumentSchemas {
  return argumentSchemas(
    tools.flatMap((tool) => (tool.kind === 'function' ? [[tool.name, tool.parameters]] : [])),
  );
}

/** A blank before the end of a line or of a text, as JSON writes it. */
const BLANK_AT_END = /(?: |\\t)(?:\\r|\\n|")/;

/** True where a client may return other arguments than these, in JSON, and mean them. */
export function mayComeBackChanged(json: string, declared: ArgumentSchema | undefined): boolean {
  return BLANK_AT_END.test(json) || declared?.hasDefaults() === true;
}

function declaresDefaults(schema: JsonValue | undefined): boolean {
  if (!isJsonObject(schema)) return false;
  return [...Object.values(propertiesOf(schema)), schema.items].some(
    (member) => isJsonObject(member) && (member.default !== undefined || declaresDefaults(member)),
  );
}

/** True where `returned` is `written` but for such changes. */
export function meansTheSame(
  returned: JsonValue,
  written: JsonValue,
  schema: JsonValue | undefined,
): boolean {
  if (isDeepStrictEqual(returned, written)) return true;
  if (typeof returned === 'string' && typeof written === 'string') {
    return withoutBlanks(returned) === withoutBlanks(written);
  }
  if (isJsonObject(returned) && isJsonObject(written)) {
    return hasDefaultsBeside(returned, written, propertiesOf(schema));
  }
  if (!Array.isArray(returned) || !Array.isArray(written)) return false;
  const items = isJsonObject(schema) ? schema.items : undefined;
  return (
    returned.length === written.length &&
    returned.every((item, index) => meansTheSame(item, written[index] ?? null, items))
  );
}

/** Line by line: a pattern would go through a long row of blanks again from each of them. */
function withoutBlanks(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

function hasDefaultsBeside(
  returned: JsonObject,
  written: JsonObject,
  properties: JsonObject,
): boolean {
  if (Object.keys(written).some((name) => !Object.hasOwn(returned, name))) return false;
  return Object.entries(returned).every(([name, value]) => {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const meant = Object.hasOwn(written, name) ? written[name] : defaultOf(schema);
    return meant !== undefined && meansTheSame(value, meant, schema);
  });
}

function defaultOf(schema: JsonValue | undefined): JsonValue | undefined {
  return isJsonObject(schema) ? schema.default : undefined;
}

function propertiesOf(schema: JsonValue | undefined): JsonObject {
  return isJsonObject(schema) && isJsonObject(schema.properties) ? schema.properties : {};
}
