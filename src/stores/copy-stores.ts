// Copies all that one database holds into another, empty one: in batches, and on from where it was interrupted.

import { sql } from 'kysely';
import { StoreError } from '../accounts/account-store.ts';
import { told } from '../lib/localized-message.ts';
import { SUMMED_BY } from '../monitor/usage.ts';
import { holdsOtherData } from './data-key.ts';
import {
  columnOf,
  type Database,
  firstOf,
  insert,
  put,
  rowsOf,
  runScript,
  type Work,
} from './database.ts';
import type { Tables } from './schema.ts';

/** Where copies were made of: the same when the copy goes on, another for any other data. */
interface CopySource {
  readonly database: Database;
  readonly id: string;
}

interface CopyTarget {
  readonly database: Database;
  /** What messages call it. */
  readonly name: string;
}

interface CopyOptions {
  readonly source: CopySource;
  readonly target: CopyTarget;
  onProgress(progress: CopiedTable): void;
}

export interface CopiedTable {
  readonly table: string;
  readonly copied: number;
  readonly total: number;
}

interface CopiedTableShape {
  readonly table: keyof Tables;
  readonly key: readonly string[];
  /** Rows at once; fewer where they are long. */
  readonly batch?: number;
}

/** Rows stand behind those they hang at. What is of a process that runs, as leases are, is not copied. */
const COPIED: readonly CopiedTableShape[] = [
  { table: 'accounts', key: ['rowid'] },
  { table: 'credentials', key: ['accountId'] },
  { table: 'account_health', key: ['accountId'] },
  { table: 'account_quotas', key: ['accountId', 'modelId'] },
  { table: 'signatures', key: ['sequence'] },
  { table: 'call_traces', key: ['sequence'], batch: 50 },
  { table: 'session_bindings', key: ['sequence'] },
  { table: 'client_keys', key: ['sequence'] },
  { table: 'client_key_use', key: ['keyId'] },
  { table: 'client_key_secrets', key: ['digest'] },
  { table: 'budgets', key: ['sequence'] },
  { table: 'budget_uses', key: ['budgetId', 'at'] },
  { table: 'client_key_addresses', key: ['keyId', 'address'] },
  { table: 'address_rules', key: ['sequence'] },
  { table: 'access_log', key: ['id'] },
  { table: 'audit_log', key: ['id'] },
  { table: 'people', key: ['sequence'] },
  { table: 'invitations', key: ['sequence'] },
  { table: 'console_sessions', key: ['hash'] },
  { table: 'requests', key: ['sequence'] },
  { table: 'removed_requests', key: ['name'] },
  { table: 'request_bodies', key: ['sequence'], batch: 20 },
  { table: 'usage_sums', key: [...SUMMED_BY] },
  { table: 'attempt_sums', key: ['at', 'account'] },
  { table: 'kept_answers', key: ['rowid'], batch: 20 },
  { table: 'kept_pieces', key: ['writing', 'piece'], batch: 20 },
  { table: 'kept_items', key: ['clientKey', 'itemId'] },
];
const BATCH = 1000;

/** The name of the row of `settings` that says how far a copy is. */
const PROGRESS = 'copy of another database';

interface Progress {
  readonly source: string;
  /** The tables that are whole. */
  readonly done: readonly string[];
  /** The key of the last row that was copied of the next one. */
  readonly last: readonly unknown[] | undefined;
}

/** @returns what was copied. @throws StoreError `conflict` when the target holds other data than of this copy */
export async function copyStores(options: CopyOptions): Promise<readonly CopiedTable[]> {
  const { source, target } = options;
  let progress = await readProgress(options);
  for (const shape of COPIED) {
    if (progress.done.includes(shape.table)) continue;
    progress = await copyTable(shape, progress, options);
  }
  const copied: CopiedTable[] = [];
  for (const { table } of COPIED) {
    const total = await countRows(source.database, table);
    const found = await countRows(target.database, table);
    if (found !== total) {
      const message = told`The copy is not whole: of ${table} the database ${target.name} has ${found} rows, not ${total}. Was the data folder used meanwhile? Begin anew with an empty database.`;
      throw new StoreError('conflict', message);
    }
    copied.push({ table, copied: found, total });
  }
  return copied;
}

async function readProgress({ source, target }: CopyOptions): Promise<Progress> {
  const query = sql<{ document: string }>`select document from settings where name = ${PROGRESS}`;
  const found = await target.database.read(() => firstOf(query));
  if (found !== undefined) {
    // The one narrowing of this file: it wrote them.
    const progress = JSON.parse(found.document) as Progress;
    if (progress.source === source.id) return progress;
  }
  let isEmpty = found === undefined;
  for (const { table } of COPIED) {
    isEmpty &&= (await countRows(target.database, table)) === 0;
  }
  if (isEmpty) return { source: source.id, done: [], last: undefined };
  throw holdsOtherData(target.name);
}

/** Each batch is saved together with how far it is. */
async function copyTable(
  { table, key, batch = BATCH }: CopiedTableShape,
  begun: Progress,
  { source, target, onProgress }: CopyOptions,
): Promise<Progress> {
  const total = await countRows(source.database, table);
  let copied = begun.last === undefined ? 0 : await countRows(target.database, table);
  let progress = begun;
  for (;;) {
    const { last } = progress;
    const rows = await source.database.read(() => rowsOf(nextRows(table, { key, last, batch })));
    const isDone = rows.length < batch;
    const next: Progress = {
      source: source.id,
      done: isDone ? [...progress.done, table] : progress.done,
      last: isDone ? undefined : keyOf(rows.at(-1), key),
    };
    await target.database.write('power-cut', function* () {
      yield* insert(table, rows);
      yield* noteProgress(next);
      if (isDone) yield* target.database.dialect.continueSequences(table);
      // Else what reads many rows goes the wrong way until the database looks by itself.
      if (isDone) yield* runScript(`analyze ${table}`);
    });
    copied += rows.length;
    onProgress({ table, copied, total });
    progress = next;
    if (isDone) return progress;
  }
}

function* noteProgress(progress: Progress): Work<void> {
  const document = JSON.stringify(progress);
  yield* put('settings', [{ name: PROGRESS, revision: 0, document }]);
}

function keyOf(row: object | undefined, key: readonly string[]): readonly unknown[] {
  const fields: Readonly<Record<string, unknown>> = { ...row };
  return key.map((name) => fields[name]);
}

interface Piece extends Required<Pick<CopiedTableShape, 'key' | 'batch'>> {
  readonly last: readonly unknown[] | undefined;
}

function nextRows(table: keyof Tables, { key, last, batch }: Piece) {
  const columns = key.map((name) => sql.ref(columnOf(name)));
  const order = sql.join(columns);
  const behind =
    last === undefined
      ? sql``
      : sql`where (${order}) > (${sql.join(last.map((one) => sql`${one}`))})`;
  const place = key.includes('rowid') ? sql`rowid, ` : sql``;
  return sql<
    Record<string, unknown>
  >`select ${place}* from ${sql.table(table)} ${behind} order by ${order} limit ${sql.lit(batch)}`;
}

async function countRows(database: Database, table: keyof Tables): Promise<number> {
  const query = sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`;
  return (await database.read(() => firstOf(query)))?.count ?? 0;
}
