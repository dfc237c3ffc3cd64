// Pages of request records, found in small steps so that nothing else waits long for a search.

import type { ExpressionBuilder, ExpressionWrapper, SqlBool } from 'kysely';
import { type PagePosition, readCursor, writeCursor } from '../../monitor/page-cursor.ts';
import type { RequestRow } from '../../monitor/request-record.ts';
import type { PageRequest, RequestFilter, RequestPage } from '../../monitor/request-store.ts';
import type { SqliteConnection } from './connection.ts';
import { fromRequestsRow } from './monitor-rows.ts';
import type { QueryBuilder, Tables } from './schema.ts';
import type { Queries } from './session.ts';

/** Records one step looks at. */
const STEP = 4000;
/** The same where bodies, which may be long, are looked through. */
const BODY_STEP = 100;
/** A search goes on so long; then it gives what it found and the place to go on from. */
const PATIENCE_MS = 1500;
/** Counting gives up sooner: the page is what was asked for. */
const COUNT_PATIENCE_MS = 300;

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
  const step = await stepFor(sources, filter);
  const until = sources.monotonic() + PATIENCE_MS;
  const rows: RequestRow[] = [];
  let position = start;
  for (;;) {
    const from = position;
    const missing = limit - rows.length;
    const found = await sources.connection.read((queries) =>
      readStep(queries, sources.builder, { filter, from, step, limit: missing }),
    );
    rows.push(...found.rows);
    position = found.next;
    if (position === undefined || rows.length >= limit) break;
    if (sources.monotonic() >= until) break;
    await sources.pause();
  }
  const nextCursor = position === undefined ? undefined : writeCursor(position);
  return { rows, nextCursor, total: await countRequests(sources, filter) };
}

interface Step {
  readonly filter: RequestFilter;
  /** Only what stands behind it. */
  readonly from: PagePosition | undefined;
  readonly step: number;
  readonly limit: number;
}

interface StepResult {
  readonly rows: readonly RequestRow[];
  /** Where to go on; undefined when there is nothing more. */
  readonly next: PagePosition | undefined;
}

function readStep(queries: Queries, builder: QueryBuilder, options: Step): StepResult {
  const { filter, limit } = options;
  const span = spanQuery(builder, options);
  const end = queries.rows(
    span.select(['requests.at', 'requests.sequence']).limit(1).offset(options.step),
  )[0];
  const found = queries.rows(
    span
      .selectAll('requests')
      .where((place) => narrow(place, filter))
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

type Place = ExpressionBuilder<Tables, 'requests'>;

/** Everything of the filter but the time. */
function narrow(eb: Place, filter: RequestFilter): ExpressionWrapper<Tables, 'requests', SqlBool> {
  const { status, protocol, surface, model, account, key, search } = filter;
  const all: ExpressionWrapper<Tables, 'requests', SqlBool>[] = [];
  if (status?.kind === 'outcome') all.push(eb('outcome', '=', status.outcome));
  if (status?.kind === 'range') all.push(eb.between('status', status.least, status.most));
  if (protocol !== undefined) all.push(eb('protocol', '=', protocol));
  if (surface !== undefined) all.push(eb('surface', '=', surface));
  if (model !== undefined)
    all.push(eb.or([eb('model', '=', model), eb('upstream_model', '=', model)]));
  if (account !== undefined) all.push(eb('account', '=', account));
  if (key !== undefined) all.push(eb.or([eb('key_id', '=', key), eb('key_name', '=', key)]));
  if (search !== undefined) all.push(holds(eb, search));
  return eb.and(all);
}

const SEARCHED = [
  'id',
  'request_id',
  'model',
  'upstream_model',
  'account',
  'path',
  'error',
] as const;
const SEARCHED_BODIES = ['client_request', 'upstream_request', 'response'] as const;

function holds(eb: Place, search: string): ExpressionWrapper<Tables, 'requests', SqlBool> {
  const pattern = likePattern(search);
  const inBodies = eb.exists(
    eb
      .selectFrom('request_bodies')
      .select('request_bodies.sequence')
      .whereRef('request_bodies.sequence', '=', 'requests.sequence')
      .where((bodies) =>
        bodies.or(
          SEARCHED_BODIES.map((column) =>
            bodies.fn<SqlBool>('like', [bodies.val(pattern), column, bodies.val('\\')]),
          ),
        ),
      ),
  );
  const inRow = SEARCHED.map((column) =>
    eb.fn<SqlBool>('like', [eb.val(pattern), column, eb.val('\\')]),
  );
  return eb.or([...inRow, inBodies]);
}

/** `like(pattern, text, escape)` is the function behind the operator (https://www.sqlite.org/lang_corefunc.html#like). */
function likePattern(search: string): string {
  return `%${search.replace(/[\\%_]/g, (sign) => `\\${sign}`)}%`;
}

async function stepFor(
  { connection, builder }: ListSources,
  filter: RequestFilter,
): Promise<number> {
  if (filter.search === undefined) return STEP;
  const anyBody = builder.selectFrom('request_bodies').select('sequence').limit(1);
  return connection.read((queries) => (queries.rows(anyBody).length > 0 ? BODY_STEP : STEP));
}

/** Undefined when it takes too long; always so for a search through bodies of many records. */
async function countRequests(
  sources: ListSources,
  filter: RequestFilter,
): Promise<number | undefined> {
  const { connection, builder, monotonic, pause } = sources;
  const step = await stepFor(sources, filter);
  const until = monotonic() + COUNT_PATIENCE_MS;
  let total = 0;
  let from: PagePosition | undefined;
  for (;;) {
    const counted = await connection.read((queries) =>
      countStep(queries, builder, { filter, from, step, limit: 0 }),
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
  const isPlain = NARROWING.every((field) => options.filter[field] === undefined);
  // Without a filter the index alone is counted, which needs no steps.
  const end = isPlain
    ? undefined
    : queries.rows(
        span.select(['requests.at', 'requests.sequence']).limit(1).offset(options.step),
      )[0];
  const counted = queries.rows(
    span
      .clearOrderBy()
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where((place) => narrow(place, options.filter))
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
