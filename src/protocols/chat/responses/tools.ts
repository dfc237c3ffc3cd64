// Reads the tools of a Responses request: flat declarations, namespaces of them, and hosted tools.

import { invalidRequest } from '../../../canonical/error.ts';
import { memberPath, NotedMemo, type Receipt } from '../../../canonical/receipt.ts';
import type { FreeformTool, FunctionTool, Tool, ToolChoice } from '../../../canonical/request.ts';
import { isCallable } from '../../../canonical/tool-names.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../lib/json.ts';
import { told } from '../../../lib/localized-message.ts';
import { shareAs } from '../../../lib/shared-json.ts';
import {
  ANYTHING,
  FILLED,
  FREE,
  isEmptyValue,
  listOf,
  needed,
  objectOf,
  openObjectOf,
  STRING,
} from '../../body-schema.ts';
import {
  AUTO,
  NOT_DEMANDED,
  readChoiceWord,
  readFreeform,
  readFunctionTool,
  readMode,
  readSchema,
  readSearch,
  SEARCHES,
} from '../read-tools.ts';
import { type Choice, check, each, filled, noteUnread, readAll } from '../schema.ts';
import {
  type Body,
  type CallForm,
  type ResponsesContext,
  ToolDirectory,
  type ToolIdentity,
} from './schema.ts';

interface ClientTool {
  /** Where the item of a call has its one object. */
  readonly key: 'action' | 'operation';
  /** Members the object always has, which models leave out. */
  readonly shownDefaults: JsonObject;
  readonly description: string;
  readonly parameters: JsonObject;
}

/** Tools whose calls are one object (`openai` resources/responses: `LocalShellCall`, `ShellCall`, `ApplyPatchCall`). */
export const CLIENT_TOOLS = {
  local_shell: {
    key: 'action',
    shownDefaults: { type: 'exec', command: [], env: {} },
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
    key: 'action',
    shownDefaults: { commands: [], timeout_ms: null, max_output_length: null },
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
    key: 'operation',
    shownDefaults: {},
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
} as const satisfies Readonly<Record<string, ClientTool>>;

export type ClientToolForm = keyof typeof CLIENT_TOOLS;

/** The object of an item, from the arguments of a call or from what a client returned. */
export function completeClientCall(form: ClientToolForm, given: JsonObject): JsonObject {
  return { ...CLIENT_TOOLS[form].shownDefaults, ...given };
}

const TYPED = openObjectOf({ type: STRING });
const NAMESPACE = objectOf({ name: needed(FILLED), description: STRING, tools: listOf(FREE) }, [
  'type',
]);
const CONTAINER = objectOf({ type: ANYTHING });
const CODE = objectOf({ container: ANYTHING }, ['type']);
const CLIENT_TOOL = objectOf({ environment: CONTAINER }, ['type']);
const TOOL_SEARCH = objectOf(
  { ...each(['execution', 'description'], STRING), parameters: ANYTHING },
  ['type'],
);

/** Where a tool is declared. */
interface ToolPlace {
  readonly path: string;
  readonly namespace?: string | undefined;
  readonly deferred: JsonObject | undefined;
  readonly receipt: Receipt;
  readonly context: ResponsesContext;
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
    const directory = new ToolDirectory();
    const own = { receipt, missingNames: [], directory, drawing: undefined };
    const inner: ResponsesContext = { ...context, ...own };
    const tools = shareAs(values, readToolList(values, { path: 'tools' }, inner));
    const { missingNames, drawing } = inner;
    return { tools, missingNames, identities: directory.identities, drawing };
  });
  context.missingNames.push(...missingNames);
  for (const identity of identities) context.directory.add(identity);
  context.drawing = drawing;
  return tools;
}

/** Tools listed at `path`, in order; each is put into the directory. @throws GatewayError 400 */
export function readToolList(
  values: readonly JsonValue[],
  list: Pick<ToolPlace, 'path' | 'namespace'>,
  context: ResponsesContext,
): readonly Tool[] {
  return values.flatMap((value, index) => {
    const path = `${list.path}[${index}]`;
    const type = check(value, TYPED, path).value.type ?? 'function';
    const tool = check(value, FREE, path).value;
    const deferred = tool.defer_loading === true ? tool : undefined;
    return readTool(tool, type, { ...list, path, deferred, receipt: context.receipt, context });
  });
}

function readTool(tool: JsonObject, type: string, place: ToolPlace): readonly Tool[] {
  const { path, context } = place;
  if (type.startsWith('web_search')) return [readSearch(tool, path, context)];
  switch (type) {
    case 'function':
      return declare(readFunctionTool(tool, path, context), 'function', place);
    case 'custom':
      return declare(readFreeform(tool, path, context), 'custom', place);
    case 'namespace':
      return readNamespace(tool, place);
    case 'shell':
    case 'local_shell':
    case 'apply_patch': {
      // A shell in a container of the vendor's is not the client's to run.
      const { value, unknown } = check(tool, CLIENT_TOOL, path);
      const kind = value.environment?.type ?? 'local';
      if (type === 'shell' && value.environment && kind !== 'local') return skip(type, place);
      noteUnread(unknown, place);
      const { key: _key, ...declared } = CLIENT_TOOLS[type];
      return declare({ kind: 'function', name: type, ...declared, path }, type, place);
    }
    case 'tool_search':
      return readToolSearch(tool, place);
    case 'code_interpreter':
      return [readCodeTool(tool, place)];
    case 'image_generation':
      if (context.drawing !== undefined) return skip(type, place);
      context.drawing = { tool, path };
      return [];
    default:
      return skip(type, place);
  }
}

function skip(type: string, { path, receipt }: ToolPlace): readonly Tool[] {
  const reason =
    type === 'image_generation'
      ? told`Only models that draw make pictures, and they need no tool for it.`
      : told`Tools of type "${type}" are not available.`;
  receipt.add('dropped', path, reason);
  return [];
}

function declare(
  tool: FunctionTool | FreeformTool | undefined,
  form: CallForm,
  { namespace, deferred, context }: ToolPlace,
): readonly Tool[] {
  if (tool === undefined) return [];
  const name = context.directory.add({ form, name: tool.name, namespace, deferred });
  return [{ ...tool, name }];
}

function readNamespace(holder: JsonObject, place: ToolPlace): readonly Tool[] {
  const { name: namespace, description, tools: values } = readAll(holder, NAMESPACE, place);
  const list = { path: memberPath(place.path, 'tools'), namespace };
  const tools = readToolList(values ?? [], list, place.context);
  const about = description ?? '';
  return about.trim() === '' ? tools : describeAll(tools, `All tools of "${namespace}": ${about}`);
}

/** What is said of a whole namespace has no other place than its first tool. */
function describeAll([first, ...rest]: readonly Tool[], about: string): readonly Tool[] {
  if (first === undefined) return [];
  if (first.kind !== 'function' && first.kind !== 'freeform') return [first, ...rest];
  const description = first.description === undefined ? about : `${about}\n\n${first.description}`;
  return [{ ...first, description }, ...rest];
}

/** The upstream runs code in a place of its own, which holds no files and is gone with the answer. */
function readCodeTool(tool: JsonObject, place: ToolPlace): Tool {
  const { container } = readAll(tool, CODE, place);
  const path = memberPath(place.path, 'container');
  if (isJsonObject(container)) {
    readAll(container, CONTAINER, { ...place, path });
  } else if (!isEmptyValue(container ?? undefined)) {
    place.receipt.add('dropped', path, told`The upstream runs code in a place of its own.`);
  }
  return { kind: 'code-execution', path: place.path };
}

/** Clients answer a search of their own only; one with parameters is (`openai` responses, `ToolSearchTool`). */
export function isServersSearch(tool: JsonValue): boolean {
  if (!isJsonObject(tool) || tool.type !== 'tool_search') return false;
  const { execution, parameters } = tool;
  return typeof execution === 'string' ? execution !== 'client' : (parameters ?? null) === null;
}

function readToolSearch(tool: JsonObject, place: ToolPlace): readonly Tool[] {
  const { path, receipt } = place;
  const { value, unknown } = check(tool, TOOL_SEARCH, path);
  const { description, parameters } = value;
  if (isServersSearch(tool)) {
    const reason = told`The model is shown all tools at once, so that there are none to search for.`;
    receipt.add('approximated', path, reason);
    return [];
  }
  noteUnread(unknown, place);
  const parametersPath = memberPath(path, 'parameters');
  const search: FunctionTool = {
    kind: 'function',
    name: 'tool_search',
    description: description ?? 'Finds further tools for what is to be done.',
    parameters: readSchema(parameters ?? undefined, parametersPath),
    parametersPath,
    path,
  };
  return declare(search, 'tool_search', place);
}

/** No function beside it: wherever one may be called, the search may be left out. */
const SEARCH_ALONE: ToolChoice = { ...AUTO, ...SEARCHES };
const OWN_FORMS = ['local_shell', 'shell', 'apply_patch', 'tool_search'] as const;

/** @throws GatewayError 400, also when the choice demands a tool that is not there. */
export function readToolChoice(
  value: Body['tool_choice'],
  tools: readonly Tool[],
  context: ResponsesContext,
): ToolChoice {
  if (value === undefined || value === null) return AUTO;
  const choice =
    typeof value === 'string'
      ? readChoiceWord(value, 'tool_choice')
      : readChoiceObject(value, tools, context);
  if (choice.kind === 'none') return choice;
  const callable = tools.filter(isCallable);
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

function readChoiceObject(
  choice: Choice,
  tools: readonly Tool[],
  context: ResponsesContext,
): ToolChoice {
  const type = filled(choice.type, 'tool_choice.type');
  if (type === 'allowed_tools') return readAllowed(choice, tools, context);
  const name = flatNameOf(choice, 'tool_choice', context);
  if (name !== undefined) return { kind: 'required', names: [name] };
  if (isSearch(choice) && tools.some((tool) => tool.kind === 'web-search')) {
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
  choice: Choice,
  tools: readonly Tool[],
  context: ResponsesContext,
): ToolChoice {
  const kind = readMode(choice, 'tool_choice');
  const allowed = choice.tools ?? [];
  const names = allowed.flatMap(
    (tool, index) => flatNameOf(tool, `tool_choice.tools[${index}]`, context) ?? [],
  );
  const searches = allowed.some(isSearch) && tools.some(({ kind }) => kind === 'web-search');
  if (names.length > 0) return { kind, names, ...(searches ? SEARCHES : {}) };
  if (!searches) {
    throw invalidRequest('tool_choice.tools', 'tool_choice.tools names no tool of this request.');
  }
  if (kind === 'required') context.receipt.add('approximated', 'tool_choice', NOT_DEMANDED);
  return SEARCH_ALONE;
}

/** Tools of the vendor's own kinds are named by their type alone; the form of Chat Completions has `function`. */
function flatNameOf(
  { type, name: own, namespace, function: nested }: Choice,
  path: string,
  { directory }: ResponsesContext,
): string | undefined {
  const name = own ?? nested?.name;
  if (name !== undefined) {
    const form = type === 'custom' ? 'custom' : 'function';
    const named = check(name, STRING, `${path}.name`).value;
    return directory.flatName({ form, name: named, namespace: namespace ?? undefined });
  }
  const form = OWN_FORMS.find((known) => known === type);
  if (form === undefined) return undefined;
  const flat = directory.flatName({ form, name: form });
  return directory.find(flat)?.form === form ? flat : undefined;
}

/** Its name carries a version or a stage: `web_search_2025_08_26`, `web_search_preview`. */
function isSearch({ type }: Choice): boolean {
  return type?.startsWith('web_search') === true;
}
