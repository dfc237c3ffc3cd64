// Reads `tools`, the deprecated `functions` and `web_search_options` into canonical tools.

import { invalidRequest } from '../../canonical/error.ts';
import { memberPath, NotedMemo } from '../../canonical/receipt.ts';
import type { FreeformTool, FunctionTool, Tool, ToolChoice } from '../../canonical/request.ts';
import { isCallable } from '../../canonical/tool-names.ts';
import { locationOf, PLACE_KEYS } from '../../canonical/user-location.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { shareAs } from '../../lib/shared-json.ts';
import { CHAT_SEARCH_WORDS } from '../../wire/chat.ts';
import { FREE, listOf, objectOf, openObjectOf, STRING } from '../body-schema.ts';
import {
  type Body,
  type Choice,
  check,
  each,
  FREEFORM,
  FUNCTION,
  filled,
  missingField,
  noteUnread,
  type ReadContext,
  readAll,
  unknownWord,
  wrongType,
} from './schema.ts';

/** Sources: `openai` resources/responses, `WebSearchTool`; resources/chat/completions, `WebSearchOptions`. */
type SearchTool = Extract<Tool, { kind: 'web-search' }>;

const PLACE = each(PLACE_KEYS, STRING);
const SEARCH = {
  filters: objectOf(each(['allowed_domains', 'blocked_domains'], listOf(STRING))),
  // Chat Completions put the place into `approximate`; clients of both mix the two forms.
  user_location: objectOf({ ...PLACE, approximate: objectOf(PLACE) }, ['type']),
};
const KNOWN_SEARCH = objectOf(SEARCH, ['type', 'external_web_access', ...CHAT_SEARCH_WORDS]);
const NOTHING = objectOf({});
/** JSON of values without a counterpart that ask for what happens anyway. */
const DEFAULTS = new Map([
  ['search_context_size', '"medium"'],
  ['search_content_types', '["text"]'],
]);

/** `options` stand at `path`. @throws GatewayError 400 */
export function readSearch(
  options: JsonObject,
  path: string,
  { receipt }: Pick<ReadContext, 'receipt'>,
): SearchTool {
  const { value: search, unknown = [] } = check(options, KNOWN_SEARCH, path);
  const isDefault = (key: string): boolean => DEFAULTS.get(key) === JSON.stringify(options[key]);
  const untold = unknown.filter((key) => !DEFAULTS.has(key) || !isDefault(key));
  // It asks for stored results only: there is no such choice upstream.
  if (options.external_web_access === false) untold.push('external_web_access');
  noteUnread(untold, { path, receipt });
  for (const word of CHAT_SEARCH_WORDS) {
    if (isJsonObject(options[word])) {
      readAll(options[word], NOTHING, { path: memberPath(path, word), receipt });
    }
  }
  const { filters, user_location: location } = search;
  const { allowed_domains: allowed, blocked_domains: blocked } = filters ?? {};
  const place = location?.approximate ?? location ?? {};
  const userLocation = locationOf(place, memberPath(path, 'user_location'));
  return {
    kind: 'web-search',
    path,
    ...(allowed?.[0] === undefined ? {} : { allowedDomains: allowed }),
    ...(blocked?.[0] === undefined ? {} : { blockedDomains: blocked }),
    ...(userLocation ? { userLocation } : {}),
  };
}

/** The real service takes less; names the upstream refuses are sent under another one. */
const TOOL_NAME = /^[^\p{Cc}\p{Cs}]{1,128}$/u;

/** @throws GatewayError 400; tools that cannot be offered are left out with a receipt. */
export function readTools(body: Body, context: ReadContext): readonly Tool[] {
  const { tools: given, functions, web_search_options: options } = body;
  if (!given && !functions && !options) return [];
  const listed = given ? readToolList(given, context) : [];
  let tools = listed;
  if (functions) {
    const declared = functions.flatMap(
      (value, index) => readFunction(value, `functions[${index}]`, context) ?? [],
    );
    tools = [...listed, ...declared];
  }
  if (options) tools = withSearch(tools, readSearch(options, 'web_search_options', context));
  refuseNameless(tools, context);
  return tools;
}

/** A tool without a name is left out beside others; a request whose tools have none means something else than it says. */
export function refuseNameless(tools: readonly Tool[], { missingNames }: ReadContext): void {
  const [path] = missingNames;
  if (tools.length === 0 && path !== undefined) throw missingField(path);
}

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

const TYPED = openObjectOf({ type: STRING });
const NESTED = objectOf(each(['function', 'custom'], FREE), ['type', 'cache_control']);

function readTool(value: JsonValue, path: string, context: ReadContext): Tool | undefined {
  const type = check(value, TYPED, path).value.type ?? 'function';
  const tool = check(value, FREE, path).value;
  if (isSearch(tool, type)) return readSearch(tool, path, context);
  switch (type) {
    case 'function':
      return readFunctionTool(tool, path, context);
    case 'custom': {
      // Written as Responses have it, by clients that send the tools of one protocol to both.
      if (tool.custom === undefined) return readFreeform(tool, path, context);
      const { custom } = readAll(tool, NESTED, { path, receipt: context.receipt });
      return readFreeform(custom ?? {}, `${path}.custom`, context);
    }
    default:
      context.receipt.add('dropped', path, told`Tools of type "${type}" are not available.`);
      return undefined;
  }
}

/** True for a search of the web in any word for it, where it is declared and where it is chosen. */
function isSearch(tool: Readonly<Record<string, unknown>>, type: string): boolean {
  if (type.startsWith('web_search')) return true;
  return CHAT_SEARCH_WORDS.some((word) => type === word || isJsonObject(tool[word]));
}

/** `{type, function: {…}}`; some clients send the Responses form with the fields beside `type`. */
export function readFunctionTool(
  tool: JsonObject,
  path: string,
  context: ReadContext,
): FunctionTool | undefined {
  if ((tool.function ?? null) === null) return readFunction(tool, path, context);
  const holder = readAll(tool, NESTED, { path, receipt: context.receipt }).function;
  return readFunction(holder ?? {}, `${path}.function`, context);
}

/** The declaration in `holder`, which stands at `path`; undefined when it has no name. @throws GatewayError 400 */
function readFunction(
  holder: JsonValue,
  path: string,
  context: ReadContext,
): FunctionTool | undefined {
  const { value: declared, unknown } = check(holder, FUNCTION, path);
  const name = readName(declared, path, context);
  if (name === undefined) return undefined;
  noteUnread(unknown, { path, receipt: context.receipt });
  const isForeign = declared.input_schema !== undefined && declared.parameters === undefined;
  const key = isForeign ? 'input_schema' : 'parameters';
  const parametersPath = memberPath(path, key);
  return {
    kind: 'function',
    name,
    description: declared.description ?? undefined,
    parameters: readSchema(declared[key], parametersPath),
    strict: declared.strict ?? undefined,
    path,
    parametersPath,
  };
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
  const { value: declared, unknown } = check(holder, FREEFORM, path);
  const name = readName(declared, path, context);
  if (name === undefined) return undefined;
  noteUnread(unknown, { path, receipt: context.receipt });
  const description = declared.description ?? undefined;
  const grammar = declared.format ? readGrammar(declared.format, `${path}.format`) : undefined;
  return { kind: 'freeform', name, description, grammar, path };
}

interface Grammar {
  readonly syntax?: string | null;
  readonly definition?: string | null;
}

function readGrammar(
  format: Grammar & { readonly type: string; readonly grammar?: Grammar | null },
  path: string,
): FreeformTool['grammar'] {
  if (format.type === 'text') return undefined;
  if (format.type !== 'grammar') throw unknownWord(`${path}.type`, ['text', 'grammar']);
  const holderPath = format.grammar ? `${path}.grammar` : path;
  const { syntax, definition } = format.grammar ?? format;
  return {
    syntax: filled(syntax, `${holderPath}.syntax`),
    definition: filled(definition, `${holderPath}.definition`),
  };
}

/** A tool without a name cannot be called: left out where others are left. One with an impossible name is the client's mistake. */
function readName(
  { name }: { readonly name?: string | null },
  path: string,
  context: ReadContext,
): string | undefined {
  if (!name) {
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

const OBJECT_TYPES = ['function', 'custom', 'allowed_tools', 'web_search'];
export const AUTO: ToolChoice = { kind: 'auto', names: [] };
export const NOT_DEMANDED = told`A hosted search cannot be demanded, only offered.`;
export const SEARCHES = { serverTools: ['web-search'] } as const;

/** @throws GatewayError 400, also when the choice names or needs a tool that is not there. */
export function readToolChoice(
  body: Body,
  tools: readonly Tool[],
  context: ReadContext,
): ToolChoice {
  const key = (body.tool_choice ?? null) === null ? 'function_call' : 'tool_choice';
  const value = body[key];
  if (value === undefined || value === null) return AUTO;
  const choice =
    typeof value === 'string' ? readChoiceWord(value, key) : readChoiceObject(value, key);
  const search = tools.find(({ path }) => path === 'web_search_options');
  if (choice.kind === 'none') {
    if (search !== undefined) {
      context.receipt.add('dropped', 'web_search_options', told`${key} rules out the search.`);
    }
    return choice;
  }
  const callable = tools.filter(isCallable);
  const known = new Set(callable.map(({ name }) => name));
  const unknown = choice.names.find((name) => !known.has(name));
  if (unknown !== undefined) {
    throw invalidRequest(key, `${key} names the tool "${unknown}", which is not in tools.`);
  }
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
  return AUTO;
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
  return { ...AUTO, ...SEARCHES };
}

export function readChoiceWord(word: string, path: string): ToolChoice {
  switch (word) {
    case 'none':
      return { kind: 'none' };
    // `validated` is sent by a coding CLI for one model family: calls are optional but must match their schema.
    case 'auto':
    case 'required':
    case 'validated':
      return { kind: word, names: [] };
    // Mistral's word, beside "required".
    case 'any':
      return { kind: 'required', names: [] };
    default:
      throw unknownWord(path, ['none', 'auto', 'required', 'validated']);
  }
}

function readChoiceObject(choice: Choice, path: string): ToolChoice {
  const isNamed = typeof choice.name === 'string';
  const type = isNamed ? 'function' : typeOfChoice(choice, path);
  if (type === 'function' || type === 'custom') {
    return { kind: 'required', names: [readChosen(choice, path) ?? ''] };
  }
  if (type !== 'allowed_tools') {
    if (isSearch(choice, type)) return { kind: 'required', names: [], ...SEARCHES };
    throw unknownWord(`${path}.type`, OBJECT_TYPES);
  }
  const { allowed_tools: allowed } = choice;
  const allowedPath = `${path}.allowed_tools`;
  if (!allowed) throw missingField(allowedPath);
  const kind = readMode(allowed, allowedPath);
  const toolsPath = `${allowedPath}.tools`;
  const named = (allowed.tools ?? []).map((tool, index) =>
    readChosen(tool, `${toolsPath}[${index}]`),
  );
  if (named.length === 0) throw invalidRequest(toolsPath, `${toolsPath} names no tool.`);
  const names = named.filter((name) => name !== undefined);
  return { kind, names, ...(names.length < named.length ? SEARCHES : {}) };
}

/** Clients of Hugging Face leave the type of a function out. */
function typeOfChoice({ type, function: named }: Choice, path: string): string {
  return type === undefined && named ? 'function' : filled(type, `${path}.type`);
}

export function readMode({ mode }: Choice, path: string): 'auto' | 'required' {
  const word = filled(mode, `${path}.mode`);
  if (word === 'auto' || word === 'required') return word;
  throw unknownWord(`${path}.mode`, ['auto', 'required']);
}

/** Undefined for a search, which has no name. The deprecated form, and the one of Responses, name the tool directly. */
function readChosen(tool: Choice, path: string): string | undefined {
  if (typeof tool.name === 'string') return filled(tool.name, `${path}.name`);
  const type = typeOfChoice(tool, path);
  if (isSearch(tool, type)) return undefined;
  const holder = type === 'function' || type === 'custom' ? tool[type] : undefined;
  if (!holder) throw missingField(`${path}.${type}`);
  return holder.name;
}
