// Remembers who was turned away at the door, and who signed in: bounded, saved in batches.

import type { Clock } from '../lib/clock.ts';
import { type Batch, createBatch, type DoorLog } from './batch.ts';

export const ACCESS_VERDICTS = [
  'blocked',
  'unauthenticated',
  'rejected',
  'throttled',
  'signed-in',
] as const;

/**
 * `blocked` by an address rule · `unauthenticated` without a right key or password · `rejected` by a
 * rule of its key, or as a foreign web page · `throttled` after too many tries · `signed-in`.
 */
export type AccessVerdict = (typeof ACCESS_VERDICTS)[number];

export interface AccessEntry {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly verdict: AccessVerdict;
  readonly address: string;
  readonly method: string;
  readonly path: string;
  /** Id of the client key, where one was known. */
  readonly keyId: string | undefined;
  /** What the client was told. */
  readonly reason: string;
}

export interface StoredAccessEntry extends AccessEntry {
  /** Rises with time. */
  readonly id: number;
}

interface AccessPage {
  readonly verdict?: AccessVerdict | undefined;
  /** Only entries before this id. */
  readonly before?: number | undefined;
  readonly limit: number;
}

/** Every method may throw StoreError. */
export interface AccessLogStore {
  /** Keeps the latest `most` in all. */
  add(entries: readonly AccessEntry[], most: number): Promise<void>;
  /** The latest first. */
  list(page: AccessPage): Promise<readonly StoredAccessEntry[]>;
}

export interface AccessLog {
  /** @param credentials all that the request showed: they stand nowhere in its entry */
  add(entry: Omit<AccessEntry, 'at'>, credentials?: readonly string[]): void;
  list(page: AccessPage): Promise<readonly StoredAccessEntry[]>;
  /** Entries given up because they came faster than they could be saved. */
  readonly dropped: number;
  close(): Promise<void>;
}

export interface AccessLogOptions {
  readonly store: AccessLogStore | undefined;
  readonly clock: Clock;
  readonly redactorFor?: RedactorFor | undefined;
  readonly log?: DoorLog | undefined;
}

/** Gives what takes these credentials out of a text, and those of the gateway. */
export type RedactorFor = (credentials: readonly string[]) => { text(text: string): string };

const MOST_ENTRIES = 10_000;
const MOST_WAITING = 1_000;
const MOST_CHARACTERS = 256;

export function createAccessLog(options: AccessLogOptions): AccessLog {
  const { store, clock, redactorFor, log } = options;
  const target = store ?? createMemoryLog();
  let waiting: AccessEntry[] = [];
  let dropped = 0;
  const save = async (): Promise<void> => {
    const taken = waiting;
    waiting = [];
    try {
      if (taken.length > 0) await target.add(taken, MOST_ENTRIES);
    } catch (error) {
      dropped += Math.max(0, taken.length + waiting.length - MOST_WAITING);
      waiting = [...taken, ...waiting].slice(-MOST_WAITING);
      throw error;
    }
  };
  const batch: Batch = createBatch({ clock, title: 'The access log', save, log });
  return {
    get dropped() {
      return dropped;
    },
    add(entry, credentials = []) {
      // The oldest go: whoever looks for trouble looks at what happened last.
      if (waiting.length >= MOST_WAITING) {
        waiting.shift();
        dropped += 1;
      }
      const redactor = redactorFor?.(credentials);
      // Cut last: the beginning of a credential would not be known for one.
      const clean = (text: string): string =>
        (redactor?.text(text) ?? text).slice(0, MOST_CHARACTERS);
      const { path, reason } = entry;
      waiting.push({ ...entry, path: clean(path), reason: clean(reason), at: clock.now() });
      batch.touch();
    },
    async list(page) {
      await save();
      return target.list(page);
    },
    close: () => batch.close(),
  };
}

function createMemoryLog(): AccessLogStore {
  let entries: StoredAccessEntry[] = [];
  let nextId = 1;
  return {
    async add(added, most) {
      entries.push(...added.map((entry) => ({ ...entry, id: nextId++ })));
      entries = entries.slice(-most);
    },
    async list({ verdict, before = Number.POSITIVE_INFINITY, limit }) {
      return entries
        .filter((entry) => entry.id < before && (verdict ?? entry.verdict) === entry.verdict)
        .slice(-limit)
        .reverse();
    },
  };
}
