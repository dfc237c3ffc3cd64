// Reads `tool_choice` of a Responses request: which tools the answer may or must call.

import { invalidRequest } from '../../../canonical/error.ts';
import { told } from '../../../canonical/receipt.ts';
import type { Tool, ToolChoice } from '../../../canonical/request.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../lib/json.ts';
import {
  asObject,
  readArray,
  readObject,
  readString,
  requireString,
  unknownWord,
  wrongType,
} from '../fields.ts';
import type { ResponsesContext } from './responses-context.ts';

const WORDS = ['none', 'auto', 'required', 'validated'];
const AUTO: ToolChoice = { kind: 'auto', names: [] };
/** No function beside it: wherever one may be called, the search may be left out. */
const SEARCHES = { serverTools: ['web-search'] } as const;
const SEARCH_ALONE: ToolChoice = { ...AUTO, ...SEARCHES };
const NOT_DEMANDED = told`A hosted search cannot be demanded, only offered.`;
const OWN_FORMS = ['local_shell', 'shell', 'apply_patch', 'tool_search'] as const;

/** @throws GatewayError 400, also when the choice demands a tool that is not there. */
export function readToolChoice(
  value: JsonValue | undefined,
  tools: readonly Tool[],
  context: ResponsesContext,
): ToolChoice {
  if (value === undefined || value === null) return AUTO;
  const choice =
    typeof value === 'string' ? readWord(value) : readChoiceObject(value, tools, context);
  if (choice.kind === 'none') return choice;
  const callable = tools.filter((tool) => tool.kind === 'function' || tool.kind === 'freeform');
  const known = new Set(callable.map(({ name }) => name));
  const unknown = choice.names.find((name) => !known.has(name));
  if (unknown !== undefined) {
    throw invalidRequest('tool_choice', `tool_choice names "${unknown}", which is not in tools.`);
  }
  if (choice.serverTools !== undefined && choice.names.length === 0) return choice;
  if (choice.kind !== 'required' || callable.length > 0) return choice;
  if (tools.length > 0) {
    context.receipt.add('approximated', 'tool_choice', NOT_DEMANDED);
    return AUTO;
  }
  if (context.drawing !== undefined) return demandDrawing(context.drawing);
  throw invalidRequest('tool_choice', 'tool_choice demands a tool call, but tools offers none.');
}

function readWord(word: string): ToolChoice {
  switch (word) {
    case 'none':
      return { kind: 'none' };
    case 'auto':
      return AUTO;
    case 'required':
      return { kind: 'required', names: [] };
    case 'validated':
      return { kind: 'validated', names: [] };
    default:
      throw unknownWord('tool_choice', WORDS);
  }
}

function readChoiceObject(
  value: JsonValue,
  tools: readonly Tool[],
  context: ResponsesContext,
): ToolChoice {
  if (!isJsonObject(value)) throw wrongType('tool_choice', 'a string or an object');
  const type = requireString(value, 'type', 'tool_choice');
  if (type === 'allowed_tools') return readAllowed(value, tools, context);
  const name = flatNameOf(value, 'tool_choice', context);
  if (name !== undefined) return { kind: 'required', names: [name] };
  if (isSearchType(type) && tools.some((tool) => tool.kind === 'web-search')) {
    context.receipt.add('approximated', 'tool_choice', NOT_DEMANDED);
    return SEARCH_ALONE;
  }
  if (type === 'image_generation' && context.drawing !== undefined) {
    return demandDrawing(context.drawing);
  }
  throw invalidRequest(
    'tool_choice',
    `tool_choice demands the tool "${type}", which is not available here.`,
    'unsupported',
  );
}

/** Whether the model draws is known when it is; it is no function that could be chosen. */
function demandDrawing(drawing: NonNullable<ResponsesContext['drawing']>): ToolChoice {
  drawing.isDemanded = true;
  return AUTO;
}

function readAllowed(
  choice: JsonObject,
  tools: readonly Tool[],
  context: ResponsesContext,
): ToolChoice {
  const mode = requireString(choice, 'mode', 'tool_choice');
  if (mode !== 'auto' && mode !== 'required') {
    throw unknownWord('tool_choice.mode', ['auto', 'required']);
  }
  const allowed = readArray(choice, 'tools', 'tool_choice') ?? [];
  const names = allowed.flatMap((value, index) => {
    const path = `tool_choice.tools[${index}]`;
    return flatNameOf(asObject(value, path), path, context) ?? [];
  });
  const searches =
    allowed.some((value) => isJsonObject(value) && isSearchType(value.type)) &&
    tools.some(({ kind }) => kind === 'web-search');
  if (names.length > 0) return { kind: mode, names, ...(searches ? SEARCHES : {}) };
  if (!searches) {
    throw invalidRequest('tool_choice.tools', 'tool_choice.tools names no tool of this request.');
  }
  if (mode === 'required') context.receipt.add('approximated', 'tool_choice', NOT_DEMANDED);
  return SEARCH_ALONE;
}

/** Tools of the vendor's own kinds are named by their type alone; the form of Chat Completions has `function`. */
function flatNameOf(
  holder: JsonObject,
  path: string,
  { directory }: ResponsesContext,
): string | undefined {
  const type = readString(holder, 'type', path) ?? '';
  const nested = readObject(holder, 'function', path);
  const name =
    readString(holder, 'name', path) ?? (nested && readString(nested, 'name', `${path}.function`));
  if (name !== undefined) {
    const form = type === 'custom' ? 'custom' : 'function';
    const namespace = readString(holder, 'namespace', path);
    return directory.flatName({ form, name, namespace });
  }
  const form = OWN_FORMS.find((known) => known === type);
  if (form === undefined) return undefined;
  const flat = directory.flatName({ form, name: form });
  return directory.find(flat)?.form === form ? flat : undefined;
}

/** Its name carries a version or a stage: `web_search_2025_08_26`, `web_search_preview`. */
function isSearchType(type: JsonValue | undefined): boolean {
  return typeof type === 'string' && type.startsWith('web_search');
}
