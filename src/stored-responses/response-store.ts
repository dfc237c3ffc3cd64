// Responses stored for later requests of the same client key, and responses created in the background.

import type { Clock } from '../lib/clock.ts';
import { isJsonObject, type JsonObject } from '../lib/json.ts';

export interface StoredResponse {
  readonly id: string;
  /** The answer this one went on from. */
  readonly previousId?: string | undefined;
  /** The items of the request, without those of the answers before. */
  readonly input: readonly JsonObject[];
  /** The whole response object, with its output. */
  readonly response: JsonObject;
}

export interface FoundResponse extends StoredResponse {
  /** Length of its JSON text in UTF-16 units. */
  readonly size: number;
}

/** Durable storage of answers; rows older than their lifetime are not given. */
export interface DurableResponseStore {
  save(row: StoredResponseRow): Promise<void>;
  /** The JSON text of the answer. */
  find(clientKeyId: string, id: string): Promise<string | undefined>;
  findByItem(clientKeyId: string, itemId: string): Promise<string | undefined>;
  remove(clientKeyId: string, id: string): Promise<boolean>;
}

interface ResponseStoresOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly store?: DurableResponseStore | undefined;
  /** Told of answers that could not be stored. */
  readonly onFailure: (error: unknown) => void;
  readonly maxEntries?: number | undefined;
  /** Of all answers in memory together, in UTF-16 units of their JSON text. */
  readonly maxMemory?: number | undefined;
  /** Of one answer, in the same units. */
  readonly maxAnswer?: number | undefined;
  readonly lifetimeMs?: number | undefined;
}

export type ResponseStores = ReturnType<typeof createResponseStores>;
/** The answers of one client key; no other key's can be seen through it. */
export type ResponseStore = ReturnType<ResponseStores['of']> & {
  /** As `put`, for what is kept while its connection is open, and no longer; absent where there is none. */
  putUnstored?(answer: StoredResponse): boolean;
};

const MONTH_MS = 30 * 86_400_000;

/** Least recently used answers leave the memory first; the store keeps them for `lifetimeMs` (30 days). */
export function createResponseStores(options: ResponseStoresOptions) {
  const { clock, store, onFailure } = options;
  const { lifetimeMs = MONTH_MS, maxAnswer = 32 * 1024 * 1024 } = options;
  const memory = createResponseMemory(options);
  const changing = new Map<string, Promise<unknown>>();
  const inTurn = <Result>(key: string, work: () => Promise<Result>): Promise<Result> => {
    const done = (changing.get(key) ?? Promise.resolve()).then(work);
    const end = (): void => {
      if (changing.get(key) === settled) changing.delete(key);
    };
    const settled: Promise<void> = done.then(end, end);
    changing.set(key, settled);
    return done;
  };
  const put = (clientKeyId: string, answer: StoredResponse): boolean => {
    const json = JSON.stringify(answer);
    if (json.length > maxAnswer) {
      onFailure(new Error(`The answer ${answer.id} is too large to be kept.`));
      return false;
    }
    const expiresAt = clock.now() + lifetimeMs;
    const row = { clientKeyId, id: answer.id, json, itemIds: itemIdsOf(answer), expiresAt };
    memory.put(row);
    store?.save(row).catch(onFailure);
    return true;
  };
  const find = async (clientKeyId: string, id: string): Promise<FoundResponse | undefined> => {
    const held = memory.find(`${clientKeyId} ${id}`, clock.now());
    return readAnswer(held ?? (await store?.find(clientKeyId, id)));
  };
  return {
    of: (clientKeyId: string) => ({
      /**
       * Never waits and never throws: what cannot be stored is kept in memory alone. False for what is
       * larger than an answer may be: it is not kept.
       */
      put: (answer: StoredResponse) => put(clientKeyId, answer),
      /** Waits for changes of this answer that were begun before. */
      async find(id: string): Promise<FoundResponse | undefined> {
        await changing.get(`${clientKeyId} ${id}`);
        return find(clientKeyId, id);
      },
      /** The answer that holds an output item of this id. */
      async findByItem(itemId: string): Promise<FoundResponse | undefined> {
        const held = memory.findByItem(`${clientKeyId} ${itemId}`, clock.now());
        return readAnswer(held ?? (await store?.findByItem(clientKeyId, itemId)));
      },
      /** False when there was none. In turn with the changes of this answer, so that none brings it back. */
      remove: (id: string) =>
        inTurn(`${clientKeyId} ${id}`, async () => {
          const wasHeld = memory.remove(`${clientKeyId} ${id}`);
          const wasStored = (await store?.remove(clientKeyId, id)) ?? false;
          return wasHeld || wasStored;
        }),
      /**
       * Replaces an answer by what `change` makes of it, one change after the other. Undefined when there
       * is none, or when the store could not read it.
       */
      change: (id: string, change: (answer: StoredResponse) => StoredResponse) =>
        inTurn(`${clientKeyId} ${id}`, async () => {
          const answer = await find(clientKeyId, id).catch((error: unknown) => {
            onFailure(error);
            return undefined;
          });
          if (answer === undefined) return undefined;
          const { size: _size, ...kept } = answer;
          const changed = change(kept);
          put(clientKeyId, changed);
          return changed;
        }),
    }),
  };
}

export type ConnectionResponses = ReturnType<typeof createConnectionResponses>;

/**
 * What open connections keep of the answers that are not stored. The least recently used of all of them
 * leave the memory they share first.
 */
export function createConnectionResponses(
  options: Pick<ResponseStoresOptions, 'clock' | 'onFailure' | 'maxMemory'>,
) {
  const stores = createResponseStores(options);
  let opened = 0;
  return {
    open() {
      opened += 1;
      const own = stores.of(`connection ${opened}`);
      const ids: string[] = [];
      return {
        /** The answers of the connection and those of its client key. */
        over: (stored: ResponseStore): ResponseStore => ({
          ...stored,
          putUnstored(answer) {
            ids.push(answer.id);
            return own.put(answer);
          },
          find: async (id) => (await own.find(id)) ?? stored.find(id),
          findByItem: async (id) => (await own.findByItem(id)) ?? stored.findByItem(id),
        }),
        /** Forgets the answers of the connection. */
        close(): void {
          for (const id of ids.splice(0)) void own.remove(id);
        },
      };
    },
  };
}

/** The one narrowing: this text was written by `put`, and a store gives back what it was given. */
function readAnswer(json: string | undefined): FoundResponse | undefined {
  if (json === undefined) return undefined;
  return { ...(JSON.parse(json) as StoredResponse), size: json.length };
}

function itemIdsOf({ response }: StoredResponse): readonly string[] {
  const { output } = response;
  if (!Array.isArray(output)) return [];
  return output.filter(isJsonObject).flatMap(({ id }) => (typeof id === 'string' ? [id] : []));
}

/** A response in memory or in the durable store. */
export interface StoredResponseRow {
  readonly clientKeyId: string;
  readonly id: string;
  /** The answer as JSON text. */
  readonly json: string;
  /** Ids of the output items. */
  readonly itemIds: readonly string[];
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** Least recently used answers go first; one that is larger than the whole memory is not held. */
function createResponseMemory({
  maxEntries = 2000,
  maxMemory = 64 * 1024 * 1024,
}: Pick<ResponseStoresOptions, 'maxEntries' | 'maxMemory'>) {
  const rows = new Map<string, StoredResponseRow>();
  const owners = new Map<string, string>();
  let units = 0;
  const drop = (key: string): boolean => {
    const row = rows.get(key);
    if (row === undefined) return false;
    for (const itemId of row.itemIds) {
      const itemKey = `${row.clientKeyId} ${itemId}`;
      if (owners.get(itemKey) === key) owners.delete(itemKey);
    }
    units -= row.json.length;
    return rows.delete(key);
  };
  const find = (key: string, now: number): string | undefined => {
    const row = rows.get(key);
    if (row === undefined) return undefined;
    if (row.expiresAt <= now) {
      drop(key);
      return undefined;
    }
    // Setting again moves the entry to the young end: maps keep insertion order.
    rows.delete(key);
    rows.set(key, row);
    return row.json;
  };
  return {
    put(row: StoredResponseRow): void {
      const key = `${row.clientKeyId} ${row.id}`;
      drop(key);
      rows.set(key, row);
      units += row.json.length;
      for (const itemId of row.itemIds) owners.set(`${row.clientKeyId} ${itemId}`, key);
      for (const oldest of rows.keys()) {
        if (rows.size <= maxEntries && units <= maxMemory) break;
        drop(oldest);
      }
    },
    /** The JSON text of an answer; keys are `<client key> <id>`. */
    find,
    findByItem(itemKey: string, now: number): string | undefined {
      const key = owners.get(itemKey);
      return key === undefined ? undefined : find(key, now);
    },
    remove: drop,
  };
}

/** What one client key may see and end; no other key's can be reached through it. */
export type RunsOfKey = ReturnType<BackgroundRuns['of']>;

export type RunState = 'queued' | 'in_progress';

interface BackgroundRun {
  readonly clientKeyId: string;
  /** What it holds in memory, in UTF-16 units. */
  readonly size: number;
  /** Names it, once it is sure to be taken. */
  begin(): string;
  /** Never rejects. The signal is aborted from the beginning when it was ended in its queue. */
  work(signal: AbortSignal): Promise<void>;
}

interface StartedRun {
  readonly kind: 'started';
  /** Resolves when the work is over. */
  readonly ended: Promise<void>;
}

export interface RefusedRun {
  readonly kind: 'refused';
  readonly reason: 'too-many' | 'too-large' | 'closing';
}

const LIMITS = {
  /** At work at the same time; the others wait their turn. */
  atOnce: 16,
  /** Waiting and at work. */
  perKey: 16,
  inAll: 128,
  /** UTF-16 units of one run. */
  size: 16 * 1024 * 1024,
  /** UTF-16 units of all runs together. */
  sizeInAll: 128 * 1024 * 1024,
};

interface OpenRun {
  readonly run: BackgroundRun;
  readonly abort: AbortController;
  readonly ended: PromiseWithResolvers<void>;
  state: RunState;
}

export class BackgroundRuns {
  readonly #limits: typeof LIMITS;
  /** In the order they came. */
  readonly #open = new Map<string, OpenRun>();
  #isClosing = false;

  constructor(limits: Partial<typeof LIMITS> = {}) {
    this.#limits = { ...LIMITS, ...limits };
  }

  of(clientKeyId: string) {
    const find = (id: string): OpenRun | undefined => {
      const open = this.#open.get(id);
      return open?.run.clientKeyId === clientKeyId ? open : undefined;
    };
    return {
      /** Undefined when nothing of that id is being made. */
      stateOf: (id: string) => find(id)?.state,
      /** Ends it with that reason. Resolves when it has ended; false when there was nothing to end. */
      async cancel(id: string, reason: unknown): Promise<boolean> {
        const open = find(id);
        if (open === undefined) return false;
        open.abort.abort(reason);
        await open.ended.promise;
        return true;
      },
    };
  }

  /** Begins at once or in its turn. Tells why not when there are too many, or when everything stops. */
  start(run: BackgroundRun): StartedRun | RefusedRun {
    const reason = this.#refusalOf(run);
    if (reason !== undefined) return { kind: 'refused', reason };
    const id = run.begin();
    const open: OpenRun = {
      run,
      abort: new AbortController(),
      ended: Promise.withResolvers<void>(),
      state: 'queued',
    };
    this.#open.set(id, open);
    // One that waits is ended without its turn: there is nothing to wait for.
    open.abort.signal.addEventListener('abort', () => this.#begin(id, open), { once: true });
    this.#beginNext();
    return { kind: 'started', ended: open.ended.promise };
  }

  /** Ends all of them with that reason; resolves when they have ended. */
  async close(reason: unknown): Promise<void> {
    this.#isClosing = true;
    const all = [...this.#open.values()];
    for (const { abort } of all) abort.abort(reason);
    await Promise.all(all.map(({ ended }) => ended.promise));
  }

  #refusalOf({ clientKeyId, size }: BackgroundRun): RefusedRun['reason'] | undefined {
    if (this.#isClosing) return 'closing';
    if (size > this.#limits.size) return 'too-large';
    let [ofKey, units] = [0, size];
    for (const { run } of this.#open.values()) {
      if (run.clientKeyId === clientKeyId) ofKey += 1;
      units += run.size;
    }
    const { perKey, inAll, sizeInAll } = this.#limits;
    const isFull = ofKey >= perKey || this.#open.size >= inAll || units > sizeInAll;
    return isFull ? 'too-many' : undefined;
  }

  #beginNext(): void {
    let atWork = 0;
    for (const { state } of this.#open.values()) if (state === 'in_progress') atWork += 1;
    for (const [id, open] of this.#open) {
      if (atWork >= this.#limits.atOnce) return;
      if (open.state !== 'queued') continue;
      atWork += 1;
      this.#begin(id, open);
    }
  }

  #begin(id: string, open: OpenRun): void {
    if (open.state !== 'queued') return;
    open.state = 'in_progress';
    void open.run.work(open.abort.signal).finally(() => {
      this.#open.delete(id);
      open.ended.resolve();
      this.#beginNext();
    });
  }
}
