// Pages of request records, found in small steps so that nothing else waits long for a search.

import { type PagePosition, readCursor, writeCursor } from '../../monitor/page-cursor.ts';
import type { RequestRow } from '../../monitor/request-record.ts';
import type { PageRequest, RequestFilter, RequestPage } from '../../monitor/request-store.ts';
import type { SqliteConnection } from './connection.ts';
import { narrow, planSearch, type Search } from './monitor-filter.ts';
import { fromRequestsRow, LISTED_COLUMNS } from './monitor-rows.ts';
import type { QueryBuilder } from './schema.ts';
import type { Queries } from './session.ts';

/** A search goes on so long; then it gives what it found and the place to go on from. */
const PATIENCE_MS = 1500;
/** Counting gives up sooner: the page is what was asked for. */
const COUNT_PATIENCE_MS = 300;
/** With the place of the record in the list. */
const LISTED = [
  'requests.sequence',
  ...LISTED_COLUMNS.map((column) => `requests.${column}` as const),
] as const;

export interface ListSources {
  readonly connection: SqliteConnection;
  readonly builder: QueryBuilder;
  readonly monotonic: () => number;
  /** Lets everything else have its turn. */
  readonly pause: () => Promise<void>;
}

export async function listRequests(
  sources: ListSources,
  filter: RequestFilter,
  { limit, cursor }: PageRequest,
): Promise<RequestPage> {
  const start = cursor === undefined ? undefined : readCursor(cursor);
  const search = await planSearch(sources, filter);
  const until = sources.monotonic() + PATIENCE_MS;
  const rows: RequestRow[] = [];
  let position = start;
  for (;;) {
    const from = position;
    const missing = limit - rows.length;
    const found = await sources.connection.read((queries) =>
      readStep(queries, sources.builder, { ...search, filter, from, limit: missing }),
    );
    rows.push(...found.rows);
    position = found.next;
    if (position === undefined || rows.length >= limit) break;
    if (sources.monotonic() >= until) break;
    await sources.pause();
  }
  return {
    rows,
    nextCursor: position === undefined ? undefined : writeCursor(position),
    total: await countAll(sources, { ...search, filter, start, position, found: rows.length }),
  };
}

interface Listed extends Search {
  readonly filter: RequestFilter;
  /** Where the page began and where it ended; undefined for the beginning and the end of all. */
  readonly start: PagePosition | undefined;
  readonly position: PagePosition | undefined;
  readonly found: number;
}

/** What a first page passed over holds nothing but its rows: only the rest is counted then. */
async function countAll(
  sources: ListSources,
  { start, position, found, ...search }: Listed,
): Promise<number | undefined> {
  if (start !== undefined || isPlain(search.filter)) {
    return countRequests(sources, { ...search, from: undefined });
  }
  if (position === undefined) return found;
  const rest = await countRequests(sources, { ...search, from: position });
  return rest === undefined ? undefined : found + rest;
}

interface Step extends Search {
  readonly filter: RequestFilter;
  /** Only what stands behind it. */
  readonly from: PagePosition | undefined;
  readonly limit: number;
}

interface StepResult {
  readonly rows: readonly RequestRow[];
  /** Where to go on; undefined when there is nothing more. */
  readonly next: PagePosition | undefined;
}

function readStep(queries: Queries, builder: QueryBuilder, options: Step): StepResult {
  const { limit } = options;
  const span = spanQuery(builder, options);
  const end = queries.rows(
    span.select(['requests.at', 'requests.sequence']).limit(1).offset(options.step),
  )[0];
  const found = queries.rows(
    span
      .select(LISTED)
      .where((place) => narrow(place, options))
      .$if(end !== undefined, (query) =>
        query.where(({ eb, refTuple, tuple }) =>
          eb(
            refTuple('requests.at', 'requests.sequence'),
            '>=',
            tuple(end?.at ?? 0, end?.sequence ?? 0),
          ),
        ),
      )
      .limit(limit + 1),
  );
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const isFull = found.length > limit && last !== undefined;
  return { rows: page.map(fromRequestsRow), next: isFull ? last : end };
}

/** The records of the time asked for behind a place, latest first, along the index of times. */
function spanQuery(builder: QueryBuilder, { filter, from }: Pick<Step, 'filter' | 'from'>) {
  const { from: earliest, to: latest } = filter;
  return builder
    .selectFrom('requests')
    .$if(earliest !== undefined, (query) => query.where('requests.at', '>=', earliest ?? 0))
    .$if(latest !== undefined, (query) => query.where('requests.at', '<', latest ?? 0))
    .$if(from !== undefined, (query) =>
      query.where(({ eb, refTuple, tuple }) =>
        eb(
          refTuple('requests.at', 'requests.sequence'),
          '<',
          tuple(from?.at ?? 0, from?.sequence ?? 0),
        ),
      ),
    )
    .orderBy('requests.at', 'desc')
    .orderBy('requests.sequence', 'desc');
}

/** Counts from a place on. Undefined when it takes too long; always so for a search through bodies of many records. */
async function countRequests(
  sources: ListSources,
  { from: start, ...search }: Omit<Step, 'limit'>,
): Promise<number | undefined> {
  const { connection, builder, monotonic, pause } = sources;
  const until = monotonic() + COUNT_PATIENCE_MS;
  let total = 0;
  let from = start;
  for (;;) {
    const counted = await connection.read((queries) =>
      countStep(queries, builder, { ...search, from, limit: 0 }),
    );
    total += counted.count;
    from = counted.next;
    if (from === undefined) return total;
    if (monotonic() >= until) return undefined;
    await pause();
  }
}

function countStep(
  queries: Queries,
  builder: QueryBuilder,
  options: Step,
): { readonly count: number; readonly next: PagePosition | undefined } {
  const span = spanQuery(builder, options);
  // Without a filter the index alone is counted, which needs no steps.
  const end = isPlain(options.filter)
    ? undefined
    : queries.rows(
        span.select(['requests.at', 'requests.sequence']).limit(1).offset(options.step),
      )[0];
  const counted = queries.rows(
    span
      .clearOrderBy()
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where((place) => narrow(place, options))
      .$if(end !== undefined, (query) =>
        query.where(({ eb, refTuple, tuple }) =>
          eb(
            refTuple('requests.at', 'requests.sequence'),
            '>=',
            tuple(end?.at ?? 0, end?.sequence ?? 0),
          ),
        ),
      ),
  );
  return { count: counted[0]?.count ?? 0, next: end };
}

const NARROWING = ['status', 'protocol', 'surface', 'model', 'account', 'key', 'search'] as const;

function isPlain(filter: RequestFilter): boolean {
  return NARROWING.every((field) => filter[field] === undefined);
}
