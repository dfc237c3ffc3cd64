// Follows a reference inside a JSON Schema to the schema it names.

import { isJsonObject, type JsonValue } from '../../lib/json.ts';

/** A JSON pointer into the document (RFC 6901); references that lead elsewhere restrict nothing. */
export function resolveReference(root: JsonValue, reference: string): JsonValue | undefined {
  if (reference === '#' || reference === '') return root;
  if (!reference.startsWith('#/')) return undefined;
  let place: JsonValue | undefined = root;
  for (const step of decodeFragment(reference.slice(2)).split('/')) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(place)) place = /^\d+$/.test(key) ? place[Number(key)] : undefined;
    else place = isJsonObject(place) && Object.hasOwn(place, key) ? place[key] : undefined;
    if (place === undefined) return undefined;
  }
  return place;
}

function decodeFragment(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}
