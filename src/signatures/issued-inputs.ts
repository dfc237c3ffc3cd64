// Remembers the arguments of signed calls that clients return in another form than the upstream wrote them.

import { isDeepStrictEqual } from 'node:util';
import { readCallInput } from '../canonical/call-input.ts';
import { meansTheSame } from '../canonical/returned-arguments.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../lib/json.ts';
import { createMemoryEntries, type MemoryEntryOptions } from './memory-entries.ts';

/** JSON texts of the arguments of one call. */
export interface IssuedInput {
  /** As the client was shown them. */
  readonly shown: string;
  /** As the upstream wrote and signed them. */
  readonly issued: string;
}

interface ReturnedInput {
  readonly returned: JsonObject;
  /** The schema the client declares of them. */
  readonly schema: JsonValue | undefined;
}

export interface IssuedInputs {
  /** Of a call whose client may return others and mean the same. */
  remember(key: string, input: IssuedInput): void;
  /** Of any signed call: JSON of its arguments as the upstream wrote them. */
  rememberIssued(key: string, json: string): void;
  /**
   * Undefined when nothing is remembered, when the arguments are the issued ones, and when the client returns others than
   * it was shown: defaults its schema declares may stand beside them, and blanks at line ends be gone. The key, a digest,
   * is made only once there are any entries.
   */
  find(keyOf: () => string, input: ReturnedInput): JsonObject | undefined;
  /** The issued arguments, whatever the client returned; undefined for nothing remembered, and where it returned them. */
  findIssued(keyOf: () => string, returned: JsonObject): JsonObject | undefined;
}

/** In memory alone: arguments are the client's own words. */
export function createIssuedInputs(options: MemoryEntryOptions): IssuedInputs {
  const entries = createMemoryEntries<IssuedInput>(options);
  const issuedTexts = createMemoryEntries<string>(options);
  return {
    rememberIssued(key, json) {
      issuedTexts.remember(key, json, json.length);
    },
    findIssued(keyOf, returned) {
      const text = issuedTexts.find(keyOf);
      const issued = text === undefined ? undefined : readCallInput(text);
      return issued === undefined || isDeepStrictEqual(issued, returned) ? undefined : issued;
    },
    remember(key, input) {
      entries.remember(key, input, input.shown.length + input.issued.length);
    },
    find(keyOf, input) {
      const entry = entries.find(keyOf);
      if (entry === undefined) return undefined;
      const text = JSON.stringify(input.returned);
      if (text === entry.issued) return undefined;
      if (text !== entry.shown && !isSame(input, entry.shown)) return undefined;
      const issued = parseJson(entry.issued);
      return isJsonObject(issued) ? issued : undefined;
    },
  };
}

/**
 * Clients that read a call into objects of their own return its members in another order, and with
 * the defaults of those the model left out; some take blanks away that end a line.
 */
function isSame({ returned, schema }: ReturnedInput, shown: string): boolean {
  return meansTheSame(returned, parseJson(shown), schema);
}
