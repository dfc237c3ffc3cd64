// Pages of request records, found in small steps so that nothing else waits long for a search.

import {
  type Expression,
  type ExpressionBuilder,
  type ExpressionWrapper,
  type SqlBool,
  sql,
} from 'kysely';
import { isWildcard } from '../../lib/names.ts';
import type { RequestRow } from '../../monitor/record.ts';
import {
  type PagePosition,
  type PageRequest,
  type RequestFilter,
  type RequestPage,
  readCursor,
  writeCursor,
} from '../../monitor/request-store.ts';
import { fromRequestsRow, LISTED_COLUMNS } from './monitor-rows.ts';
import type { QueryBuilder, Tables } from './schema.ts';
import type { Queries, SqliteConnection } from './session.ts';

// What of the records a filter takes, as SQL, and how a search goes about it.

/** Records one step looks at, a few milliseconds of work: they are passed over in their index. */
const STEP = 20_000;
/** The same where bodies, which may be long, are looked through. */
const BODY_STEP = 100;
/** Ids that hold what is searched for are found first; with more, each record is asked for its own. */
const MAX_IDS = 1000;

interface Search {
  /** Records one step looks at. */
  readonly step: number;
  readonly matches: IdMatches;
  /** Whether any body is kept, to be looked through too. */
  readonly hasBodies: boolean;
}

/** Sequences, as JSON, of the records whose ids hold what is searched for; undefined: each is asked. */
type IdMatches = string | undefined;

interface SearchSources {
  readonly connection: SqliteConnection;
  readonly builder: QueryBuilder;
}

/** What a search needs to know before its first step. */
async function planSearch(
  { connection, builder }: SearchSources,
  { search }: RequestFilter,
): Promise<Search> {
  if (search === undefined) return { step: STEP, matches: undefined, hasBodies: false };
  const anyBody = builder.selectFrom('request_bodies').select('sequence').limit(1);
  return connection.read((queries) => {
    const hasBodies = queries.rows(anyBody).length > 0;
    const matches = matchIds(queries, builder, search);
    return { step: hasBodies ? BODY_STEP : STEP, matches, hasBodies };
  });
}

/** Along the indexes of ids, which hold nothing else. */
function matchIds(queries: Queries, builder: QueryBuilder, search: string): IdMatches {
  const pattern = likePattern(search);
  const given = builder
    .selectFrom('requests')
    .select('sequence')
    .where(({ fn, val }) => fn<SqlBool>('like', [val(pattern), 'request_id', val('\\')]))
    .limit(MAX_IDS + 1);
  const own = builder
    .selectFrom('requests')
    .select('sequence')
    .where('id', '<>', ({ ref }) => ref('request_id'))
    .where(({ fn, val }) => fn<SqlBool>('like', [val(pattern), 'id', val('\\')]))
    .limit(MAX_IDS + 1);
  const found = [...queries.rows(given), ...queries.rows(own)];
  return found.length > MAX_IDS ? undefined : JSON.stringify(found.map((row) => row.sequence));
}

type Place = ExpressionBuilder<Tables, 'requests'>;

/** Everything of the filter but the time. */
function narrow(
  eb: Place,
  { filter, ...found }: Pick<Search, 'matches' | 'hasBodies'> & { readonly filter: RequestFilter },
): ExpressionWrapper<Tables, 'requests', SqlBool> {
  const { status, protocol, surface, model, account, key, search } = filter;
  const all: Expression<SqlBool>[] = [];
  if (status?.kind === 'outcome') all.push(eb('outcome', '=', status.outcome));
  if (status?.kind === 'range') all.push(eb.between('status', status.least, status.most));
  if (protocol !== undefined) all.push(eb('protocol', '=', protocol));
  if (surface !== undefined) all.push(eb('surface', '=', surface));
  if (model !== undefined)
    all.push(eb.or([isNamed(eb, 'model', model), isNamed(eb, 'upstream_model', model)]));
  if (account !== undefined) all.push(isNamed(eb, 'account', account));
  if (key !== undefined) all.push(eb.or([eb('key_id', '=', key), isNamed(eb, 'key_name', key)]));
  if (search !== undefined) all.push(holds(eb, search, found));
  return eb.and(all);
}

type NameColumn = 'model' | 'upstream_model' | 'account' | 'key_name';

/** A name as it is, or with `*` for any run of characters, then in any case. */
function isNamed(eb: Place, column: NameColumn, name: string): Expression<SqlBool> {
  if (!isWildcard(name)) return eb(column, '=', name);
  const patterns = casesOf(name).map((one) => one.split('*').map(escapeLike).join('%'));
  return eb.or(patterns.map((pattern) => eb.fn<SqlBool>('like', likeOf(eb, pattern, column))));
}

const SEARCHED_IDS = ['id', 'request_id'] as const;
const SEARCHED = ['model', 'upstream_model', 'account', 'path', 'error'] as const;
type SearchedColumn = NameColumn | (typeof SEARCHED)[number] | (typeof SEARCHED_IDS)[number];
const SEARCHED_BODIES = ['client_request', 'upstream_request', 'response'] as const;

function holds(
  eb: Place,
  search: string,
  { matches, hasBodies }: Pick<Search, 'matches' | 'hasBodies'>,
): ExpressionWrapper<Tables, 'requests', SqlBool> {
  const spellings = casesOf(search);
  const columns = matches === undefined ? [...SEARCHED, ...SEARCHED_IDS] : SEARCHED;
  const places: Expression<SqlBool>[] = columns.flatMap((column) =>
    spellings.map((one) => eb.fn<SqlBool>('like', likeOf(eb, likePattern(one), column))),
  );
  if (matches !== undefined && matches !== '[]') {
    places.push(sql<SqlBool>`requests.sequence in (select value from json_each(${matches}))`);
  }
  if (hasBodies) places.push(isInBodies(eb, spellings));
  return eb.or(places);
}

/** Bodies are JSON, in which quotes, backslashes and line ends stand escaped. */
function isInBodies(eb: Place, spellings: readonly string[]) {
  const escaped = spellings.map((one) => JSON.stringify(one).slice(1, -1));
  const patterns = [...new Set([...spellings, ...escaped])].map(likePattern);
  return eb.exists(
    eb
      .selectFrom('request_bodies')
      .select('request_bodies.sequence')
      .whereRef('request_bodies.sequence', '=', 'requests.sequence')
      .where((bodies) =>
        bodies.or(
          SEARCHED_BODIES.flatMap((column) =>
            patterns.map((pattern) =>
              bodies.fn<SqlBool>('like', [bodies.val(pattern), column, bodies.val('\\')]),
            ),
          ),
        ),
      ),
  );
}

function likeOf(eb: Place, pattern: string, column: SearchedColumn) {
  return [eb.val(pattern), column, eb.val('\\')] as const;
}

/** SQLite knows the case of ASCII letters alone: with others a text is looked for in each usual one. */
function casesOf(text: string): readonly string[] {
  if (!/[\u0080-\uffff]/.test(text)) return [text];
  const lower = text.toLowerCase();
  const [first = ''] = lower;
  const asName = `${first.toUpperCase()}${lower.slice(first.length)}`;
  return [...new Set([text, lower, asName, text.toUpperCase()])];
}

/** `like(pattern, text, escape)` is the function behind the operator (https://www.sqlite.org/lang_corefunc.html#like). */
function likePattern(search: string): string {
  return `%${escapeLike(search)}%`;
}

function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, (sign) => `\\${sign}`);
}

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
