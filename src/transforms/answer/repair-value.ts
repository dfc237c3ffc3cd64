// Repairs one value by its schema; what fits the schema already is never touched.

import { told } from '../../canonical/receipt.ts';
import { isJsonObject, type JsonValue } from '../../lib/json.ts';
import { readAnyText, readText } from './read-text.ts';
import { repairObject } from './repair-object.ts';
import { type SchemaNode, typeOfValue, type ValueType } from './schema-node.ts';
import { fitsItself, type SchemaWork } from './schema-work.ts';
import type { Place, RepairNote, ValueRepairer } from './value-repairer.ts';

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
