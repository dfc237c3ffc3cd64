// Records of requests and their usage in SQLite.

import { sql } from 'kysely';
import type { RequestRecord } from '../../monitor/record.ts';
import {
  type MinuteSum,
  type RequestStore,
  type RetentionLimits,
  type TimeSpan,
  USAGE_FIGURES,
  type UsageGroup,
  type UsageRow,
} from '../../monitor/request-store.ts';
import { type QuarterSum, sumByQuarter } from '../../monitor/usage.ts';
import { listRequests } from './monitor-lists.ts';
import { fromStored, LISTED_COLUMNS, toBodiesRow, toRequestsRow } from './monitor-rows.ts';
import { builder } from './schema.ts';
import {
  createGiveBackRoom,
  createInserter,
  type Queries,
  type SqliteConnection,
} from './session.ts';

/** What one step of a removal takes, whichever comes first: a few milliseconds of work. */
const REMOVED_AT_ONCE = 500;
const BYTES_AT_ONCE = 4_194_304;
/** Spans whose usage is summed before others get their turn. */
const SPANS_AT_ONCE = 32;
const MINUTE_MS = 60_000;

export function createMonitorStore(
  connection: SqliteConnection,
  monotonic: () => number,
): RequestStore {
  const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  /** Bytes of all records; summed up once, then kept by what is written and removed. */
  let stored: number | undefined;
  let isReducing = false;
  let isShrinking = false;
  const giveBackRoom = createGiveBackRoom();
  const saveRecords = createRecordWriter();
  const remove = (before: number, how: typeof removeOldest): Promise<number> =>
    connection.write('crash', (queries) => {
      const removed = how(queries, before);
      if (stored !== undefined) stored -= removed.bytes;
      return removed.count;
    });
  return {
    save: (records) =>
      connection.write('crash', (queries) => {
        const added = saveRecords(queries, records);
        if (stored !== undefined) stored += added;
      }),
    list: (filter, page) => listRequests({ connection, monotonic, pause }, filter, page),
    find: (id) => connection.read((queries) => findRecord(queries, id)),
    async usage(spans, by) {
      const rows: UsageRow[] = [];
      for (let from = 0; from < spans.length; from += SPANS_AT_ONCE) {
        const some = spans.slice(from, from + SPANS_AT_ONCE);
        rows.push(...(await connection.read((queries) => sumSpans(queries, { some, by }))));
        await pause();
      }
      return rows;
    },
    minutes: (span) => connection.read((queries) => sumMinutes(queries, span)),
    async sweep(limits) {
      stored ??= await connection.read((queries) => sumBytes(queries));
      if (stored > limits.maxBytes) isReducing = true;
      if (stored <= limits.reducedBytes) isReducing = false;
      const before = isReducing ? Number.MAX_SAFE_INTEGER : limits.oldest;
      if ((await remove(before, removeOldest)) > 0) return false;
      await connection.write('crash', (queries) => removeOldUsage(queries, limits));
      const isSmaller = (await connection.write('crash', giveBackRoom)) > 0;
      // The file itself becomes smaller when its log is brought into it.
      if (isShrinking && !isSmaller) await connection.emptyLog();
      isShrinking = isSmaller;
      return !isSmaller;
    },
    async removeBefore(at) {
      let total = 0;
      for (;;) {
        const removed = await remove(at, eraseOldest);
        total += removed;
        if (removed === 0) break;
        await pause();
      }
      // What was removed stands in the log of the database still.
      if (total > 0) await connection.emptyLog();
      return total;
    },
  };
}

function findRecord(queries: Queries, id: string): RequestRecord | undefined {
  const candidates = builder
    .selectFrom('requests')
    .select([...LISTED_COLUMNS, 'details', 'sequence'])
    .where((eb) =>
      eb.or([
        eb('requestId', '=', id),
        eb.and([eb('id', '=', id), eb('id', '<>', eb.ref('requestId'))]),
      ]),
    )
    .orderBy('sequence', 'desc');
  const found = queries.rows(candidates.limit(20));
  const chosen = found.find((one) => one.id === id) ?? found[0];
  if (chosen === undefined) return undefined;
  const { sequence, ...row } = chosen;
  const [bodies] = queries.rows(
    builder.selectFrom('request_bodies').selectAll().where('sequence', '=', sequence),
  );
  return fromStored(row, bodies);
}

function sumSpans(
  queries: Queries,
  { some, by }: { readonly some: readonly TimeSpan[]; readonly by: UsageGroup },
): UsageRow[] {
  const column = GROUP_COLUMNS[by];
  return some.flatMap(({ from, to }) => {
    const rows = queries.rows(
      builder
        .selectFrom('usage_sums')
        .select(({ fn, val, ref }) => [
          val(from).as('at'),
          (column === undefined ? val('') : ref(column)).as('group'),
          ...USAGE_FIGURES.map((name) => fn.sum<number>(name).as(name)),
          // Beside a maximum SQLite gives the other columns of its row (sqlite.org/lang_select.html, "bare columns").
          sql`max(iif(key_name is null, null, at))`.as('namedAt'),
          'keyName',
        ])
        .where('at', '>=', from)
        .where('at', '<', to)
        .groupBy('group')
        .orderBy('group'),
    );
    return rows.map(({ keyName, namedAt: _, ...row }) =>
      by === 'key' && keyName !== undefined ? { ...row, groupName: keyName } : row,
    );
  });
}

/** Along the index of times. */
function sumMinutes(queries: Queries, { from, to }: TimeSpan): readonly MinuteSum[] {
  return queries
    .rows(
      builder
        .selectFrom('requests')
        .select(({ fn }) => [
          sql<number>`at - at % ${sql.lit(MINUTE_MS)}`.as('minute'),
          fn.countAll<number>().as('requests'),
          sql<number>`sum(outcome = 'error')`.as('errors'),
          sql<number>`sum(ifnull(input_tokens, 0) + ifnull(output_tokens, 0))`.as('tokens'),
        ])
        .where('at', '>=', from)
        .where('at', '<', to)
        .groupBy('minute')
        .orderBy('minute'),
    )
    .map(({ minute, ...sums }) => ({ at: minute, ...sums }));
}

const GROUP_COLUMNS = {
  model: 'model',
  account: 'account',
  key: 'keyId',
  protocol: 'protocol',
  none: undefined,
} as const;

function sumBytes(queries: Queries): number {
  const sum = builder
    .selectFrom('requests')
    .select(({ fn }) => fn.sum<number>('bytes').as('bytes'));
  return queries.rows(sum)[0]?.bytes ?? 0;
}

/** Bodies go with their record. */
function removeOldest(
  queries: Queries,
  before: number,
): { readonly count: number; readonly bytes: number } {
  const oldest = queries.rows(
    builder
      .selectFrom('requests')
      .select(['sequence', 'bytes'])
      .where('at', '<', before)
      .orderBy('at')
      .orderBy('sequence')
      .limit(REMOVED_AT_ONCE),
  );
  let count = 0;
  let removed = 0;
  for (const { sequence, bytes } of oldest) {
    queries.run(builder.deleteFrom('requests').where('sequence', '=', sequence));
    count += 1;
    removed += bytes;
    if (removed >= BYTES_AT_ONCE) break;
  }
  return { count, bytes: removed };
}

/** As `removeOldest`, but nothing of it can be read in the file: whoever removes prompts wants them gone. */
function eraseOldest(queries: Queries, before: number): ReturnType<typeof removeOldest> {
  queries.exec('pragma secure_delete = on');
  try {
    return removeOldest(queries, before);
  } finally {
    queries.exec('pragma secure_delete = off');
  }
}

function removeOldUsage(queries: Queries, { oldestUsage }: RetentionLimits): void {
  queries.run(builder.deleteFrom('usage_sums').where('at', '<', oldestUsage));
}

/** Saves records in one transaction of the caller's. @returns the bytes that were added, about */
function createRecordWriter() {
  const newest = builder.selectFrom('requests').select('sequence').orderBy('sequence', 'desc');
  const last = newest.limit(1).compile();
  const insertRequest = createInserter<NewRequest>(
    ['sequence', ...LISTED_COLUMNS, 'bytes', 'details'],
    (row) => builder.insertInto('requests').values(row).compile(),
  );
  const insertBodies = createInserter<NewBodies>(
    ['sequence', 'clientRequest', 'upstreamRequest', 'response', 'isWhole'],
    (row) => builder.insertInto('request_bodies').values(row).compile(),
  );
  const addUsage = createInserter<QuarterSum>([...GROUPED, ...USAGE_FIGURES, 'keyName'], (row) =>
    addToSum(row).compile(),
  );
  return (queries: Queries, records: readonly RequestRecord[]): number => {
    let sequence = queries.rows({ compile: () => last })[0]?.sequence ?? 0;
    let added = 0;
    for (const record of records) {
      sequence += 1;
      const bodies = record.bodies && toBodiesRow(record.bodies);
      const row = toRequestsRow(record, bodies === undefined ? 0 : sizeOf(bodies));
      insertRequest(queries, { sequence, ...row });
      if (bodies !== undefined) insertBodies(queries, { sequence, ...bodies });
      added += row.bytes;
    }
    for (const sum of sumByQuarter(records)) addUsage(queries, sum);
    return added;
  };
}

function sizeOf({ clientRequest, upstreamRequest, response }: ReturnType<typeof toBodiesRow>) {
  const texts = [clientRequest, upstreamRequest, response];
  return texts.reduce((sum, text = '') => sum + Buffer.byteLength(text), 0);
}

type NewRequest = { readonly sequence: number } & ReturnType<typeof toRequestsRow>;
type NewBodies = { readonly sequence: number } & ReturnType<typeof toBodiesRow>;

const GROUPED = ['at', 'model', 'account', 'keyId', 'protocol'] as const;

/** Writes a sum, or adds it to the one that stands there. */
function addToSum(row: QuarterSum) {
  return builder
    .insertInto('usage_sums')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(GROUPED).doUpdateSet(({ eb, fn, ref }) => ({
        ...Object.fromEntries(
          USAGE_FIGURES.map((name) => [
            name,
            eb(ref(`usage_sums.${name}`), '+', ref(`excluded.${name}`)),
          ]),
        ),
        keyName: fn.coalesce('excluded.keyName', 'usage_sums.keyName'),
      })),
    );
}
