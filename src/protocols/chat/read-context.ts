// What the readers of one request share: the receipt, and which vendor word the client prefers.

import { memberPath } from '../../canonical/field-reader.ts';
import type { Receipt } from '../../canonical/receipt.ts';
import type { JsonObject } from '../../lib/json.ts';
import { createJsonBudget, type JsonBudget } from '../../lib/json-survey.ts';
import type { ChatExtensionKey } from '../../wire/chat.ts';
import { CHAT_EXTENSION_KEYS } from '../../wire/vocabulary.ts';
import { readObject } from './fields.ts';

export interface ReadContext {
  readonly receipt: Receipt;
  /** Of all JSON texts within the request. */
  readonly jsonBudget: JsonBudget;
  /** The word for the vendor extension object the request used; the official one until then. */
  extensionKey: ChatExtensionKey;
  /** Path of the field that says how much to think. */
  thinkingPath: string | undefined;
  /** Paths of the names that tools lack. */
  readonly missingNames: string[];
}

/** A vendor extension object and where it stood. */
export interface Extension {
  readonly value: JsonObject;
  readonly path: string;
}

export function createReadContext(receipt: Receipt): ReadContext {
  return {
    receipt,
    jsonBudget: createJsonBudget(),
    extensionKey: CHAT_EXTENSION_KEYS[0],
    thinkingPath: undefined,
    missingNames: [],
  };
}

/** The vendor extension inside `holder` (`extra_content`, `extra_body` or the body itself). */
export function readExtension(
  holder: JsonObject | undefined,
  path: string,
  context: ReadContext,
): Extension | undefined {
  if (holder === undefined) return undefined;
  for (const key of CHAT_EXTENSION_KEYS) {
    const value = readObject(holder, key, path);
    if (value === undefined) continue;
    context.extensionKey = key;
    return { value, path: memberPath(path, key) };
  }
  return undefined;
}
