// Records refused requests and console sign-ins: bounded, saved in batches.

import type { Clock } from '../lib/clock.ts';
import { changeTexts, messageSchema } from '../lib/localized-message.ts';
import type { LineLog } from '../lib/log.ts';
import { COUNT, named, optional, TEXT, type ValueOf } from '../lib/object-schema.ts';
import { UNBOUNDED, WriteBehind } from '../lib/write-behind.ts';

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

/** Up to the last that a date can be. */
export const TIME = {
  ...COUNT,
  maximum: 8_640_000_000_000_000,
  description: 'Milliseconds since the epoch.',
} as const;

export const ACCESS_ENTRY_SCHEMA = named('AccessEntry', {
  /** Rises with time. */
  id: { type: 'integer' },
  at: TIME,
  verdict: { enum: ACCESS_VERDICTS },
  address: TEXT,
  method: TEXT,
  path: TEXT,
  keyId: optional(TEXT),
  reason: messageSchema('What the client was told.'),
});

export type StoredAccessEntry = ValueOf<typeof ACCESS_ENTRY_SCHEMA>;
export type AccessEntry = Omit<StoredAccessEntry, 'id'>;

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

interface AccessLogOptions {
  readonly store: AccessLogStore;
  readonly clock: Clock;
  readonly redactorFor: RedactorFor;
  readonly log: LineLog;
}

export type RedactorFor = (credentials: readonly string[]) => { text(text: string): string };

/** How every write of this folder waits: all that came within a second leaves at once. */
export const WRITES = { delayMs: 1_000, batch: UNBOUNDED, limit: UNBOUNDED } as const;
const MAX_ENTRIES = 10_000;
const MAX_WAITING = 1_000;
const MAX_CHARACTERS = 256;

export function createAccessLog(options: AccessLogOptions) {
  const { store, clock, redactorFor, log } = options;
  const queue = new WriteBehind<AccessEntry>({
    clock,
    log,
    save: (entries) => store.add(entries, MAX_ENTRIES),
    ...WRITES,
    limit: { count: MAX_WAITING, size: Infinity },
    failure: 'The access log cannot be saved; requests go on without it.',
  });
  return {
    /** Entries given up because they came faster than they could be saved. */
    get dropped(): number {
      return queue.dropped;
    },
    /** @param credentials all that the request showed: they stand nowhere in its entry */
    add(entry: Omit<AccessEntry, 'at'>, credentials: readonly string[] = []): void {
      const redactor = redactorFor(credentials);
      // Cut last: the beginning of a credential would not be known for one.
      const clean = (text: string): string => redactor.text(text).slice(0, MAX_CHARACTERS);
      const { path, reason } = entry;
      queue.add({
        ...entry,
        path: clean(path),
        reason: changeTexts(reason, clean),
        at: clock.now(),
      });
    },
    async list(page: AccessPage): Promise<readonly StoredAccessEntry[]> {
      await queue.flush();
      return store.list(page);
    },
    close: async () => void (await queue.close()),
  };
}
