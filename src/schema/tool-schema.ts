// Converts the JSON Schema of a tool's input or of a structured answer into what the upstream takes, remembers each, and
// wraps the arguments of tools with free argument names.

import type { Receipt, ReceiptEntry } from '../canonical/receipt.ts';
import { LruCache } from '../lib/collections.ts';
import { isJsonObject, type JsonBudget, type JsonObject, tryParse } from '../lib/json.ts';
import { told } from '../lib/localized-message.ts';
import { objectOf } from '../lib/read-values.ts';
import {
  finishNode,
  freezeNode,
  otherNames,
  settleChoices,
  typeField,
  writeMapFields,
  writeNode,
  writeObjectFields,
  writeText,
} from './convert.ts';
import { composeDescription, describeJson, describeLimit } from './describe.ts';
import { gatherSource } from './gather.ts';
import {
  MAX_REPEATED,
  SchemaConversion,
  type SchemaForm,
  SchemaSummary,
  sourceOf,
} from './summary.ts';

interface SchemaOptions {
  readonly receipt: Receipt;
  /** Path of the schema in the client's request, such as `tools[2].input_schema`. */
  readonly path: string;
  /** True for an upstream that takes JSON Schema as well: in that form goes what `Schema` has only as texts. */
  readonly takesJsonSchema?: boolean;
  /** True for a client that is shown calls and answers as the upstream writes them. */
  readonly isRelayed?: boolean;
  /** Of all the schemas of one request. */
  readonly unfolding?: Unfolding;
}

/** What the references of several schemas may repeat together: each by itself is bounded, and they may be many. */
export interface Unfolding {
  /** In characters; below zero once it is too much. */
  left: number;
}

export function createUnfolding(): Unfolding {
  return { left: 2 * MAX_REPEATED };
}

interface ToolInput {
  readonly form: SchemaForm;
  /** An object with at least one property; undefined for a function declared without parameters. */
  readonly parameters: JsonObject | undefined;
  /** What belongs into the description of the function itself, as no parameter can say it. */
  readonly said: string | undefined;
  /** True where all arguments go as the JSON text of one (`wrapMapArguments`). */
  readonly isMap: boolean;
}

const NO_INPUT: ToolInput = {
  form: 'schema',
  parameters: undefined,
  said: undefined,
  isMap: false,
};

/** One of the two fields, by the form the schema is written in. */
interface ResponseSchema {
  readonly responseSchema?: JsonObject | undefined;
  readonly responseJsonSchema?: JsonObject | undefined;
}

/**
 * The input of a function declaration (generate-content `Schema`). It has no parameters for no schema,
 * `true`, `{}`, an object without properties, or no object at all. A legal schema comes back as it is;
 * what cannot be carried stands in descriptions and in the receipt. Never throws, never changes its
 * input; the result is frozen and shared.
 */
export const toToolInput = createConverter({
  convert: convertToolInput,
  ordered: false,
  none: NO_INPUT,
});

/**
 * The schema of a structured answer (generate-content `Schema`), with `propertyOrdering` so that
 * the answer keeps the client's order. None means that no schema can be sent because any JSON
 * is allowed (`true`, `{}`, an object without declared properties): send the JSON media type alone.
 * Never throws, never changes its input; the result is frozen and shared.
 */
export const toResponseSchema = createConverter<ResponseSchema>({
  convert: convertResponse,
  ordered: true,
  none: {},
});

// Remembers converted schemas by content: clients declare the same tools with every request.

const MAX_ENTRIES = 500;
/** Characters of schema text kept in all. */
const MAX_TEXT = 4_000_000;

interface Converted<Node> {
  readonly node: Node;
  readonly notes: readonly ReceiptEntry[];
  /** Characters that its references repeat. */
  readonly repeated: number;
  readonly size: number;
}

interface Converter<Node> {
  readonly convert: (summary: SchemaSummary) => Node;
  /** For what is no schema, or allows everything. */
  readonly none: Node;
  readonly ordered: boolean;
}

/**
 * Converts through a memo for each kind of upstream and client. The same content gives the same frozen object and the
 * same receipt entries, so prompts stay byte-equal between requests.
 */
function createConverter<Node>(converter: Converter<Node>) {
  const memos = new Map<string, ReturnType<typeof createMemo<Node>>>();
  return (schema: JsonObject | boolean | undefined, options: SchemaOptions): Node => {
    const { receipt, path, takesJsonSchema = false, isRelayed = false } = options;
    if (!isJsonObject(schema)) {
      const isNothing = schema === undefined || schema === true;
      if (!isNothing) receipt.add('repaired', path, told`not a schema`);
      return converter.none;
    }
    const kind = `${takesJsonSchema} ${isRelayed}`;
    const memo = memos.get(kind) ?? createMemo<Node>();
    memos.set(kind, memo);
    const { node, notes, repeated } = memo(schema, () => convert(schema, converter, options));
    if (options.unfolding !== undefined) options.unfolding.left -= repeated;
    for (const note of notes) receipt.add(note.action, path + note.path, note.reason);
    return node;
  };
}

function createMemo<Node>() {
  const byIdentity = new WeakMap<JsonObject, Converted<Node>>();
  const byText = new LruCache<Converted<Node>>({
    maxEntries: MAX_ENTRIES,
    maxSize: MAX_TEXT,
    sizeOf: ({ size }) => size,
  });
  return (schema: JsonObject, make: () => Omit<Converted<Node>, 'size'>): Converted<Node> => {
    let converted = byIdentity.get(schema);
    if (converted === undefined) {
      const text = JSON.stringify(schema);
      converted = byText.get(text);
      if (converted === undefined) {
        converted = { ...make(), size: text.length };
        byText.set(text, converted);
      }
      byIdentity.set(schema, converted);
    }
    return converted;
  };
}

function convert<Node>(
  schema: JsonObject,
  converter: Converter<Node>,
  { takesJsonSchema, isRelayed }: SchemaOptions,
) {
  const { ordered } = converter;
  const inForm = (form: SchemaForm) => {
    const conversion = new SchemaConversion(schema, { form, ordered, restored: !isRelayed });
    const summary = new SchemaSummary(conversion, '', 0);
    const refs = { pointer: '', outer: undefined };
    gatherSource(summary, sourceOf({ schema, path: '', refs, depth: 0 }));
    const node = converter.convert(summary);
    const { notes, losses, repeated } = conversion;
    return { node, notes, losses, repeated };
  };
  const own = inForm('schema');
  const gains = takesJsonSchema === true && own.losses.has('value') && !own.losses.has('depth');
  return gains ? inForm('json-schema') : own;
}

function convertToolInput(summary: SchemaSummary): ToolInput {
  const { form, restored } = summary.conversion;
  settleChoices(summary, true);
  const mayBeObject = summary.types?.includes('object') ?? true;
  if (summary.isUnsatisfiable || !mayBeObject) {
    summary.note('dropped', '', told`the input of a function is an object`);
    return NO_INPUT;
  }
  summary.nullable = false;
  if (form === 'json-schema') summary.declaredNullable = undefined;
  const fields =
    writeObjectFields(summary) ?? (isMap(summary) ? writeMapFields(summary) : undefined);
  if (fields !== undefined)
    return { ...NO_INPUT, form, parameters: finishNode(summary, 'object', fields) };
  if (!isMap(summary)) return describeRoot(summary);
  return restored ? writeMap(summary) : describeMap(summary);
}

/** True for an object that means something though it declares no property. */
function isMap({ allowsAdditional, recursionNote, limits }: SchemaSummary): boolean {
  const least = limits.get('minProperties')?.value;
  return allowsAdditional || recursionNote !== undefined || Number(least ?? 0) > 0;
}

function writeMap(summary: SchemaSummary): ToolInput {
  const { type } = typeField(summary, 'object');
  const properties = { [MAP_ARGUMENT]: writeText(summary, 'an object') };
  const parameters = freezeNode({ type, properties, required: [MAP_ARGUMENT] });
  return { ...NO_INPUT, parameters, isMap: true };
}

function describeMap(summary: SchemaSummary): ToolInput {
  summary.conversion.losses.add('value');
  summary.hint(summary.recursionNote ?? otherNames(summary));
  for (const [name, { value }] of summary.limits) summary.hint(describeLimit(name, value));
  for (const [name, value] of summary.samples) summary.hint(`${name} ${describeJson(value)}`);
  summary.note('approximated', '', told`said in the description of the function`);
  return describeRoot(summary);
}

/** Words about the arguments as a whole, where there is no schema they could stand in. */
function describeRoot(summary: SchemaSummary): ToolInput {
  const words = composeDescription(summary);
  return words === '' ? NO_INPUT : { ...NO_INPUT, said: `Arguments: ${words}` };
}

function convertResponse(summary: SchemaSummary): ResponseSchema {
  const { form, notes } = summary.conversion;
  const isEmpty = summary.keyOrder.length === 0;
  const gathered = notes.length;
  const node = writeNode(summary);
  const isTyped =
    form === 'schema' ? !summary.sentAsText : (node?.type ?? node?.anyOf) !== undefined;
  if (node !== undefined && isTyped) {
    return form === 'schema' ? { responseSchema: node } : { responseJsonSchema: node };
  }
  // What was noted of a text is not true of one that is not sent.
  notes.length = gathered;
  if (!isEmpty) summary.note('dropped', '', told`any JSON is allowed`);
  return {};
}

// The one argument that holds all arguments of a tool whose argument names are free.

/** Where the upstream takes objects of declared members alone, a map goes as the JSON text of this argument. */
const MAP_ARGUMENT = 'entries';

export function wrapMapArguments(input: JsonObject, budget: JsonBudget): JsonObject {
  const isWrapped = unwrapMapArguments(input, budget) !== undefined;
  return isWrapped ? input : { [MAP_ARGUMENT]: JSON.stringify(input) };
}

/** The arguments inside; undefined when they did not come as that one argument. */
export function unwrapMapArguments(input: JsonObject, budget?: JsonBudget): JsonObject | undefined {
  const { [MAP_ARGUMENT]: held, ...others } = input;
  if (held === undefined || Object.keys(others).length > 0) return undefined;
  return objectOf(typeof held === 'string' ? tryParse(held, budget) : held);
}
