// Remembers thought signatures between turns, for clients that cannot carry them.

import { hash as digest } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { readCallInput } from '../canonical/event.ts';
import type { ServerToolHistory, Signature } from '../canonical/request.ts';
import { meansTheSame } from '../canonical/signatures.ts';
import type { Clock } from '../lib/clock.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../lib/json.ts';
import { TextDigest } from '../lib/long-text.ts';
import { createRecentEntries, type RecentEntries } from '../lib/lru.ts';
import { createWriteBehind, type WriteBehind, type WriteBehindLog } from '../lib/write-behind.ts';
import type {
  SignatureStore,
  StoredSignature,
  StoredTrace,
  TraceStore,
} from './signature-store.ts';

/** Every entry is scoped by client key: one key never sees another's signatures. */
export interface SignatureKeeper {
  rememberCall(scope: string, call: RememberedCall): void;
  /** The arguments of a signed call whose client may return others: the signature vouches for the issued ones. */
  rememberInput(scope: string, call: CallName, input: IssuedInput): void;
  /** JSON of the arguments any signed call was issued with; '' stands for none. */
  rememberIssuedInput(scope: string, call: CallName, json: string): void;
  /** What the upstream did by itself before a call. */
  rememberTrace(scope: string, call: CallName, trace: ServerToolHistory): void;
  rememberThought(scope: string, text: string | TextDigest, signature: Signature): void;
  /**
   * A signature of a text, a medium or a call, recalled by the very content and by what it answered:
   * short answers are the same in many conversations. Where even both were signed twice nobody can
   * tell which answer a client returns: neither signature is found then.
   */
  rememberContent(scope: string, answer: AnsweredContent, signature: Signature): void;
  /** A signature of a part that is recalled by its value alone, such as code. */
  rememberValue(scope: string, signature: Signature): void;
  findCall(scope: string, id: string, name: string): Signature | undefined;
  /** The issued arguments of a call that comes back with those its client was shown, or these and their defaults. */
  findInput(scope: string, call: DeclaredCall, returned: JsonObject): JsonObject | undefined;
  /** The issued arguments of a call that comes back with any others. */
  findIssuedInput(scope: string, call: CallName, returned: JsonObject): JsonObject | undefined;
  findTrace(scope: string, call: CallName): ServerToolHistory | undefined;
  findThought(scope: string, text: string): Signature | undefined;
  findContent(scope: string, answer: AnsweredContent): Signature | undefined;
  /** By function, arguments and what was asked, which are written down only once any call was signed. */
  findAnsweredCall(scope: string, call: ReturnedCall, asked: () => string): Signature | undefined;
  /**
   * The signature with this value, on whatever part, in the spelling it was issued in: some SDKs read
   * the field as bytes and write them in the other alphabet of base64 (RFC 4648, 5).
   */
  issued(scope: string, value: string): Signature | undefined;
}

/** Requests read from memory alone; a store only makes it outlive the process. */
export interface DurableSignatureKeeper extends SignatureKeeper {
  /** Takes up what the store holds. Never rejects: a store that fails is logged and left out. */
  load(): Promise<void>;
  /** Entries the store did not take, since the start. */
  readonly droppedWrites: number;
  /** Saves what is not saved yet, as far as the store takes it. */
  close(): Promise<void>;
}

export interface CallName {
  readonly id: string;
  readonly name: string;
}

interface DeclaredCall extends CallName {
  /** What the client declares of its arguments. */
  readonly schema?: JsonValue | undefined;
}

interface RememberedCall extends CallName {
  readonly signature: Signature;
}

/** As a client returns it, without its id. */
interface ReturnedCall {
  readonly name: string;
  readonly input: JsonObject;
}

interface AnsweredContent {
  /** A text or its digest, the base64 of a medium, or the JSON of the arguments of a call. */
  readonly content: string | TextDigest;
  /** The function that is called. */
  readonly callee?: string | undefined;
  /** What the answer it stands in was given to. */
  readonly asked: string;
}

export interface KeeperOptions {
  readonly clock: Pick<Clock, 'now' | 'startTimer'>;
  readonly store?: SignatureStore | undefined;
  readonly traceStore?: TraceStore | undefined;
  readonly log?: WriteBehindLog | undefined;
  readonly maxEntries?: number;
  /** Of all values together, in UTF-16 units. */
  readonly maxSize?: number;
  readonly lifetimeMs?: number;
}

interface Entry {
  readonly signature: Signature;
  readonly expiresAt: number;
}

const DAY_MS = 86_400_000;
const MOST_SIZE = 64 * 1024 * 1024;
/** Stands for content that was signed more than once. */
const AMBIGUOUS: Signature = { value: '' };

/** Least recently used entries go first; none lives longer than `lifetimeMs` (24 h). */
export function createSignatureKeeper(options: KeeperOptions): DurableSignatureKeeper {
  return new Keeper(options);
}

class Keeper implements DurableSignatureKeeper {
  readonly #options: KeeperOptions;
  readonly #maxEntries: number;
  readonly #lifetimeMs: number;
  readonly #entries: RecentEntries<Entry>;
  readonly #inputs: IssuedInputs;
  readonly #traces: CallTraces;
  readonly #writeBehind: WriteBehind<StoredSignature> | undefined;
  /** Most upstreams sign no texts: histories are not worth digests then. */
  #mayHoldContent = false;
  #mayHoldCalls = false;

  constructor(options: KeeperOptions) {
    const { clock, store, log, maxEntries = 50_000, lifetimeMs = DAY_MS } = options;
    this.#options = options;
    this.#maxEntries = maxEntries;
    this.#lifetimeMs = lifetimeMs;
    this.#entries = createRecentEntries<Entry>({
      maxEntries,
      maxSize: options.maxSize ?? MOST_SIZE,
      sizeOf: ({ signature }) => signature.value.length,
    });
    this.#inputs = createIssuedInputs({ now: () => clock.now(), lifetimeMs });
    this.#traces = createCallTraces({ clock, lifetimeMs, store: options.traceStore, log });
    this.#writeBehind =
      store &&
      createWriteBehind<StoredSignature>({
        save: (entries) => store.save(entries, { now: clock.now(), maxEntries }),
        keyOf: ({ key }) => key,
        sizeOf: ({ value }) => value.length,
        clock,
        log,
        failure: 'Thought signatures are not saved; requests go on without.',
      });
  }

  rememberCall(scope: string, { id, name, signature }: RememberedCall): void {
    this.#remember(callKey(scope, id, name), signature);
    this.rememberValue(scope, signature);
  }

  rememberInput(scope: string, { id, name }: CallName, input: IssuedInput): void {
    this.#inputs.remember(callKey(scope, id, name), input);
  }

  rememberIssuedInput(scope: string, { id, name }: CallName, json: string): void {
    this.#inputs.rememberIssued(callKey(scope, id, name), json);
  }

  rememberTrace(scope: string, { id, name }: CallName, trace: ServerToolHistory): void {
    this.#traces.remember(callKey(scope, id, name), trace);
  }

  rememberThought(scope: string, text: string | TextDigest, signature: Signature): void {
    const thought = TextDigest.of(text);
    if (!thought.isEmpty) this.#remember(keyOf(scope, 'thought', thought.value), signature);
    this.rememberValue(scope, signature);
  }

  rememberContent(scope: string, answer: AnsweredContent, signature: Signature): void {
    const isCall = answer.callee !== undefined;
    if (isCall) this.#mayHoldCalls = true;
    else this.#mayHoldContent = true;
    const key = contentKey(scope, answer);
    const known = this.#find(key);
    const isOther = known !== undefined && known.value !== signature.value;
    this.#remember(key, isOther ? AMBIGUOUS : signature);
    // That of a call is known by its id as well.
    if (!isCall) this.rememberValue(scope, signature);
  }

  rememberValue(scope: string, signature: Signature): void {
    this.#remember(valueKey(scope, signature.value), signature);
  }

  findCall(scope: string, id: string, name: string): Signature | undefined {
    return this.#find(callKey(scope, id, name));
  }

  findInput(scope: string, call: DeclaredCall, returned: JsonObject): JsonObject | undefined {
    const { id, name, schema } = call;
    return this.#inputs.find(() => callKey(scope, id, name), { returned, schema });
  }

  findIssuedInput(scope: string, call: CallName, returned: JsonObject): JsonObject | undefined {
    return this.#inputs.findIssued(() => callKey(scope, call.id, call.name), returned);
  }

  findTrace(scope: string, { id, name }: CallName): ServerToolHistory | undefined {
    return this.#traces.find(() => callKey(scope, id, name));
  }

  findThought(scope: string, text: string): Signature | undefined {
    return this.#find(keyOf(scope, 'thought', TextDigest.of(text).value));
  }

  findContent(scope: string, answer: AnsweredContent): Signature | undefined {
    return this.#mayHoldContent ? this.#findAnswer(scope, answer) : undefined;
  }

  findAnsweredCall(
    scope: string,
    { name, input }: ReturnedCall,
    asked: () => string,
  ): Signature | undefined {
    if (!this.#mayHoldCalls) return undefined;
    const content = JSON.stringify(input);
    return this.#findAnswer(scope, { content, callee: name, asked: asked() });
  }

  issued(scope: string, value: string): Signature | undefined {
    return this.#find(valueKey(scope, value));
  }

  async load(): Promise<void> {
    const { store, clock, log } = this.#options;
    try {
      const stored = await store?.load({ now: clock.now(), maxEntries: this.#maxEntries });
      for (const { key, expiresAt, ...signature } of stored ?? []) {
        this.#entries.set(key, { signature, expiresAt });
        this.#mayHoldContent = true;
        this.#mayHoldCalls = true;
      }
    } catch (error) {
      log?.warn({ error }, 'Saved thought signatures cannot be read; new ones are remembered.');
    }
    try {
      await this.#traces.load();
    } catch (error) {
      log?.warn({ error }, 'What upstreams did before tool calls cannot be read from the store.');
    }
  }

  get droppedWrites(): number {
    return (this.#writeBehind?.dropped ?? 0) + this.#traces.droppedWrites;
  }

  async close(): Promise<void> {
    await this.#writeBehind?.close();
    await this.#traces.close();
  }

  #remember(key: string, signature: Signature): void {
    const expiresAt = this.#options.clock.now() + this.#lifetimeMs;
    this.#entries.set(key, { signature, expiresAt });
    this.#writeBehind?.add({ ...signature, key, expiresAt });
  }

  #findAnswer(scope: string, answer: AnsweredContent): Signature | undefined {
    const found = this.#find(contentKey(scope, answer));
    return found?.value === AMBIGUOUS.value ? undefined : found;
  }

  #find(key: string): Signature | undefined {
    const entry = this.#entries.take(key);
    if (entry === undefined || entry.expiresAt <= this.#options.clock.now()) return undefined;
    this.#entries.set(key, entry);
    return entry.signature;
  }
}

function callKey(scope: string, id: string, name: string): string {
  return keyOf(scope, 'call', `${id.length} ${id} ${name}`);
}

/** The same for every spelling of the same bytes. */
function valueKey(scope: string, value: string): string {
  const spelling = value
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .replace(/={1,2}$/, '');
  return keyOf(scope, 'value', spelling);
}

/** Clients trim what they store. */
function contentKey(scope: string, { content, asked, callee }: AnsweredContent): string {
  const text = `${asked.length} ${asked} ${TextDigest.of(content).value}`;
  if (callee === undefined) return keyOf(scope, 'content', text);
  return keyOf(scope, 'answered-call', `${callee.length} ${callee} ${text}`);
}

/** A digest, so that an entry's size does not depend on the text, and storage never sees it. */
function keyOf(scope: string, kind: string, text: string): string {
  return digest('sha256', `${scope.length} ${scope} ${kind} ${text}`, 'base64url');
}

// Remembers what upstreams did by themselves before tool calls; a store makes it outlive the process.

interface CallTraces {
  remember(key: string, trace: ServerToolHistory): void;
  /** The key, a digest, is made only once there are any traces. */
  find(keyOf: () => string): ServerToolHistory | undefined;
  /** Takes up what the store holds. @throws whatever the store does */
  load(): Promise<void>;
  /** Traces the store did not take, since the start. */
  readonly droppedWrites: number;
  close(): Promise<void>;
}

interface CallTraceOptions {
  readonly clock: Pick<Clock, 'now' | 'startTimer'>;
  readonly lifetimeMs: number;
  readonly store?: TraceStore | undefined;
  readonly log?: WriteBehindLog | undefined;
}

/** Read before the first request of a start: less than what memory holds. */
const MOST_SAVED = 4 * 1024 * 1024;

function createCallTraces(options: CallTraceOptions): CallTraces {
  const { clock, lifetimeMs, store, log } = options;
  const now = () => clock.now();
  const entries = createMemoryEntries<ServerToolHistory>({ now, lifetimeMs });
  const bounds = () => ({ now: now(), maxEntries: MOST_ENTRIES, maxSize: MOST_SAVED });
  const writes =
    store &&
    createWriteBehind<StoredTrace>({
      save: (traces) => store.save(traces, bounds()),
      keyOf: ({ key }) => key,
      sizeOf: ({ json }) => json.length,
      clock,
      log,
      failure: 'What upstreams did before tool calls is not saved; requests go on without.',
    });
  return {
    remember(key, trace) {
      const json = JSON.stringify(trace);
      const expiresAt = entries.remember(key, trace, json.length);
      if (expiresAt !== undefined) writes?.add({ key, json, expiresAt });
    },
    find: entries.find,
    async load() {
      for (const { key, json, expiresAt } of (await store?.load(bounds())) ?? []) {
        const value = readTrace(json);
        if (value !== undefined) entries.restore(key, { value, size: json.length, expiresAt });
      }
    },
    get droppedWrites() {
      return writes?.dropped ?? 0;
    },
    close: async () => void (await writes?.close()),
  };
}

/** Undefined for what another version of the program wrote in another form. */
function readTrace(json: string): ServerToolHistory | undefined {
  const value = parseJson(json);
  if (!isJsonObject(value) || typeof value.family !== 'string') return undefined;
  const { family, parts } = value;
  return Array.isArray(parts) && parts.every(isJsonObject) ? { family, parts } : undefined;
}

// Remembers the arguments of signed calls that clients return in another form than the upstream wrote them.

/** JSON texts of the arguments of one call. */
interface IssuedInput {
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

interface IssuedInputs {
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
function createIssuedInputs(options: MemoryEntryOptions): IssuedInputs {
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

// What the gateway remembers of tool calls beside their signatures, bounded by count, size and time.

interface MemoryEntries<Value> {
  /** When it will be forgotten; undefined for a value too large to be kept beside others. */
  remember(key: string, value: Value, size: number): number | undefined;
  /** Takes up what was remembered before a restart. */
  restore(key: string, entry: MemoryEntry<Value>): void;
  /** The key, a digest, is made only once there are any entries. */
  find(keyOf: () => string): Value | undefined;
}

interface MemoryEntry<Value> {
  readonly value: Value;
  /** In UTF-16 units. */
  readonly size: number;
  readonly expiresAt: number;
}

interface MemoryEntryOptions {
  readonly now: () => number;
  readonly lifetimeMs: number;
}

const MOST_ENTRIES = 5000;
/** Of all values together, in UTF-16 units. */
const MAX_ENTRIES_SIZE = 16 * 1024 * 1024;
/** Larger ones would push out many others. */
const LARGEST = 256 * 1024;

function createMemoryEntries<Value>(options: MemoryEntryOptions): MemoryEntries<Value> {
  const { now, lifetimeMs } = options;
  const entries = createRecentEntries<MemoryEntry<Value>>({
    maxEntries: MOST_ENTRIES,
    maxSize: MAX_ENTRIES_SIZE,
    sizeOf: ({ size }) => size,
  });
  let isUsed = false;
  const restore = (key: string, entry: MemoryEntry<Value>): void => {
    isUsed = true;
    entries.set(key, entry);
  };
  return {
    restore,
    remember(key, value, size) {
      if (size > LARGEST) return undefined;
      const expiresAt = now() + lifetimeMs;
      restore(key, { value, size, expiresAt });
      return expiresAt;
    },
    find(keyOf) {
      if (!isUsed) return undefined;
      const key = keyOf();
      const entry = entries.take(key);
      if (entry === undefined || entry.expiresAt <= now()) return undefined;
      entries.set(key, entry);
      return entry.value;
    },
  };
}
