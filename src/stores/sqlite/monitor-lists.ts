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
import { builder, type Tables } from './schema.ts';
import type { Queries, SqliteConnection } from './session.ts';

/** Records one step looks at, a few milliseconds of work: they are passed over in their index. */
const STEP = 20_000;
/** The same where bodies, which may be long, are looked through. */
const BODY_STEP = 100;
/** Ids that hold what is searched for are found first; with more, each record is asked for its own. */
const MAX_IDS = 1000;

interface Search {
  readonly filter: RequestFilter;
  /** Records one step looks at. */
  readonly step: number;
  /** Sequences, as JSON, of the records whose ids hold what is searched for; undefined: each is asked. */
  readonly matches: string | undefined;
  /** Whether any body is kept, to be looked through too. */
  readonly hasBodies: boolean;
}

/** What a search needs to know before its first step. */
async function planSearch(connection: SqliteConnection, filter: RequestFilter): Promise<Search> {
  const { search } = filter;
  if (search === undefined) return { filter, step: STEP, matches: undefined, hasBodies: false };
  const anyBody = builder.selectFrom('request_bodies').select('sequence').limit(1);
  return connection.read((queries) => {
    const hasBodies = queries.rows(anyBody).length > 0;
    const matches = matchIds(queries, search);
    return { filter, step: hasBodies ? BODY_STEP : STEP, matches, hasBodies };
  });
}

/** Along the indexes of ids, which hold nothing else. */
function matchIds(queries: Queries, search: string): Search['matches'] {
  const pattern = likePattern(search);
  const sequences = builder
    .selectFrom('requests')
    .select('sequence')
    .limit(MAX_IDS + 1);
  const given = sequences.where((eb) => isLike(eb, pattern, 'requestId'));
  const own = sequences.whereRef('id', '<>', 'requestId').where((eb) => isLike(eb, pattern, 'id'));
  const found = [...queries.rows(given), ...queries.rows(own)];
  return found.length > MAX_IDS ? undefined : JSON.stringify(found.map((row) => row.sequence));
}

type Place = ExpressionBuilder<Tables, 'requests'>;
type Condition = ExpressionWrapper<Tables, 'requests', SqlBool>;
type SearchedPlaces = Omit<Search, 'step'>;

/** Everything of the filter but the time. */
function narrow(eb: Place, { filter, ...found }: SearchedPlaces): Condition {
  const { status, protocol, surface, model, account, key, search } = filter;
  const all: Expression<SqlBool>[] = [];
  if (status?.kind === 'outcome') all.push(eb('outcome', '=', status.outcome));
  if (status?.kind === 'range') all.push(eb.between('status', status.least, status.most));
  if (protocol !== undefined) all.push(eb('protocol', '=', protocol));
  if (surface !== undefined) all.push(eb('surface', '=', surface));
  if (model !== undefined)
    all.push(eb.or([isNamed(eb, 'model', model), isNamed(eb, 'upstreamModel', model)]));
  if (account !== undefined) all.push(isNamed(eb, 'account', account));
  if (key !== undefined) all.push(eb.or([eb('keyId', '=', key), isNamed(eb, 'keyName', key)]));
  if (search !== undefined) all.push(holds(eb, search, found));
  return eb.and(all);
}

type NameColumn = 'model' | 'upstreamModel' | 'account' | 'keyName';

/** A name as it is, or with `*` for any run of characters, then in any case. */
function isNamed(eb: Place, column: NameColumn, name: string): Expression<SqlBool> {
  if (!isWildcard(name)) return eb(column, '=', name);
  const patterns = casesOf(name).map((one) => one.split('*').map(escapeLike).join('%'));
  return eb.or(patterns.map((pattern) => isLike(eb, pattern, column)));
}

const SEARCHED_IDS = ['id', 'requestId'] as const;
const SEARCHED = ['model', 'upstreamModel', 'account', 'path', 'error'] as const;
type SearchedColumn = NameColumn | (typeof SEARCHED)[number] | (typeof SEARCHED_IDS)[number];
const SEARCHED_BODIES = ['clientRequest', 'upstreamRequest', 'response'] as const;

function holds(
  eb: Place,
  search: string,
  { matches, hasBodies }: Omit<SearchedPlaces, 'filter'>,
): Condition {
  const spellings = casesOf(search);
  const columns = matches === undefined ? [...SEARCHED, ...SEARCHED_IDS] : SEARCHED;
  const places: Expression<SqlBool>[] = columns.flatMap((column) =>
    spellings.map((one) => isLike(eb, likePattern(one), column)),
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

/** `like(pattern, text, escape)` is the function behind the operator (https://www.sqlite.org/lang_corefunc.html#like). */
function isLike(eb: Place, pattern: string, column: SearchedColumn): Expression<SqlBool> {
  return eb.fn<SqlBool>('like', [eb.val(pattern), column, eb.val('\\')]);
}

/** SQLite knows the case of ASCII letters alone: with others a text is looked for in each usual one. */
function casesOf(text: string): readonly string[] {
  if (!/[\u0080-\uffff]/.test(text)) return [text];
  const lower = text.toLowerCase();
  const [first = ''] = lower;
  const asName = `${first.toUpperCase()}${lower.slice(first.length)}`;
  return [...new Set([text, lower, asName, text.toUpperCase()])];
}

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
const PLACE = ['requests.at', 'requests.sequence'] as const;
const LISTED = LISTED_COLUMNS.map((column) => `requests.${column}` as const);

export interface ListSources {
  readonly connection: SqliteConnection;
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
  const search = await planSearch(sources.connection, filter);
  const rows: RequestRow[] = [];
  let position = start;
  const find = (queries: Queries, from: PagePosition | undefined) =>
    readStep(queries, { ...search, from, limit: limit - rows.length });
  for await (const found of inSteps(sources, { start, patienceMs: PATIENCE_MS, take: find })) {
    rows.push(...found.rows);
    position = found.next;
    if (rows.length >= limit) break;
  }
  return {
    rows,
    nextCursor: position && writeCursor(position),
    total: await countAll(sources, search, { start, position, found: rows.length }),
  };
}

interface Way<Taken> {
  readonly start: PagePosition | undefined;
  readonly patienceMs: number;
  /** One step, in a transaction that may be tried again. */
  take(queries: Queries, from: PagePosition | undefined): Taken;
}

/** One step after the other, until nothing is left or it took too long. */
async function* inSteps<Taken extends { readonly next: PagePosition | undefined }>(
  { connection, monotonic, pause }: ListSources,
  { start, patienceMs, take }: Way<Taken>,
): AsyncGenerator<Taken> {
  const until = monotonic() + patienceMs;
  let from = start;
  for (;;) {
    const place = from;
    const taken = await connection.read((queries) => take(queries, place));
    yield taken;
    from = taken.next;
    if (from === undefined || monotonic() >= until) return;
    await pause();
  }
}

/** Where a page began and where it ended; undefined for the beginning and the end of all. */
interface ListedPage {
  readonly start: PagePosition | undefined;
  readonly position: PagePosition | undefined;
  readonly found: number;
}

/**
 * What a first page passed over holds nothing but its rows: only the rest is counted then. Undefined when it
 * takes too long; always so for a search through bodies of many records.
 */
async function countAll(
  sources: ListSources,
  search: Search,
  { start, position, found }: ListedPage,
): Promise<number | undefined> {
  const isPlain = NARROWING.every((field) => search.filter[field] === undefined);
  const isWhole = start !== undefined || isPlain;
  if (!isWhole && position === undefined) return found;
  let total = isWhole ? 0 : found;
  // Without a filter the index alone is counted, which needs no steps.
  const steps = isPlain ? { ...search, step: undefined } : search;
  const count = (queries: Queries, from: PagePosition | undefined) => {
    const { query, next } = openStep(queries, { ...steps, from });
    const counted = query.clearOrderBy().select(({ fn }) => fn.countAll<number>().as('count'));
    return { next, count: queries.rows(counted)[0]?.count ?? 0 };
  };
  let end = isWhole ? undefined : position;
  const way = { start: end, patienceMs: COUNT_PATIENCE_MS, take: count };
  for await (const counted of inSteps(sources, way)) {
    total += counted.count;
    end = counted.next;
  }
  return end === undefined ? total : undefined;
}

const NARROWING = ['status', 'protocol', 'surface', 'model', 'account', 'key', 'search'] as const;

interface Step extends SearchedPlaces {
  /** Undefined to look at all at once. */
  readonly step: number | undefined;
  /** Only what stands behind it. */
  readonly from: PagePosition | undefined;
}

function readStep(queries: Queries, { limit, ...step }: Step & { readonly limit: number }) {
  const { query, next } = openStep(queries, step);
  const found = queries.rows(query.select([...LISTED, 'requests.sequence']).limit(limit + 1));
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const isFull = found.length > limit && last !== undefined;
  return {
    rows: page.map(({ sequence: _, ...row }) => fromRequestsRow(row)),
    next: isFull ? last : next,
  };
}

/**
 * The records one step looks at, of the time asked for and behind a place, latest first, along the index of
 * times; and where the next step goes on.
 */
function openStep(queries: Queries, { from, step, ...search }: Step) {
  const { from: earliest, to: latest } = search.filter;
  let span = builder
    .selectFrom('requests')
    .orderBy('requests.at', 'desc')
    .orderBy('requests.sequence', 'desc');
  if (earliest !== undefined) span = span.where('requests.at', '>=', earliest);
  if (latest !== undefined) span = span.where('requests.at', '<', latest);
  if (from !== undefined) span = span.where((eb) => isPlaced(eb, '<', from));
  const [next] = step === undefined ? [] : queries.rows(span.select(PLACE).limit(1).offset(step));
  const query = span.where((eb) => narrow(eb, search));
  return {
    query: next === undefined ? query : query.where((eb) => isPlaced(eb, '>=', next)),
    next,
  };
}

function isPlaced(
  { eb, refTuple, tuple }: Place,
  operator: '<' | '>=',
  { at, sequence }: PagePosition,
): Expression<SqlBool> {
  return eb(refTuple(...PLACE), operator, tuple(at, sequence));
}
