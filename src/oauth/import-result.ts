// What became of each item of an import.

import { StoreError } from '../accounts/account-store.ts';
import { GatewayError, invalidRequest } from '../canonical/error.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../lib/json.ts';
import { type Sentence, told } from '../lib/told.ts';
import { OAuthFault } from './oauth-fault.ts';
import type { Placed } from './place-account.ts';

export interface ImportResult {
  /** Place in the input, from 1. */
  readonly index: number;
  /** The account's label once it is known; never a token. */
  readonly label: string | undefined;
  readonly outcome: 'added' | 'updated' | 'failed';
  readonly accountId?: string | undefined;
  /** Why it failed, or what is worth knowing although it went well. */
  readonly reason?: string | undefined;
}

interface Item {
  readonly index: number;
  readonly label: string | undefined;
}

const MAX_CHARACTERS = 4 * 1024 * 1024;

export function succeeded({ index }: Item, placed: Placed, reason?: string): ImportResult {
  const { id, label } = placed.account.record;
  const outcome = placed.kind === 'added' ? 'added' : 'updated';
  return { index, label, outcome, accountId: id, ...(reason === undefined ? {} : { reason }) };
}

export function failed({ index, label }: Item, error: unknown): ImportResult {
  return { index, label, outcome: 'failed', reason: reasonOf(error) };
}

/** @throws GatewayError `invalid-request` naming the field; the text is never in it */
export function readImportJson(text: string, field: string): JsonValue {
  if (text.length > MAX_CHARACTERS)
    throw invalidRequest(field, told`The import is larger than 4 MB.`);
  try {
    return parseJson(text);
  } catch {
    throw invalidRequest(field, told`This is no JSON.`, 'invalid-json');
  }
}

/** @throws GatewayError when it is no object */
export function requireObject(value: JsonValue | undefined, field: string): JsonObject {
  if (isJsonObject(value)) return value;
  throw invalidRequest(field, told`"${field}" must be an object.`, 'invalid-type');
}

function reasonOf(error: unknown): string {
  if (error instanceof OAuthFault) return error.message;
  if (error instanceof GatewayError) return error.failure?.detail ?? error.message;
  if (error instanceof StoreError) return STORE_WORDS[error.fault];
  return told`an unexpected fault of the gateway`;
}

const STORE_WORDS: Readonly<Record<StoreError['fault'], Sentence>> = {
  conflict: told`another account has this label`,
  stale: told`the account was changed at the same moment; try again`,
  missing: told`the account was removed meanwhile; try again`,
  unreadable: told`the stored account cannot be read with this secret key`,
  unavailable: told`the account could not be stored; look at the disk, then try again`,
};
