// Tells schemas with values that an upstream may write as texts although they are none.

import {
  itemSchemas,
  memberSchemas,
  type SchemaNode,
  type SchemaReader,
  type ValueList,
} from './schema-node.ts';
import { SchemaWork } from './schema-work.ts';

/** Schemas that are deeper or larger are taken to have such values: what is too deep for the upstream comes as text. */
const MAX_DEPTH = 20;
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
    if (isRecursive || this.#open.size >= MAX_DEPTH || this.#done.size >= MAX_NODES) return true;
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
