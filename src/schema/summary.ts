// What a schema says, gathered from all its fragments (`$ref`, `allOf`, siblings) before it is written or applied.

import type { ReceiptAction, ReceiptEntry } from '../canonical/receipt.ts';
import type { JsonObject, JsonValue } from '../lib/json.ts';
import { type Sentence, told } from '../lib/localized-message.ts';
import { type Located, SchemaDocument, type TypeName } from './document.ts';

/** A schema yet to be gathered: every fragment of `all` and one branch of every group of `any` hold. */
export interface NodeSource {
  readonly all: readonly Located[];
  readonly any: readonly ChoiceGroup[];
}

interface JoinedSource extends NodeSource {
  readonly all: Located[];
  readonly any: ChoiceGroup[];
}

export interface ChoiceGroup {
  readonly branches: readonly CaseSource[];
  /** Of `conditional` ones nothing is carried that holds in some cases only. A `union` is of declared cases. */
  readonly kind: 'choice' | 'union' | 'conditional';
  readonly path: string;
}

/** What holds in one of several cases. */
export interface CaseSource {
  readonly source: NodeSource;
  /** Such as `if kind is "a"`, where that is known. */
  readonly when: string | undefined;
}

/** The type that each limit is of, and whether upstreams document it in JSON Schema too. */
export const LIMITS = {
  minimum: { type: 'number', isInJsonSchema: true },
  maximum: { type: 'number', isInJsonSchema: true },
  minItems: { type: 'array', isInJsonSchema: true },
  maxItems: { type: 'array', isInJsonSchema: true },
  minProperties: { type: 'object', isInJsonSchema: false },
  maxProperties: { type: 'object', isInJsonSchema: false },
  minLength: { type: 'string', isInJsonSchema: false },
  maxLength: { type: 'string', isInJsonSchema: false },
  pattern: { type: 'string', isInJsonSchema: false },
} as const;

export type LimitName = keyof typeof LIMITS;

/** The upstream's own dialect (`parameters`), or JSON Schema of few keywords (`parametersJsonSchema`). */
export type SchemaForm = 'schema' | 'json-schema';

/** What a form could not say: a `value` JSON Schema has words for, or a `depth` (or sheer size) no form has. */
type Loss = 'value' | 'depth';

interface ConversionOptions {
  readonly form: SchemaForm;
  /** Objects say in which order their properties come. */
  readonly ordered: boolean;
  /** What is sent as text comes back to the client as the value the text stands for. */
  readonly restored: boolean;
}

/** What a schema says itself, without the schemas inside. */
export interface FragmentSize {
  /** In characters: keywords, names of members, texts and listed values. */
  readonly weight: number;
  /** Keywords, names of members and items. */
  readonly parts: number;
}

/** Characters that references may repeat, of schemas and of lists of values. */
export const MAX_REPEATED = 2_000_000;

/** What one conversion shares: the document, the notes for the receipt and the work left. */
export class SchemaConversion {
  readonly document: SchemaDocument;
  readonly form: SchemaForm;
  readonly ordered: boolean;
  readonly restored: boolean;
  /** Type words that are not the client's own are written in upper case. */
  readonly upperCase: boolean;
  readonly losses = new Set<Loss>();
  /** Paths are below the schema's root. */
  readonly notes: ReceiptEntry[] = [];
  /** Fragments that may still be gathered, more than any honest schema has; stops schemas that unfold without end. */
  fragmentsLeft = 20_000;
  /**
   * Characters that may still be gathered from schemas gathered before, without those of the schemas inside; stops
   * what references make of long ones.
   */
  repeatedLeft = MAX_REPEATED;
  readonly sizes = new Map<JsonObject, FragmentSize>();
  /** The lists of values written so far, and their characters. */
  readonly listedBefore = new Map<readonly JsonValue[], number>();
  /** Characters of such lists that may still be written once more. */
  relistedLeft = MAX_REPEATED;
  /** Schemas that may still be told in words in full; the others are told in outline. */
  wordsLeft = 2000;
  /** Characters of lists that may still be told in full, at each place that refers to one; the others are cut. */
  listedLeft = 500_000;
  /** Values that may still be listed, more than any honest schema lists; the others are told in words. */
  valuesLeft = 100_000;
  /**
   * What the limits `maxItems` of the whole schema may still add up to: a schema of more than 960 or so is refused,
   * one of 972 by itself (googleapis/python-genai#2170).
   */
  itemsLeft = 900;

  constructor(schema: JsonObject, { form, ordered, restored }: ConversionOptions) {
    const isUpper = typeof schema.type === 'string' && /^[A-Z]+$/.test(schema.type);
    this.document = new SchemaDocument(schema);
    this.form = form;
    this.ordered = ordered;
    this.restored = restored;
    this.upperCase = isUpper && form === 'schema';
  }

  /** Characters that references have repeated. */
  get repeated(): number {
    return 2 * MAX_REPEATED - this.repeatedLeft - this.relistedLeft;
  }
}

interface Limit<Value = JsonValue> {
  readonly value: Value;
  readonly path: string;
}

/** What the descriptions and the receipt say of a keyword the upstream does not take. */
const IN_WORDS = told`said in the description`;

export class SchemaSummary {
  readonly conversion: SchemaConversion;
  /** Place of the first fragment, for the receipt. */
  path: string;
  /** How deep it is written: objects and lists of the upstream's schema around it. */
  level: number;
  /** The keywords of the first fragment, in the client's order. */
  keyOrder: readonly string[] = [];
  /** A `false` schema is among the fragments: nothing is allowed. */
  isUnsatisfiable = false;
  /** What stands here but is not expanded (a recursion, an outside reference), in plain words. */
  recursionNote: string | undefined;
  types: readonly TypeName[] | undefined;
  /** The type word as the client wrote it, where the upstream takes it so. */
  writtenType: string | undefined;
  /** What the other keywords suggest when no type is given. */
  impliedType: TypeName | undefined;
  nullable = false;
  declaredNullable: boolean | undefined;
  title: string | undefined;
  readonly descriptions = new Set<string>();
  /** Meaning that has no keyword upstream, in short plain words. */
  readonly hints = new Set<string>();
  /** `default` and `example`; kept as entries because null is a value. */
  readonly samples = new Map<'default' | 'example', JsonValue>();
  enumeration: { readonly values: readonly JsonValue[]; readonly path: string } | undefined;
  format: { readonly name: string; readonly path: string } | undefined;
  limits = new Map<LimitName, Limit>();
  /** Bounds that are not allowed themselves. */
  exclusive = new Map<'minimum' | 'maximum', Limit<number>>();
  properties = new Map<string, NodeSource>();
  /** What is declared of properties in some cases only; in the others they may be anything. */
  readonly conditionalProperties = new Map<string, CaseSource[]>();
  /** What conditions ask about, by its type alone: declared where nothing else declares it. */
  testedProperties = new Map<string, NodeSource>();
  required = new Map<string, string>();
  ordering: readonly string[] | undefined;
  items: NodeSource | undefined;
  tuple: readonly Located[] | undefined;
  /** Schema of properties that are not declared by name. */
  otherProperties: Located | undefined;
  /** True where members of names that are not declared are meant. */
  allowsAdditional = false;
  /** True where it says that there may be others. */
  takesOthers = false;
  /** True where members are declared by patterns of their names. */
  hasPatterns = false;
  /** The keyword that allows no other members than the declared ones. */
  closedBy: string | undefined;
  /** True where the names that are allowed were listed, and thereby declared. */
  hasListedNames = false;
  choices: ChoiceGroup[] = [];
  /** Set when the node was written as a text that holds JSON. */
  sentAsText = false;
  /** Those of its properties and items that were made here and are in no copy: more is added to them in place. */
  #joined: Map<NodeSource, JoinedSource> | undefined;

  constructor(conversion: SchemaConversion, path: string, level: number) {
    this.conversion = conversion;
    this.path = path;
    this.level = level;
  }

  note(action: ReceiptAction, path: string, reason: Sentence): void {
    this.conversion.notes.push({ action, path, reason });
  }

  hint(words: string): void {
    this.hints.add(words);
  }

  /** Says in words what the keyword at `path` would say. */
  sayInstead(words: string, path: string, reason = IN_WORDS): void {
    this.hints.add(words);
    this.note('approximated', path, reason);
  }

  /** Adds one more demand on a property; several demands all hold. */
  addProperty(name: string, source: NodeSource): void {
    this.properties.set(name, this.#join(this.properties.get(name), source));
  }

  addItems(source: NodeSource): void {
    this.items = this.#join(this.items, source);
  }

  #join(known: NodeSource | undefined, source: NodeSource): NodeSource {
    if (known === undefined) return source;
    let joined = this.#joined?.get(known);
    if (joined === undefined) {
      joined = { all: [...known.all], any: [...known.any] };
      this.#joined ??= new Map();
      this.#joined.set(joined, joined);
    }
    for (const located of source.all) joined.all.push(located);
    for (const group of source.any) joined.any.push(group);
    return joined;
  }

  /** A copy without what describes the whole: the ground on which one of several branches is built. */
  copyConstraints(level: number): SchemaSummary {
    this.#joined = undefined;
    const copy = new SchemaSummary(this.conversion, this.path, level);
    copy.types = this.types;
    copy.writtenType = this.writtenType;
    copy.impliedType = this.impliedType;
    copy.enumeration = this.enumeration;
    copy.format = this.format;
    copy.limits = new Map(this.limits);
    copy.exclusive = new Map(this.exclusive);
    copy.properties = new Map(this.properties);
    copy.testedProperties = new Map(this.testedProperties);
    copy.required = new Map(this.required);
    copy.ordering = this.ordering;
    copy.items = this.items;
    copy.tuple = this.tuple;
    copy.otherProperties = this.otherProperties;
    copy.allowsAdditional = this.allowsAdditional;
    copy.closedBy = this.closedBy;
    copy.hasListedNames = this.hasListedNames;
    return copy;
  }
}

/** Says nothing. */
export const ANYTHING: NodeSource = { all: [], any: [] };

/** What holds in one of several cases each; beside what always holds it narrows nothing. */
export function sourceOfCases(declared: readonly CaseSource[], path: string): NodeSource {
  const branches = [...declared, { source: ANYTHING, when: undefined }];
  return { all: [], any: [{ branches, kind: 'conditional', path }] };
}

/** What holds where one of the cases is the case. */
export function unionOfCases(declared: readonly CaseSource[], path: string): NodeSource {
  const [first, ...others] = declared;
  if (others.length === 0 && first?.when === undefined) return first?.source ?? ANYTHING;
  return { all: [], any: [{ branches: declared, kind: 'union', path }] };
}

export function sourceOf(located: Located): NodeSource {
  return { all: [located], any: [] };
}
