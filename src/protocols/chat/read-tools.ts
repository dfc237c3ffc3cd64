// Reads `tools`, the deprecated `functions` and `web_search_options` into canonical tools.

import { invalidRequest } from '../../canonical/error.ts';
import { memberPath } from '../../canonical/field-reader.ts';
import { objectShape } from '../../canonical/field-shapes.ts';
import { told } from '../../canonical/receipt.ts';
import type { FreeformTool, FunctionTool, Tool } from '../../canonical/request.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import { CHAT_SEARCH_WORDS } from '../../wire/chat.ts';
import {
  asObject,
  missingField,
  readArray,
  readBoolean,
  readObject,
  readString,
  requireString,
  unknownWord,
  wrongType,
} from './fields.ts';
import { noteUnreadFields } from './note-fields.ts';
import type { ReadContext } from './read-context.ts';
import { readSearch, type SearchTool } from './read-search.ts';

const TOOL_FIELDS = objectShape(['type', 'function', 'custom', 'cache_control']);
/** Nothing is deferred: every tool is declared from the start. */
const FUNCTION_FIELDS = objectShape([
  ...['name', 'description', 'parameters', 'input_schema', 'strict', 'cache_control', 'type'],
  'defer_loading',
]);
const GRAMMAR_FIELDS = ['syntax', 'definition'];
/** Beside a flat format, as Responses have it, stands `type`, and the grammar within the format. */
const FREEFORM_FIELDS = objectShape(
  ['name', 'description', 'cache_control', 'type', 'defer_loading'],
  { format: objectShape(['type', ...GRAMMAR_FIELDS], { grammar: objectShape(GRAMMAR_FIELDS) }) },
);
/** The real service takes less; names the upstream refuses are sent under another one. */
const TOOL_NAME = /^[^\p{Cc}\p{Cs}]{1,128}$/u;

/** @throws GatewayError 400; tools that cannot be offered are left out with a receipt. */
export function readTools(body: JsonObject, context: ReadContext): readonly Tool[] {
  const tools = readAllTools(body, context);
  refuseNameless(tools, context);
  return tools;
}

/** A tool without a name is left out beside others; a request whose tools have none means something else than it says. */
export function refuseNameless(tools: readonly Tool[], { missingNames }: ReadContext): void {
  const [path] = missingNames;
  if (tools.length === 0 && path !== undefined) throw missingField(path);
}

function readAllTools(body: JsonObject, context: ReadContext): readonly Tool[] {
  const tools: Tool[] = [];
  for (const [index, value] of (readArray(body, 'tools') ?? []).entries()) {
    const tool = readTool(value, `tools[${index}]`, context);
    if (tool !== undefined) tools.push(tool);
  }
  for (const [index, value] of (readArray(body, 'functions') ?? []).entries()) {
    const path = `functions[${index}]`;
    const tool = readFunction(asObject(value, path), path, context);
    if (tool !== undefined) tools.push(tool);
  }
  const options = readObject(body, 'web_search_options');
  if (options === undefined) return tools;
  return withSearch(tools, readSearch(options, 'web_search_options', context));
}

/** One search is offered; what the tool of that kind does not say itself, the options say. */
function withSearch(tools: readonly Tool[], search: SearchTool): readonly Tool[] {
  const declared = tools.find((tool) => tool.kind === 'web-search');
  if (declared === undefined) return [...tools, search];
  return tools.map((tool) => (tool === declared ? { ...search, ...declared } : tool));
}

function readTool(value: JsonValue, path: string, context: ReadContext): Tool | undefined {
  const tool = asObject(value, path);
  const type = readString(tool, 'type', path) ?? 'function';
  if (isSearch(tool, type)) return readSearch(tool, path, context);
  switch (type) {
    case 'function':
      return readFunctionTool(tool, path, context);
    case 'custom':
      noteUnreadFields(tool, { known: TOOL_FIELDS, path, context });
      return readFreeform(readObject(tool, 'custom', path) ?? {}, `${path}.custom`, context);
    default:
      context.receipt.add('dropped', path, told`Tools of type "${type}" are not available.`);
      return undefined;
  }
}

/** True for a search of the web in any word for it, where it is declared and where it is chosen. */
export function isSearch(tool: JsonObject, type: string): boolean {
  if (type.startsWith('web_search')) return true;
  return CHAT_SEARCH_WORDS.some((word) => type === word || isJsonObject(tool[word]));
}

/** `{type, function: {…}}`; some clients send the Responses form with the fields beside `type`. */
export function readFunctionTool(
  tool: JsonObject,
  path: string,
  context: ReadContext,
): FunctionTool | undefined {
  const holder = readObject(tool, 'function', path);
  if (holder === undefined) return readFunction(tool, path, context);
  noteUnreadFields(tool, { known: TOOL_FIELDS, path, context });
  return readFunction(holder, `${path}.function`, context);
}

/** The declaration in `holder`, which stands at `path`; undefined when it has no name. @throws GatewayError 400 */
function readFunction(
  holder: JsonObject,
  path: string,
  context: ReadContext,
): FunctionTool | undefined {
  const name = readName(holder, path, context);
  if (name === undefined) return undefined;
  noteUnreadFields(holder, { known: FUNCTION_FIELDS, path, context });
  const description = readString(holder, 'description', path);
  const parametersPath = memberPath(path, schemaKeyOf(holder));
  const parameters = readSchema(holder[schemaKeyOf(holder)], parametersPath);
  const strict = readBoolean(holder, 'strict', path);
  return { kind: 'function', name, description, parameters, strict, path, parametersPath };
}

/** Clients of several protocols send the tools of Messages here, too. */
function schemaKeyOf(holder: JsonObject): 'parameters' | 'input_schema' {
  const isForeign = Object.hasOwn(holder, 'input_schema') && !Object.hasOwn(holder, 'parameters');
  return isForeign ? 'input_schema' : 'parameters';
}

/** A JSON Schema is an object or a boolean. */
export function readSchema(
  value: JsonValue | undefined,
  path: string,
): JsonObject | boolean | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'boolean' || isJsonObject(value)) return value;
  throw wrongType(path, 'a JSON Schema object');
}

/** As `readFunction`, for a tool that takes free text. */
export function readFreeform(
  holder: JsonObject,
  path: string,
  context: ReadContext,
): FreeformTool | undefined {
  const name = readName(holder, path, context);
  if (name === undefined) return undefined;
  noteUnreadFields(holder, { known: FREEFORM_FIELDS, path, context });
  const description = readString(holder, 'description', path);
  const grammar = readGrammar(readObject(holder, 'format', path), `${path}.format`);
  return {
    kind: 'freeform',
    name,
    description,
    grammar,
    path,
  };
}

function readGrammar(format: JsonObject | undefined, path: string): FreeformTool['grammar'] {
  if (format === undefined) return undefined;
  const type = requireString(format, 'type', path);
  if (type === 'text') return undefined;
  if (type !== 'grammar') throw unknownWord(`${path}.type`, ['text', 'grammar']);
  const holder = readObject(format, 'grammar', path) ?? format;
  const holderPath = holder === format ? path : `${path}.grammar`;
  return {
    syntax: requireString(holder, 'syntax', holderPath),
    definition: requireString(holder, 'definition', holderPath),
  };
}

/** A tool without a name cannot be called: left out where others are left. One with an impossible name is the client's mistake. */
function readName(holder: JsonObject, path: string, context: ReadContext): string | undefined {
  const name = readString(holder, 'name', path);
  if (name === undefined || name === '') {
    context.missingNames.push(memberPath(path, 'name'));
    context.receipt.add('dropped', path, told`A tool without a name cannot be called.`);
    return undefined;
  }
  if (TOOL_NAME.test(name)) return name;
  throw invalidRequest(
    memberPath(path, 'name'),
    `${memberPath(path, 'name')} must be 1 to 128 characters without control characters.`,
  );
}
