// Repairs one value by its schema; what fits the schema already is never touched.

import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../lib/json.ts';
import { type Sentence, told } from '../lib/localized-message.ts';
import {
  isDeclared,
  isRequired,
  itemSchemas,
  joinNodes,
  memberSchemas,
  type SchemaNode,
  type SchemaReader,
  typeOfValue,
  type ValueList,
  type ValueType,
} from './gather.ts';

/** Where a value stands: the path for the receipt and the property it was given for. */
export interface Place {
  readonly path: string;
  readonly name: string;
}

export interface RepairNote {
  readonly action: 'repaired' | 'dropped';
  readonly path: string;
  readonly reason: Sentence;
}

interface ValueRepairer {
  readonly work: SchemaWork;
  /** The value as its schema wants it; the same value when it fits or when nothing is clearly meant. */
  repair(node: SchemaNode, value: JsonValue, place: Place): JsonValue;
  note(note: RepairNote): void;
}

interface Attempt {
  readonly value: JsonValue;
  readonly notes: readonly RepairNote[];
}

export class ValueRepair implements ValueRepairer {
  readonly work: SchemaWork;
  readonly notes: RepairNote[] = [];
  /** Above zero inside values that were read from a JSON text: there every value has its own type. */
  #textsAround: number;

  /** @param hasOwnTypes the value was read from a JSON text, or asked for in its own types. */
  constructor(work: SchemaWork, hasOwnTypes = false) {
    this.work = work;
    this.#textsAround = hasOwnTypes ? 1 : 0;
  }

  repair(node: SchemaNode, value: JsonValue, place: Place): JsonValue {
    const meant = this.#readAny(node, value, place);
    if (meant !== undefined) return meant;
    if (!this.work.enter(node)) return value;
    const repaired =
      node.choices.length === 0
        ? this.#repairSettled(node, value, place)
        : this.#repairChoice(node, value, place);
    this.work.leave();
    return repaired;
  }

  note(note: RepairNote): void {
    this.notes.push(note);
  }

  /** The value of a text that was asked for in place of any value; undefined for all others. */
  #readAny(node: SchemaNode, value: JsonValue, { path }: Place): JsonValue | undefined {
    if (typeof value !== 'string' || !node.isOpen || this.#textsAround > 0) return undefined;
    const meant = this.work.isAnyValue(node) ? readAnyText(value) : undefined;
    if (meant !== undefined) {
      this.note({ action: 'repaired', path, reason: told`Its text stood for the value.` });
    }
    return meant;
  }

  #repairSettled(node: SchemaNode, value: JsonValue, place: Place): JsonValue {
    const repaired = this.#repairInside(node, value, place);
    return fitsItself(node, repaired) ? repaired : this.#recast(node, repaired, place);
  }

  /** A value of a type nothing here allows, as the one other way to write it. */
  #recast(node: SchemaNode, value: JsonValue, place: Place): JsonValue {
    const candidate = otherForm(node, value);
    if (candidate === undefined) return value;
    const attempt = this.#attempt(node, candidate, place);
    if (!this.work.fits(node, attempt.value)) return value;
    this.note({
      action: 'repaired',
      path: place.path,
      reason: told`The value came in another form.`,
    });
    return this.#accept(attempt);
  }

  #repairInside(node: SchemaNode, value: JsonValue, place: Place): JsonValue {
    if (typeof value === 'string') return this.#repairText(node, value, place);
    if (Array.isArray(value)) return this.#repairArray(node, value, place);
    return isJsonObject(value) ? repairObject(this, { node, object: value, place }) : value;
  }

  /** What holds whatever is chosen comes first; then the one branch that leads to a fitting value. */
  #repairChoice(node: SchemaNode, value: JsonValue, place: Place): JsonValue {
    if (this.work.fits(node, value)) return value;
    const settled = this.#attempt({ ...node, choices: [] }, value, place);
    if (this.work.fits(node, settled.value)) return this.#accept(settled);
    const attempts: Attempt[] = [];
    for (const branch of this.work.branches(node)) {
      const attempt = this.#attempt(branch, value, place);
      if (this.work.fits(branch, attempt.value)) attempts.push(attempt);
    }
    // What is wrong inside an object or list makes nothing else of it.
    const ofItsKind = attempts.filter((each) => typeOfValue(each.value) === typeOfValue(value));
    const found = onlyOne(ofItsKind.length > 0 ? ofItsKind : attempts);
    return found === undefined ? value : this.#accept(found);
  }

  #repairText(node: SchemaNode, text: string, place: Place): JsonValue {
    if (this.work.fits(node, text)) return text;
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
    this.note({
      action: 'repaired',
      path: place.path,
      reason: told`Its text stood for the value.`,
    });
    return this.#accept(found);
  }

  #repairArray(node: SchemaNode, items: JsonValue[], { path, name }: Place): JsonValue {
    if (node.arrays.length === 0) return items;
    const place = { path: `${path}[]`, name };
    const repaired = items.map((item, index) =>
      this.repair(this.work.item(node, index), item, place),
    );
    return repaired.every((item, index) => item === items[index]) ? items : repaired;
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

// Repairs the members of an object: their values, nulls that should be absent, names that were guessed.

interface ObjectRepairInput {
  readonly node: SchemaNode;
  readonly object: JsonObject;
  readonly place: Place;
}

type Member = readonly [name: string, value: JsonValue];

/** The same object when nothing changed. Members keep their order. */
function repairObject(repairer: ValueRepairer, input: ObjectRepairInput): JsonObject {
  const { node, object, place } = input;
  if (node.objects.length === 0) return object;
  const members = Object.entries(object);
  const repaired: Member[] = [];
  let isChanged = false;
  for (const [name, value] of members) {
    const memberPlace = { path: memberPath(node, place.path, name), name };
    if (value === null && shouldBeAbsent(repairer, node, name)) {
      repairer.note({
        action: 'repaired',
        path: memberPlace.path,
        reason: told`The optional argument is left out instead of null.`,
      });
      isChanged = true;
      continue;
    }
    const child = repairer.work.member(node, name);
    // Of members it was not told the upstream was not asked for texts.
    const asked = child.isOpen && !isDeclared(node, name) ? { ...child, isOpen: false } : child;
    const repairedValue = repairer.repair(asked, value, memberPlace);
    isChanged ||= repairedValue !== value;
    repaired.push([name, repairedValue]);
  }
  const renamed = renamePlurals(repairer, renameGuessed(repairer, repaired, input), input);
  const allowed = dropForbidden(repairer, renamed, input);
  if (allowed === repaired && !isChanged) return object;
  // Unlike assignment, this also makes `__proto__` an ordinary member.
  return Object.fromEntries(allowed);
}

function shouldBeAbsent({ work }: ValueRepairer, node: SchemaNode, name: string): boolean {
  if (!isDeclared(node, name) || isRequired(node, name)) return false;
  return !work.fits(work.member(node, name), null);
}

/** Members with the one unknown name that is related to the one missing name put right. */
function renameGuessed(
  repairer: ValueRepairer,
  members: readonly Member[],
  input: ObjectRepairInput,
): readonly Member[] {
  const { node } = input;
  const missing = onlyMissing(node, members);
  if (missing === undefined || !namesAreFixed(node)) return members;
  const guesses = members.filter(
    ([name]) => !isKnown(node, name) && (areRelated(name, missing) || isPlural(name, missing)),
  );
  const [guessed] = guesses;
  if (guessed === undefined || guesses.length > 1) return members;
  const renamed = rename(repairer, { ...input, guessed, name: missing });
  if (renamed === undefined) return members;
  return members.map((member) => (member === guessed ? renamed : member));
}

/** An argument that may be absent came in the plural: clients refuse or overlook it. */
function renamePlurals(
  repairer: ValueRepairer,
  members: readonly Member[],
  input: ObjectRepairInput,
): readonly Member[] {
  const { node } = input;
  if (!namesAreFixed(node)) return members;
  const unknown = members.filter(([name]) => !isKnown(node, name));
  if (unknown.length === 0) return members;
  const given = new Set(members.map(([name]) => name));
  const plurals = new Map<string, string>();
  for (const name of node.objects.flatMap(({ properties }) => [...properties.keys()])) {
    const plural = `${spellingOf(name)}s`;
    if (!given.has(name) && !plurals.has(plural)) plurals.set(plural, name);
  }
  const renamed = new Map<Member, Member>();
  for (const guessed of unknown) {
    const name = plurals.get(spellingOf(guessed[0]));
    const member = name === undefined ? undefined : rename(repairer, { ...input, guessed, name });
    if (member !== undefined) renamed.set(guessed, member);
  }
  return renamed.size === 0 ? members : members.map((member) => renamed.get(member) ?? member);
}

/** More unknown names than a model adds by mistake: they are meant, and the client says what it makes of them. */
const MAX_FORBIDDEN = 10;

/**
 * Members a closed schema does not have, beside all it demands: clients refuse the whole call for
 * them. One that is like a declared name may be meant for that, and stays.
 */
function dropForbidden(
  repairer: ValueRepairer,
  members: readonly Member[],
  { node, place }: ObjectRepairInput,
): readonly Member[] {
  const [rule, ...otherRules] = node.objects;
  if (rule?.isClosed !== true || otherRules.length > 0 || node.choices.length > 0) return members;
  const { properties, required } = rule;
  const unknown = members.filter(([name]) => !isKnown(node, name));
  const hasDeclared = unknown.length < members.length;
  if (unknown.length === 0 || unknown.length > MAX_FORBIDDEN || !hasDeclared) return members;
  const given = new Set(members.map(([name]) => name));
  if ([...required].some((name) => !given.has(name))) return members;
  const declared = [...properties.keys()];
  const isMeant = ([name]: Member): boolean =>
    declared.some((known) => areRelated(name, known) || isPlural(name, known));
  const dropped = new Set(unknown.filter((member) => !isMeant(member)));
  if (dropped.size === 0) return members;
  repairer.note({
    action: 'dropped',
    path: `${place.path}[*]`,
    reason: told`The tool takes no argument of that name.`,
  });
  return members.filter((member) => !dropped.has(member));
}

interface Renaming extends ObjectRepairInput {
  readonly guessed: Member;
  readonly name: string;
}

/** Undefined when the value does not fit under the other name. */
function rename(
  repairer: ValueRepairer,
  { node, place, guessed, name }: Renaming,
): Member | undefined {
  const path = memberPath(node, place.path, name);
  const child = repairer.work.member(node, name);
  const value = repairer.repair(child, guessed[1], { path, name });
  if (!repairer.work.fits(child, value)) return undefined;
  repairer.note({
    action: 'repaired',
    path,
    reason: told`The argument came under a related name.`,
  });
  return [name, value];
}

function onlyMissing(node: SchemaNode, members: readonly Member[]): string | undefined {
  const given = new Set(members.map(([name]) => name));
  const missing = new Set<string>();
  for (const { required } of node.objects) {
    for (const name of required) {
      if (!given.has(name)) missing.add(name);
      if (missing.size > 1) return undefined;
    }
  }
  const [name] = missing;
  return name;
}

/** False where the schema describes members of any name, which then are no mistakes. */
function namesAreFixed({ objects }: SchemaNode): boolean {
  return objects.every(
    ({ others, hasPatterns }) => !hasPatterns && (others === undefined || others === false),
  );
}

function isKnown(node: SchemaNode, name: string): boolean {
  return isDeclared(node, name) || isRequired(node, name);
}

/** Names the schema does not know are not repeated: they could be as many as the model likes. */
function memberPath(node: SchemaNode, parent: string, name: string): string {
  if (!isKnown(node, name)) return `${parent}[*]`;
  return /^[A-Za-z_$][\w$-]*$/.test(name)
    ? `${parent}.${name}`
    : `${parent}[${JSON.stringify(name)}]`;
}

// What a text may stand for where a schema does not allow texts.

/** No leading zeros, no negative zero: such texts are versions or codes (`007`, `01.0`). */
const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
const NEGATIVE_ZERO = /^-0(?:\.0*)?$/;

const LOOSE_BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['yes', true],
  ['on', true],
  ['1', true],
  ['false', false],
  ['no', false],
  ['off', false],
  ['0', false],
]);

/**
 * Candidates in no order of likelihood; whether one fits is for the caller to see. Numbers keep every
 * digit.
 * @param name the property the text was given for, as flags are repeated as their own value (`-n`).
 */
function readText(node: SchemaNode, text: string, name: string): readonly JsonValue[] {
  const candidates: JsonValue[] = [];
  for (const { byText } of node.lists) {
    // The upstream was given the values that are no texts as such.
    const listed = byText.get(text);
    if (listed !== undefined) candidates.push(listed);
  }
  const { types } = node;
  if (types.has('integer') || types.has('fraction')) candidates.push(...readNumberText(text));
  if (types.has('boolean')) candidates.push(...readBooleanText(types, text, name));
  if (types.has('null') && text === 'null') candidates.push(null);
  if (types.has('object') || types.has('array')) candidates.push(...readJsonText(text));
  return candidates;
}

/**
 * What a text stands for where any value was asked for as JSON text; undefined for a text that is its own
 * value. Numbers are those written the one usual way: `1.10`, `1e3` and `007` are no JSON a model would write.
 */
function readAnyText(text: string): JsonValue | undefined {
  if (/^\s*(?:\[|\{|"[\s\S]*"\s*$)/.test(text)) return parsed(text)[0];
  if (text === 'null') return null;
  if (text === 'true' || text === 'false') return text === 'true';
  return readNumberText(text).find((number) => JSON.stringify(number) === text);
}

function readNumberText(text: string): readonly JsonValue[] {
  const isDecimal = DECIMAL.test(text) && !NEGATIVE_ZERO.test(text);
  return isDecimal || String(Number(text)) === text ? parsed(text) : [];
}

/** Words are taken for a boolean only where nothing else but null is allowed. */
function readBooleanText(
  types: ReadonlySet<ValueType>,
  text: string,
  name: string,
): readonly boolean[] {
  if (text === 'true' || text === 'false') return [text === 'true'];
  const isOnly = types.size === (types.has('null') ? 2 : 1);
  if (!isOnly) return [];
  const word = LOOSE_BOOLEANS.get(text.toLowerCase());
  if (word !== undefined) return [word];
  return text.startsWith('-') && withoutDashes(text) === withoutDashes(name) ? [true] : [];
}

function withoutDashes(flag: string): string {
  return flag.replace(/^-+/, '');
}

function readJsonText(text: string): readonly JsonValue[] {
  return /^\s*[[{]/.test(text) ? parsed(text) : [];
}

function parsed(text: string): readonly JsonValue[] {
  try {
    return [parseJson(text)];
  } catch {
    return [];
  }
}

// Says whether two argument names clearly mean the same argument.

/** Shorter names stand inside too many others by chance. */
const MIN_CONTAINED = 4;

/** Words models take for one another when they guess the name of an argument. */
const SYNONYMS: readonly ReadonlySet<string>[] = [
  new Set(['pattern', 'query', 'regex', 'regexp', 'glob', 'expression']),
  new Set(['command', 'cmd', 'script']),
  new Set(['path', 'file', 'filename', 'filepath']),
  new Set(['path', 'dir', 'directory', 'folder']),
  new Set(['content', 'contents', 'text', 'body']),
  new Set(['url', 'uri', 'link', 'address']),
];

/** How a name is written that differs from others in nothing but its spelling. */
function spellingOf(name: string): string {
  return wordsOf(name).join('');
}

/** True for an argument's name in the plural (`paths`), in whatever spelling. */
function isPlural(name: string, of: string): boolean {
  return spellingOf(name) === `${spellingOf(of)}s`;
}

/** Spelling variants (`filePath`, `file_path`), synonyms, or one name's words inside the other's (`path`). */
function areRelated(left: string, right: string): boolean {
  const [short, long] = [wordsOf(left), wordsOf(right)].sort(
    (one, other) => one.join('').length - other.join('').length,
  );
  if (short === undefined || long === undefined) return false;
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
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}

// Says whether a value fits a schema, and bounds the work one call's arguments may cost.

/** Values and branches looked at for one call; schemas that unfold without end stop here. */
const MAX_STEPS = 200_000;
const MAX_VALUE_DEPTH = 100;

/**
 * The reading of one call's arguments. It is lenient: every valid value fits, and some invalid ones
 * do too, as only the keywords of `SchemaNode` are looked at.
 */
export class SchemaWork {
  readonly #reader: SchemaReader;
  #stepsLeft = MAX_STEPS;
  #depth = 0;
  /** True when the limits were met; nothing that was found out then is certain. */
  gaveUp = false;

  constructor(reader: SchemaReader) {
    this.#reader = reader;
  }

  /** Pays for a look at one value; false at the limits. Every `enter` that gave true needs its `leave`. */
  enter(node: SchemaNode): boolean {
    this.#stepsLeft -= node.cost;
    if (this.#stepsLeft < 0 || this.#depth >= MAX_VALUE_DEPTH) this.gaveUp = true;
    if (this.gaveUp) return false;
    this.#depth += 1;
    return true;
  }

  leave(): void {
    this.#depth -= 1;
  }

  fits(node: SchemaNode, value: JsonValue): boolean {
    if (!this.enter(node)) return true;
    const answer =
      fitsItself(node, value) && this.#membersFit(node, value) && this.#someBranchFits(node, value);
    this.leave();
    return answer;
  }

  /** The node of an object's member. */
  member(node: SchemaNode, name: string): SchemaNode {
    return this.#reader.read(memberSchemas(node, name));
  }

  /** The node of an array's item. */
  item(node: SchemaNode, index: number): SchemaNode {
    return this.#reader.read(itemSchemas(node, index));
  }

  /** The node without its first choice, once for each branch of that choice. */
  branches(node: SchemaNode): readonly SchemaNode[] {
    const [first = [], ...choices] = node.choices;
    const rest = { ...node, choices };
    return first.map((branch) => joinNodes(rest, this.#reader.read([branch])));
  }

  /** True where the upstream was asked for any value as text: nothing, or null alone, is said of the type. */
  isAnyValue(node: SchemaNode): boolean {
    if (!node.isOpen || node.choices.length > 1) return false;
    const others = (node.choices[0] ?? [])
      .map((branch) => this.#reader.read([branch]))
      .filter((branch) => !isNullOnly(branch));
    const [only] = others;
    if (only === undefined) return node.choices.length === 0;
    return others.length === 1 && only.isOpen && only.choices.length === 0;
  }

  #membersFit(node: SchemaNode, value: JsonValue): boolean {
    if (Array.isArray(value)) {
      if (node.arrays.length === 0) return true;
      return value.every((item, index) => this.fits(this.item(node, index), item));
    }
    if (!isJsonObject(value) || node.objects.length === 0) return true;
    return (
      hasRequired(node, value) &&
      Object.entries(value).every(([name, member]) => this.fits(this.member(node, name), member))
    );
  }

  #someBranchFits(node: SchemaNode, value: JsonValue): boolean {
    return node.choices.every((branches) =>
      branches.some((branch) => this.fits(this.#reader.read([branch]), value)),
    );
  }
}

function isNullOnly({ types }: SchemaNode): boolean {
  return types.size === 1 && types.has('null');
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
    required.values().every((name) => Object.hasOwn(value, name)),
  );
}

// Tells schemas with values that an upstream may write as texts although they are none.

/** Schemas that are deeper or larger are taken to have such values: what is too deep for the upstream comes as text. */
const MAX_TEXT_DEPTH = 20;
const MAX_NODES = 20_000;

/**
 * What was not asked for in JSON Schema: upstreams list only texts, take only so many levels, have no
 * recursion, and know no objects of any members. Such values come as texts (`"1"` of `enum: [1, 2]`,
 * `"{…}"` of an object without declared properties, `"5"` of any value).
 */
export function holdsTexts(root: SchemaNode, reader: SchemaReader): boolean {
  return new SchemaWalk(reader).holdsTexts(root);
}

class SchemaWalk {
  readonly #reader: SchemaReader;
  readonly #work: SchemaWork;
  /** The nodes from the root down to the one looked at. */
  readonly #open = new Set<SchemaNode>();
  readonly #done = new Set<SchemaNode>();

  constructor(reader: SchemaReader) {
    this.#reader = reader;
    this.#work = new SchemaWork(reader);
  }

  holdsTexts(node: SchemaNode): boolean {
    if (this.#done.has(node)) return false;
    const isRecursive = this.#open.has(node);
    if (isRecursive || this.#open.size >= MAX_TEXT_DEPTH || this.#done.size >= MAX_NODES)
      return true;
    if (node.lists.some(listsOthers) || isAnyObject(node)) return true;
    if (this.#work.isAnyValue(node)) return true;
    this.#open.add(node);
    const found = this.#below(node).some((child) => this.holdsTexts(child));
    this.#open.delete(node);
    this.#done.add(node);
    return found;
  }

  #below(node: SchemaNode): readonly SchemaNode[] {
    const names = new Set(node.objects.flatMap(({ properties }) => [...properties.keys()]));
    const places = Math.max(0, ...node.arrays.map(({ tuple }) => tuple.length)) + 1;
    return [
      ...[...names].map((name) => this.#reader.read(memberSchemas(node, name))),
      ...(node.arrays.length === 0
        ? []
        : Array.from({ length: places }, (_, index) =>
            this.#reader.read(itemSchemas(node, index)),
          )),
      ...node.choices.flat().map((branch) => this.#reader.read([branch])),
    ];
  }
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
