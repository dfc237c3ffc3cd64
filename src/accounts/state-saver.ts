// Saves the health and quotas of stored accounts behind requests: soon, together, and again after a failure.

import type { Clock } from '../lib/clock.ts';
import { told } from '../lib/localized-message.ts';
import type { LineLog } from '../lib/log.ts';
import { UNBOUNDED, WriteBehind } from '../lib/write-behind.ts';
import type { Account } from './account.ts';
import { type AccountStore, StoreError } from './account-store.ts';

export interface AccountLog extends LineLog {
  error(fields: object, message: string): void;
}

interface StateSaverOptions {
  readonly store: Pick<AccountStore, 'saveHealth' | 'saveQuotas'>;
  readonly find: (id: string) => Account | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: AccountLog;
}

/** `health` is all of it but the status. */
export type SavedPart = 'status' | 'health' | 'quotas';

export type StateSaver = ReturnType<typeof createStateSaver>;

interface Mark {
  readonly id: string;
  readonly parts: ReadonlySet<SavedPart>;
}

const DELAY_MS = 500;
const FIRST_RETRY_MS = 1000;
const MAX_RETRY_MS = 60_000;
const CLOSING_TRIES = 3;

export function createStateSaver(options: StateSaverOptions) {
  const { clock, random, log } = options;
  const queue = new WriteBehind<Mark>({
    clock,
    log,
    save: (marks, retryOnly) => saveMarks(marks, options, retryOnly),
    keyOf: ({ id }) => id,
    merge: (older, newer) => ({ id: newer.id, parts: older.parts.union(newer.parts) }),
    delayMs: DELAY_MS,
    retryMs(failures) {
      const base = Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), MAX_RETRY_MS);
      return base * (0.5 + random() / 2);
    },
    batch: UNBOUNDED,
    limit: UNBOUNDED,
    failure: 'Cooldowns and quotas could not be saved; it is tried again.',
    onRecovery: () => log.info({}, 'The state of the accounts is saved again.'),
  });
  return {
    /** Many marks of one account before it is saved are one write. */
    mark: (id: string, part: SavedPart) => void queue.add({ id, parts: new Set([part]) }),
    unsavedStatuses: (): ReadonlySet<string> =>
      new Set(queue.entries().flatMap(({ id, parts }) => (parts.has('status') ? [id] : []))),
    /** Saves all that is marked now. @throws StoreError `unavailable` when some of it could not be. */
    async flush() {
      try {
        await queue.flush();
      } catch {
        throw new StoreError('unavailable', told`The state of the accounts could not be saved.`);
      }
    },
    /** Saves what is left; what still cannot be saved is logged. Never rejects. */
    async close() {
      for (let tries = 1; tries < CLOSING_TRIES; tries += 1) {
        await queue.flush().catch(() => undefined);
      }
      const left = await queue.close();
      if (left.length === 0) return;
      const accounts = left.slice(0, 10).map(({ id }) => id);
      log.error(
        { accounts, count: left.length },
        'The last cooldowns and quotas of some accounts could not be saved; they are learned anew.',
      );
    },
  };
}

/** One account that cannot be saved holds back no other, but an unavailable store ends the pass. */
async function saveMarks(
  marks: readonly Mark[],
  options: StateSaverOptions,
  retryOnly: (left: readonly Mark[]) => void,
): Promise<void> {
  const left: Mark[] = [];
  let fault: unknown;
  for (const [index, mark] of marks.entries()) {
    try {
      await saveMark(mark, options);
    } catch (error) {
      fault = error;
      left.push(mark);
      if (!(error instanceof StoreError) || error.fault !== 'unavailable') continue;
      left.push(...marks.slice(index + 1));
      break;
    }
  }
  if (left.length === 0) return;
  retryOnly(left);
  throw fault;
}

async function saveMark({ id, parts }: Mark, { store, find }: StateSaverOptions): Promise<void> {
  try {
    const account = find(id);
    if (account === undefined) return;
    const keeps = parts.has('status') ? undefined : 'status';
    if (keeps === undefined || parts.has('health'))
      await store.saveHealth(id, account.health, keeps);
    const { quotas } = find(id) ?? account;
    if (parts.has('quotas')) {
      const kept = [...quotas].filter(([, { source }]) => source !== 'rate');
      await store.saveQuotas(id, new Map(kept));
    }
  } catch (error) {
    if (error instanceof StoreError && error.fault === 'missing') return;
    throw error;
  }
}
