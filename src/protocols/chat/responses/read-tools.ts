// Reads the tools of a Responses request: flat declarations, namespaces of them, and hosted tools.

import { memberPath } from '../../../canonical/field-reader.ts';
import { objectShape, saysNothing } from '../../../canonical/field-shapes.ts';
import { told } from '../../../canonical/receipt.ts';
import type { FreeformTool, FunctionTool, Tool } from '../../../canonical/request.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../lib/json.ts';
import { asObject, readArray, readObject, readString, requireString } from '../fields.ts';
import { noteUnreadFields } from '../note-fields.ts';
import { readSearch } from '../read-search.ts';
import { readFreeform, readFunctionTool, readSchema } from '../read-tools.ts';
import { type ClientToolForm, clientTool } from './client-tools.ts';
import type { ResponsesContext } from './responses-context.ts';
import type { CallForm } from './tool-directory.ts';

const NAMESPACE_FIELDS = objectShape(['type', 'name', 'description', 'tools']);
const CODE_FIELDS = objectShape(['type', 'container']);
const CONTAINER_FIELDS = objectShape(['type']);
const CLIENT_TOOL_FIELDS = objectShape(['type'], { environment: CONTAINER_FIELDS });
const SEARCH_FIELDS = objectShape(['type', 'execution', 'description', 'parameters']);

interface ToolPlace {
  readonly path: string;
  readonly namespace?: string | undefined;
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
