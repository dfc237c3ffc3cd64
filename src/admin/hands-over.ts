// Which changes of the settings hand the gateway or its credentials to somebody: a session alone does not make them.

import { isJsonObject, type JsonObject, type JsonValue } from '../lib/json.ts';
import { valueAt } from './config-sections.ts';

export interface ValuesChange {
  /** The values of the section. */
  readonly from: JsonObject;
  readonly to: JsonObject;
  /** What makes the one of the other. */
  readonly patch: JsonObject;
}

/** What is known of upstreams besides the section. */
export interface UpstreamFacts {
  hasAccounts(id: string): boolean;
  /** What the file said of an upstream that was removed lately. */
  removed(id: string): JsonValue | undefined;
}

/** Whether a change sets what lets into the console, or where credentials are sent. */
export function handsOver(section: string, change: ValuesChange, facts: UpstreamFacts): boolean {
  switch (section) {
    case 'auth':
      // Not by comparing: whether one is asked for the password must not tell that a guess is right.
      return ['admin_password', 'api_key'].some((key) => Object.hasOwn(change.patch, key));
    case 'upstreams':
      return Object.keys(change.to).some((id) => sendsElsewhere(id, change, facts));
    case 'extprov':
      // Without a key there is nothing to be sent.
      return change.from.api_key !== undefined && differs(change.from, change.to, [['base_url']]);
    default:
      return false;
  }
}

/** Whoever is reached there is shown credentials, codes, or a person who signs in. */
const PLACES: readonly (readonly string[])[] = [
  ['profile'],
  ['base_url'],
  ['location'],
  ...[
    ...['authorization_url', 'token_url', 'revocation_url'],
    ...['userinfo_url', 'issuer', 'redirect_url'],
  ].map((name) => ['oauth', name]),
];

/** An upstream that is new has nothing to be sent, unless accounts of its name wait for one. */
function sendsElsewhere(
  id: string,
  { from, to }: ValuesChange,
  { hasAccounts, removed }: UpstreamFacts,
): boolean {
  const entry = entryOf(to, id);
  const known = isJsonObject(from[id]) ? from[id] : removed(id);
  if (isJsonObject(known)) return differs(known, entry, PLACES);
  // The addresses that a profile has by itself are nobody's.
  const { profile = null } = entry;
  return hasAccounts(id) && differs({ profile }, entry, PLACES);
}

function entryOf(values: JsonObject, id: string): JsonObject {
  const entry = values[id];
  return isJsonObject(entry) ? entry : {};
}

function differs(
  left: JsonObject,
  right: JsonObject,
  paths: readonly (readonly string[])[],
): boolean {
  return paths.some((path) => valueAt(left, path) !== valueAt(right, path));
}
