// The arguments of a call that come piece by piece.

import { isJsonObject, type JsonObject, type JsonValue, sizeOf } from '../../lib/json.ts';
import { objectsOf } from '../../lib/read-values.ts';

/** `.name`, `[0]`, `['name']` or `["name"]`. */
const STEP = /\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y;

/** `structValue` and `listValue` are in no reference, but what a message of JSON values has besides. */
const VALUES = ['stringValue', 'numberValue', 'boolValue', 'structValue', 'listValue'] as const;

/** A member's name, or an item's number. */
type Step = string | number;

/** Source: Vertex AI API reference, `FunctionCall.partialArgs` and `PartialArg`. */
export class StreamedArguments {
  /** What is known so far. */
  readonly value: JsonObject;
  /** What it takes of memory. */
  heldBytes: number;
  /** True when a piece had no place: the arguments are not what the model meant. */
  isBroken = false;

  constructor(known: JsonObject) {
    this.value = copyObject(known);
    this.heldBytes = sizeOf(known);
  }

  /** Adds what one `partialArgs` holds; texts of one place are joined. */
  add(pieces: JsonValue | undefined): void {
    for (const piece of objectsOf(pieces)) {
      const value = valueIn(piece);
      if (value === undefined) continue;
      const steps = readPath(piece.jsonPath);
      this.heldBytes += sizeOf(value);
      const isPut = steps !== undefined && put(this.value, steps, copy(value));
      this.isBroken ||= !isPut;
    }
  }
}

/** Frames share their values, so that none is written into. */
function copy(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(copy);
  return isJsonObject(value) ? copyObject(value) : value;
}

function copyObject(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, copy(value)]));
}

function valueIn(piece: JsonObject): JsonValue | undefined {
  if (piece.nullValue !== undefined) return null;
  for (const name of VALUES) if (piece[name] !== undefined) return piece[name];
  return undefined;
}

/** The steps of a JSON path to one value (RFC 9535); undefined for any other path. */
function readPath(path: JsonValue | undefined): readonly Step[] | undefined {
  if (typeof path !== 'string' || !path.startsWith('$')) return undefined;
  const steps: Step[] = [];
  STEP.lastIndex = 1;
  while (STEP.lastIndex < path.length) {
    const found = STEP.exec(path);
    if (found === null) return undefined;
    const [, name, number, single, double] = found;
    const quoted = single ?? double;
    if (number !== undefined) steps.push(Number(number));
    else steps.push(name ?? (quoted ?? '').replace(/\\(.)/g, '$1'));
  }
  return steps.length === 0 ? undefined : steps;
}

/** False where something else stands in the way. */
function put(root: JsonObject, steps: readonly Step[], value: JsonValue): boolean {
  let holder: JsonValue = root;
  for (const [place, step] of steps.entries()) {
    const next = steps[place + 1];
    const known = memberOf(holder, step);
    if (next === undefined) {
      const joins = typeof known === 'string' && typeof value === 'string';
      return setMember(holder, step, joins ? known + value : value);
    }
    const inner: JsonValue = known ?? (typeof next === 'number' ? [] : {});
    if (known === undefined && !setMember(holder, step, inner)) return false;
    holder = inner;
  }
  return false;
}

function memberOf(holder: JsonValue, step: Step): JsonValue | undefined {
  if (typeof step === 'number') return Array.isArray(holder) ? holder[step] : undefined;
  return isJsonObject(holder) && Object.hasOwn(holder, step) ? holder[step] : undefined;
}

/** Items come in order: none is left out. */
function setMember(holder: JsonValue, step: Step, value: JsonValue): boolean {
  if (typeof step === 'number') {
    if (!Array.isArray(holder) || step > holder.length) return false;
    holder[step] = value;
    return true;
  }
  if (!isJsonObject(holder)) return false;
  // Unlike assignment, this also makes `__proto__` an ordinary member.
  Object.defineProperty(holder, step, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
  return true;
}
