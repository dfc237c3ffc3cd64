// Reads items of calls and their outputs: functions, custom tools, shells, searches, drawn pictures.

import { memberPath } from '../../../canonical/field-reader.ts';
import { told } from '../../../canonical/receipt.ts';
import type { Part, ToolResultContent, Turn } from '../../../canonical/request.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../lib/json.ts';
import { readObject, readString, requireObject, requireString, wrongType } from '../fields.ts';
import { readArguments } from '../read-arguments.ts';
import { readInline, readModality } from '../read-media.ts';
import { type ClientToolForm, completeClientCall, OBJECT_KEYS } from './client-tools.ts';
import { referredId, unknownReference } from './item-reference.ts';
import { readItemContent } from './read-content.ts';
import type { ResponsesContext } from './responses-context.ts';
import type { CallForm } from './tool-directory.ts';

/** Undefined for an item that is none of them. @throws GatewayError 400 */
export function readCallItem(
  item: JsonObject,
  path: string,
  context: ResponsesContext,
): Turn | undefined {
  switch (item.type) {
    case 'function_call':
      return call(item, path, {
        name: flatName(item, path, { form: 'function', context }),
        input: readArguments(item.arguments, memberPath(path, 'arguments'), context),
      });
    case 'custom_tool_call':
      return call(item, path, {
        name: flatName(item, path, { form: 'custom', context }),
        input: { input: readString(item, 'input', path) ?? '' },
      });
    case 'local_shell_call':
      return clientCall(item, path, { form: 'local_shell', context });
    case 'shell_call':
      return clientCall(item, path, { form: 'shell', context });
    case 'apply_patch_call':
      return clientCall(item, path, { form: 'apply_patch', context });
    case 'shell_call_output':
      return output(item, path, [{ kind: 'json', value: { output: item.output ?? [] } }]);
    case 'tool_search_call':
      return call(item, path, {
        name: context.directory.flatName({ form: 'tool_search', name: 'tool_search' }),
        input: readSearchInput(item, path, context),
      });
    case 'function_call_output':
    case 'custom_tool_call_output':
    case 'local_shell_call_output':
    case 'apply_patch_call_output':
      return output(item, path, readOutput(item.output, memberPath(path, 'output')));
    case 'tool_search_output':
      return output(item, path, [{ kind: 'json', value: { tools: item.tools ?? [] } }]);
    case 'web_search_call':
      return assistant({
        kind: 'server-tool-call',
        // Nothing answers to it, and clients leave it out.
        id: readString(item, 'id', path) ?? path,
        name: 'web_search',
        input: readObject(item, 'action', path) ?? {},
      });
    case 'image_generation_call':
      return readDrawing(item, path, context);
    default:
      return undefined;
  }
}

interface FormPlace {
  readonly form: CallForm;
  readonly context: ResponsesContext;
}

function call(
  item: JsonObject,
  path: string,
  { name, input }: { readonly name: string; readonly input: JsonObject },
): Turn {
  return assistant({ kind: 'tool-call', id: callIdOf(item, path), name, input });
}

/** The object of the item is what the declaration takes; clients may leave out what is empty. */
function clientCall(
  item: JsonObject,
  path: string,
  { form, context }: FormPlace & { readonly form: ClientToolForm },
): Turn {
  return call(item, path, {
    name: context.directory.flatName({ form, name: form }),
    input: completeClientCall(form, requireObject(item, OBJECT_KEYS[form], path)),
  });
}

function output(item: JsonObject, path: string, content: readonly ToolResultContent[]): Turn {
  const isError = item.status === 'failed' || item.status === 'incomplete';
  return {
    role: 'user',
    parts: [{ kind: 'tool-result', callId: callIdOf(item, path), content, isError }],
  };
}

function assistant(part: Part): Turn {
  return { role: 'assistant', parts: [part] };
}

/** Outputs of the vendor's own shell name their call by `id`. */
function callIdOf(item: JsonObject, path: string): string {
  return readString(item, 'call_id', path) ?? requireString(item, 'id', path);
}

function flatName(item: JsonObject, path: string, { form, context }: FormPlace): string {
  const name = requireString(item, 'name', path);
  return context.directory.flatName({
    form,
    name,
    namespace: readString(item, 'namespace', path),
  });
}

/** An object here, text in the other kinds of calls. */
function readSearchInput(item: JsonObject, path: string, context: ResponsesContext): JsonObject {
  if (isJsonObject(item.arguments)) return item.arguments;
  return readArguments(item.arguments, memberPath(path, 'arguments'), context);
}

/** A plain string is the tool's own output and stays as it is. */
function readOutput(value: JsonValue | undefined, path: string): readonly ToolResultContent[] {
  if (value === undefined || value === null) return [];
  if (typeof value === 'string') return [{ kind: 'text', text: value }];
  if (!Array.isArray(value)) throw wrongType(path, 'a string or an array of parts');
  return readItemContent(value, path).map((part) =>
    part.kind === 'text' ? { kind: 'text', text: part.text } : part,
  );
}

/** A picture of an earlier answer; one that was never finished has no bytes. */
function readDrawing(item: JsonObject, path: string, context: ResponsesContext): Turn {
  const result = readString(item, 'result', path) ?? '';
  if (result === '') return readBareDrawing(item, path, context);
  const resultPath = memberPath(path, 'result');
  const { mediaType = 'image/png', source } = readInline(result, {
    declared: '',
    path: resultPath,
  });
  const modality = readModality(mediaType, resultPath);
  return assistant({ kind: 'media', modality, mediaType, source });
}

/** Named by its id alone, or sent back without its bytes. */
function readBareDrawing(item: JsonObject, path: string, context: ResponsesContext): Turn {
  const nothing = assistant({ kind: 'text', text: '' });
  const id = referredId(item);
  if (id === undefined) return nothing;
  const kept = context.findItem(id);
  if (kept !== undefined && referredId(kept) === undefined) return readDrawing(kept, path, context);
  if ((item.status ?? null) === null) throw unknownReference(path, id);
  context.receipt.add('dropped', path, told`The picture of this drawing is not kept any more.`);
  return nothing;
}
