// What a change of the settings may not bring in, though a config file that holds it already is served as it is.

import { invalidRequest } from '../canonical/error.ts';
import { findUnknownKeys } from '../config/near-miss.ts';
import type { JsonObject } from '../lib/json.ts';
import { told } from '../lib/told.ts';
import { type ConfigSection, valueAt } from './config-sections.ts';

export const LEAST_PASSWORD_LENGTH = 8;

/** Longer keys match nothing: no model name is longer. */
const LONGEST_NAME = 256;
/** Characters of a name that a message repeats. */
const MOST_SHOWN = 40;

/**
 * @param result the values of the section as they would be
 * @throws GatewayError naming the field; null, which takes a value out, is nearly always good.
 */
export function refuseChange({ name }: ConfigSection, patch: JsonObject, result: JsonObject): void {
  if (name === 'mapping') refuseEntries(patch);
  if (name === 'extprov') refuseKeyless(patch, result);
  if (name === 'auth') refusePassword(patch.admin_password);
}

/**
 * What the file holds already may stay and be changed: another version knows it. Anything else would
 * be answered as if it were in force.
 * @param files as it stands, and as it stood before the latest changes, which may be taken back
 * @throws GatewayError naming the first key of the patch that is no setting's
 */
export function refuseUnknownKeys(patch: JsonObject, files: readonly JsonObject[]): void {
  const isKnown = (path: readonly string[]): boolean =>
    files.some((file) => valueAt(file, path) !== undefined);
  const stranger = findUnknownKeys(patch).find(({ path }) => !isKnown(path));
  if (stranger === undefined) return;
  const known = stranger.known.join(', ');
  refuse(stranger.path.join('.'), told`is no setting; there are ${known}`);
}

function refuseEntries(patch: JsonObject): void {
  for (const [name, target] of Object.entries(patch)) {
    if (typeof target !== 'string') continue;
    if (name.trim() === '')
      refuse('proxy.custom_mapping', told`an entry needs a name or a pattern`);
    if (name.length > LONGEST_NAME || target.length > LONGEST_NAME) {
      const shown = name.length > MOST_SHOWN ? `${name.slice(0, MOST_SHOWN)}…` : name;
      refuse(
        'proxy.custom_mapping',
        told`the entry "${shown}" is longer than ${LONGEST_NAME} characters`,
      );
    }
    if (target.trim() === '' || target.includes('*')) {
      refuse('proxy.custom_mapping', told`"${name}" must go to the name of one model, without "*"`);
    }
  }
}

/** What else is changed of a provider that lacks its key is nobody's fault of now. */
function refuseKeyless(patch: JsonObject, { enabled, api_key: key }: JsonObject): void {
  const isAsked = patch.enabled === true || 'api_key' in patch;
  const hasKey = typeof key === 'string' && key.trim() !== '';
  if (!isAsked || enabled !== true || hasKey) return;
  refuse('proxy.extprov.api_key', told`is needed while the external provider is enabled`);
}

function refusePassword(password: unknown): void {
  if (typeof password !== 'string' || [...password].length >= LEAST_PASSWORD_LENGTH) return;
  refuse('admin_password', told`must have at least ${LEAST_PASSWORD_LENGTH} characters`);
}

function refuse(field: string, why: string): never {
  const problem = `${field}: ${why}`;
  throw invalidRequest(field, told`${problem}. Nothing was changed.`);
}
