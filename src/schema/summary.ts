// What a schema says, gathered from all its fragments (`$ref`, `allOf`, siblings) before it is written.

import type { ReceiptAction } from '../canonical/receipt.ts';
import type { JsonObject, JsonValue } from '../lib/json.ts';
import type { Sentence } from '../lib/localized-message.ts';
import type { Located, SchemaDocument, TypeName } from './document.ts';

/** A schema yet to be gathered: every fragment of `all` and one branch of every group of `any` hold. */
export interface NodeSource {
  readonly all: readonly Located[];
  readonly any: readonly ChoiceGroup[];
}

export interface ChoiceGroup {
  readonly branches: readonly NodeSource[];
  /** The keyword it came from. Of `conditional` ones nothing is carried that holds in some cases only. */
  readonly keyword: 'anyOf' | 'oneOf' | 'conditional';
  /** When each branch holds, such as `if kind is "a"`, where that is known. */
  readonly cases?: readonly (string | undefined)[];
  readonly path: string;
}

/** What holds in one of several cases. */
export interface CaseSource {
  readonly source: NodeSource;
  readonly when: string | undefined;
}

export type LimitName =
  | 'minimum'
  | 'maximum'
  | 'minItems'
  | 'maxItems'
  | 'minProperties'
  | 'maxProperties'
  | 'minLength'
  | 'maxLength'
  | 'pattern';

export interface SchemaSummary {
  /** Place of the first fragment, for the receipt. */
  path: string;
  /** How deep it is written: objects and lists of the upstream's schema around it. */
  level: number;
  /** The keywords of the first fragment, in the client's order. */
  keyOrder: readonly string[];
  /** A `false` schema is among the fragments: nothing is allowed. */
  isUnsatisfiable: boolean;
  /** What stands here but is not expanded (a recursion, an outside reference), in plain words. */
  recursionNote: string | undefined;
  types: readonly TypeName[] | undefined;
  /** The type word as the client wrote it, where the upstream takes it so. */
  writtenType: string | undefined;
  /** What the other keywords suggest when no type is given. */
  impliedType: TypeName | undefined;
  nullable: boolean;
  declaredNullable: boolean | undefined;
  title: string | undefined;
  readonly descriptions: Set<string>;
  /** Meaning that has no keyword upstream, in short plain words. */
  hints: Set<string>;
  /** `default` and `example`; kept as entries because null is a value. */
  samples: Map<'default' | 'example', JsonValue>;
  enumeration: { readonly values: readonly JsonValue[]; readonly path: string } | undefined;
  format: { readonly name: string; readonly path: string } | undefined;
  limits: Map<LimitName, { readonly value: JsonValue; readonly path: string }>;
  exclusiveMinimum: { readonly value: number; readonly path: string } | undefined;
  exclusiveMaximum: { readonly value: number; readonly path: string } | undefined;
  properties: Map<string, NodeSource>;
  /** What is declared of properties in some cases only; in the others they may be anything. */
  conditionalProperties: Map<string, readonly CaseSource[]>;
  /** What conditions ask about, by its type alone: declared where nothing else declares it. */
  testedProperties: Map<string, NodeSource>;
  required: Map<string, string>;
  ordering: readonly string[] | undefined;
  items: NodeSource | undefined;
  tuple: readonly Located[] | undefined;
  /** Schema of properties that are not declared by name. */
  otherProperties: Located | undefined;
  /** True where members of names that are not declared are meant. */
  allowsAdditional: boolean;
  /** True where no other members than the declared ones are allowed. */
  isClosed: boolean;
  /** True where the names that are allowed were listed, and thereby declared. */
  hasListedNames: boolean;
  choices: ChoiceGroup[];
  /** Set when the node was written as a text that holds JSON. */
  sentAsText: boolean;
}

/** The upstream's own dialect (`parameters`), or JSON Schema of few keywords (`parametersJsonSchema`). */
export type SchemaForm = 'schema' | 'json-schema';

/** What a form could not say: a `value` JSON Schema has words for, or a `depth` (or sheer size) no form has. */
export type Loss = 'value' | 'depth';

/** What one conversion shares: the document, the receipt and the work left. */
export interface SchemaConversion {
  readonly document: SchemaDocument;
  readonly form: SchemaForm;
  readonly losses: Set<Loss>;
  /** Type words that are not the client's own are written in upper case. */
  readonly upperCase: boolean;
  /** Objects say in which order their properties come. */
  readonly ordered: boolean;
  /** What is sent as text comes back to the client as the value the text stands for. */
  readonly restored: boolean;
  /** Fragments that may still be gathered; stops schemas that unfold without end. */
  fragmentsLeft: number;
  /** Characters that may still be gathered from schemas gathered before; stops what references make of long ones. */
  repeatedLeft: number;
  /** What each schema gathered so far says itself, in characters. */
  readonly weights: Map<JsonObject, number>;
  /** Schemas that may still be told in words in full; the others are told in outline. */
  wordsLeft: number;
  /** Characters of lists that may still be told in full; the others are told by their beginning. */
  listedLeft: number;
  /** Values that may still be listed; the others are told in words. */
  valuesLeft: number;
  /** What the limits `maxItems` of the whole schema may still add up to. */
  itemsLeft: number;
  note(action: ReceiptAction, path: string, reason: Sentence): void;
}

export function createSummary(path: string, level: number): SchemaSummary {
  return {
    path,
    level,
    keyOrder: [],
    isUnsatisfiable: false,
    recursionNote: undefined,
    types: undefined,
    writtenType: undefined,
    impliedType: undefined,
    nullable: false,
    declaredNullable: undefined,
    title: undefined,
    descriptions: new Set(),
    hints: new Set(),
    samples: new Map(),
    enumeration: undefined,
    format: undefined,
    limits: new Map(),
    exclusiveMinimum: undefined,
    exclusiveMaximum: undefined,
    properties: new Map(),
    conditionalProperties: new Map(),
    testedProperties: new Map(),
    required: new Map(),
    ordering: undefined,
    items: undefined,
    tuple: undefined,
    otherProperties: undefined,
    allowsAdditional: false,
    isClosed: false,
    hasListedNames: false,
    choices: [],
    sentAsText: false,
  };
}

/** A copy without what describes the whole: the ground on which one of several branches is built. */
export function copyConstraints(summary: SchemaSummary): SchemaSummary {
  return {
    ...createSummary(summary.path, summary.level),
    types: summary.types,
    writtenType: summary.writtenType,
    impliedType: summary.impliedType,
    enumeration: summary.enumeration,
    format: summary.format,
    limits: new Map(summary.limits),
    exclusiveMinimum: summary.exclusiveMinimum,
    exclusiveMaximum: summary.exclusiveMaximum,
    properties: new Map(summary.properties),
    testedProperties: new Map(summary.testedProperties),
    required: new Map(summary.required),
    ordering: summary.ordering,
    items: summary.items,
    tuple: summary.tuple,
    otherProperties: summary.otherProperties,
    allowsAdditional: summary.allowsAdditional,
    isClosed: summary.isClosed,
    hasListedNames: summary.hasListedNames,
  };
}

/** Says nothing. */
export const ANYTHING: NodeSource = { all: [], any: [] };

/** What holds in one of several cases each; beside what always holds it narrows nothing. */
export function sourceOfCases(declared: readonly CaseSource[], path: string): NodeSource {
  const branches = [...declared.map(({ source }) => source), ANYTHING];
  const cases = declared.map(({ when }) => when);
  return { all: [], any: [{ branches, cases, keyword: 'conditional', path }] };
}

/** What holds where one of the cases is the case. */
export function unionOfCases(declared: readonly CaseSource[], path: string): NodeSource {
  const [first, ...others] = declared;
  if (others.length === 0 && first?.when === undefined) return first?.source ?? ANYTHING;
  const branches = declared.map(({ source }) => source);
  const cases = declared.map(({ when }) => when);
  return { all: [], any: [{ branches, cases, keyword: 'anyOf', path }] };
}

/** Adds one more demand on a property; several demands all hold. */
export function addProperty(summary: SchemaSummary, name: string, source: NodeSource): void {
  summary.properties.set(name, joinSources(summary.properties.get(name), source));
}

/** Both sources hold. */
export function joinSources(known: NodeSource | undefined, source: NodeSource): NodeSource {
  if (known === undefined) return source;
  return { all: [...known.all, ...source.all], any: [...known.any, ...source.any] };
}

export function addHint(summary: SchemaSummary, hint: string): void {
  summary.hints.add(hint);
}

export function sourceOf(located: Located): NodeSource {
  return { all: [located], any: [] };
}
