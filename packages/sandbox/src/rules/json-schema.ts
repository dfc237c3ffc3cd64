// Rules for JSON Schema values (`parametersJsonSchema`, `responseJsonSchema`): references must lead somewhere.

import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import type { Report } from './rule.ts';

/** Reports every `$ref` that does not resolve inside the schema itself. */
export function checkReferences(root: JsonObject, at: string, report: Report): void {
  const visit = (value: JsonValue): void => {
    if (Array.isArray(value)) value.forEach(visit);
    if (!isJsonObject(value)) return;
    const reference = value.$ref;
    if (typeof reference === 'string' && resolveReference(root, reference) === undefined) {
      report(at, `$ref ${JSON.stringify(reference)} does not resolve inside the schema`);
    }
    Object.values(value).forEach(visit);
  };
  visit(root);
}

/** The sub-schema a reference such as `#/$defs/node` or `#anchor` names; undefined when there is none. */
export function resolveReference(root: JsonObject, reference: string): JsonValue | undefined {
  if (reference === '#') return root;
  if (reference.startsWith('#/')) return followPointer(root, reference.slice(2));
  if (reference.startsWith('#')) return findByAnchor(root, reference.slice(1));
  return undefined;
}

/** RFC 6901, in its URI fragment form. */
function followPointer(root: JsonObject, pointer: string): JsonValue | undefined {
  let value: JsonValue | undefined = root;
  for (const step of pointer.split('/')) {
    const key = decodeStep(step);
    if (Array.isArray(value)) value = value[Number(key)];
    else if (isJsonObject(value) && Object.hasOwn(value, key)) value = value[key];
    else return undefined;
  }
  return value;
}

function decodeStep(step: string): string {
  const plain = step.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}

function findByAnchor(value: JsonValue, anchor: string): JsonValue | undefined {
  if (isJsonObject(value) && value.$anchor === anchor) return value;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const item of Object.values(value)) {
    const found = findByAnchor(item, anchor);
    if (found !== undefined) return found;
  }
  return undefined;
}
