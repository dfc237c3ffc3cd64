// Reads a search of the web with its options, which both surfaces of this folder call alike.
// Sources: `openai` resources/responses, `WebSearchTool`; resources/chat/completions, `WebSearchOptions`.

import { memberPath } from '../../canonical/field-reader.ts';
import { objectShape } from '../../canonical/field-shapes.ts';
import type { Tool } from '../../canonical/request.ts';
import { PLACE_KEYS, type UserLocation } from '../../canonical/user-location.ts';
import type { JsonObject } from '../../lib/json.ts';
import { CHAT_SEARCH_WORDS } from '../../wire/chat.ts';
import { readArray, readObject, readString, wrongType } from './fields.ts';
import { noteUnreadFields } from './note-fields.ts';
import type { ReadContext } from './read-context.ts';

export type SearchTool = Extract<Tool, { kind: 'web-search' }>;

const NOTHING = objectShape([]);
/** `external_web_access` false asks for cached results only: there is no such choice upstream. */
const KNOWN = objectShape(['type', 'external_web_access'], {
  filters: objectShape(['allowed_domains', 'blocked_domains']),
  user_location: objectShape(['type', ...PLACE_KEYS], { approximate: objectShape(PLACE_KEYS) }),
  ...Object.fromEntries(CHAT_SEARCH_WORDS.map((word) => [word, NOTHING])),
});
/** JSON of values without a counterpart that ask for what happens anyway. */
const DEFAULTS = new Map([
  ['search_context_size', '"medium"'],
  ['search_content_types', '["text"]'],
]);

/** `options` stand at `path`. @throws GatewayError 400 */
export function readSearch(
  options: JsonObject,
  path: string,
  context: Pick<ReadContext, 'receipt'>,
): SearchTool {
  const told = Object.entries(options).filter(
    ([key, value]) => DEFAULTS.get(key) !== JSON.stringify(value),
  );
  noteUnreadFields(Object.fromEntries(told), { known: KNOWN, path, context });
  const filters = readObject(options, 'filters', path) ?? {};
  const filtersPath = memberPath(path, 'filters');
  const allowedDomains = readDomains(filters, 'allowed_domains', filtersPath);
  const blockedDomains = readDomains(filters, 'blocked_domains', filtersPath);
  const userLocation = readLocation(options, path);
  return {
    kind: 'web-search',
    path,
    ...(allowedDomains.length === 0 ? {} : { allowedDomains }),
    ...(blockedDomains.length === 0 ? {} : { blockedDomains }),
    ...(userLocation === undefined ? {} : { userLocation }),
  };
}

function readDomains(filters: JsonObject, key: string, path: string): readonly string[] {
  return (readArray(filters, key, path) ?? []).map((domain, index) => {
    if (typeof domain === 'string') return domain;
    throw wrongType(`${memberPath(path, key)}[${index}]`, 'a string');
  });
}

/** Chat Completions put the place into `approximate`; clients of both mix the two forms. */
function readLocation(options: JsonObject, path: string): UserLocation | undefined {
  const location = readObject(options, 'user_location', path);
  if (location === undefined) return undefined;
  const locationPath = memberPath(path, 'user_location');
  const inner = readObject(location, 'approximate', locationPath);
  const [holder, holderPath] =
    inner === undefined
      ? [location, locationPath]
      : [inner, memberPath(locationPath, 'approximate')];
  const words = PLACE_KEYS.flatMap((key): [string, string][] => {
    const word = readString(holder, key, holderPath)?.trim() ?? '';
    return word === '' ? [] : [[key, word]];
  });
  return words.length === 0 ? undefined : { path: locationPath, ...Object.fromEntries(words) };
}
