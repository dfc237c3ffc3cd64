// Reads the tools of a Responses request: flat declarations, namespaces of them, and hosted tools.

import { invalidRequest } from '../../../canonical/error.ts';
import { memberPath, NotedMemo } from '../../../canonical/receipt.ts';
import type { FreeformTool, FunctionTool, Tool, ToolChoice } from '../../../canonical/request.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../lib/json.ts';
import { told } from '../../../lib/localized-message.ts';
import { shareAs } from '../../../lib/shared-json.ts';
import { objectShape, saysNothing } from '../../body-schema.ts';
import { readFreeform, readFunctionTool, readSchema, readSearch } from '../read-tools.ts';
import {
  asObject,
  noteUnreadFields,
  readArray,
  readObject,
  readString,
  requireString,
  unknownWord,
  wrongType,
} from '../schema.ts';
import {
  type CallForm,
  createToolDirectory,
  type ResponsesContext,
  type ToolIdentity,
} from './schema.ts';

/** Forms whose call is one object on the item, under this key. */
export const OBJECT_KEYS = {
  local_shell: 'action',
  shell: 'action',
  apply_patch: 'operation',
} as const;

export type ClientToolForm = keyof typeof OBJECT_KEYS;

/** Members the object of an item always has, which models leave out. */
const SHOWN_DEFAULTS: Readonly<Record<ClientToolForm, JsonObject>> = {
  local_shell: { type: 'exec', command: [], env: {} },
  shell: { commands: [], timeout_ms: null, max_output_length: null },
  apply_patch: {},
};

/** The object of an item, from the arguments of a call or from what a client returned. */
export function completeClientCall(form: ClientToolForm, given: JsonObject): JsonObject {
  return { ...SHOWN_DEFAULTS[form], ...given };
}

/** What calls are made of (`openai` resources/responses: `LocalShellCall`, `ShellCall`, `ApplyPatchCall`). */
const DECLARATIONS: Readonly<
  Record<ClientToolForm, { description: string; parameters: JsonObject }>
> = {
  local_shell: {
    description: 'Runs a command in the shell of the user and gives its output.',
    parameters: {
      type: 'object',
      properties: {
        type: { type: 'string', enum: ['exec'] },
        command: { type: 'array', items: { type: 'string' } },
        env: { type: 'object' },
        working_directory: { type: 'string' },
        timeout_ms: { type: 'integer' },
      },
      required: ['type', 'command'],
    },
  },
  shell: {
    description:
      'Runs commands in the shell of the user, each on its own, and gives the output and exit code of each.',
    parameters: {
      type: 'object',
      properties: {
        commands: { type: 'array', items: { type: 'string' } },
        timeout_ms: { type: 'integer' },
        max_output_length: { type: 'integer' },
      },
      required: ['commands'],
    },
  },
  apply_patch: {
    description:
      'Creates, updates or deletes one file. diff is in the V4A format: for create_file every line ' +
      'begins with "+"; for update_file hunks begin with "@@" and lines with " ", "-" or "+". ' +
      'delete_file takes no diff.',
    parameters: {
      type: 'object',
      properties: {
        type: { type: 'string', enum: ['create_file', 'update_file', 'delete_file'] },
        path: { type: 'string' },
        diff: { type: 'string' },
      },
      required: ['type', 'path'],
    },
  },
};

function clientTool(form: ClientToolForm, path: string): FunctionTool {
  const shownDefaults = SHOWN_DEFAULTS[form];
  return { kind: 'function', name: form, ...DECLARATIONS[form], path, shownDefaults };
}

const NAMESPACE_FIELDS = objectShape(['type', 'name', 'description', 'tools']);
const CODE_FIELDS = objectShape(['type', 'container']);
const CONTAINER_FIELDS = objectShape(['type']);
const CLIENT_TOOL_FIELDS = objectShape(['type'], { environment: CONTAINER_FIELDS });
const SEARCH_FIELDS = objectShape(['type', 'execution', 'description', 'parameters']);

interface ToolPlace {
  readonly path: string;
  readonly namespace?: string | undefined;
}

interface OwnTools {
  readonly tools: readonly Tool[];
  readonly missingNames: readonly string[];
  readonly identities: readonly ToolIdentity[];
  readonly drawing: ResponsesContext['drawing'];
}

const toolLists = new NotedMemo<OwnTools>();

/** The tools of the request itself, which are read before any others. @throws GatewayError 400 */
export function readOwnTools(
  values: readonly JsonValue[],
  context: ResponsesContext,
): readonly Tool[] {
  const key = { variant: '', receipt: context.receipt };
  const { tools, missingNames, identities, drawing } = toolLists.get(values, key, (receipt) => {
    const identities: ToolIdentity[] = [];
    const directory = createToolDirectory();
    const add = (tool: ToolIdentity): string => {
      identities.push(tool);
      return directory.add(tool);
    };
    const own = { receipt, missingNames: [], directory: { ...directory, add }, drawing: undefined };
    const inner: ResponsesContext = { ...context, ...own };
    const tools = shareAs(values, readToolList(values, { path: 'tools' }, inner));
    return { tools, missingNames: inner.missingNames, identities, drawing: inner.drawing };
  });
  context.missingNames.push(...missingNames);
  for (const identity of identities) context.directory.add(identity);
  context.drawing = drawing;
  return tools;
}

/** Tools listed at `path`, in order; each is put into the directory. @throws GatewayError 400 */
export function readToolList(
  values: readonly JsonValue[],
  place: ToolPlace,
  context: ResponsesContext,
): readonly Tool[] {
  return values.flatMap((value, index) => {
    const path = `${place.path}[${index}]`;
    return readTool(asObject(value, path), { ...place, path }, context);
  });
}

function readTool(tool: JsonObject, place: ToolPlace, context: ResponsesContext): readonly Tool[] {
  const { path } = place;
  const type = readString(tool, 'type', path) ?? 'function';
  if (type.startsWith('web_search')) return [readSearch(tool, path, context)];
  switch (type) {
    case 'function':
      return declare(readFunctionTool(tool, path, context), 'function', { place, context });
    case 'custom':
      return declare(readFreeform(tool, path, context), 'custom', { place, context });
    case 'namespace':
      return readNamespace(tool, path, context);
    case 'shell':
      if (isHosted(tool, path)) return skip(type, path, context);
      return declareClientTool(type, tool, { place, context });
    case 'local_shell':
    case 'apply_patch':
      return declareClientTool(type, tool, { place, context });
    case 'tool_search':
      if (isServerSearch(tool, path)) return skipSearch(path, context);
      return declare(readToolSearch(tool, path, context), 'tool_search', { place, context });
    case 'code_interpreter':
      return [readCodeTool(tool, path, context)];
    case 'image_generation':
      if (context.drawing !== undefined) return skip(type, path, context);
      context.drawing = { tool, path };
      return [];
    default:
      return skip(type, path, context);
  }
}

function skip(type: string, path: string, { receipt }: ResponsesContext): readonly Tool[] {
  const reason =
    type === 'image_generation'
      ? told`Only models that draw make pictures, and they need no tool for it.`
      : told`Tools of type "${type}" are not available.`;
  receipt.add('dropped', path, reason);
  return [];
}

/** A shell in a container of the vendor's is not the client's to run. */
function isHosted(tool: JsonObject, path: string): boolean {
  const environment = readObject(tool, 'environment', path);
  return environment !== undefined && environment.type !== 'local';
}

/** Clients answer a search of their own only; one with parameters is (`openai` responses, `ToolSearchTool`). */
function isServerSearch(tool: JsonObject, path: string): boolean {
  const execution = readString(tool, 'execution', path);
  return execution === undefined ? (tool.parameters ?? null) === null : execution !== 'client';
}

function skipSearch(path: string, { receipt }: ResponsesContext): readonly Tool[] {
  const reason = told`The model is shown all tools at once, so that there are none to search for.`;
  receipt.add('approximated', path, reason);
  return [];
}

interface Declaring {
  readonly place: ToolPlace;
  readonly context: ResponsesContext;
}

function declareClientTool(
  form: ClientToolForm,
  tool: JsonObject,
  declaring: Declaring,
): readonly Tool[] {
  const { place, context } = declaring;
  noteUnreadFields(tool, { known: CLIENT_TOOL_FIELDS, path: place.path, context });
  return declare(clientTool(form, place.path), form, declaring);
}

function declare(
  tool: FunctionTool | FreeformTool | undefined,
  form: CallForm,
  { place, context }: Declaring,
): readonly Tool[] {
  if (tool === undefined) return [];
  const { namespace } = place;
  return [{ ...tool, name: context.directory.add({ form, name: tool.name, namespace }) }];
}

function readNamespace(
  holder: JsonObject,
  path: string,
  context: ResponsesContext,
): readonly Tool[] {
  noteUnreadFields(holder, { known: NAMESPACE_FIELDS, path, context });
  const namespace = requireString(holder, 'name', path);
  const values = readArray(holder, 'tools', path) ?? [];
  const tools = readToolList(values, { path: memberPath(path, 'tools'), namespace }, context);
  const about = readString(holder, 'description', path) ?? '';
  return about.trim() === '' ? tools : describeAll(tools, `All tools of "${namespace}": ${about}`);
}

/** What is said of a whole namespace has no other place than its first tool. */
function describeAll([first, ...rest]: readonly Tool[], about: string): readonly Tool[] {
  if (first?.kind !== 'function' && first?.kind !== 'freeform')
    return first === undefined ? [] : [first, ...rest];
  const description = first.description === undefined ? about : `${about}\n\n${first.description}`;
  return [{ ...first, description }, ...rest];
}

/** The upstream runs code in a place of its own, which holds no files and is gone with the answer. */
function readCodeTool(tool: JsonObject, path: string, context: ResponsesContext): Tool {
  noteUnreadFields(tool, { known: CODE_FIELDS, path, context });
  const containerPath = memberPath(path, 'container');
  if (isJsonObject(tool.container)) {
    noteUnreadFields(tool.container, { known: CONTAINER_FIELDS, path: containerPath, context });
  } else if (!saysNothing(tool.container)) {
    context.receipt.add(
      'dropped',
      containerPath,
      told`The upstream runs code in a place of its own.`,
    );
  }
  return { kind: 'code-execution', path };
}

function readToolSearch(tool: JsonObject, path: string, context: ResponsesContext): FunctionTool {
  noteUnreadFields(tool, { known: SEARCH_FIELDS, path, context });
  return {
    kind: 'function',
    name: 'tool_search',
    description:
      readString(tool, 'description', path) ?? 'Finds further tools for what is to be done.',
    parameters: readSchema(tool.parameters, memberPath(path, 'parameters')),
    parametersPath: memberPath(path, 'parameters'),
    path,
  };
}

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
