// What a change of the settings may not bring in, though a config file that holds it already is served as it is.

import { invalidRequest } from '../canonical/error.ts';
import type { JsonObject } from '../lib/json.ts';
import type { ConfigSection } from './config-sections.ts';

export const LEAST_PASSWORD_LENGTH = 8;

/** @throws GatewayError naming the field; null, which takes a value out, is always good. */
export function refuseChange({ name }: ConfigSection, patch: JsonObject): void {
  if (name === 'mapping') refuseEntries(patch);
  if (name === 'auth') refusePassword(patch.admin_password);
}

function refuseEntries(patch: JsonObject): void {
  for (const [name, target] of Object.entries(patch)) {
    if (typeof target !== 'string') continue;
    if (name.trim() === '') refuse('proxy.custom_mapping', 'an entry needs a name or a pattern');
    if (target.trim() === '' || target.includes('*')) {
      refuse('proxy.custom_mapping', `"${name}" must go to the name of one model, without "*"`);
    }
  }
}

function refusePassword(password: unknown): void {
  if (typeof password !== 'string' || [...password].length >= LEAST_PASSWORD_LENGTH) return;
  refuse('admin_password', `must have at least ${LEAST_PASSWORD_LENGTH} characters`);
}

function refuse(field: string, why: string): never {
  throw invalidRequest(field, `${field}: ${why}. Nothing was changed.`);
}
