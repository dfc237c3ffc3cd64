// Remembers thought signatures between turns, for clients that cannot carry them.

import { hash as digest } from 'node:crypto';
import type { CallTrace } from '../canonical/call-trace.ts';
import type { Signature } from '../canonical/request.ts';
import type { Clock } from '../lib/clock.ts';
import type { JsonObject, JsonValue } from '../lib/json.ts';
import { TextDigest } from '../lib/text-digest.ts';
import { createWriteBehind, type WriteBehind, type WriteBehindLog } from '../lib/write-behind.ts';
import { type CallTraces, createCallTraces } from './call-traces.ts';
import { createIssuedInputs, type IssuedInput, type IssuedInputs } from './issued-inputs.ts';
import { createRecentEntries, type RecentEntries } from './recent-entries.ts';
import type { SignatureStore, StoredSignature } from './signature-store.ts';
import type { TraceStore } from './trace-store.ts';

/** Every entry is scoped by client key: one key never sees another's signatures. */
export interface SignatureKeeper {
  rememberCall(scope: string, call: RememberedCall): void;
  /** The arguments of a signed call whose client may return others: the signature vouches for the issued ones. */
  rememberInput(scope: string, call: CallName, input: IssuedInput): void;
  /** JSON of the arguments any signed call was issued with; '' stands for none. */
  rememberIssuedInput(scope: string, call: CallName, json: string): void;
  /** What the upstream did by itself before a call. */
  rememberTrace(scope: string, call: CallName, trace: CallTrace): void;
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
  findTrace(scope: string, call: CallName): CallTrace | undefined;
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

  rememberTrace(scope: string, { id, name }: CallName, trace: CallTrace): void {
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

  findTrace(scope: string, { id, name }: CallName): CallTrace | undefined {
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
