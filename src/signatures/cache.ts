// Remembers thought signatures, and what they vouch for, between turns: for clients that cannot carry them.

import { hash } from 'node:crypto';
import type { ServerToolHistory, Signature } from '../canonical/request.ts';
import type { SignatureEntry, SignatureKey } from '../canonical/signatures.ts';
import type { Cluster, Topic } from '../cluster/cluster.ts';
import type { Clock } from '../lib/clock.ts';
import { LruCache } from '../lib/collections.ts';
import type { ExpiringStore, StoredText } from '../lib/expiring-store.ts';
import { isJsonObject, parseJson } from '../lib/json.ts';
import type { WarnLog } from '../lib/log.ts';
import { TextDigest } from '../lib/long-text.ts';
import { WriteBehind } from '../lib/write-behind.ts';

interface SignatureCacheOptions {
  readonly clock: Pick<Clock, 'now' | 'startTimer'>;
  readonly store?: SignatureStore | undefined;
  readonly traceStore?: ExpiringStore | undefined;
  /** To the other processes that the next turn may come to. */
  readonly notices?: Cluster['notices'] | undefined;
  readonly log?: WarnLog | undefined;
  readonly maxEntries?: number;
  /** Of all entries together, in UTF-16 units. */
  readonly maxSize?: number;
  readonly lifetimeMs?: number;
}

const TOPIC: Topic<SignatureNotice> = { name: 'signatures 1' };

interface CachedEntry extends SignatureEntry {
  /** The size of the history in UTF-16 units. */
  readonly historySize: number;
  readonly expiresAt: number;
}

const DAY_MS = 86_400_000;
const MAX_ENTRIES = 50_000;
const MAX_SIZE = 80 * 1024 * 1024;
/** Larger arguments and histories would push out many other entries. */
const MAX_PART_SIZE = 256 * 1024;
/** The histories that are read before the first request of a start. */
const HISTORY_BOUNDS = { maxEntries: 5000, maxSize: 4 * 1024 * 1024 };
const AMBIGUOUS: Signature = { value: '' };
const ALL_KINDS = [
  ...(['call', 'counted-call', 'thought'] as const),
  ...(['content', 'answered-call', 'value'] as const),
];

/** No key sees another's entries. They are read from memory; the least recently used leave, all within 24 h. */
export class SignatureCache {
  readonly #options: SignatureCacheOptions;
  readonly #maxEntries: number;
  readonly #entries: LruCache<CachedEntry>;
  readonly #signatureWrites: WriteBehind<StoredSignature> | undefined;
  readonly #historyWrites: WriteBehind<StoredText> | undefined;
  readonly #unlisten: (() => void) | undefined;
  /** The kinds that were remembered: most upstreams sign no texts, and a digest has its cost. */
  readonly #kinds = new Set<SignatureKey['kind']>();

  constructor(options: SignatureCacheOptions) {
    const { clock, store, traceStore, log, maxEntries = MAX_ENTRIES, maxSize = MAX_SIZE } = options;
    this.#options = options;
    this.#unlisten = options.notices?.listen(TOPIC, {
      take: (notice) => this.#takeNotice(notice),
      catchUp: () => void this.load(),
    });
    this.#maxEntries = maxEntries;
    this.#entries = new LruCache({ maxEntries, maxSize, sizeOf });
    this.#signatureWrites =
      store &&
      new WriteBehind<StoredSignature>({
        clock,
        log,
        save: (entries) => store.save(entries, { now: clock.now(), maxEntries }),
        keyOf: ({ key }) => key,
        sizeOf: ({ value }) => value.length,
        failure: 'Thought signatures are not saved; requests go on without.',
      });
    this.#historyWrites =
      traceStore &&
      new WriteBehind<StoredText>({
        clock,
        log,
        save: (traces) => traceStore.save(traces, { now: clock.now(), ...HISTORY_BOUNDS }),
        keyOf: ({ key }) => key,
        sizeOf: ({ json }) => json.length,
        failure: 'What upstreams did before tool calls is not saved; requests go on without.',
      });
  }

  /**
   * Adds to what is remembered under the key. Short answers are the same in many conversations: where content
   * was signed twice with different signatures, neither is found, as both may be meant. Of calls, which upstreams
   * want signed, the later one is.
   */
  remember(scope: string, key: SignatureKey, entry: SignatureEntry): void {
    const { signature } = entry;
    if (key.kind !== 'thought' || !TextDigest.of(key.text).isEmpty) this.#put(scope, key, entry);
    // The signature of an answered call is remembered by the call's id as well, and that with its value.
    if (signature === undefined || key.kind === 'value' || key.kind === 'answered-call') return;
    this.#put(scope, { kind: 'value', value: signature.value }, { signature });
  }

  lookup(scope: string, key: SignatureKey): SignatureEntry | undefined {
    if (!this.#kinds.has(key.kind)) return undefined;
    const found = this.#find(digestOf(scope, key));
    return found?.signature?.value === AMBIGUOUS.value ? undefined : found;
  }

  /** Loads what the store holds. Never rejects: a store that fails is logged and left out. */
  async load(): Promise<void> {
    const { store, traceStore, clock, log } = this.#options;
    const now = clock.now();
    try {
      const stored = await store?.load({ now, maxEntries: this.#maxEntries });
      for (const { key, expiresAt, ...signature } of stored ?? []) {
        this.#merge(key, { signature, historySize: 0, expiresAt });
        for (const kind of ALL_KINDS) this.#kinds.add(kind);
      }
    } catch (error) {
      log?.warn({ error }, 'Saved thought signatures cannot be read; new ones are remembered.');
    }
    try {
      const stored = await traceStore?.load({ now, ...HISTORY_BOUNDS });
      for (const { key, json, expiresAt } of stored ?? []) {
        const history = readHistory(json);
        if (history === undefined) continue;
        this.#merge(key, { history, historySize: json.length, expiresAt });
        this.#kinds.add('call').add('counted-call');
      }
    } catch (error) {
      log?.warn({ error }, 'What upstreams did before tool calls cannot be read from the store.');
    }
  }

  get droppedWrites(): number {
    return (this.#signatureWrites?.dropped ?? 0) + (this.#historyWrites?.dropped ?? 0);
  }

  async close(): Promise<void> {
    this.#unlisten?.();
    await this.#signatureWrites?.close();
    await this.#historyWrites?.close();
  }

  #put(scope: string, key: SignatureKey, { signature, input, history }: SignatureEntry): void {
    const { clock, lifetimeMs = DAY_MS } = this.#options;
    const expiresAt = clock.now() + lifetimeMs;
    const digest = digestOf(scope, key);
    this.#kinds.add(key.kind);
    const historyJson = history === undefined ? '' : JSON.stringify(history);
    const isKept = history !== undefined && historyJson.length <= MAX_PART_SIZE;
    const kept = signature && this.#unambiguous(key, digest, signature);
    const entry: CachedEntry = {
      signature: kept,
      input: input && withinSize(input),
      history: isKept ? history : undefined,
      historySize: isKept ? historyJson.length : 0,
      expiresAt,
    };
    this.#merge(digest, entry);
    this.#options.notices?.tell(TOPIC, { kind: key.kind, digest, entry });
    if (kept !== undefined) this.#signatureWrites?.add({ ...kept, key: digest, expiresAt });
    if (isKept) this.#historyWrites?.add({ key: digest, json: historyJson, expiresAt });
  }

  /** Whoever tells it saves it. */
  #takeNotice({ kind, digest, entry }: SignatureNotice): void {
    this.#kinds.add(kind);
    this.#merge(digest, entry);
  }

  #unambiguous({ kind }: SignatureKey, digest: string, signature: Signature): Signature {
    if (kind !== 'content') return signature;
    const known = this.#find(digest)?.signature;
    return known === undefined || known.value === signature.value ? signature : AMBIGUOUS;
  }

  #merge(digest: string, entry: CachedEntry): void {
    const older = this.#find(digest);
    const isHistoryOlder = entry.history === undefined && older !== undefined;
    this.#entries.set(digest, {
      signature: entry.signature ?? older?.signature,
      input: entry.input ?? older?.input,
      history: entry.history ?? older?.history,
      historySize: isHistoryOlder ? older.historySize : entry.historySize,
      expiresAt: Math.max(entry.expiresAt, older?.expiresAt ?? 0),
    });
  }

  #find(digest: string): CachedEntry | undefined {
    const entry = this.#entries.get(digest);
    return entry === undefined || entry.expiresAt <= this.#options.clock.now() ? undefined : entry;
  }
}

interface SignatureNotice {
  readonly kind: SignatureKey['kind'];
  readonly digest: string;
  readonly entry: CachedEntry;
}

/** A digest, so that an entry's size does not depend on the text, and storage never sees it. */
function digestOf(scope: string, key: SignatureKey): string {
  return hash('sha256', `${scope.length} ${scope} ${key.kind} ${textOf(key)}`, 'base64url');
}

function textOf(key: SignatureKey): string {
  switch (key.kind) {
    case 'call':
      return `${key.id.length} ${key.id} ${key.name}`;
    case 'counted-call':
      return `${key.id.length} ${key.id} ${key.name.length} ${key.name} ${key.json()}`;
    case 'thought':
      return `${key.family ?? ''} ${TextDigest.of(key.text).value}`;
    case 'content':
      return answerText(key.asked(), key.content);
    case 'answered-call': {
      const json = key.json();
      return `${key.name.length} ${key.name} ${answerText(key.asked(), json)}`;
    }
    case 'value':
      // The same for every spelling of the same bytes.
      return key.value
        .replaceAll('-', '+')
        .replaceAll('_', '/')
        .replace(/={1,2}$/, '');
    default:
      return key satisfies never;
  }
}

function answerText(asked: string, content: string | TextDigest): string {
  return `${asked.length} ${asked} ${TextDigest.of(content).value}`;
}

function sizeOf({ signature, input, historySize }: CachedEntry): number {
  const inputSize = input === undefined ? 0 : input.issued.length + (input.shown?.length ?? 0);
  return (signature?.value.length ?? 0) + inputSize + historySize;
}

function withinSize(input: NonNullable<SignatureEntry['input']>): SignatureEntry['input'] {
  const { issued, shown = '' } = input;
  if (issued.length > MAX_PART_SIZE) return undefined;
  return issued.length + shown.length > MAX_PART_SIZE ? { issued } : input;
}

/** Undefined for what another version of the program wrote in another form. */
function readHistory(json: string): ServerToolHistory | undefined {
  const value = parseJson(json);
  if (!isJsonObject(value) || typeof value.family !== 'string') return undefined;
  const { family, parts } = value;
  return Array.isArray(parts) && parts.every(isJsonObject) ? { family, parts } : undefined;
}

/** Best effort: an entry that is lost costs a turn its signature, never more. */
export interface SignatureStore {
  /** The entries that live at `now`, the latest `maxEntries` of them, the latest last. */
  load(bounds: SignatureBounds): Promise<readonly StoredSignature[]>;
  /** Replaces those of the same key; removes expired and surplus ones, though not each time. */
  save(entries: readonly StoredSignature[], bounds: SignatureBounds): Promise<void>;
}

interface SignatureBounds {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly maxEntries: number;
}

export interface StoredSignature extends Signature {
  /** A digest: says nothing of the client key, the call or the text it was made from. */
  readonly key: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}
