// Remembers thought signatures between turns, for clients that cannot carry them.

import { hash as digest } from 'node:crypto';
import type { Signature } from '../canonical/request.ts';
import type { Clock } from '../lib/clock.ts';
import type { SignatureStore } from './signature-store.ts';
import { createWriteBehind, type KeeperLog } from './write-behind.ts';

/** Every entry is scoped by client key: one key never sees another's signatures. */
export interface SignatureKeeper {
  rememberCall(scope: string, call: RememberedCall): void;
  rememberThought(scope: string, text: string, signature: Signature): void;
  /**
   * A signature of a text or medium, recalled by the very content and by what it answered: short
   * answers are the same in many conversations. Where even both were signed twice nobody can tell
   * which answer a client returns: neither signature is found then.
   */
  rememberContent(scope: string, answer: AnsweredContent, signature: Signature): void;
  /** A signature of a part that is recalled by its value alone, such as code. */
  rememberValue(scope: string, signature: Signature): void;
  findCall(scope: string, id: string, name: string): Signature | undefined;
  findThought(scope: string, text: string): Signature | undefined;
  findContent(scope: string, answer: AnsweredContent): Signature | undefined;
  /** The model family that issued this value, on whatever part; undefined when it is not known. */
  familyOf(scope: string, value: string): string | undefined;
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

export interface RememberedCall {
  readonly id: string;
  readonly name: string;
  readonly signature: Signature;
}

export interface AnsweredContent {
  /** A text, or the base64 of a medium. */
  readonly content: string;
  /** What the answer it stands in was given to. */
  readonly asked: string;
}

export interface KeeperOptions {
  readonly clock: Pick<Clock, 'now' | 'startTimer'>;
  readonly store?: SignatureStore | undefined;
  readonly log?: KeeperLog | undefined;
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
/** The share of the entries that leaves when there is no room for another. */
const EVICTED_SHARE = 0.02;
/** Stands for content that was signed more than once. */
const AMBIGUOUS: Signature = { value: '' };

/** Least recently used entries go first; none lives longer than `lifetimeMs` (24 h). */
export function createSignatureKeeper(options: KeeperOptions): DurableSignatureKeeper {
  const { clock, store, log, maxEntries = 50_000, lifetimeMs = DAY_MS } = options;
  const entries = createRecentEntries(maxEntries, options.maxSize ?? MOST_SIZE);
  // Most upstreams sign no texts: histories are not worth digests then.
  let mayHoldContent = false;
  const writeBehind = store && createWriteBehind({ store, clock, maxEntries, log });

  const remember = (key: string, signature: Signature): void => {
    const expiresAt = clock.now() + lifetimeMs;
    entries.set(key, { signature, expiresAt });
    writeBehind?.add({ ...signature, key, expiresAt });
  };
  const find = (key: string): Signature | undefined => {
    const entry = entries.take(key);
    if (entry === undefined || entry.expiresAt <= clock.now()) return undefined;
    entries.set(key, entry);
    return entry.signature;
  };

  return {
    rememberCall(scope, { id, name, signature }) {
      remember(callKey(scope, id, name), signature);
      remember(keyOf(scope, 'value', signature.value), signature);
    },
    rememberThought(scope, text, signature) {
      if (text !== '') remember(keyOf(scope, 'thought', text), signature);
      remember(keyOf(scope, 'value', signature.value), signature);
    },
    rememberContent(scope, answer, signature) {
      mayHoldContent = true;
      const key = contentKey(scope, answer);
      const known = find(key);
      const isOther = known !== undefined && known.value !== signature.value;
      remember(key, isOther ? AMBIGUOUS : signature);
      remember(keyOf(scope, 'value', signature.value), signature);
    },
    rememberValue: (scope, signature) =>
      remember(keyOf(scope, 'value', signature.value), signature),
    findCall: (scope, id, name) => find(callKey(scope, id, name)),
    findThought: (scope, text) => find(keyOf(scope, 'thought', text)),
    findContent(scope, answer) {
      if (!mayHoldContent) return undefined;
      const found = find(contentKey(scope, answer));
      return found?.value === AMBIGUOUS.value ? undefined : found;
    },
    familyOf: (scope, value) => find(keyOf(scope, 'value', value))?.family,
    async load() {
      try {
        const stored = await store?.load({ now: clock.now(), maxEntries });
        for (const { key, expiresAt, ...signature } of stored ?? []) {
          entries.set(key, { signature, expiresAt });
          mayHoldContent = true;
        }
      } catch (error) {
        log?.warn({ error }, 'Saved thought signatures cannot be read; new ones are remembered.');
      }
    },
    get droppedWrites() {
      return writeBehind?.dropped ?? 0;
    },
    async close() {
      await writeBehind?.close();
    },
  };
}

interface RecentEntries {
  set(key: string, entry: Entry): void;
  take(key: string): Entry | undefined;
}

/** Bounded by count and by size; a map keeps the order of use. */
function createRecentEntries(maxEntries: number, maxSize: number): RecentEntries {
  const entries = new Map<string, Entry>();
  let size = 0;
  const take = (key: string): Entry | undefined => {
    const entry = entries.get(key);
    if (entry === undefined) return undefined;
    entries.delete(key);
    size -= entry.signature.value.length;
    return entry;
  };
  const spare = Math.floor(maxEntries * EVICTED_SHARE);
  // Some at once: each look for the oldest passes over all places that are empty already.
  const evict = (): void => {
    for (const oldest of entries.keys()) {
      if (entries.size <= maxEntries - spare && size <= maxSize) return;
      take(oldest);
    }
  };
  return {
    take,
    set(key, entry) {
      take(key);
      entries.set(key, entry);
      size += entry.signature.value.length;
      if (entries.size > maxEntries || size > maxSize) evict();
    },
  };
}

function callKey(scope: string, id: string, name: string): string {
  return keyOf(scope, 'call', `${id.length} ${id} ${name}`);
}

/** Clients trim what they store; a digest of megabytes is taken of nothing but media. */
function contentKey(scope: string, { content, asked }: AnsweredContent): string {
  return keyOf(scope, 'content', `${asked.length} ${asked} ${content.trim()}`);
}

/** A digest, so that an entry's size does not depend on the text, and storage never sees it. */
function keyOf(scope: string, kind: string, text: string): string {
  return digest('sha256', `${scope.length} ${scope} ${kind} ${text}`, 'base64url');
}
