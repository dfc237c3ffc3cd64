// Reads a list of refresh tokens: text with one a line, or a JSON array.

import { invalidRequest } from '../canonical/error.ts';
import { isJsonObject, type JsonValue } from '../lib/json.ts';
import { told } from '../lib/told.ts';
import { readImportJson } from './import-result.ts';

export interface ListedToken {
  /** Place in the list, from 1. */
  readonly index: number;
  readonly label: string | undefined;
  /** Undefined when the item holds no usable token. */
  readonly refreshToken: string | undefined;
}

const MAX_TOKENS = 1000;
const MAX_CHARACTERS = 4 * 1024 * 1024;
const TOKEN = /^[\x21-\x7e]{8,16384}$/;
const LABEL = /^[^\p{Cc}]{1,200}$/u;

/**
 * Lines are `token`, or a label and a token with a blank, tab or comma between; empty ones and `#`
 * comments are left out. Array items are strings or `{refresh_token, label | email}`.
 * @throws GatewayError `invalid-request` when the whole cannot be read
 */
export function readRefreshTokens(text: string): readonly ListedToken[] {
  if (text.length > MAX_CHARACTERS)
    throw invalidRequest('tokens', told`The list is larger than 4 MB.`);
  const items = /^\s*[[{]/.test(text) ? readArray(text) : readLines(text);
  if (items.length === 0) throw invalidRequest('tokens', told`There is no token in this list.`);
  if (items.length > MAX_TOKENS) {
    throw invalidRequest('tokens', told`At most ${MAX_TOKENS} tokens are imported at once.`);
  }
  return items;
}

function readLines(text: string): ListedToken[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line, at) => {
      const [token = '', ...before] = line.split(/[\s,]+/).reverse();
      return listed(at + 1, token, before.reverse().join(' '));
    });
}

function readArray(text: string): ListedToken[] {
  const value = readImportJson(text, 'tokens');
  const array = Array.isArray(value) ? value : [value];
  return array.map((item, at) => {
    if (!isJsonObject(item)) return listed(at + 1, item, undefined);
    return listed(
      at + 1,
      item.refresh_token ?? item.refreshToken,
      item.label ?? item.email ?? undefined,
    );
  });
}

function listed(index: number, token: JsonValue | undefined, label: JsonValue | undefined) {
  return {
    index,
    label: typeof label === 'string' && LABEL.test(label.trim()) ? label.trim() : undefined,
    refreshToken: typeof token === 'string' && TOKEN.test(token) ? token : undefined,
  };
}
