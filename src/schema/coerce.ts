// Repairs one value by its schema; what fits the schema already is never touched.

import type { Receipt } from '../canonical/receipt.ts';
import { mapItems } from '../lib/collections.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  readNumber,
  tryParse,
} from '../lib/json.ts';
import { type Sentence, told } from '../lib/localized-message.ts';
import { type Located, memberPath, type TypeName } from './document.ts';
import { gatherSource } from './gather.ts';
import { SchemaConversion, SchemaSummary, sourceOf } from './summary.ts';

/** `fraction` is a number that is not whole: JSON Schema's `number` is either. */
type ValueType = Exclude<TypeName, 'number'> | 'fraction';

/** Everything that holds at one place; what is not listed here never restricts. */
export interface SchemaNode {
  /** Empty when nothing is allowed. */
  readonly types: ReadonlySet<ValueType>;
  /** True where no keyword names or implies a type; choices may still do. */
  readonly isOpen: boolean;
  /** `enum` and `const`: a value stands in each of these lists. */
  readonly lists: readonly ValueList[];
  /** What is said of the members of an object. */
  readonly objects: readonly SchemaSummary[];
  /** What is said of the items of an array. */
  readonly arrays: readonly SchemaSummary[];
  /** `anyOf` and `oneOf`: of each group one branch holds. */
  readonly choices: readonly (readonly Located[])[];
  /** What it costs to look at a value here, in steps. */
  readonly cost: number;
}

interface ValueList {
  /** The values by their JSON text. */
  readonly byText: ReadonlyMap<string, JsonValue>;
  readonly types: ReadonlySet<ValueType>;
}

const ALL_TYPES: ReadonlySet<ValueType> = new Set<ValueType>([
  'string',
  'integer',
  'fraction',
  'boolean',
  'object',
  'array',
  'null',
]);

const FREE_NODE: SchemaNode = {
  types: ALL_TYPES,
  isOpen: false,
  lists: [],
  objects: [],
  arrays: [],
  choices: [],
  cost: 1,
};

/** Schemas that are deeper or larger are taken to have texts: what is too deep for the upstream comes as text. */
const MAX_TEXT_DEPTH = 20;
const MAX_NODES = 20_000;

/** Reads a client's schema lazily, node by node, so that recursive schemas need no special care. */
export class SchemaReader {
  readonly root: SchemaNode;
  readonly #conversion: SchemaConversion;
  readonly #known = new WeakMap<JsonObject, SchemaNode>();

  constructor(schema: JsonObject) {
    const options = { form: 'schema', ordered: false, restored: true } as const;
    this.#conversion = new SchemaConversion(schema, options);
    // The words for a model are not looked at.
    this.#conversion.wordsLeft = 0;
    // The whole is JSON as it is: only what is inside may be a text instead of any value.
    this.root = { ...this.#readOne(schema), isOpen: false };
  }

  member({ objects }: SchemaNode, name: string): SchemaNode {
    const parts: JsonValue[] = [];
    for (const rule of objects) {
      const declared = rule.properties.get(name);
      if (declared !== undefined) for (const { schema } of declared.all) parts.push(schema);
      else if (rule.hasPatterns) continue;
      else if (isClosed(rule)) parts.push(false);
      else if (rule.otherProperties !== undefined) parts.push(rule.otherProperties.schema);
    }
    return this.#readAll(parts);
  }

  item({ arrays }: SchemaNode, index: number): SchemaNode {
    const parts = arrays.flatMap(({ tuple = [], items }): readonly Located[] => {
      const at = tuple[index];
      return at === undefined ? (items?.all ?? []) : [at];
    });
    return this.#readAll(parts.map(({ schema }) => schema));
  }

  branch({ schema }: Located): SchemaNode {
    return this.#readOne(schema);
  }

  /** The node without its first choice, once for each branch of that choice. */
  branches(node: SchemaNode): readonly SchemaNode[] {
    const [first = [], ...choices] = node.choices;
    return first.map((branch) => joinNodes([{ ...node, choices }, this.branch(branch)]));
  }

  /** True where the upstream was asked for any value as text: nothing, or null alone, is said of the type. */
  isAnyValue(node: SchemaNode): boolean {
    if (!node.isOpen || node.choices.length > 1) return false;
    const branches = (node.choices[0] ?? []).map((branch) => this.branch(branch));
    const [only, ...others] = branches.filter(
      ({ types }) => !(types.size === 1 && types.has('null')),
    );
    if (only === undefined) return node.choices.length === 0;
    return others.length === 0 && only.isOpen && only.choices.length === 0;
  }

  /**
   * True for a schema with values that an upstream may write as texts although they are none. What was not asked for
   * in JSON Schema: upstreams list only texts, take only so many levels, have no recursion, and know no objects of any
   * members. Such values come as texts (`"1"` of `enum: [1, 2]`, `"{…}"` of an object without declared properties,
   * `"5"` of any value).
   */
  holdsTexts(): boolean {
    /** The nodes from the root down to the one looked at. */
    const open = new Set<SchemaNode>();
    const done = new Set<SchemaNode>();
    const look = (node: SchemaNode): boolean => {
      if (done.has(node)) return false;
      if (open.has(node) || open.size >= MAX_TEXT_DEPTH || done.size >= MAX_NODES) return true;
      if (node.lists.some(listsOthers) || isAnyObject(node)) return true;
      if (this.isAnyValue(node)) return true;
      const below = this.#below(node);
      if (below === undefined) return true;
      open.add(node);
      const found = below.some(look);
      open.delete(node);
      done.add(node);
      return found;
    };
    return look(this.root);
  }

  /** Undefined for so many that they are not looked at. */
  #below(node: SchemaNode): readonly SchemaNode[] | undefined {
    const names = new Set(node.objects.flatMap(({ properties }) => [...properties.keys()]));
    if (names.size * node.objects.length > MAX_STEPS) return undefined;
    const below = [...names].map((name) => this.member(node, name));
    const places = Math.max(...node.arrays.map(({ tuple = [] }) => tuple.length + 1));
    for (let index = 0; index < places; index += 1) below.push(this.item(node, index));
    for (const branch of node.choices.flat()) below.push(this.branch(branch));
    return below;
  }

  #readAll(schemas: readonly JsonValue[]): SchemaNode {
    const [only = FREE_NODE, ...others] = schemas.map((schema) => this.#readOne(schema));
    return others.length === 0 ? only : joinNodes([only, ...others]);
  }

  #readOne(schema: JsonValue): SchemaNode {
    const known = isJsonObject(schema) ? this.#known.get(schema) : undefined;
    if (known !== undefined) return known;
    const summary = new SchemaSummary(this.#conversion, '', 0);
    gatherSource(summary, sourceOf({ schema, path: '', refs: undefined, depth: 0 }));
    const node = nodeOf(summary);
    if (isJsonObject(schema)) this.#known.set(schema, node);
    return node;
  }
}

function nodeOf(summary: SchemaSummary): SchemaNode {
  const { types, impliedType, enumeration, choices, required, items, tuple } = summary;
  const { isUnsatisfiable, declaredNullable: isNullable = false } = summary;
  const saysMembers =
    impliedType === 'object' ||
    summary.properties.size + required.size > 0 ||
    summary.hasPatterns ||
    summary.takesOthers ||
    summary.closedBy !== undefined;
  const groups = choices.filter(({ kind }) => kind !== 'conditional');
  const isTyped = types !== undefined || impliedType !== undefined || enumeration !== undefined;
  return {
    types: isUnsatisfiable ? new Set() : valueTypes(types, isNullable),
    isOpen: !isTyped && !isUnsatisfiable && groups.length === choices.length,
    lists: enumeration === undefined ? [] : [listOf(enumeration.values, isNullable)],
    objects: saysMembers ? [summary] : [],
    arrays: items === undefined && tuple === undefined ? [] : [summary],
    choices: groups.map(({ branches }) => branches.flatMap(({ source }) => source.all)),
    cost: saysMembers ? 2 + required.size : 1,
  };
}

function valueTypes(
  types: readonly TypeName[] | undefined,
  isNullable: boolean,
): ReadonlySet<ValueType> {
  if (types === undefined) return ALL_TYPES;
  const allowed = new Set<ValueType>(isNullable ? ['null'] : []);
  for (const type of types) {
    if (type === 'number') allowed.add('integer').add('fraction');
    else allowed.add(type);
  }
  return allowed;
}

/** Of a list that many references share, made once. */
function listOf(given: readonly JsonValue[], isNullable: boolean): ValueList {
  const known = isNullable ? NULLABLE_LISTS : LISTS;
  let list = known.get(given);
  if (list === undefined) {
    const values = isNullable ? [...given, null] : given;
    const byText = new Map(values.map((value) => [JSON.stringify(value), value]));
    list = { byText, types: new Set(values.map(typeOfValue)) };
    known.set(given, list);
  }
  return list;
}

const LISTS = new WeakMap<readonly JsonValue[], ValueList>();
const NULLABLE_LISTS = new WeakMap<readonly JsonValue[], ValueList>();

/** The node where all of them hold, with the choices still open in any. */
function joinNodes(nodes: readonly SchemaNode[]): SchemaNode {
  return {
    types: nodes.reduce((types, node) => types.intersection(node.types), ALL_TYPES),
    isOpen: nodes.every(({ isOpen }) => isOpen),
    lists: nodes.flatMap(({ lists }) => lists),
    objects: nodes.flatMap(({ objects }) => objects),
    arrays: nodes.flatMap(({ arrays }) => arrays),
    choices: nodes.flatMap(({ choices }) => choices),
    cost: nodes.reduce((sum, { cost }) => sum + cost, 0),
  };
}

function typeOfValue(value: JsonValue): ValueType {
  if (value === null) return 'null';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'boolean';
  if (Array.isArray(value)) return 'array';
  const number = readNumber(value);
  if (number === undefined) return 'object';
  // `1e999` is whole, though no double holds it.
  return Number.isInteger(number) || !Number.isFinite(number) ? 'integer' : 'fraction';
}

function isDeclared({ objects }: SchemaNode, name: string): boolean {
  return objects.some(({ properties }) => properties.has(name));
}

function isRequired({ objects }: SchemaNode, name: string): boolean {
  return objects.some(({ required }) => required.has(name));
}

/** Members that are not declared beside it are refused, whatever else declares them. */
function isClosed({ closedBy }: SchemaSummary): boolean {
  return closedBy === 'additionalProperties';
}

/** What is said of the members of an object that takes no others; undefined where other keywords may declare some. */
export function closedRule({ objects, choices }: SchemaNode): SchemaSummary | undefined {
  const [rule, ...others] = objects;
  if (rule === undefined || others.length > 0 || choices.length > 0) return undefined;
  return isClosed(rule) && !rule.hasPatterns && rule.recursionNote === undefined ? rule : undefined;
}

/** True for values that are neither texts nor the only booleans: those have a type of their own. */
function listsOthers({ types }: ValueList): boolean {
  const others = [...types].filter((type) => type !== 'null');
  return others.some((type) => type !== 'string' && !(type === 'boolean' && others.length === 1));
}

function isAnyObject({ types, objects, choices }: SchemaNode): boolean {
  if (types.has('string') || !types.has('object') || choices.length > 0) return false;
  return objects.every(({ properties }) => properties.size === 0);
}

// Repairs values.

interface RepairOptions {
  readonly receipt: Receipt;
  /** Of the whole value, for the receipt. */
  readonly path: string;
  /** The value was read from a JSON text, or asked for in its own types. */
  readonly hasOwnTypes?: boolean;
}

/** The whole value as its schema wants it; undefined when it needs no repair, or too much work. */
export function repairValue(
  reader: SchemaReader,
  value: JsonValue,
  { receipt, path, hasOwnTypes = false }: RepairOptions,
): JsonValue | undefined {
  const repair = new ValueRepair(reader, hasOwnTypes);
  const repaired = repair.repair(reader.root, value, { path, name: '' });
  if (repair.gaveUp || repaired === value) return undefined;
  for (const note of repair.notes) receipt.add(note.action, note.path, note.reason);
  return repaired;
}

/** Where a value stands: the path for the receipt and the property it was given for. */
interface Place {
  readonly path: string;
  readonly name: string;
}

interface RepairNote {
  readonly action: 'repaired' | 'dropped';
  readonly path: string;
  readonly reason: Sentence;
}

interface Attempt {
  readonly value: JsonValue;
  readonly notes: readonly RepairNote[];
}

type Member = readonly [name: string, value: JsonValue];

/** Values and branches looked at for one call; schemas that unfold without end stop here. */
const MAX_STEPS = 200_000;
const MAX_VALUE_DEPTH = 100;

/** More unknown names than a model adds by mistake: they are meant, and the client says what it makes of them. */
const MAX_FORBIDDEN = 10;

/**
 * The repair of one call's arguments, or of one answer. It is lenient: every valid value fits, and some invalid ones
 * do too, as only what `SchemaNode` has is looked at.
 */
class ValueRepair {
  readonly notes: RepairNote[] = [];
  /** True when the limits were met; nothing that was found out then is certain. */
  gaveUp = false;
  readonly #reader: SchemaReader;
  /** Above zero inside values that were read from a JSON text: there every value has its own type. */
  #textsAround: number;
  #stepsLeft = MAX_STEPS;
  #depth = 0;

  constructor(reader: SchemaReader, hasOwnTypes: boolean) {
    this.#reader = reader;
    this.#textsAround = hasOwnTypes ? 1 : 0;
  }

  /** The value as its schema wants it; the same value when it fits or when nothing is clearly meant. */
  repair(node: SchemaNode, value: JsonValue, place: Place): JsonValue {
    const meant = this.#readAny(node, value, place);
    if (meant !== undefined) return meant;
    if (!this.#enter(node)) return value;
    const repaired =
      node.choices.length === 0
        ? this.#repairSettled(node, value, place)
        : this.#repairChoice(node, value, place);
    this.#depth -= 1;
    return repaired;
  }

  /** Pays for a look at one value; false at the limits. After every look the depth is one less again. */
  #enter(node: SchemaNode): boolean {
    this.#stepsLeft -= node.cost;
    if (this.#stepsLeft < 0 || this.#depth >= MAX_VALUE_DEPTH) this.gaveUp = true;
    if (this.gaveUp) return false;
    this.#depth += 1;
    return true;
  }

  #note(path: string, reason: Sentence, action: RepairNote['action'] = 'repaired'): void {
    this.notes.push({ action, path, reason });
  }

  #fits(node: SchemaNode, value: JsonValue): boolean {
    if (!this.#enter(node)) return true;
    const answer =
      fitsItself(node, value) &&
      this.#membersFit(node, value) &&
      node.choices.every((branches) =>
        branches.some((branch) => this.#fits(this.#reader.branch(branch), value)),
      );
    this.#depth -= 1;
    return answer;
  }

  #membersFit(node: SchemaNode, value: JsonValue): boolean {
    if (Array.isArray(value)) {
      if (node.arrays.length === 0) return true;
      return value.every((item, index) => this.#fits(this.#reader.item(node, index), item));
    }
    if (!isJsonObject(value) || node.objects.length === 0) return true;
    return (
      hasRequired(node, value) &&
      Object.entries(value).every(([name, member]) =>
        this.#fits(this.#reader.member(node, name), member),
      )
    );
  }

  /** The value of a text that was asked for in place of any value; undefined for all others. */
  #readAny(node: SchemaNode, value: JsonValue, { path }: Place): JsonValue | undefined {
    if (typeof value !== 'string' || !node.isOpen || this.#textsAround > 0) return undefined;
    const meant = this.#reader.isAnyValue(node) ? readAnyText(value) : undefined;
    if (meant !== undefined) this.#note(path, told`Its text was read as the value.`);
    return meant;
  }

  #repairSettled(node: SchemaNode, value: JsonValue, place: Place): JsonValue {
    const repaired = this.#repairInside(node, value, place);
    if (fitsItself(node, repaired)) return repaired;
    // A value of a type nothing here allows, as the one other way to write it.
    const candidate = otherForm(node, repaired);
    if (candidate === undefined) return repaired;
    const attempt = this.#attempt(node, candidate, place);
    if (!this.#fits(node, attempt.value)) return repaired;
    this.#note(place.path, told`The value came in another form.`);
    return this.#accept(attempt);
  }

  #repairInside(node: SchemaNode, value: JsonValue, place: Place): JsonValue {
    if (typeof value === 'string') return this.#repairText(node, value, place);
    if (Array.isArray(value)) return this.#repairArray(node, value, place);
    return isJsonObject(value) ? this.#repairObject(node, value, place) : value;
  }

  /** What holds whatever is chosen comes first; then the one branch that leads to a fitting value. */
  #repairChoice(node: SchemaNode, value: JsonValue, place: Place): JsonValue {
    if (this.#fits(node, value)) return value;
    const settled = this.#attempt({ ...node, choices: [] }, value, place);
    if (this.#fits(node, settled.value)) return this.#accept(settled);
    const attempts: Attempt[] = [];
    for (const branch of this.#reader.branches(node)) {
      const attempt = this.#attempt(branch, value, place);
      if (this.#fits(branch, attempt.value)) attempts.push(attempt);
    }
    // What is wrong inside an object or list makes nothing else of it.
    const ofItsKind = attempts.filter((each) => typeOfValue(each.value) === typeOfValue(value));
    const found = onlyOne(ofItsKind.length > 0 ? ofItsKind : attempts);
    return found === undefined ? value : this.#accept(found);
  }

  #repairText(node: SchemaNode, text: string, place: Place): JsonValue {
    if (this.#fits(node, text)) return text;
    const attempts: Attempt[] = [];
    this.#textsAround += 1;
    for (const candidate of readText(node, text, place.name)) {
      const attempt = this.#attempt(node, candidate, place);
      // What is wrong inside an object or array does not make a text of it.
      if (fitsItself(node, attempt.value)) attempts.push(attempt);
    }
    this.#textsAround -= 1;
    const found = onlyOne(attempts);
    if (found === undefined) return text;
    this.#note(place.path, told`Its text was read as the value.`);
    return this.#accept(found);
  }

  #repairArray(node: SchemaNode, items: JsonValue[], { path, name }: Place): JsonValue {
    if (node.arrays.length === 0) return items;
    const place = { path: `${path}[]`, name };
    return mapItems(items, (item, index) =>
      this.repair(this.#reader.item(node, index), item, place),
    );
  }

  #attempt(node: SchemaNode, value: JsonValue, place: Place): Attempt {
    const reached = this.notes.length;
    const repaired = this.repair(node, value, place);
    return { value: repaired, notes: this.notes.splice(reached) };
  }

  #accept({ value, notes }: Attempt): JsonValue {
    this.notes.push(...notes);
    return value;
  }

  // The members of an object: their values, nulls that should be absent, names that were guessed.

  /** The same object when nothing changed. Members keep their order. */
  #repairObject(node: SchemaNode, object: JsonObject, place: Place): JsonObject {
    if (node.objects.length === 0) return object;
    const repaired: Member[] = [];
    let isChanged = false;
    for (const [name, value] of Object.entries(object)) {
      const path = pathOfMember(node, place.path, name);
      if (value === null && this.#shouldBeAbsent(node, name)) {
        this.#note(path, told`The optional argument is left out instead of null.`);
        isChanged = true;
        continue;
      }
      const child = this.#reader.member(node, name);
      // Of members it was not told the upstream was not asked for texts.
      const asked = child.isOpen && !isDeclared(node, name) ? { ...child, isOpen: false } : child;
      const repairedValue = this.repair(asked, value, { path, name });
      isChanged ||= repairedValue !== value;
      repaired.push([name, repairedValue]);
    }
    const renamed = this.#renameMeant(node, repaired, place);
    const allowed = this.#dropForbidden(node, renamed, place);
    if (allowed === repaired && !isChanged) return object;
    // Unlike assignment, this also makes `__proto__` an ordinary member.
    return Object.fromEntries(allowed);
  }

  #shouldBeAbsent(node: SchemaNode, name: string): boolean {
    if (!isDeclared(node, name) || isRequired(node, name)) return false;
    return !this.#fits(this.#reader.member(node, name), null);
  }

  /**
   * Puts names right that were guessed: those that differ from a declared one in nothing but their spelling; the one
   * unknown name that is related to the one missing name; and plurals of arguments that may be absent, which clients
   * refuse or overlook.
   */
  #renameMeant(node: SchemaNode, members: readonly Member[], place: Place): readonly Member[] {
    const unknown = members.filter(([name]) => !isKnown(node, name));
    if (unknown.length === 0 || !namesAreFixed(node)) return members;
    const given = new Set(members.map(([name]) => name));
    const renamed = new Map<Member, Member>();
    const rename = (guessed: Member | undefined, name: string | undefined): void => {
      if (guessed === undefined || name === undefined || renamed.has(guessed)) return;
      const member = this.#rename(node, guessed, { path: place.path, name });
      if (member === undefined) return;
      renamed.set(guessed, member);
      given.add(name);
    };
    const unknownBySpelling = Map.groupBy(unknown, ([name]) => spellingOf(name));
    const renameAll = (ending: string): void => {
      const meant = absentBySpelling(node, { given, ending });
      for (const [spelling, [only, ...others]] of unknownBySpelling) {
        if (others.length === 0) rename(only, meant.get(spelling));
      }
    };
    renameAll('');
    const missing = onlyMissing(node, given);
    if (missing !== undefined) {
      const rest = unknown.filter((member) => !renamed.has(member));
      const [guessed, ...others] = rest.filter(([name]) => isMeantFor(name, missing));
      if (others.length === 0) rename(guessed, missing);
    }
    renameAll('s');
    return renamed.size === 0 ? members : members.map((member) => renamed.get(member) ?? member);
  }

  /** The member under the other name; undefined when its value does not fit there. */
  #rename(node: SchemaNode, [, given]: Member, { path: parent, name }: Place): Member | undefined {
    const path = pathOfMember(node, parent, name);
    const child = this.#reader.member(node, name);
    const value = this.repair(child, given, { path, name });
    if (!this.#fits(child, value)) return undefined;
    this.#note(path, told`The argument came under a related name.`);
    return [name, value];
  }

  /**
   * Members a closed schema does not have, beside all it demands: clients refuse the whole call for
   * them. One that is like a declared name may be meant for that, and stays.
   */
  #dropForbidden(node: SchemaNode, members: readonly Member[], { path }: Place): readonly Member[] {
    const rule = closedRule(node);
    if (rule === undefined) return members;
    const unknown = members.filter(([name]) => !isKnown(node, name));
    const hasDeclared = unknown.length < members.length;
    if (unknown.length === 0 || unknown.length > MAX_FORBIDDEN || !hasDeclared) return members;
    const given = new Set(members.map(([name]) => name));
    if (rule.required.keys().some((name) => !given.has(name))) return members;
    const dropped = new Set(
      unknown.filter(([name]) => !rule.properties.keys().some((known) => isMeantFor(name, known))),
    );
    if (dropped.size === 0) return members;
    this.#note(`${path}[*]`, told`The tool takes no argument of that name.`, 'dropped');
    return members.filter((member) => !dropped.has(member));
  }
}

function fitsItself({ types, lists }: SchemaNode, value: JsonValue): boolean {
  return types.has(typeOfValue(value)) && lists.every((list) => isListed(list, value));
}

/** Objects and arrays are not compared member by member: any of them may be meant. */
function isListed({ byText, types }: ValueList, value: JsonValue): boolean {
  const type = typeOfValue(value);
  if (type === 'object' || type === 'array') return types.has(type);
  return byText.has(JSON.stringify(value));
}

function hasRequired({ objects }: SchemaNode, value: JsonObject): boolean {
  return objects.every(({ required }) =>
    required.keys().every((name) => Object.hasOwn(value, name)),
  );
}

function onlyMissing({ objects }: SchemaNode, given: ReadonlySet<string>): string | undefined {
  const missing = new Set<string>();
  for (const { required } of objects) {
    for (const name of required.keys()) {
      if (!given.has(name)) missing.add(name);
      if (missing.size > 1) return undefined;
    }
  }
  const [name] = missing;
  return name;
}

/** The declared members that are not given, by their spelling and the ending; undefined for one that two share. */
function absentBySpelling(
  { objects }: SchemaNode,
  { given, ending }: { readonly given: ReadonlySet<string>; readonly ending: string },
): ReadonlyMap<string, string | undefined> {
  const found = new Map<string, string | undefined>();
  for (const name of new Set(objects.flatMap(({ properties }) => [...properties.keys()]))) {
    const letters = spellingOf(name);
    if (letters === '' || given.has(name)) continue;
    const spelling = `${letters}${ending}`;
    found.set(spelling, found.has(spelling) ? undefined : name);
  }
  return found;
}

/** False where the schema describes members of any name, which then are no mistakes. */
function namesAreFixed({ objects }: SchemaNode): boolean {
  return objects.every((rule) => !rule.hasPatterns && !rule.takesOthers);
}

function isKnown(node: SchemaNode, name: string): boolean {
  return isDeclared(node, name) || isRequired(node, name);
}

/** Names the schema does not know are not repeated: they could be as many as the model likes. */
function pathOfMember(node: SchemaNode, parent: string, name: string): string {
  return isKnown(node, name) ? memberPath(parent, name) : `${parent}[*]`;
}

/** Where its own type is not allowed: a number or object as text, one value as a list, a list of one as its value. */
function otherForm({ types, lists }: SchemaNode, value: JsonValue): JsonValue | undefined {
  const isAllowed = (type: ValueType): boolean =>
    types.has(type) && lists.every((list) => list.types.has(type));
  const type = typeOfValue(value);
  if (isAllowed(type)) return undefined;
  switch (type) {
    case 'null':
      return undefined;
    case 'array':
      if (isAllowed('string') && holdsObjects(value)) return documentText(value);
      return Array.isArray(value) && value.length === 1 ? value[0] : undefined;
    case 'string':
      // What looks like JSON was meant as the list itself.
      return isAllowed('array') && !/^\s*[[{]/.test(String(value)) ? [value] : undefined;
    case 'object':
      if (isAllowed('array')) return [value];
      return isAllowed('string') ? documentText(value) : undefined;
    case 'integer':
    case 'fraction':
    case 'boolean':
      if (isAllowed('string')) return JSON.stringify(value);
      return isAllowed('array') ? [value] : undefined;
    default:
      return type satisfies never;
  }
}

/** A model that writes a JSON file may give what stands in it for its text; it would have written it over lines. */
function documentText(value: JsonValue): string {
  return JSON.stringify(value, null, 2);
}

function holdsObjects(value: JsonValue): boolean {
  return Array.isArray(value) && value.some((item) => Array.isArray(item) || isJsonObject(item));
}

/** Different ways to one value count as one. */
function onlyOne(attempts: readonly Attempt[]): Attempt | undefined {
  const [first] = attempts;
  if (first === undefined || attempts.length === 1) return first;
  const text = JSON.stringify(first.value);
  return attempts.every(({ value }) => JSON.stringify(value) === text) ? first : undefined;
}

// What a text may stand for where a schema does not allow texts.

/** No leading zeros, no negative zero, no exponent like a letter: such texts are versions or codes (`007`, `01.0`, `1e3`). */
const DECIMAL = /^-?(?:0|[1-9]\d*)(?:(?:\.\d+)?|\.\d+e[+-]?\d+|e[+-]\d+)$/i;
const NEGATIVE_ZERO = /^-0(?:\.0*)?$/;

const TRUE_WORDS: ReadonlySet<string> = new Set(['true', 'yes', 'on', '1']);
const FALSE_WORDS: ReadonlySet<string> = new Set(['false', 'no', 'off', '0']);

/**
 * Candidates in no order of likelihood; whether one fits is for the caller to see. Numbers keep every
 * digit.
 * @param name the property the text was given for, as flags are repeated as their own value (`-n`).
 */
function readText({ lists, types }: SchemaNode, text: string, name: string): readonly JsonValue[] {
  // The upstream was given the values that are no texts as such.
  const candidates = lists.map(({ byText }) => byText.get(text));
  if (types.has('integer') || types.has('fraction')) candidates.push(readNumberText(text));
  if (types.has('boolean')) candidates.push(readBooleanText(types, text, name));
  if (types.has('null') && text === 'null') candidates.push(null);
  const isComposite = types.has('object') || types.has('array');
  if (isComposite && /^\s*[[{]/.test(text)) candidates.push(tryParse(text));
  return candidates.filter((candidate) => candidate !== undefined);
}

/**
 * What a text stands for where any value was asked for as JSON text; undefined for a text that is its own
 * value. Numbers are those written the one usual way: `1.10`, `1e3` and `007` are no JSON a model would write.
 */
function readAnyText(text: string): JsonValue | undefined {
  if (/^\s*(?:\[|\{|"[\s\S]*"\s*$)/.test(text)) return tryParse(text);
  if (text === 'null') return null;
  if (text === 'true' || text === 'false') return text === 'true';
  const number = readNumberText(text);
  return JSON.stringify(number) === text ? number : undefined;
}

function readNumberText(text: string): JsonValue | undefined {
  const isDecimal = DECIMAL.test(text) && !NEGATIVE_ZERO.test(text);
  return isDecimal || String(Number(text)) === text ? tryParse(text) : undefined;
}

/** Words are taken for a boolean only where nothing else but null is allowed. */
function readBooleanText(
  types: ReadonlySet<ValueType>,
  text: string,
  name: string,
): boolean | undefined {
  if (text === 'true' || text === 'false') return text === 'true';
  if (types.size !== (types.has('null') ? 2 : 1)) return undefined;
  const word = text.toLowerCase();
  if (TRUE_WORDS.has(word)) return true;
  if (FALSE_WORDS.has(word)) return false;
  return text.startsWith('-') && withoutDashes(text) === withoutDashes(name) ? true : undefined;
}

function withoutDashes(flag: string): string {
  return flag.replace(/^-+/, '');
}

// Says whether two argument names clearly mean the same argument.

/** Shorter names stand inside too many others by chance. */
const MIN_CONTAINED = 4;

/** Words models take for one another when they guess the name of an argument. */
const SYNONYMS: readonly ReadonlySet<string>[] = [
  new Set(['pattern', 'query', 'regex', 'regexp', 'glob', 'expression']),
  new Set(['command', 'cmd', 'script']),
  new Set(['path', 'file', 'filename', 'filepath', 'absolutepath']),
  new Set(['path', 'dir', 'directory', 'folder']),
  new Set(['content', 'contents', 'text', 'body']),
  new Set(['url', 'uri', 'link', 'address']),
];

/** How a name is written that differs from others in nothing but its spelling. */
function spellingOf(name: string): string {
  return wordsOf(name).join('');
}

/** True for a name that is clearly meant for a declared one: related to it, or its plural (`paths`). */
function isMeantFor(name: string, declared: string): boolean {
  return areRelated(name, declared) || spellingOf(name) === `${spellingOf(declared)}s`;
}

/** Spelling variants (`filePath`, `file_path`), synonyms, or one name's words inside the other's (`path`). */
function areRelated(left: string, right: string): boolean {
  const [one, other] = [wordsOf(left), wordsOf(right)];
  const isShort = one.join('').length <= other.join('').length;
  const [short, long] = isShort ? [one, other] : [other, one];
  const shortText = short.join('');
  const longText = long.join('');
  if (shortText === '') return false;
  if (shortText === longText) return true;
  if (SYNONYMS.some((words) => words.has(shortText) && words.has(longText))) return true;
  if (shortText.length >= MIN_CONTAINED && longText.includes(shortText)) return true;
  return ` ${long.join(' ')} `.includes(` ${short.join(' ')} `);
}

function wordsOf(name: string): readonly string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter((word) => word !== '');
}
