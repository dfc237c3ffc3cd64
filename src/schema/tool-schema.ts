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
import { composeDescription, sayJson, sayLimit } from './describe.ts';
import { createSchemaDocument } from './document.ts';
import { gatherSource } from './gather.ts';
import {
  addHint,
  type Cleaning,
  createFacets,
  type Facets,
  type Loss,
  type SchemaForm,
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

interface Cleaned<Node> {
  readonly node: Node;
  readonly notes: readonly Note[];
}

interface Note {
  readonly action: ReceiptAction;
  readonly path: string;
  readonly reason: Sentence;
}

interface MemoOptions<Node> extends Pick<Cleaning, 'ordered' | 'restored'> {
  /** True to write as JSON Schema what the other form can only send as texts. */
  readonly takesJsonSchema: boolean;
  readonly clean: (cleaning: Cleaning, schema: JsonObject) => Node;
}

const toolInputs = createSchemaMemos({ ordered: false, clean: cleanRoot });
const responseSchemas = createSchemaMemos<ResponseSchema>({
  ordered: true,
  clean: cleanResponseInForm,
});

/** A memo for each kind of upstream and client. */
function createSchemaMemos<Node>(options: Pick<MemoOptions<Node>, 'ordered' | 'clean'>) {
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
 * Cleans through a memo. The same content gives the same frozen object and the same receipt
 * entries, so prompts stay byte-equal between requests. Holds at most 500 schemas or 4 M characters.
 */
function createSchemaMemo<Node>(options: MemoOptions<Node>) {
  const byIdentity = new WeakMap<JsonObject, Cleaned<Node>>();
  const byText = new Map<string, Cleaned<Node>>();
  let textKept = 0;

  const recall = (text: string, schema: JsonObject): Cleaned<Node> => {
    const known = byText.get(text);
    const cleaned = known ?? cleanOnce(schema, options);
    if (known !== undefined) byText.delete(text);
    else textKept += text.length;
    byText.set(text, cleaned);
    for (const [oldest] of byText) {
      if (byText.size <= MAX_ENTRIES && textKept <= MAX_TEXT) break;
      byText.delete(oldest);
      textKept -= oldest.length;
    }
    return cleaned;
  };

  return (schema: JsonObject, { receipt, path }: SchemaOptions): Node => {
    let cleaned = byIdentity.get(schema);
    if (cleaned === undefined) {
      cleaned = recall(JSON.stringify(schema), schema);
      byIdentity.set(schema, cleaned);
    }
    for (const note of cleaned.notes) receipt.add(note.action, path + note.path, note.reason);
    return cleaned.node;
  };
}

function cleanOnce<Node>(schema: JsonObject, options: MemoOptions<Node>): Cleaned<Node> {
  const { losses, ...cleaned } = cleanInForm(schema, 'schema', options);
  const gains = options.takesJsonSchema && losses.has('value') && !losses.has('depth');
  return gains ? cleanInForm(schema, 'json-schema', options) : cleaned;
}

function cleanInForm<Node>(
  schema: JsonObject,
  form: SchemaForm,
  { ordered, restored, clean }: MemoOptions<Node>,
): Cleaned<Node> & { readonly losses: ReadonlySet<Loss> } {
  const notes: Note[] = [];
  const isUpper = typeof schema.type === 'string' && /^[A-Z]+$/.test(schema.type);
  const cleaning: Cleaning = {
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
  const node = clean(cleaning, schema);
  return { node, notes, losses: cleaning.losses };
}

function cleanRoot(cleaning: Cleaning, schema: JsonObject): ToolInput {
  const facets = createFacets('', 0);
  const refs = { pointer: '', outer: undefined };
  gatherSource(cleaning, facets, { all: [{ schema, path: '', refs, depth: 0 }], any: [] });
  settleChoices(cleaning, facets, true);
  const mayBeObject = facets.types?.includes('object') ?? true;
  if (facets.never || !mayBeObject) {
    cleaning.note('dropped', '', told`the input of a function is an object`);
    return NO_INPUT;
  }
  facets.nullable = false;
  if (cleaning.form === 'json-schema') facets.declaredNullable = undefined;
  const fields =
    writeObjectFields(cleaning, facets) ??
    (isMap(facets) ? writeMapFields(cleaning, facets) : undefined);
  if (fields !== undefined) {
    const parameters = finishNode(cleaning, facets, fields);
    return { ...NO_INPUT, form: cleaning.form, parameters };
  }
  if (!isMap(facets)) return sayRoot(facets);
  return cleaning.restored ? writeMap(cleaning, facets) : sayMap(cleaning, facets);
}

/** True for an object that means something though it declares no property. */
function isMap({ takesOthers, unexpanded, limits }: Facets): boolean {
  const least = limits.get('minProperties')?.value;
  return takesOthers || unexpanded !== undefined || Number(least ?? 0) > 0;
}

function writeMap(cleaning: Cleaning, facets: Facets): ToolInput {
  const { type } = typeField(cleaning, facets, 'object');
  const properties = { [MAP_ARGUMENT]: writeText(cleaning, facets, 'an object') };
  const parameters = freezeNode({ type, properties, required: [MAP_ARGUMENT] });
  return { ...NO_INPUT, parameters, isMap: true };
}

function sayMap(cleaning: Cleaning, facets: Facets): ToolInput {
  cleaning.losses.add('value');
  addHint(facets, facets.unexpanded ?? otherNames(cleaning, facets));
  for (const [name, { value }] of facets.limits) addHint(facets, sayLimit(name, value));
  for (const [name, value] of facets.samples) addHint(facets, `${name} ${sayJson(value)}`);
  cleaning.note('approximated', '', told`said in the description of the function`);
  return sayRoot(facets);
}

/** Words about the arguments as a whole, where there is no schema they could stand in. */
function sayRoot({ descriptions, hints }: Facets): ToolInput {
  const words = composeDescription(descriptions, hints);
  return words === '' ? NO_INPUT : { ...NO_INPUT, said: `Arguments: ${words}` };
}

function cleanResponseInForm(cleaning: Cleaning, schema: JsonObject): ResponseSchema {
  const node = cleanResponseRoot(cleaning, schema);
  return cleaning.form === 'schema' ? { responseSchema: node } : { responseJsonSchema: node };
}

function cleanResponseRoot(cleaning: Cleaning, schema: JsonObject): JsonObject | undefined {
  const facets = createFacets('', 0);
  const refs = { pointer: '', outer: undefined };
  gatherSource(cleaning, facets, { all: [{ schema, path: '', refs, depth: 0 }], any: [] });
  const notes: Parameters<Cleaning['note']>[] = [];
  const node = writeNode({ ...cleaning, note: (...note) => notes.push(note) }, facets);
  if (node !== undefined && !isAnyValue(cleaning, facets, node)) {
    for (const note of notes) cleaning.note(...note);
    return node;
  }
  // What was noted of a text is not true of one that is not sent.
  if (Object.keys(schema).length > 0) cleaning.note('dropped', '', told`any JSON is allowed`);
  return undefined;
}

function isAnyValue({ form }: Cleaning, { sentAsText }: Facets, node: JsonObject): boolean {
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
