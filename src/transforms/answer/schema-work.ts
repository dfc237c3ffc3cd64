// Says whether a value fits a schema, and bounds the work one call's arguments may cost.

import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import {
  itemSchemas,
  joinNodes,
  memberSchemas,
  type SchemaNode,
  type SchemaReader,
  typeOfValue,
  type ValueList,
} from './schema-node.ts';

/** Values and branches looked at for one call; schemas that unfold without end stop here. */
const MAX_STEPS = 200_000;
const MAX_DEPTH = 100;

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
    if (this.#stepsLeft < 0 || this.#depth >= MAX_DEPTH) this.gaveUp = true;
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

export function fitsItself({ types, lists }: SchemaNode, value: JsonValue): boolean {
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
