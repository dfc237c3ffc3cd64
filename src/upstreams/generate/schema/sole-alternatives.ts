// Puts what stands beside alternatives into them: some upstreams take `anyOf` only where it is the only field.

import { isJsonObject, type JsonObject, type JsonValue } from '../../../lib/json.ts';
import { readTypeName } from './schema-type.ts';

/**
 * The same schema with nothing beside its `anyOf`. Vertex AI refuses other fields there, in functions and in formats
 * ("When using any_of, it must be the only field set"); fields of the alternatives are taken everywhere. Alternatives
 * of an alternative become alternatives of the whole. The result is as frozen as the node was.
 */
export function soleAlternatives(node: JsonObject): JsonObject {
  const { anyOf, ...beside } = node;
  if (!Array.isArray(anyOf)) return node;
  const inner = anyOf.filter(isJsonObject).flatMap((branch) => {
    const { anyOf: nested } = branch;
    return Array.isArray(nested) ? nested.filter(isJsonObject) : [branch];
  });
  const { default: value, example, ...said } = beside;
  const branches = inner.map((branch) => withBeside(branch, said));
  if (value !== undefined) addSample(branches, 'default', value);
  if (example !== undefined) addSample(branches, 'example', example);
  const distinct = new Map(branches.map((branch) => [JSON.stringify(branch), branch]));
  const alternatives = [...distinct.values()];
  for (const each of [...alternatives, alternatives]) Object.freeze(each);
  const [first = {}, ...others] = alternatives;
  return others.length === 0 ? first : Object.freeze({ anyOf: alternatives });
}

function withBeside(branch: JsonObject, { title, description, nullable }: JsonObject): JsonObject {
  const words = joinWords(description, branch.description);
  return {
    ...branch,
    ...(title === undefined || branch.title !== undefined ? {} : { title }),
    ...(words === undefined ? {} : { description: words }),
    ...(nullable === true ? { nullable } : {}),
  };
}

function joinWords(
  outer: JsonValue | undefined,
  inner: JsonValue | undefined,
): JsonValue | undefined {
  if (typeof outer !== 'string' || outer === inner) return inner;
  return typeof inner === 'string' ? `${outer}\n${inner}` : outer;
}

/** A sample stands in the first alternative it could be a value of. */
function addSample(branches: JsonObject[], name: 'default' | 'example', value: JsonValue): void {
  const fitting = branches.findIndex((branch) => isOfType(branch, value));
  const index = Math.max(fitting, 0);
  const branch = branches[index];
  if (branch !== undefined && branch[name] === undefined) {
    branches[index] = { ...branch, [name]: value };
  }
}

function isOfType({ type = null, nullable }: JsonObject, value: JsonValue): boolean {
  if (value === null) return nullable === true;
  const name = readTypeName(type);
  if (Array.isArray(value)) return name === 'array';
  if (typeof value === 'number') return name === 'number' || name === 'integer';
  return name === typeof value;
}
