// Writes tools and the choice among them, with schemas the wire takes.

import { invalidRequest } from '../../canonical/error.ts';
import type { Receipt } from '../../canonical/receipt.ts';
import type {
  CanonicalRequest,
  FreeformTool,
  FunctionTool,
  Tool,
  ToolChoice,
} from '../../canonical/request.ts';
import { isCallable } from '../../canonical/tool-names.ts';
import type { TypedValues } from '../../canonical/typed-values.ts';
import { definedFields, isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { itemsOf, objectOf, objectsOf, textOf } from '../../lib/read-values.ts';
import { mapSchemas } from '../../schema/document.ts';
import { toDraft } from '../../schema/draft.ts';
import { checkChosen, describeFreeform, FREEFORM_INPUT } from '../wire-parts.ts';
import { type FitContext, traitsOf } from './models.ts';

/** @throws GatewayError (invalid-request) for too many functions, or a choice of one that is not there. */
export function encodeTools(request: CanonicalRequest, context: FitContext): JsonObject {
  const { toolChoice, parallelToolCalls } = request;
  const traits = traitsOf(context.profile.quirks, context.target.modelId);
  const freeText = freeTextTools(request, context);
  const functions = new Map<string, JsonObject>();
  let search: JsonObject | undefined;
  for (const [index, tool] of request.tools.entries()) {
    const path = tool.path ?? `tools[${index}]`;
    if (tool.kind === 'web-search' && traits.searches) search = searchOptions(tool);
    else if (!isCallable(tool)) {
      const reason = told`The upstream runs no ${tool.kind} itself.`;
      context.target.receipt.add('dropped', path, reason);
    } else if (functions.has(tool.name)) {
      const reason = told`A second tool named ${tool.name} was left out.`;
      context.target.receipt.add('dropped', path, reason);
    } else if (tool.kind === 'function') functions.set(tool.name, encodeFunction(tool));
    else if (freeText.has(tool.name)) functions.set(tool.name, encodeCustom(tool));
    else functions.set(tool.name, encodeFreeform(tool, path, context.target.receipt));
  }
  const web_search_options = search;
  if (functions.size === 0) return definedFields({ web_search_options }) ?? {};
  const { maxFunctions = functions.size } = context.profile.quirks;
  if (functions.size > maxFunctions) {
    throw invalidRequest(
      'tools',
      `tools: ${functions.size} functions are too many; the upstream takes at most ${maxFunctions} in one request.`,
    );
  }
  const { tools, tool_choice } = chooseTools(functions, toolChoice, context);
  return (
    definedFields({
      tools,
      tool_choice,
      parallel_tool_calls: traits.takesParallelToolCalls ? parallelToolCalls : undefined,
      web_search_options,
    }) ?? {}
  );
}

/** `name` is among them by the reader's check; other protocols choose by name without one. */
function chooseTools(
  functions: ReadonlyMap<string, JsonObject>,
  choice: ToolChoice,
  { profile: { quirks } }: FitContext,
): { readonly tools: JsonValue[]; readonly tool_choice: JsonValue | undefined } {
  const all = [...functions.values()];
  if (choice.kind === 'none') return { tools: all, tool_choice: 'none' };
  const isDemanded = choice.kind === 'required';
  const { names } = choice;
  checkChosen(names, new Set(functions.keys()));
  const [first] = names;
  const word = choice.kind === 'auto' ? undefined : choice.kind;
  if (first === undefined) return { tools: all, tool_choice: word };
  if (isDemanded && names.length === 1) {
    return { tools: all, tool_choice: pointTo(functions.get(first)) };
  }
  if (!quirks.takesAllowedTools) {
    const offered = names.flatMap((name) => functions.get(name) ?? []);
    return { tools: offered, tool_choice: word };
  }
  const tools = names.map((name) => pointTo(functions.get(name)));
  const allowed_tools = { mode: word ?? 'auto', tools };
  return { tools: all, tool_choice: { type: 'allowed_tools', allowed_tools } };
}

function encodeFunction({ name, description, parameters, strict }: FunctionTool): JsonObject {
  const declared = definedFields({
    name,
    description: description || undefined,
    parameters: parameters === undefined ? undefined : toParameters(parameters),
    strict: strict === true ? true : undefined,
  });
  return { type: 'function', function: declared ?? {} };
}

/** A tool as a choice names it. */
function pointTo(tool: JsonObject = {}): JsonObject {
  const { function: plain, custom } = tool;
  const { name = '' } = objectOf(plain ?? custom) ?? {};
  return custom === undefined
    ? { type: 'function', function: { name } }
    : { type: 'custom', custom: { name } };
}

/** Names of the tools that are sent as tools of free text; of several with one name the first counts. */
export function freeTextTools(
  { tools }: CanonicalRequest,
  { profile, target }: FitContext,
): ReadonlySet<string> {
  const free = tools.filter((tool) => tool.kind === 'freeform');
  if (free.length === 0 || !traitsOf(profile.quirks, target.modelId).takesFreeText) return NO_NAMES;
  const plain = new Set(tools.flatMap((tool) => (tool.kind === 'function' ? tool.name : [])));
  return new Set(free.flatMap(({ name }) => (plain.has(name) ? [] : name)));
}

const NO_NAMES: ReadonlySet<string> = new Set();

/** Source: `openai` resources/chat/completions, `ChatCompletionCustomTool`. */
function encodeCustom({ name, description, grammar }: FreeformTool): JsonObject {
  const format = grammar === undefined ? undefined : { type: 'grammar', grammar: { ...grammar } };
  const custom = definedFields({ name, description: description || undefined, format }) ?? {};
  return { type: 'custom', custom };
}

/** The text is text again when the client is shown the call. */
function encodeFreeform(tool: FreeformTool, path: string, receipt: Receipt): JsonObject {
  const said = describeFreeform(tool, { path, receipt });
  return { type: 'function', function: { name: tool.name, ...said, parameters: FREEFORM_INPUT } };
}

/** `{}` switches the search on. Domains are told to the model by a transform. */
function searchOptions({ userLocation }: Extract<Tool, { kind: 'web-search' }>): JsonObject {
  if (userLocation === undefined) return {};
  const { city, region, country, timezone } = userLocation;
  const approximate = definedFields({ city, region, country, timezone }) ?? {};
  return { user_location: { type: 'approximate', approximate } };
}

/** Arguments are an object, whatever a schema leaves open: the wire says so. */
export function toParameters(schema: JsonObject | boolean): JsonObject {
  if (typeof schema === 'boolean') return { type: 'object', properties: {} };
  const whole = toDraft(schema, sayItems);
  if (whole.type === 'object' && whole.properties !== undefined) return whole;
  return { ...whole, type: 'object', properties: objectOf(whole.properties) ?? {} };
}

/** As that of arguments: an object says what it holds ("object schema missing properties"). */
export function toAnswerSchema(schema: JsonObject): JsonObject {
  const whole = toDraft(schema, sayItems);
  const { type, properties, additionalProperties } = whole;
  const isOpen = properties === undefined && additionalProperties === undefined;
  return type === 'object' && isOpen ? { ...whole, properties: {} } : whole;
}

/** The schema of answers without any but its members: each object says so, and has them in the order it names. */
export function closeObjects({ propertyOrdering, ...schema }: JsonObject): JsonObject {
  for (const [key, value] of Object.entries(schema)) {
    schema[key] = mapSchemas(key, value, (inner) =>
      isJsonObject(inner) ? closeObjects(inner) : inner,
    );
  }
  const { properties } = schema;
  if (!isJsonObject(properties) || Object.keys(properties).length === 0) return schema;
  const order = new Map(itemsOf(propertyOrdering).map((name, at) => [name, at]));
  const place = (name: string): number => order.get(name) ?? order.size;
  const members = Object.entries(properties).toSorted(
    ([one], [other]) => place(one) - place(other),
  );
  const { additionalProperties = false } = schema;
  return { ...schema, properties: Object.fromEntries(members), additionalProperties };
}

/** A list says what it holds ("array schema missing items"). */
function sayItems(schema: JsonObject): JsonObject {
  const { type, items } = schema;
  const isList = type === 'array' || (Array.isArray(type) && type.includes('array'));
  return isList && items === undefined ? { ...schema, items: {} } : schema;
}

const NOT_STRICT = [
  ...['oneOf', 'allOf', 'not', 'if', 'dependentRequired', 'dependentSchemas'],
  ...['patternProperties', 'propertyNames', 'minProperties', 'maxProperties'],
  ...['prefixItems', 'contains', 'uniqueItems'],
];

/**
 * Whether a schema follows the rules of strict ones (platform.openai.com, "Structured Outputs"): every object names
 * all its members, requires them and allows no others.
 */
export function isStrictSchema(schema: JsonValue | undefined, isRoot = true): boolean {
  if (!isJsonObject(schema)) return false;
  if (NOT_STRICT.some((word) => schema[word] !== undefined)) return false;
  if (isRoot && (schema.type !== 'object' || schema.anyOf !== undefined)) return false;
  const { type, $ref, anyOf, enum: words, const: value, properties } = schema;
  if ([type, $ref, anyOf, words, value].every((one) => one === undefined)) return false;
  if ($ref !== undefined && Object.keys(schema).length > 1) return false;
  if (!isClosed(schema)) return false;
  const inner = [
    ...(schema.items === undefined ? [] : [schema.items]),
    ...(Array.isArray(anyOf) ? anyOf : []),
    ...[properties, schema.$defs, schema.definitions].flatMap((map) =>
      isJsonObject(map) ? Object.values(map) : [],
    ),
  ];
  return inner.every((one) => isStrictSchema(one, false));
}

/** False for an object that lets a member be absent, or another one be there. */
function isClosed({ type, properties = {}, required, additionalProperties }: JsonObject): boolean {
  const isObject = type === 'object' || (Array.isArray(type) && type.includes('object'));
  if (!isObject) return true;
  if (additionalProperties !== false || !isJsonObject(properties)) return false;
  const needed = Array.isArray(required) ? required : [];
  const names = Object.keys(properties);
  return needed.length === names.length && names.every((name) => needed.includes(name));
}

/** Schemas go up as JSON Schema: everything that follows one comes in its own types. */
export function typedValues({ response_format: format, tools }: JsonObject): TypedValues {
  const declared = objectsOf(tools).flatMap((tool) => {
    const holder = objectOf(tool.function);
    return holder?.parameters === undefined ? [] : (textOf(holder.name) ?? []);
  });
  const answer = objectOf(format);
  const hasSchema = answer?.type === 'json_schema' || answer?.schema !== undefined;
  return { answer: hasSchema, functions: new Set(declared) };
}
