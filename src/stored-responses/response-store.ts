// Responses stored for later requests of the same client key, at whichever process they come.

import type { Cluster, Topic } from '../cluster/cluster.ts';
import { createHearing } from '../cluster/hearing.ts';
import { type Clock, type Timer, waitAtMost } from '../lib/clock.ts';
import { isJsonObject, type JsonObject, sizeOf } from '../lib/json.ts';
import { memoryLimit, relieveMemory } from '../lib/memory-limit.ts';

export interface StoredResponse {
  readonly id: string;
  /** The answer this one went on from. */
  readonly previousId?: string | undefined;
  /** Of the first of a conversation: what that is known by in the pool. */
  readonly session?: string | undefined;
  /** The items of the request, without those of the answers before. */
  readonly input: readonly JsonObject[];
  readonly response: JsonObject;
  /** Of one that is made in the background: the process that makes it or did, where there are several. */
  readonly runner?: string | undefined;
}

export interface FoundResponse extends StoredResponse {
  /** Length of its JSON text in UTF-16 units. */
  readonly size: number;
}

export interface DurableResponseStore {
  save(row: StoredResponseRow): Promise<void>;
  /** The JSON text of the answer. */
  find(clientKeyId: string, id: string): Promise<string | undefined>;
  findByItem(clientKeyId: string, itemId: string): Promise<string | undefined>;
  remove(clientKeyId: string, id: string): Promise<boolean>;
  /** Changes an answer in one step of all processes; `change` may be called again. Undefined when there is none. */
  change(
    clientKeyId: string,
    id: string,
    change: (json: string) => readonly StoredResponseRow[],
  ): Promise<readonly StoredResponseRow[] | undefined>;
}

/** Makes of an answer what is to stand in its place, and other answers that come with that. */
type ChangeOfAnswer = (
  answer: StoredResponse,
) => readonly [changed: StoredResponse, ...others: StoredResponse[]];

interface ResponseStoresOptions {
  readonly clock: Pick<Clock, 'now' | 'startTimer'>;
  readonly store?: DurableResponseStore | undefined;
  /** Told of answers that could not be stored. */
  readonly onFailure: (error: unknown) => void;
  readonly maxEntries?: number | undefined;
  /** Of all answers in memory together, in UTF-16 units of their JSON text. */
  readonly maxMemory?: number | undefined;
  /** Of one answer, in the same units. */
  readonly maxAnswer?: number | undefined;
  readonly lifetimeMs?: number | undefined;
  /** The memory that large answers are counted in while they are being saved; without it they are not. */
  readonly room?: AnswerRoom | undefined;
  /** The other processes with the same store; without it there are none. */
  readonly sharing?: StoreSharing | undefined;
}

interface AnswerRoom {
  /** @throws Error when there is no room for so many bytes */
  take(holder: { heldBytes: number }, bytes: number): void;
  release(holder: { heldBytes: number }): void;
}

export type ResponseStores = ReturnType<typeof createResponseStores>;
/** As whoever only reads them sees them. */
export type KeptAnswers = Pick<
  ReturnType<ResponseStores['of']>,
  'find' | 'findLatest' | 'findByItem'
>;
/** The answers of one client key; no other key's can be seen through it. */
export type ResponseStore = ReturnType<ResponseStores['of']> & {
  /** As `put`, for what is kept while its connection is open, and no longer; absent where there is none. */
  putUnstored?(answer: StoredResponse): boolean;
};

const MONTH_MS = 30 * 86_400_000;
/** Of all answers in a durable store together, sealed; the ones that would end first make room. */
export const MAX_STORED_BYTES = 1024 * 1024 * 1024;
/** What could not be stored is tried again after so long, as long as it is in memory. */
const RETRY_MS = 5000;

/** For their ids, and what an answer says besides, in UTF-16 units of its JSON text. */
const ROOM_BESIDE_ITEMS = 4096;

/** Smaller ones come by the hundred, and are bounded by the requests that they are of. */
const COUNTED_FROM = 65_536;

/** So many megabytes, less in a small container: it is beside what requests under way need, and a save takes five times an answer. */
function mostOf(megabytes: number): number {
  return (megabytes / 1024) * Math.min(1024 ** 3, memoryLimit());
}

/** Least recently used answers leave the memory first; the store keeps them for `lifetimeMs` (30 days). */
export function createResponseStores(options: ResponseStoresOptions) {
  const { clock, store, onFailure, sharing, room } = options;
  const { lifetimeMs = MONTH_MS, maxAnswer = mostOf(32) } = options;
  const memory = createResponseMemory(options);
  const others = sharing && followOthers(sharing, memory);
  /** @returns whether it was stored */
  const save = async (
    row: StoredResponseRow,
    onFault: (error: unknown) => void,
  ): Promise<boolean> => {
    const key = keyOf(row);
    others?.tell('saving', key);
    try {
      await store?.save(row);
      memory.noteSaved(row);
      return true;
    } catch (error) {
      onFault(error);
      if (!isClosed) retry ??= clock.startTimer(RETRY_MS, () => void saveAgain());
      return false;
    } finally {
      others?.tell('saved', key);
    }
  };
  /** Those of this process that are under way. */
  const saves = new Map<string, Promise<void>>();
  const beginSave = (row: StoredResponseRow, onFault = onFailure): Promise<boolean> => {
    const key = keyOf(row);
    // A large one takes a while; what comes behind it is newer.
    const before = saves.get(key);
    const saving =
      before === undefined ? save(row, onFault) : before.then(() => save(row, onFault));
    const saved = saving.then(() => {
      if (saves.get(key) === saved) saves.delete(key);
    });
    saves.set(key, saved);
    return saving;
  };
  let retry: Timer | undefined;
  let isClosed = false;
  const saveAgain = async (): Promise<void> => {
    retry = undefined;
    for (const row of memory.unsaved()) {
      // Another may stand in its place by now.
      if (saves.has(keyOf(row)) || !memory.isAlone(row)) continue;
      // It was said when it failed first.
      if (!(await beginSave(row, () => undefined))) return;
    }
  };
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
  /** Undefined for what is larger than an answer may be. */
  const rowOf = (
    clientKeyId: string,
    { runner: _runner, ...answer }: StoredResponse,
  ): StoredResponseRow | undefined => {
    const isRun = sharing !== undefined && answer.response.background === true;
    const runner = isRun ? { runner: sharing.cluster.replica } : {};
    const json = writeWithin({ ...answer, ...runner }, maxAnswer);
    if (json === undefined) {
      onFailure(new Error(`The answer ${answer.id} is too large to be kept.`));
      return undefined;
    }
    const expiresAt = clock.now() + lifetimeMs;
    return { clientKeyId, id: answer.id, json, itemIds: itemIdsOf(answer), expiresAt };
  };
  const putRow = (row: StoredResponseRow): void => {
    memory.put(row);
    void beginSave(row);
  };
  const put = (clientKeyId: string, answer: StoredResponse): boolean => {
    const row = rowOf(clientKeyId, answer);
    if (row === undefined) return false;
    const holder = { heldBytes: 0 };
    try {
      if (row.json.length > COUNTED_FROM) room?.take(holder, row.json.length);
    } catch (error) {
      onFailure(error);
      return false;
    }
    memory.put(row);
    void beginSave(row).finally(() => room?.release(holder));
    return true;
  };
  /** A client that one process told an id may ask another for it before that has heard of it. */
  const findAnywhere = async (
    start: string,
    look: () => Promise<string | undefined>,
  ): Promise<FoundResponse | undefined> => {
    await others?.saved(start);
    const found = await look();
    if (found !== undefined || others === undefined || !(await others.heard())) {
      return found === undefined ? undefined : readAnswer(found);
    }
    await others.saved(start);
    const later = await look();
    return later === undefined ? undefined : readAnswer(later);
  };
  const find = (clientKeyId: string, id: string): Promise<FoundResponse | undefined> => {
    const key = `${clientKeyId} ${id}`;
    return findAnywhere(
      key,
      async () => memory.find(key, clock.now()) ?? (await store?.find(clientKeyId, id)),
    );
  };
  const change = async (
    clientKeyId: string,
    id: string,
    make: ChangeOfAnswer,
  ): Promise<StoredResponse | undefined> => {
    const key = `${clientKeyId} ${id}`;
    let changed: StoredResponse | undefined;
    let fault: unknown;
    const rowsOf = (json: string): readonly StoredResponseRow[] => {
      try {
        const { size: _size, ...kept } = readAnswer(json);
        const made = make(kept);
        [changed] = made;
        return made.flatMap((answer) => rowOf(clientKeyId, answer) ?? []);
      } catch (error) {
        fault = error;
        throw error;
      }
    };
    await saves.get(key);
    const held = memory.find(key, clock.now());
    // What could not be stored is newer than what is.
    const isHeldAlone = held !== undefined && !memory.isSaved(key);
    const storing = isHeldAlone ? undefined : store?.change(clientKeyId, id, rowsOf);
    const rows = await storing?.catch((error: unknown) => {
      if (error === fault) throw error;
      onFailure(error);
      return undefined;
    });
    for (const row of rows ?? []) {
      memory.put(row);
      memory.noteSaved(row);
    }
    if (rows === undefined && held !== undefined) for (const row of rowsOf(held)) putRow(row);
    return changed;
  };
  /** One change at a time in all processes. */
  const changeInTurn = (clientKeyId: string, id: string, make: ChangeOfAnswer) => {
    const key = `${clientKeyId} ${id}`;
    // At once: who asks elsewhere from now on waits for it.
    others?.tell('saving', key);
    return inTurn(key, () => change(clientKeyId, id, make)).finally(() =>
      others?.tell('saved', key),
    );
  };
  /** @returns whether it stands so */
  const end = async (clientKeyId: string, ended: StoredResponse): Promise<boolean> => {
    const { response } = ended;
    const changed = await changeInTurn(clientKeyId, ended.id, (now) => [
      now.response.status === 'queued' ? { ...now, response } : now,
    ]);
    return changed === undefined || changed.response === response;
  };
  return {
    /** What could not be stored until now is lost. */
    close(): void {
      isClosed = true;
      retry?.cancel();
    },
    of: (clientKeyId: string) => ({
      /** Never waits or throws: what cannot be stored stays in memory. False for what there is no room to keep. */
      put: (answer: StoredResponse) => put(clientKeyId, answer),
      /** False for items that are too large to keep in one answer. */
      canKeep: (items: readonly JsonObject[]): boolean =>
        writeWithin(items, maxAnswer - ROOM_BESIDE_ITEMS) !== undefined,
      /**
       * Puts how one ended that was put as `queued`, unless it has ended otherwise by now. Resolves with whether it
       * stands so; undefined for what is too large to keep.
       */
      end(answer: StoredResponse): Promise<boolean> | undefined {
        const row = rowOf(clientKeyId, answer);
        if (row === undefined) return undefined;
        if (others !== undefined) return end(clientKeyId, answer);
        putRow(row);
        return Promise.resolve(true);
      },
      /**
       * Resolves when what was put or changed under these ids is stored, or takes too long; undefined where it is, or
       * no other process is there to be asked for it.
       */
      stored(ids: readonly string[]): Promise<unknown> | undefined {
        const keys = ids.map((id) => `${clientKeyId} ${id}`);
        const open = keys
          .flatMap((key) => [saves.get(key), changing.get(key)])
          .filter((work) => work !== undefined);
        if (open.length === 0 || others?.areThere() !== true) return undefined;
        return waitAtMost(clock, STORED_MS, Promise.all(open));
      },
      /** Waits for changes of this answer that were begun before. */
      async find(id: string): Promise<FoundResponse | undefined> {
        await changing.get(`${clientKeyId} ${id}`);
        return find(clientKeyId, id);
      },
      /** As `find`, of what any process may change: as the last of them left it. */
      async findLatest(id: string): Promise<FoundResponse | undefined> {
        const key = `${clientKeyId} ${id}`;
        await changing.get(key);
        await others?.heard();
        await others?.saved(key);
        const held = memory.find(key, clock.now());
        if (others === undefined || (held !== undefined && !memory.isSaved(key)))
          return find(clientKeyId, id);
        const stored = await store?.find(clientKeyId, id).catch((error: unknown) => {
          if (held === undefined) throw error;
          return held;
        });
        return stored === undefined ? find(clientKeyId, id) : readAnswer(stored);
      },
      /** The answer that holds an output item of this id. */
      findByItem: (itemId: string): Promise<FoundResponse | undefined> =>
        findAnywhere(
          `${clientKeyId} `,
          async () =>
            memory.findByItem(`${clientKeyId} ${itemId}`, clock.now()) ??
            (await store?.findByItem(clientKeyId, itemId)),
        ),
      /** False when there was none. In turn with the changes of this answer, so that none brings it back. */
      remove: (id: string) =>
        inTurn(`${clientKeyId} ${id}`, async () => {
          const key = `${clientKeyId} ${id}`;
          await others?.saved(key);
          await saves.get(key);
          const wasHeld = memory.remove(key);
          const wasStored = (await store?.remove(clientKeyId, id)) ?? false;
          others?.tell('removed', key);
          await others?.heard();
          return wasHeld || wasStored;
        }),
      /** Undefined when there is none to read. */
      change: (id: string, make: ChangeOfAnswer): Promise<StoredResponse | undefined> =>
        changeInTurn(clientKeyId, id, make),
    }),
  };
}

export type ConnectionResponses = ReturnType<typeof createConnectionResponses>;

/** Unstored answers of open connections; the least recently used leave the memory they share first. */
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
      /** What the latest turn goes on from. */
      let referenced: string | undefined;
      return {
        /** The answers of the connection and those of its client key, for one turn. */
        over(stored: ResponseStore): ResponseStore {
          referenced = undefined;
          return {
            ...stored,
            putUnstored(answer) {
              ids.push(answer.id);
              return own.put(answer);
            },
            async find(id) {
              // The first one asked for; behind it come those it went on from itself.
              referenced ??= id;
              return (await own.find(id)) ?? stored.find(id);
            },
            findByItem: async (id) => (await own.findByItem(id)) ?? stored.findByItem(id),
          };
        },
        /** As the real service after an error (developers.openai.com, "WebSocket mode"). */
        forgetReferenced(): void {
          if (referenced !== undefined) void own.remove(referenced);
        },
        /** Forgets the answers of the connection. */
        close(): void {
          for (const id of ids.splice(0)) void own.remove(id);
        },
      };
    },
  };
}

/** Undefined where the JSON text would be longer. It is a copy of all that was asked and answered: none is made in vain. */
function writeWithin(value: unknown, maxLength: number): string | undefined {
  if (sizeOf(value, 0) > maxLength) return undefined;
  relieveMemory();
  const json = JSON.stringify(value);
  return json.length > maxLength ? undefined : json;
}

/** The one narrowing: this text was written by `put`, and a store gives back what it was given. */
function readAnswer(json: string): FoundResponse {
  return { ...(JSON.parse(json) as StoredResponse), size: json.length };
}

function itemIdsOf({ response }: StoredResponse): readonly string[] {
  const { output } = response;
  if (!Array.isArray(output)) return [];
  return output.filter(isJsonObject).flatMap(({ id }) => (typeof id === 'string' ? [id] : []));
}

export interface StoredResponseRow {
  readonly clientKeyId: string;
  readonly id: string;
  /** The answer as JSON text. */
  readonly json: string;
  readonly itemIds: readonly string[];
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

function keyOf({ clientKeyId, id }: StoredResponseRow): string {
  return `${clientKeyId} ${id}`;
}

/** Least recently used answers go first; one that is larger than the whole memory is not held. */
function createResponseMemory({
  maxEntries = 2000,
  maxMemory = mostOf(64),
}: Pick<ResponseStoresOptions, 'maxEntries' | 'maxMemory'>) {
  const rows = new Map<string, StoredResponseRow>();
  /** What the store has as well. */
  const saved = new WeakSet<StoredResponseRow>();
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
  /** Held, and not in the store. */
  const isAlone = (row: StoredResponseRow): boolean =>
    rows.get(keyOf(row)) === row && !saved.has(row);
  return {
    put(row: StoredResponseRow): void {
      const key = keyOf(row);
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
    noteSaved: (row: StoredResponseRow): void => void saved.add(row),
    unsaved: (): readonly StoredResponseRow[] => [...rows.values()].filter(isAlone),
    isAlone,
    isSaved(key: string): boolean {
      const row = rows.get(key);
      return row !== undefined && saved.has(row);
    },
    /** What is held here alone stays. */
    forgetSaved(): void {
      for (const [key, row] of rows) if (saved.has(row)) drop(key);
    },
  };
}

interface StoreSharing {
  readonly cluster: Pick<Cluster, 'replica' | 'notices' | 'state' | 'subscribe'>;
  readonly clock: Pick<Clock, 'startTimer'>;
}

interface StoreNotice {
  /** Told before and behind each save: what was saved elsewhere is found once it is, and not as it was before. */
  readonly kind: 'saving' | 'saved' | 'removed';
  readonly key: string;
}

const TOPIC: Topic<StoreNotice> = { name: 'stored responses 1' };
/** A save that takes longer is not waited for. */
const SAVE_MS = 2000;
/** Nor is it by the client of an answer, for much less. */
const STORED_MS = 500;
/** Who has not answered by then hangs, or is gone. */
const HEARD_MS = 300;

/** What other processes save and remove. Keys are `<client key> <id>`. */
function followOthers(
  { cluster, clock }: StoreSharing,
  memory: ReturnType<typeof createResponseMemory>,
) {
  const saving = new Map<string, { readonly promise: Promise<void>; end(): void }>();
  const begin = (key: string): void => {
    saving.get(key)?.end();
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = clock.startTimer(SAVE_MS, () => one.end());
    const one = {
      promise,
      end(): void {
        timer.cancel();
        if (saving.get(key) === one) saving.delete(key);
        resolve();
      },
    };
    saving.set(key, one);
  };
  const areThere = (): boolean => cluster.state().replicas.length > 1;
  const { heard } = createHearing({ cluster, clock, subject: 'responses', mostMs: HEARD_MS });
  cluster.notices.listen(TOPIC, {
    take({ kind, key }) {
      memory.remove(key);
      if (kind === 'saving') begin(key);
      else saving.get(key)?.end();
    },
    catchUp: () => memory.forgetSaved(),
  });
  return {
    areThere,
    tell(kind: StoreNotice['kind'], key: string): void {
      if (areThere()) cluster.notices.tell(TOPIC, { kind, key });
    },
    heard,
    /** Resolves when what others were saving under keys of this beginning is in the store. */
    async saved(start: string): Promise<void> {
      if (saving.size === 0) return;
      const waited = [...saving].filter(([key]) => key.startsWith(start));
      await Promise.all(waited.map(([, { promise }]) => promise));
    },
  };
}
