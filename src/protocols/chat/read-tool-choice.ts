// Reads `tool_choice` (and the deprecated `function_call`): which tools the answer may or must call.

import { invalidRequest } from '../../canonical/error.ts';
import { told } from '../../canonical/receipt.ts';
import type { Tool, ToolChoice } from '../../canonical/request.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import {
  asObject,
  readArray,
  requireObject,
  requireString,
  unknownWord,
  wrongType,
} from './fields.ts';
import type { ReadContext } from './read-context.ts';
import { isSearch } from './read-tools.ts';

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
