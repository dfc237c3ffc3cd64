// Reads `tools`, the deprecated `functions` and `web_search_options` into canonical tools.

import { invalidRequest } from '../../canonical/error.ts';
import { memberPath, NotedMemo } from '../../canonical/receipt.ts';
import {
  type FreeformTool,
  type FunctionTool,
  PLACE_KEYS,
  type Tool,
  type ToolChoice,
  type UserLocation,
} from '../../canonical/request.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { shareAs } from '../../lib/shared-json.ts';
import { CHAT_SEARCH_WORDS } from '../../wire/chat.ts';
import { objectShape } from '../body-schema.ts';
import {
  asObject,
  missingField,
  noteUnreadFields,
  type ReadContext,
  readArray,
  readBoolean,
  readObject,
  readString,
  requireObject,
  requireString,
  unknownWord,
  wrongType,
} from './schema.ts';

/** Sources: `openai` resources/responses, `WebSearchTool`; resources/chat/completions, `WebSearchOptions`. */
export type SearchTool = Extract<Tool, { kind: 'web-search' }>;

const NOTHING = objectShape([]);
/** `external_web_access` false asks for cached results only: there is no such choice upstream. */
const KNOWN = objectShape(['type', 'external_web_access'], {
  filters: objectShape(['allowed_domains', 'blocked_domains']),
  user_location: objectShape(['type', ...PLACE_KEYS], { approximate: objectShape(PLACE_KEYS) }),
  ...Object.fromEntries(CHAT_SEARCH_WORDS.map((word) => [word, NOTHING])),
});
/** JSON of values without a counterpart that ask for what happens anyway. */
const DEFAULTS = new Map([
  ['search_context_size', '"medium"'],
  ['search_content_types', '["text"]'],
]);

/** `options` stand at `path`. @throws GatewayError 400 */
export function readSearch(
  options: JsonObject,
  path: string,
  context: Pick<ReadContext, 'receipt'>,
): SearchTool {
  const told = Object.entries(options).filter(
    ([key, value]) => DEFAULTS.get(key) !== JSON.stringify(value),
  );
  noteUnreadFields(Object.fromEntries(told), { known: KNOWN, path, context });
  const filters = readObject(options, 'filters', path) ?? {};
  const filtersPath = memberPath(path, 'filters');
  const allowedDomains = readDomains(filters, 'allowed_domains', filtersPath);
  const blockedDomains = readDomains(filters, 'blocked_domains', filtersPath);
  const userLocation = readLocation(options, path);
  return {
    kind: 'web-search',
    path,
    ...(allowedDomains.length === 0 ? {} : { allowedDomains }),
    ...(blockedDomains.length === 0 ? {} : { blockedDomains }),
    ...(userLocation === undefined ? {} : { userLocation }),
  };
}

function readDomains(filters: JsonObject, key: string, path: string): readonly string[] {
  return (readArray(filters, key, path) ?? []).map((domain, index) => {
    if (typeof domain === 'string') return domain;
    throw wrongType(`${memberPath(path, key)}[${index}]`, 'a string');
  });
}

/** Chat Completions put the place into `approximate`; clients of both mix the two forms. */
function readLocation(options: JsonObject, path: string): UserLocation | undefined {
  const location = readObject(options, 'user_location', path);
  if (location === undefined) return undefined;
  const locationPath = memberPath(path, 'user_location');
  const inner = readObject(location, 'approximate', locationPath);
  const [holder, holderPath] =
    inner === undefined
      ? [location, locationPath]
      : [inner, memberPath(locationPath, 'approximate')];
  const words = PLACE_KEYS.flatMap((key): [string, string][] => {
    const word = readString(holder, key, holderPath)?.trim() ?? '';
    return word === '' ? [] : [[key, word]];
  });
  return words.length === 0 ? undefined : { path: locationPath, ...Object.fromEntries(words) };
}

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
  const listed = readToolList(readArray(body, 'tools') ?? NO_TOOLS, context);
  if (body.functions === undefined && body.web_search_options === undefined) return listed;
  const tools = [...listed];
  for (const [index, value] of (readArray(body, 'functions') ?? []).entries()) {
    const path = `functions[${index}]`;
    const tool = readFunction(asObject(value, path), path, context);
    if (tool !== undefined) tools.push(tool);
  }
  const options = readObject(body, 'web_search_options');
  if (options === undefined) return tools;
  return withSearch(tools, readSearch(options, 'web_search_options', context));
}

const NO_TOOLS: readonly JsonValue[] = [];

interface ToolList {
  readonly tools: readonly Tool[];
  readonly missingNames: readonly string[];
}

const toolLists = new NotedMemo<ToolList>();

function readToolList(values: readonly JsonValue[], context: ReadContext): readonly Tool[] {
  const key = { variant: '', receipt: context.receipt };
  const { tools, missingNames } = toolLists.get(values, key, (receipt) => {
    const missingNames: string[] = [];
    const inner: ReadContext = { ...context, receipt, missingNames };
    const tools = values.flatMap((value, index) => readTool(value, `tools[${index}]`, inner) ?? []);
    return { tools: shareAs(values, tools), missingNames };
  });
  context.missingNames.push(...missingNames);
  return tools;
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
function isSearch(tool: JsonObject, type: string): boolean {
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

const WORDS = ['none', 'auto', 'required', 'validated'];
const OBJECT_TYPES = ['function', 'custom', 'allowed_tools', 'web_search'];
const NOT_DEMANDED = told`A hosted search cannot be demanded, only offered.`;
const SEARCHES = { serverTools: ['web-search'] } as const;

/** @throws GatewayError 400, also when the choice names or needs a tool that is not there. */
export function readToolChoice(
  body: JsonObject,
  tools: readonly Tool[],
  context: ReadContext,
): ToolChoice {
  const key = isAbsent(body.tool_choice) ? 'function_call' : 'tool_choice';
  const value = body[key];
  if (isAbsent(value)) return { kind: 'auto', names: [] };
  const choice = typeof value === 'string' ? readWord(value, key) : readChoiceObject(value, key);
  const search = tools.find(({ path }) => path === 'web_search_options');
  if (choice.kind === 'none') {
    if (search !== undefined) {
      context.receipt.add('dropped', 'web_search_options', told`${key} rules out the search.`);
    }
    return choice;
  }
  const callable = tools.filter((tool) => tool.kind === 'function' || tool.kind === 'freeform');
  assertKnown(choice.names, callable, key);
  if (choice.serverTools !== undefined) return chooseSearch(choice, tools, { key, context });
  if (choice.kind !== 'required' || callable.length > 0) {
    // That search is no member of `tools`, among which names choose.
    const isBeside = search !== undefined && choice.names.length > 0;
    return isBeside ? { ...choice, ...SEARCHES } : choice;
  }
  if (tools.length === 0) {
    throw invalidRequest(key, `${key} demands a tool call, but tools offers none.`);
  }
  context.receipt.add('approximated', key, NOT_DEMANDED);
  return { kind: 'auto', names: [] };
}

/** Beside functions that are named it is one choice more; alone it is all that is offered. */
function chooseSearch(
  choice: Exclude<ToolChoice, { kind: 'none' }>,
  tools: readonly Tool[],
  { key, context }: { readonly key: string; readonly context: ReadContext },
): ToolChoice {
  if (!tools.some(({ kind }) => kind === 'web-search')) {
    throw invalidRequest(key, `${key} names a search of the web, which is not in tools.`);
  }
  if (choice.names.length > 0) return choice;
  if (choice.kind === 'required') context.receipt.add('approximated', key, NOT_DEMANDED);
  return { kind: 'auto', names: [], ...SEARCHES };
}

function isAbsent(value: JsonValue | undefined): value is undefined | null {
  return value === undefined || value === null;
}

function readWord(word: string, path: string): ToolChoice {
  switch (word) {
    case 'none':
      return { kind: 'none' };
    case 'auto':
      return { kind: 'auto', names: [] };
    case 'required':
      return { kind: 'required', names: [] };
    // Sent by a coding CLI for one model family: calls are optional but must match their schema.
    case 'validated':
      return { kind: 'validated', names: [] };
    default:
      throw unknownWord(path, WORDS);
  }
}

function readChoiceObject(value: JsonValue | undefined, path: string): ToolChoice {
  if (!isJsonObject(value)) throw wrongType(path, 'a string or an object');
  // The deprecated form, and the one of the Responses protocol, name the function directly.
  if (typeof value.name === 'string') {
    return { kind: 'required', names: [requireString(value, 'name', path)] };
  }
  const type = requireString(value, 'type', path);
  switch (type) {
    case 'function':
    case 'custom':
      return { kind: 'required', names: [readToolName(value, type, path)] };
    case 'allowed_tools':
      return readAllowed(requireObject(value, 'allowed_tools', path), `${path}.allowed_tools`);
    default:
      if (isSearch(value, type)) return { kind: 'required', names: [], ...SEARCHES };
      throw unknownWord(`${path}.type`, OBJECT_TYPES);
  }
}

function readAllowed(allowed: JsonObject, path: string): ToolChoice {
  const mode = requireString(allowed, 'mode', path);
  if (mode !== 'auto' && mode !== 'required')
    throw unknownWord(`${path}.mode`, ['auto', 'required']);
  const named = (readArray(allowed, 'tools', path) ?? []).map((value, index) =>
    readAllowedName(value, `${path}.tools[${index}]`),
  );
  if (named.length === 0) throw invalidRequest(`${path}.tools`, `${path}.tools names no tool.`);
  const names = named.filter((name) => name !== undefined);
  return { kind: mode, names, ...(names.length < named.length ? SEARCHES : {}) };
}

/** Undefined for a search, which has no name. */
function readAllowedName(value: JsonValue, path: string): string | undefined {
  const tool = asObject(value, path);
  if (typeof tool.name === 'string') return requireString(tool, 'name', path);
  const type = requireString(tool, 'type', path);
  return isSearch(tool, type) ? undefined : readToolName(tool, type, path);
}

function readToolName(holder: JsonObject, type: string, path: string): string {
  return requireString(requireObject(holder, type, path), 'name', `${path}.${type}`);
}

function assertKnown(
  names: readonly string[],
  tools: readonly { readonly name: string }[],
  path: string,
): void {
  const known = new Set(tools.map(({ name }) => name));
  const unknown = names.find((name) => !known.has(name));
  if (unknown === undefined) return;
  throw invalidRequest(path, `${path} names the tool "${unknown}", which is not in tools.`);
}
