// Converts the JSON Schema of a tool's input or of a structured answer into what the upstream takes; remembers each.

import type { Receipt, ReceiptAction } from '../canonical/receipt.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../lib/json.ts';
import type { JsonBudget } from '../lib/json-limits.ts';
import { type Sentence, told } from '../lib/localized-message.ts';
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
import { createSchemaDocument } from './document.ts';
import { gatherSource } from './gather.ts';
import {
  addHint,
  createSummary,
  type Loss,
  type SchemaConversion,
  type SchemaForm,
  type SchemaSummary,
} from './summary.ts';

export interface SchemaOptions {
  readonly receipt: Receipt;
  /** Path of the schema in the client's request, such as `tools[2].input_schema`. */
  readonly path: string;
  /** True for an upstream that takes JSON Schema as well: in that form goes what `Schema` has only as texts. */
  readonly takesJsonSchema?: boolean;
  /** True for a client that is shown calls and answers as the upstream writes them. */
  readonly isRelayed?: boolean;
}

export interface ToolInput {
  readonly form: SchemaForm;
  /** An object with at least one property; undefined for a function declared without parameters. */
  readonly parameters: JsonObject | undefined;
  /** What belongs into the description of the function itself, as no parameter can say it. */
  readonly said: string | undefined;
  /** True where all arguments go as the JSON text of one (canonical/map-argument.ts). */
  readonly isMap: boolean;
}

const NO_INPUT: ToolInput = {
  form: 'schema',
  parameters: undefined,
  said: undefined,
  isMap: false,
};
/**
 * The input of a function declaration (generate-content `Schema`). It has no parameters for no schema,
 * `true`, `{}`, an object without properties, or no object at all. A legal schema comes back as it is;
 * what cannot be carried stands in descriptions and in the receipt. Never throws, never changes its
 * input; the result is frozen and shared.
 */
export function toToolInput(
  schema: JsonObject | boolean | undefined,
  options: SchemaOptions,
): ToolInput {
  if (schema === undefined || schema === true) return NO_INPUT;
  if (isJsonObject(schema)) return toolInputs(schema, options);
  options.receipt.add('repaired', options.path, told`not a schema`);
  return NO_INPUT;
}

/** One of the two fields, by the form the schema is written in. */
export interface ResponseSchema {
  readonly responseSchema?: JsonObject | undefined;
  readonly responseJsonSchema?: JsonValue | undefined;
}

/**
 * The schema of a structured answer (generate-content `Schema`), with `propertyOrdering` so that
 * the answer keeps the client's order. None means that no schema can be sent because any JSON
 * is allowed (`true`, `{}`, an object without declared properties): send the JSON media type alone.
 * Never throws, never changes its input; the result is frozen and shared.
 */
export function toResponseSchema(
  schema: JsonObject | boolean,
  options: SchemaOptions,
): ResponseSchema {
  if (schema === true) return {};
  if (isJsonObject(schema)) return responseSchemas(schema, options);
  options.receipt.add('repaired', options.path, told`not a schema`);
  return {};
}

// Remembers converted schemas by content: clients declare the same tools with every request.

const MAX_ENTRIES = 500;
/** Characters of schema text kept in all. */
const MAX_TEXT = 4_000_000;
/** More fragments than any honest schema has. */
const MAX_FRAGMENTS = 20_000;
/** Characters, without those of the schemas inside. */
const MAX_REPEATED = 2_000_000;
const MAX_WORDED = 2000;
/** A list is told again at each place that refers to it. */
const MAX_LISTED = 500_000;
/** More values than any honest schema lists, counted at each place they stand. */
const MAX_VALUES = 100_000;
/**
 * A schema whose limits `maxItems` add up to more than 960 or so is refused, one of 972 by itself
 * (googleapis/python-genai#2170).
 */
const MAX_ITEMS = 900;

interface Converted<Node> {
  readonly node: Node;
  readonly notes: readonly Note[];
}

interface Note {
  readonly action: ReceiptAction;
  readonly path: string;
  readonly reason: Sentence;
}

interface MemoOptions<Node> extends Pick<SchemaConversion, 'ordered' | 'restored'> {
  /** True to write as JSON Schema what the other form can only send as texts. */
  readonly takesJsonSchema: boolean;
  readonly convert: (conversion: SchemaConversion, schema: JsonObject) => Node;
}

const toolInputs = createSchemaMemos({ ordered: false, convert: convertToolInput });
const responseSchemas = createSchemaMemos<ResponseSchema>({
  ordered: true,
  convert: convertResponseInForm,
});

/** A memo for each kind of upstream and client. */
function createSchemaMemos<Node>(options: Pick<MemoOptions<Node>, 'ordered' | 'convert'>) {
  const create = (takesJsonSchema: boolean) => ({
    restored: createSchemaMemo({ ...options, takesJsonSchema, restored: true }),
    relayed: createSchemaMemo({ ...options, takesJsonSchema, restored: false }),
  });
  const typed = create(true);
  const plain = create(false);
  return (schema: JsonObject, given: SchemaOptions): Node => {
    const { restored, relayed } = given.takesJsonSchema === true ? typed : plain;
    return (given.isRelayed === true ? relayed : restored)(schema, given);
  };
}

/**
 * Converts through a memo. The same content gives the same frozen object and the same receipt
 * entries, so prompts stay byte-equal between requests. Holds at most 500 schemas or 4 M characters.
 */
function createSchemaMemo<Node>(options: MemoOptions<Node>) {
  const byIdentity = new WeakMap<JsonObject, Converted<Node>>();
  const byText = new Map<string, Converted<Node>>();
  let textKept = 0;

  const recall = (text: string, schema: JsonObject): Converted<Node> => {
    const known = byText.get(text);
    const converted = known ?? convertOnce(schema, options);
    if (known !== undefined) byText.delete(text);
    else textKept += text.length;
    byText.set(text, converted);
    for (const [oldest] of byText) {
      if (byText.size <= MAX_ENTRIES && textKept <= MAX_TEXT) break;
      byText.delete(oldest);
      textKept -= oldest.length;
    }
    return converted;
  };

  return (schema: JsonObject, { receipt, path }: SchemaOptions): Node => {
    let converted = byIdentity.get(schema);
    if (converted === undefined) {
      converted = recall(JSON.stringify(schema), schema);
      byIdentity.set(schema, converted);
    }
    for (const note of converted.notes) receipt.add(note.action, path + note.path, note.reason);
    return converted.node;
  };
}

function convertOnce<Node>(schema: JsonObject, options: MemoOptions<Node>): Converted<Node> {
  const { losses, ...converted } = convertInForm(schema, 'schema', options);
  const gains = options.takesJsonSchema && losses.has('value') && !losses.has('depth');
  return gains ? convertInForm(schema, 'json-schema', options) : converted;
}

function convertInForm<Node>(
  schema: JsonObject,
  form: SchemaForm,
  { ordered, restored, convert }: MemoOptions<Node>,
): Converted<Node> & { readonly losses: ReadonlySet<Loss> } {
  const notes: Note[] = [];
  const isUpper = typeof schema.type === 'string' && /^[A-Z]+$/.test(schema.type);
  const conversion: SchemaConversion = {
    document: createSchemaDocument(schema),
    form,
    losses: new Set(),
    upperCase: isUpper && form === 'schema',
    ordered,
    restored,
    fragmentsLeft: MAX_FRAGMENTS,
    repeatedLeft: MAX_REPEATED,
    weights: new Map(),
    wordsLeft: MAX_WORDED,
    listedLeft: MAX_LISTED,
    valuesLeft: MAX_VALUES,
    itemsLeft: MAX_ITEMS,
    note: (action, path, reason) => notes.push({ action, path, reason }),
  };
  const node = convert(conversion, schema);
  return { node, notes, losses: conversion.losses };
}

function convertToolInput(conversion: SchemaConversion, schema: JsonObject): ToolInput {
  const summary = createSummary('', 0);
  const refs = { pointer: '', outer: undefined };
  gatherSource(conversion, summary, { all: [{ schema, path: '', refs, depth: 0 }], any: [] });
  settleChoices(conversion, summary, true);
  const mayBeObject = summary.types?.includes('object') ?? true;
  if (summary.isUnsatisfiable || !mayBeObject) {
    conversion.note('dropped', '', told`the input of a function is an object`);
    return NO_INPUT;
  }
  summary.nullable = false;
  if (conversion.form === 'json-schema') summary.declaredNullable = undefined;
  const fields =
    writeObjectFields(conversion, summary) ??
    (isMap(summary) ? writeMapFields(conversion, summary) : undefined);
  if (fields !== undefined) {
    const parameters = finishNode(conversion, summary, fields);
    return { ...NO_INPUT, form: conversion.form, parameters };
  }
  if (!isMap(summary)) return describeRoot(summary);
  return conversion.restored ? writeMap(conversion, summary) : describeMap(conversion, summary);
}

/** True for an object that means something though it declares no property. */
function isMap({ allowsAdditional, recursionNote, limits }: SchemaSummary): boolean {
  const least = limits.get('minProperties')?.value;
  return allowsAdditional || recursionNote !== undefined || Number(least ?? 0) > 0;
}

function writeMap(conversion: SchemaConversion, summary: SchemaSummary): ToolInput {
  const { type } = typeField(conversion, summary, 'object');
  const properties = { [MAP_ARGUMENT]: writeText(conversion, summary, 'an object') };
  const parameters = freezeNode({ type, properties, required: [MAP_ARGUMENT] });
  return { ...NO_INPUT, parameters, isMap: true };
}

function describeMap(conversion: SchemaConversion, summary: SchemaSummary): ToolInput {
  conversion.losses.add('value');
  addHint(summary, summary.recursionNote ?? otherNames(conversion, summary));
  for (const [name, { value }] of summary.limits) addHint(summary, describeLimit(name, value));
  for (const [name, value] of summary.samples) addHint(summary, `${name} ${describeJson(value)}`);
  conversion.note('approximated', '', told`said in the description of the function`);
  return describeRoot(summary);
}

/** Words about the arguments as a whole, where there is no schema they could stand in. */
function describeRoot({ descriptions, hints }: SchemaSummary): ToolInput {
  const words = composeDescription(descriptions, hints);
  return words === '' ? NO_INPUT : { ...NO_INPUT, said: `Arguments: ${words}` };
}

function convertResponseInForm(conversion: SchemaConversion, schema: JsonObject): ResponseSchema {
  const node = convertResponse(conversion, schema);
  return conversion.form === 'schema' ? { responseSchema: node } : { responseJsonSchema: node };
}

function convertResponse(conversion: SchemaConversion, schema: JsonObject): JsonObject | undefined {
  const summary = createSummary('', 0);
  const refs = { pointer: '', outer: undefined };
  gatherSource(conversion, summary, { all: [{ schema, path: '', refs, depth: 0 }], any: [] });
  const notes: Parameters<SchemaConversion['note']>[] = [];
  const node = writeNode({ ...conversion, note: (...note) => notes.push(note) }, summary);
  if (node !== undefined && !isAnyValue(conversion, summary, node)) {
    for (const note of notes) conversion.note(...note);
    return node;
  }
  // What was noted of a text is not true of one that is not sent.
  if (Object.keys(schema).length > 0) conversion.note('dropped', '', told`any JSON is allowed`);
  return undefined;
}

function isAnyValue(
  { form }: SchemaConversion,
  { sentAsText }: SchemaSummary,
  node: JsonObject,
): boolean {
  return form === 'schema' ? sentAsText : node.type === undefined && node.anyOf === undefined;
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
  const value = typeof held === 'string' ? tryParse(held, budget) : held;
  return isJsonObject(value) ? value : undefined;
}

function tryParse(text: string, budget: JsonBudget | undefined): JsonValue | undefined {
  try {
    return parseJson(text, budget);
  } catch {
    return undefined;
  }
}
