// Checks a change of the settings: misuse of credentials, lock-out, and values that only an older file may have.

import type { AccessControl } from '../../access/access.ts';
import { MIN_PASSWORD_CHARACTERS } from '../../access/people.ts';
import { invalidRequest } from '../../canonical/error.ts';
import type { Settings } from '../../config/effective.ts';
import { valueAt } from '../../config/file.ts';
import { findUnknownKeys } from '../../config/settings.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import { type Sentence, told } from '../../lib/localized-message.ts';
import { PRESETS } from '../../routing/mapping.ts';
import {
  type AdminAnswer,
  type AdminCaller,
  writeSessionCookie,
} from '../../server/admin-route.ts';
import type { ConfigSection } from './sections.ts';

/** Longer keys match nothing: no model name is longer. */
const MAX_NAME = 256;
/** Characters of a name that a message repeats. */
const MAX_SHOWN = 40;

/** @param result the values as they would be. @throws GatewayError naming the field */
export function refuseChange({ name }: ConfigSection, patch: JsonObject, result: JsonObject): void {
  if (name === 'mapping') refuseEntries(patch, 'proxy.custom_mapping');
  if (name === 'presets') refusePresets(patch);
  if (name === 'targets') refuseTargetNames(patch);
  if (name === 'extprov') refuseKeyless(patch, result);
  if (name !== 'auth' || typeof patch.admin_password !== 'string') return;
  if ([...patch.admin_password].length >= MIN_PASSWORD_CHARACTERS) return;
  refuse('admin_password', told`must have at least ${MIN_PASSWORD_CHARACTERS} characters`);
}

/** What the files hold already may stay: another version knows it. @throws GatewayError naming the key */
export function refuseUnknownKeys(patch: JsonObject, files: readonly JsonObject[]): void {
  const isKnown = (path: readonly string[]): boolean =>
    files.some((file) => valueAt(file, path) !== undefined);
  // Null takes a key out, whatever it is.
  const stranger = findUnknownKeys(patch).find(
    ({ path, value }) => value !== null && !isKnown(path),
  );
  if (stranger === undefined) return;
  const known = stranger.known.join(', ');
  refuse(stranger.path.join('.'), told`is no setting; there are ${known}`);
}

function refuseEntries(patch: JsonObject, place: string): void {
  for (const [name, target] of Object.entries(patch)) {
    if (typeof target !== 'string') continue;
    if (name.trim() === '') refuse(place, told`an entry needs a name or a pattern`);
    if (name.length > MAX_NAME || target.length > MAX_NAME) {
      const shown = name.length > MAX_SHOWN ? `${name.slice(0, MAX_SHOWN)}…` : name;
      refuse(place, told`the entry "${shown}" is longer than ${MAX_NAME} characters`);
    }
    if (target.trim() === '' || target.includes('*')) {
      refuse(place, told`"${name}" must go to the name of one model, without "*"`);
    }
  }
}

function refusePresets(patch: JsonObject): void {
  for (const [name, mapping] of Object.entries(patch)) {
    const place = `proxy.presets.${name.slice(0, MAX_SHOWN)}`;
    if (!isJsonObject(mapping)) continue;
    if (!/^[\w.-]{1,64}$/.test(name)) {
      refuse(
        'proxy.presets',
        told`a name has up to 64 letters, digits, dots, dashes and underscores`,
      );
    }
    if (PRESETS.some((preset) => preset.name === name)) {
      refuse(place, told`is a built-in preset; choose another name`);
    }
    refuseEntries(mapping, place);
  }
}

/** `@name` of a mapping must be able to say it. */
function refuseTargetNames(patch: JsonObject): void {
  const bad = Object.keys(patch).find((name) => !/^[\w.-]{1,64}$/.test(name));
  if (bad === undefined || patch[bad] === null) return;
  refuse('proxy.targets', told`a name has up to 64 letters, digits, dots, dashes and underscores`);
}

/** Refuses to enable a provider that lacks its key or address; its other edits are allowed. */
function refuseKeyless(patch: JsonObject, result: JsonObject): void {
  if (result.enabled !== true) return;
  for (const key of ['api_key', 'base_url']) {
    const value = result[key];
    const isThere = typeof value === 'string' && value.trim() !== '';
    const isAsked = patch.enabled === true || key in patch;
    if (isAsked && !isThere) {
      refuse(`proxy.extprov.${key}`, told`is needed while the external provider is enabled`);
    }
  }
}

function refuse(field: string, why: Sentence): never {
  const problem = told`${field}: ${why}`;
  throw invalidRequest(field, told`${problem}. Nothing was changed.`);
}

interface ValuesChange {
  readonly from: JsonObject;
  readonly to: JsonObject;
  readonly patch: JsonObject;
}

export interface UpstreamFacts {
  hasAccounts(id: string): boolean;
  /** What the file said of an upstream that was removed lately. */
  removed(id: string): JsonValue | undefined;
}

/** Whether a change affects who gets into the console, or where credentials are sent. */
export function needsReauthentication(
  section: string,
  change: ValuesChange,
  facts: UpstreamFacts,
): boolean {
  switch (section) {
    case 'auth':
      // Not by comparing: whether one is asked for the password must not tell that a guess is right.
      return ['admin_password', 'api_key'].some((key) => Object.hasOwn(change.patch, key));
    case 'sign_in':
      // Who signs in there, and with which claims, may become an owner here.
      return JSON.stringify(change.from) !== JSON.stringify(change.to);
    case 'upstreams':
      return Object.keys(change.to).some((id) => sendsElsewhere(id, change, facts));
    case 'extprov':
      // Without a key there is nothing to be sent.
      return change.from.api_key !== undefined && differs(change.from, change.to, PROVIDER_PLACES);
    case 'network':
      return differs(change.from, change.to, [['outbound_proxy']]);
    default:
      return false;
  }
}

/** Where the key of the external provider is sent. */
const PROVIDER_PLACES: readonly (readonly string[])[] = [
  ['base_url'],
  ['mcp', 'web_search_url'],
  ['mcp', 'web_reader_url'],
];

/** Fields that decide where credentials, codes or a person who signs in are sent. */
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
  const entry = isJsonObject(to[id]) ? to[id] : {};
  const known = isJsonObject(from[id]) ? from[id] : removed(id);
  if (isJsonObject(known)) return differs(known, entry, PLACES);
  // The addresses that a profile has by default are no change.
  const { profile = null } = entry;
  return hasAccounts(id) && differs({ profile }, entry, PLACES);
}

function differs(
  left: JsonObject,
  right: JsonObject,
  paths: readonly (readonly string[])[],
): boolean {
  return paths.some((path) => valueAt(left, path) !== valueAt(right, path));
}

/** What of the settings says who a caller of the admin API is, and whether they may come in. */
type EntrySettings = Pick<
  Settings,
  'addressFilter' | 'allowedHosts' | 'consolePassword' | 'host' | 'trustedProxies'
>;

interface EntryChange {
  readonly from: EntrySettings;
  /** What would be in force, or will be with the next start. */
  readonly to: EntrySettings;
}

const DELIBERATELY = told`To do it anyway, change the config file on the machine of the gateway.`;

/** Checks that the console would still let the same request in. @throws GatewayError invalid-request */
export function refuseLockOut(
  { addresses, login, people }: Pick<AccessControl, 'addresses' | 'login' | 'people'>,
  caller: AdminCaller,
  { from, to: next }: EntryChange,
): void {
  const { address, isLocal, isOwnPage, isHeard } = caller.under(next);
  // Owners who sign in as themselves need no password.
  if (next.consolePassword === undefined && !isLocal && !people.hasOwner) {
    throw login.needsPassword ? noPassword() : foreignHost();
  }
  if (!isOwnPage) throw foreignHost();
  // The host of another change is of another time: it has been decided on already.
  if (!isHeard && caller.under(from).isHeard) throw unheard(next.host);
  addresses.refuseLockOut(next.addressFilter, { from: caller.address, to: address });
}

function noPassword(): Error {
  return invalidRequest(
    'admin_password',
    told`This would lock you out: without any password the console opens on the machine of the gateway only, and you come from elsewhere. Set another password instead. ${DELIBERATELY}`,
  );
}

function unheard(host: string): Error {
  return invalidRequest(
    'host',
    told`This would lock you out with the next start: the gateway would listen at ${host} only, and you reach it at another of its addresses. Use 0.0.0.0 for all of them, or :: where there is IPv6. ${DELIBERATELY}`,
  );
}

function foreignHost(): Error {
  return invalidRequest(
    'allowed_hosts',
    told`This would lock out the page you use: the name of its host would be none of the gateway's. Leave that name among the allowed hosts, or make this change from a page at another of its names. ${DELIBERATELY}`,
  );
}

/** When a change ends its author's session, or first sets a password, the browser gets a new session. */
export async function keepSignedIn(
  { login }: Pick<AccessControl, 'login'>,
  caller: AdminCaller,
  change: () => Promise<AdminAnswer>,
): Promise<AdminAnswer> {
  const isIn = (): boolean =>
    !login.needsPassword ||
    (caller.cookie !== undefined && login.roleOfSession(caller.cookie) !== undefined);
  const wasIn = isIn();
  const answer = await change();
  if (!wasIn || isIn() || answer.kind !== 'json') return answer;
  const { secret } = await login.goOn(caller);
  return { ...answer, cookie: writeSessionCookie(login.cookieTag, secret, caller.isSecure) };
}
