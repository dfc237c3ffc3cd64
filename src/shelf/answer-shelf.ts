// Answers kept for later requests of the same client key: memory in front of a durable store.

import type { Clock } from '../lib/clock.ts';
import type { JsonObject } from '../lib/json.ts';
import { createShelfMemory, type KeptAnswerRow } from './shelf-memory.ts';

export type { KeptAnswerRow } from './shelf-memory.ts';

export interface KeptAnswer {
  readonly id: string;
  /** The answer this one went on from. */
  readonly previousId?: string | undefined;
  /** The items of the request, without those of the answers before. */
  readonly input: readonly JsonObject[];
  /** The whole response object, with its output. */
  readonly response: JsonObject;
}

export interface FoundAnswer extends KeptAnswer {
  /** Length of its JSON text in UTF-16 units. */
  readonly size: number;
}

/** The answers of one client key; no other key's can be seen through it. */
export interface AnswerShelf {
  /**
   * Never waits and never throws: what cannot be stored is kept in memory alone. False for what is
   * larger than an answer may be: it is not kept.
   */
  put(answer: KeptAnswer): boolean;
  /** Waits for changes of this answer that were begun before. */
  find(id: string): Promise<FoundAnswer | undefined>;
  /** The answer that holds an output item of this id. */
  findByItem(itemId: string): Promise<FoundAnswer | undefined>;
  /** False when there was none. In turn with the changes of this answer, so that none brings it back. */
  remove(id: string): Promise<boolean>;
  /**
   * Replaces an answer by what `change` makes of it, one change after the other. Undefined when there
   * is none, or when the store could not read it.
   */
  change(id: string, change: (answer: KeptAnswer) => KeptAnswer): Promise<KeptAnswer | undefined>;
}

/** Durable storage of answers; rows older than their lifetime are not given. */
export interface KeptAnswerStore {
  save(row: KeptAnswerRow): Promise<void>;
  /** The JSON text of the answer. */
  find(clientKeyId: string, id: string): Promise<string | undefined>;
  findByItem(clientKeyId: string, itemId: string): Promise<string | undefined>;
  remove(clientKeyId: string, id: string): Promise<boolean>;
}

export interface AnswerShelvesOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly store?: KeptAnswerStore | undefined;
  /** Told of answers that could not be stored. */
  readonly onFailure: (error: unknown) => void;
  readonly maxEntries?: number | undefined;
  /** Of all answers in memory together, in UTF-16 units of their JSON text. */
  readonly maxMemory?: number | undefined;
  /** Of one answer, in the same units. */
  readonly maxAnswer?: number | undefined;
  readonly lifetimeMs?: number | undefined;
}

export interface AnswerShelves {
  of(clientKeyId: string): AnswerShelf;
}

const MONTH_MS = 30 * 86_400_000;
const MEMORY_UNITS = 64 * 1024 * 1024;
const ANSWER_UNITS = 32 * 1024 * 1024;

/** Least recently used answers leave the memory first; the store keeps them for `lifetimeMs` (30 days). */
export function createAnswerShelves(options: AnswerShelvesOptions): AnswerShelves {
  const { clock, store, onFailure, lifetimeMs = MONTH_MS, maxAnswer = ANSWER_UNITS } = options;
  const memory = createShelfMemory({
    maxEntries: options.maxEntries ?? 2000,
    maxUnits: options.maxMemory ?? MEMORY_UNITS,
  });
  const changing = new Map<string, Promise<unknown>>();
  const inTurn = <Result>(key: string, work: () => Promise<Result>): Promise<Result> => {
    const done = (changing.get(key) ?? Promise.resolve()).then(work);
    const settled = done
      .catch(() => undefined)
      .then(() => {
        if (changing.get(key) === settled) changing.delete(key);
      });
    changing.set(key, settled);
    return done;
  };
  const put = (clientKeyId: string, answer: KeptAnswer): boolean => {
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
  const find = async (clientKeyId: string, id: string): Promise<FoundAnswer | undefined> => {
    const held = memory.find(`${clientKeyId} ${id}`, clock.now());
    return readAnswer(held ?? (await store?.find(clientKeyId, id)));
  };
  return {
    of: (clientKeyId) => ({
      put: (answer) => put(clientKeyId, answer),
      async find(id) {
        await changing.get(`${clientKeyId} ${id}`);
        return find(clientKeyId, id);
      },
      async findByItem(itemId) {
        const held = memory.findByItem(`${clientKeyId} ${itemId}`, clock.now());
        return readAnswer(held ?? (await store?.findByItem(clientKeyId, itemId)));
      },
      remove: (id) =>
        inTurn(`${clientKeyId} ${id}`, async () => {
          const wasHeld = memory.remove(`${clientKeyId} ${id}`);
          const wasStored = (await store?.remove(clientKeyId, id)) ?? false;
          return wasHeld || wasStored;
        }),
      change: (id, change) =>
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

/** The one narrowing: this text was written by `put`, and a store gives back what it was given. */
function readAnswer(json: string | undefined): FoundAnswer | undefined {
  if (json === undefined) return undefined;
  return { ...(JSON.parse(json) as KeptAnswer), size: json.length };
}

function itemIdsOf({ response }: KeptAnswer): readonly string[] {
  const { output } = response;
  if (!Array.isArray(output)) return [];
  return output.flatMap((item) =>
    typeof item === 'object' && item !== null && 'id' in item && typeof item.id === 'string'
      ? [item.id]
      : [],
  );
}
