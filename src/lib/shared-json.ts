// Parses once what many bodies hold alike, such as the tools of a coding client: a frozen value that all of them share.

import { isAscii, isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import {
  isJsonObject,
  type JsonHints,
  type JsonObject,
  type JsonValue,
  parseSurveyed,
  type SharablePlace,
} from './json.ts';

/** Shorter values are parsed as fast as they are found. */
const MIN_BYTES = 1024;
const MAX_ENTRIES = 128;
/** Of all entries, in bytes of memory; a quarter of it for one of them. */
const MAX_COST = 16_777_216;
const MAX_ENTRY_COST = MAX_COST / 4;
/** The bytes are kept beside the texts made of them. */
const COST_PER_BYTE = 2;
const COST_PER_TOKEN = 64;

/** Lists that are shared, and what is made of one of them once for all requests. */
const shared = new WeakSet<object>();

/** The lists of two requests are the same object: what is made of them may be remembered by it. */
export function isShared(list: object): boolean {
  return shared.has(list);
}

/** Declares a list shared that is never changed and goes into many requests. */
function share<List extends object>(list: List): List {
  shared.add(list);
  return list;
}

/** Shares what is made of a list where that is shared; it must never be changed. */
export function shareAs<List extends object>(origin: object, made: List): List {
  return isShared(origin) ? share(made) : made;
}

/** Remembers what is made of shared lists; of any other it is made each time. */
export class SharedMemo<Made> {
  readonly #made = new WeakMap<object, Map<string, Made>>();

  /** `variant` names everything else that the result depends on, which takes few values. */
  get(list: object, variant: string, make: () => Made): Made {
    return this.find(list, variant) ?? this.#keep(list, variant, make());
  }

  find(list: object, variant: string): Made | undefined {
    return this.#made.get(list)?.get(variant);
  }

  #keep(list: object, variant: string, made: Made): Made {
    if (!shared.has(list)) return made;
    const variants = this.#made.get(list) ?? new Map<string, Made>();
    variants.set(variant, made);
    this.#made.set(list, variants);
    return made;
  }
}

/** Stands for the list while the rest is parsed; random, so that nothing a client wrote is taken for it. */
const MARK = randomUUID();

/**
 * The object in `bytes`, its member `tools` at `place` shared with earlier bodies; undefined when it is new, or
 * the text is not what it seems: then all of it is to be parsed.
 */
export function parseWithSharedTools(
  bytes: Buffer,
  place: SharablePlace,
  hints: JsonHints,
): JsonObject | undefined {
  if (place.end - place.start < MIN_BYTES) return undefined;
  const tools = findShared(bytes.subarray(place.start, place.end), place.tokens, hints);
  if (tools === undefined) return undefined;
  const encoding = encodingOf(bytes);
  if (encoding === undefined) return undefined;
  const before = bytes.toString(encoding, 0, place.start);
  const text = `${before}"${MARK}"${bytes.toString(encoding, place.end)}`;
  const value = tryParse(text, hints);
  // A second member of the name, spelled with escapes, would have taken its place.
  if (!isJsonObject(value) || value.tools !== MARK) return undefined;
  value.tools = tools;
  return value;
}

function encodingOf(bytes: Buffer): 'latin1' | 'utf8' | undefined {
  if (isAscii(bytes)) return 'latin1';
  return isUtf8(bytes) ? 'utf8' : undefined;
}

interface Entry {
  readonly bytes: Buffer;
  readonly value: JsonValue;
  readonly cost: number;
}

/** The one used last comes last. */
const entries: Entry[] = [];
let cost = 0;

/** The parsed value of equal bytes that came before; kept from the second time on, as most texts never come again. */
function findShared(bytes: Buffer, tokens: number, hints: JsonHints): JsonValue | undefined {
  const index = entries.findLastIndex(
    (entry) => entry.bytes.length === bytes.length && entry.bytes.equals(bytes),
  );
  const [known] = index < 0 ? [] : entries.splice(index, 1);
  if (known !== undefined) {
    entries.push(known);
    return known.value;
  }
  const entryCost = bytes.length * COST_PER_BYTE + tokens * COST_PER_TOKEN;
  if (entryCost > MAX_ENTRY_COST || !wasSeen(bytes)) return undefined;
  const value = tryParse(bytes.toString(), hints);
  if (value === undefined) return undefined;
  deepFreeze(value);
  if (typeof value === 'object' && value !== null) share(value);
  keep({ bytes: Buffer.from(bytes), value, cost: entryCost });
  return value;
}

function keep(entry: Entry): void {
  entries.push(entry);
  cost += entry.cost;
  while (entries.length > MAX_ENTRIES || cost > MAX_COST) cost -= entries.shift()?.cost ?? cost;
}

/** Fingerprints of texts that came once, each in the place that its lowest bits name. */
const fingerprints = new Int32Array(1024);
const SAMPLES = 64;

function wasSeen(bytes: Buffer): boolean {
  const fingerprint = fingerprintOf(bytes);
  const place = fingerprint & (fingerprints.length - 1);
  if (fingerprints[place] === fingerprint) return true;
  fingerprints[place] = fingerprint;
  return false;
}

/** Two texts of one fingerprint only cost the second the look of a known one. */
function fingerprintOf(bytes: Buffer): number {
  const step = Math.max(1, Math.floor(bytes.length / SAMPLES));
  let hash = bytes.length;
  for (let at = 0; at < bytes.length; at += step) {
    hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
  }
  return hash ^ (hash >>> 15);
}

function tryParse(text: string, hints: JsonHints): JsonValue | undefined {
  try {
    return parseSurveyed(text, hints);
  } catch {
    return undefined;
  }
}

/** No deeper than the body may be. */
function deepFreeze(value: JsonValue): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const member of Object.values(value)) deepFreeze(member);
}
