// Records of requests and their usage in a database: their rows, the pages of a search, sums and removals.

import {
  type Expression,
  type ExpressionBuilder,
  type ExpressionWrapper,
  type SqlBool,
  sql,
} from 'kysely';
import type { ReceiptEntry } from '../canonical/receipt.ts';
import type { Clock } from '../lib/clock.ts';
import { asSentence } from '../lib/localized-message.ts';
import { isWildcard } from '../lib/names.ts';
import {
  type AttemptEntry,
  REQUEST_ROW_FIELDS,
  type ReceiptCounts,
  type RequestBodies,
  type RequestDetails,
  type RequestRecord,
  type RequestRow,
} from '../monitor/record.ts';
import {
  type MinuteSum,
  type NamedGroup,
  type PagePosition,
  type PageRequest,
  type RequestFilter,
  type RequestPage,
  type RequestStore,
  readCursor,
  type SumRequest,
  type TimeSpan,
  USAGE_FIGURES,
  type UsageRow,
  writeCursor,
} from '../monitor/request-store.ts';
import { readTags, writeTags } from '../monitor/usage.ts';
import { PRICE_BASES } from '../pricing/prices.ts';
import {
  type Database,
  type Dialect,
  firstOf,
  fromColumns,
  insert,
  rowsOf,
  toColumns,
  type Work,
} from './database.ts';
import { builder, type TableRow, type Tables } from './schema.ts';
import {
  breakDown,
  type FirstPart,
  hasTag,
  hullOf,
  RankedGroups,
  readAttempts,
  removeUsage,
  rollUp,
  type StepRequest,
  saveUsage,
  sumFirst,
  sumLeading,
  sumSpans,
  TIMINGS,
  TimedGroups,
  timeSpans,
  UsageGroups,
  weighFirst,
} from './usage-sums.ts';

// What a record is in its tables.

type ListedColumn = Exclude<keyof RequestRow, 'receipt'> | keyof ReceiptCounts | 'errorParts';

const { receipt, ...PLAIN } = REQUEST_ROW_FIELDS;
const LISTED_COLUMNS = [
  ...Object.keys(PLAIN),
  ...Object.keys(receipt.properties),
  'errorParts',
] as readonly ListedColumn[];

type ListedRow = Pick<TableRow<'requests'>, ListedColumn>;

/** What a row costs besides its texts. */
const ROW_BYTES = 200;

/** @param bodyBytes of its bodies */
function toRequestsRow({ row, details: given }: RequestRecord, bodyBytes: number) {
  const { receipt: counts, error: sentence, tags: list } = row;
  const details = JSON.stringify(given);
  const [error, errorParts] = sentence === undefined ? [] : toColumns(sentence);
  const texts = [error, errorParts, details];
  const written = texts.reduce((sum, text = '') => sum + Buffer.byteLength(text), 0);
  const bytes = ROW_BYTES + row.path.length + row.model.length + written + bodyBytes;
  const tags = list && writeTags(list);
  return { ...row, ...counts, tags, error, errorParts, bytes, details };
}

export function fromRequestsRow(row: ListedRow): RequestRow {
  const { dropped, approximated, repaired, tags, error, errorParts, ...plain } = row;
  return {
    ...plain,
    stream: plain.stream === 1,
    outcome: REQUEST_ROW_FIELDS.outcome.enum.find((known) => known === plain.outcome) ?? 'error',
    costBasis: PRICE_BASES.find((known) => known === plain.costBasis),
    tags: tags === undefined ? undefined : readTags(tags),
    receipt: { dropped, approximated, repaired },
    error: error === undefined ? undefined : fromColumns(error, errorParts),
  };
}

function toBodiesRow(bodies: RequestBodies) {
  const { clientRequest, upstreamRequest, response, upstreamResponse, clientResponse } = bodies;
  const parts = [clientRequest, upstreamRequest, response, upstreamResponse, clientResponse];
  return {
    clientRequest: clientRequest?.text,
    upstreamRequest: upstreamRequest?.text,
    response: response && JSON.stringify(response.blocks),
    upstreamResponse: upstreamResponse?.text,
    clientResponse: clientResponse?.text,
    isWhole: parts.reduce((bits, part, index) => bits | (part?.isWhole ? 1 << index : 0), 0),
  };
}

function fromStored(
  { details, ...row }: ListedRow & Pick<TableRow<'requests'>, 'details'>,
  bodies: TableRow<'request_bodies'> | undefined,
): RequestRecord {
  return {
    row: fromRequestsRow(row),
    details: readDetails(details),
    bodies: bodies && fromBodiesRow(bodies),
  };
}

function readDetails(text: string): RequestDetails {
  // The one narrowing of this file: it wrote them.
  const details = JSON.parse(text) as WrittenDetails;
  return {
    ...details,
    attemptsList: details.attemptsList.map(({ detail, ...attempt }) => ({
      ...attempt,
      detail: detail === undefined ? undefined : asSentence(detail),
    })),
    receiptEntries: details.receiptEntries.map(({ reason, ...entry }) => ({
      ...entry,
      reason: asSentence(reason),
    })),
  };
}

type WithText<Entry, Key extends keyof Entry> = Omit<Entry, Key> & {
  readonly [Name in Key]: Entry[Name] | string;
};

/** Earlier versions wrote texts alone. */
interface WrittenDetails extends Omit<RequestDetails, 'attemptsList' | 'receiptEntries'> {
  readonly attemptsList: readonly WithText<AttemptEntry, 'detail'>[];
  readonly receiptEntries: readonly WithText<ReceiptEntry, 'reason'>[];
}

function fromBodiesRow(row: TableRow<'request_bodies'>): RequestBodies {
  const { clientRequest, upstreamRequest, response, isWhole } = row;
  const { upstreamResponse, clientResponse } = row;
  const whole = (index: number) => ({ isWhole: (isWhole & (1 << index)) !== 0 });
  const body = (text: string | undefined, index: number) =>
    text === undefined ? undefined : { text, ...whole(index) };
  return {
    clientRequest: body(clientRequest, 0),
    upstreamRequest: body(upstreamRequest, 1),
    response: response === undefined ? undefined : { blocks: JSON.parse(response), ...whole(2) },
    upstreamResponse: body(upstreamResponse, 3),
    clientResponse: body(clientResponse, 4),
  };
}

// Pages are found in small steps, so that nothing else waits long for a search.

/** Records one step looks at, a few milliseconds of work: they are passed over in their index. */
const STEP = 10_000;
/** The same where bodies, which may be long, are looked through. */
const BODY_STEP = 100;
/** Ids that begin with what is searched for are found first; with more, each record is asked for its own. */
const MAX_IDS = 1000;

export interface Search {
  readonly filter: RequestFilter;
  readonly dialect: Dialect;
  /** Records one step looks at; undefined to look at all at once. */
  readonly step: number | undefined;
  /** Sequences, as JSON, of the records whose ids begin with what is searched for; undefined: each is asked. */
  readonly matches: string | undefined;
  /** Whether any body is kept, to be looked through too. */
  readonly hasBodies: boolean;
  /** Of the columns that hold a name only this one, without what those before it take; any of them when absent. */
  readonly way?: Readonly<Record<'model' | 'key', number | undefined>> | undefined;
}

/** What a search needs to know before its first step. */
export async function planSearch(database: Database, filter: RequestFilter): Promise<Search> {
  const { dialect } = database;
  const { search } = filter;
  const step = isIndexed(dialect, filter) ? undefined : STEP;
  const plain = { filter, dialect, step, matches: undefined, hasBodies: false };
  if (search === undefined) return plain;
  const anyBody = builder.selectFrom('request_bodies').select('sequence').limit(1);
  return database.read(function* () {
    const hasBodies = (yield* firstOf(anyBody)) !== undefined;
    const matches = yield* matchIds(search);
    return { ...plain, step: hasBodies ? BODY_STEP : STEP, matches, hasBodies };
  });
}

/** Whether an index leads to the records of a filter, and to few others. */
function isIndexed({ listing }: Dialect, filter: RequestFilter): boolean {
  const { status, model, account, key, replica, session, error, search } = filter;
  const { owner, team } = filter;
  if (search !== undefined) return false;
  const isName = (name: string | undefined): boolean => name !== undefined && !isWildcard(name);
  if (isName(session) || error !== undefined) return true;
  if (!listing.hasFilterIndexes) return false;
  const isOfFailures = status?.kind === 'outcome' && status.outcome === 'error';
  return isOfFailures || [model, account, key, replica, owner, team].some(isName);
}

/**
 * A model and a key are told by several columns. To count a name in each along its own index, and no record twice, reads
 * the indexes alone; in any of them, all the records.
 */
export function waysOf(search: Search): readonly Search[] {
  const { filter, dialect, step } = search;
  const isApart = step === undefined && dialect.listing.hasFilterIndexes;
  const columns = (name: string | undefined, all: readonly number[]) =>
    isApart && name !== undefined && ONE_NAME.test(name) ? all : [undefined];
  const keys = columns(filter.key, [0, 1]);
  return columns(filter.model, [0, 1, 2]).flatMap((model) =>
    keys.map((key) => ({ ...search, way: { model, key } })),
  );
}

const ONE_NAME = /^(?!\s*$)[^*,]+$/;

/** @param way of the conditions, without what those before it take; any of them when absent */
function anyOf({ and, or }: Place, all: readonly Expression<SqlBool>[], way: number | undefined) {
  if (way === undefined) return or(all);
  const taken = all.slice(0, way).map((one) => sql<SqlBool>`(${one}) is not true`);
  return and([...all.slice(way, way + 1), ...taken]);
}

/** Along the indexes of ids. */
function* matchIds(search: string): Work<string | undefined> {
  const sequences = builder
    .selectFrom('requests')
    .select('sequence')
    .limit(MAX_IDS + 1);
  const given = sequences.where((eb) => beginsWith(eb, 'requestId', search));
  const own = sequences
    .whereRef('id', '<>', 'requestId')
    .where((eb) => beginsWith(eb, 'id', search));
  const found = [...(yield* rowsOf(given)), ...(yield* rowsOf(own))];
  return found.length > MAX_IDS ? undefined : JSON.stringify(found.map((row) => row.sequence));
}

/** Of an index: texts compare byte by byte, and no character comes behind the last one. */
function beginsWith({ eb, and }: Place, column: SearchedId, start: string): Expression<SqlBool> {
  return and([eb(column, '>=', start), eb(column, '<', `${start}\u{10ffff}`)]);
}

type Place = ExpressionBuilder<Tables, 'requests'>;
type Condition = ExpressionWrapper<Tables, 'requests', SqlBool>;
type SearchedPlaces = Omit<Search, 'step'>;

/** Everything of the filter but the time. */
export function narrow(eb: Place, { filter, ...found }: SearchedPlaces): Condition {
  const { dialect, way } = found;
  const { status, protocol, surface, model, account, key, replica, search } = filter;
  const { session, client, error, searchesBodies = true } = filter;
  const { owner, team, tag, without } = filter;
  const all: Expression<SqlBool>[] = [];
  if (status?.kind === 'outcome') all.push(eb('outcome', '=', status.outcome));
  if (status?.kind === 'range') all.push(eb.between('status', status.least, status.most));
  if (protocol !== undefined) all.push(eb('protocol', '=', protocol));
  if (surface !== undefined) all.push(eb('surface', '=', surface));
  if (model !== undefined) {
    const ofAny = namesIn(model).flatMap((name) => isOfModel(eb, dialect, name));
    all.push(anyOf(eb, ofAny, way?.model));
  }
  if (account !== undefined) all.push(isNamed(eb, dialect, 'account', account));
  if (key !== undefined) {
    const ofAny = [eb('keyId', '=', key), isNamed(eb, dialect, 'keyName', key)];
    all.push(anyOf(eb, ofAny, way?.key));
  }
  if (replica !== undefined) all.push(isNamed(eb, dialect, 'replica', replica));
  if (session !== undefined) all.push(isNamed(eb, dialect, 'session', session));
  if (client !== undefined) all.push(isNamed(eb, dialect, 'clientAddress', client));
  if (error !== undefined) all.push(eb('errorGroup', '=', error));
  if (owner !== undefined) all.push(isNamed(eb, dialect, 'owner', owner));
  if (team !== undefined) all.push(isNamed(eb, dialect, 'team', team));
  if (tag !== undefined) all.push(hasTag(tag));
  if (without !== undefined) all.push(WITHOUT[without](eb));
  if (search !== undefined) {
    all.push(holds(eb, search, { ...found, hasBodies: found.hasBodies && searchesBodies }));
  }
  return eb.and(all);
}

/** In what is summed as usage of no model, account, key, owner, team or tag. */
const WITHOUT: Readonly<Record<NamedGroup, (eb: Place) => Expression<SqlBool>>> = {
  model: (eb) => eb.and([eb('upstreamModel', 'is', null), eb('routedModel', 'is', null)]),
  account: (eb) => eb('account', 'is', null),
  key: (eb) => eb('keyId', '=', ''),
  owner: (eb) => eb('owner', 'is', null),
  team: (eb) => eb('team', 'is', null),
  tag: (eb) => eb.or([eb('tags', 'is', null), eb('tags', '=', '')]),
};

/** Where its name leads counts, as in usage, for a request that reached no upstream. */
function isOfModel(eb: Place, dialect: Dialect, name: string): readonly Expression<SqlBool>[] {
  const named = (column: NameColumn) => isNamed(eb, dialect, column, name);
  const isRouted = eb.and([eb('upstreamModel', 'is', null), named('routedModel')]);
  return [named('model'), named('upstreamModel'), isRouted];
}

/** No name of a model holds a comma. */
function namesIn(model: string): readonly string[] {
  const names = model.split(',').map((name) => name.trim());
  return names.filter((name) => name !== '');
}

type NameColumn =
  | ('model' | 'upstreamModel' | 'routedModel' | 'account' | 'keyName')
  | ('replica' | 'session' | 'clientAddress' | 'owner' | 'team');

/** A name as it is, or with `*` for any run of characters, then in any case. */
function isNamed(
  eb: Place,
  { isLike }: Dialect,
  column: NameColumn,
  name: string,
): Expression<SqlBool> {
  if (!isWildcard(name)) return eb(column, '=', name);
  const patterns = casesOf(name).map((one) => one.split('*').map(escapeLike).join('%'));
  return eb.or(patterns.map((pattern) => isLike(column, pattern)));
}

const SEARCHED_IDS = ['id', 'requestId'] as const;
type SearchedId = (typeof SEARCHED_IDS)[number];
const SEARCHED = ['model', 'upstreamModel', 'account', 'path', 'error'] as const;
const SEARCHED_BODIES = ['clientRequest', 'upstreamRequest', 'response'] as const;

function holds(
  eb: Place,
  search: string,
  { dialect, matches, hasBodies }: Omit<SearchedPlaces, 'filter'>,
): Condition {
  const spellings = casesOf(search);
  const places: Expression<SqlBool>[] = SEARCHED.flatMap((column) =>
    spellings.map((one) => dialect.isLike(column, likePattern(one))),
  );
  if (matches === undefined) {
    places.push(...SEARCHED_IDS.map((column) => beginsWith(eb, column, search)));
  } else if (matches !== '[]') {
    places.push(dialect.isAmong('requests.sequence', matches));
  }
  if (hasBodies) places.push(isInBodies(eb, dialect, spellings));
  return eb.or(places);
}

/** Bodies are JSON, in which quotes, backslashes and line ends stand escaped. */
function isInBodies(eb: Place, { isLike }: Dialect, spellings: readonly string[]) {
  const escaped = spellings.map((one) => JSON.stringify(one).slice(1, -1));
  const patterns = [...new Set([...spellings, ...escaped])].map(likePattern);
  return eb.exists(
    eb
      .selectFrom('request_bodies')
      .select('request_bodies.sequence')
      .whereRef('request_bodies.sequence', '=', 'requests.sequence')
      .where((bodies) =>
        bodies.or(
          SEARCHED_BODIES.flatMap((column) => patterns.map((pattern) => isLike(column, pattern))),
        ),
      ),
  );
}

/** A database may know the case of ASCII letters alone: with others a text is looked for in each usual one. */
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

const PLACE = ['requests.at', 'requests.sequence'] as const;
export const LISTED = LISTED_COLUMNS.map((column) => `requests.${column}` as const);

export interface ListSources {
  readonly database: Database;
  readonly monotonic: () => number;
}

/** Yields to the event loop. */
export function pause(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function listRequests(
  sources: ListSources,
  filter: RequestFilter,
  { limit, cursor, isCounted = true }: PageRequest,
): Promise<RequestPage> {
  const start = cursor === undefined ? undefined : readCursor(cursor);
  const { patienceMs } = sources.database.dialect.listing;
  const search = await planSearch(sources.database, filter);
  const rows: RequestRow[] = [];
  let position = start;
  const find = (from: PagePosition | undefined) =>
    readStep({ ...search, from, limit: limit - rows.length });
  for await (const found of inSteps(sources, { start, patienceMs, take: find })) {
    rows.push(...found.rows);
    position = found.next;
    if (rows.length >= limit) break;
  }
  return {
    rows,
    nextCursor: position && writeCursor(position),
    total: isCounted
      ? await countAll(sources, search, { start, position, found: rows.length })
      : undefined,
  };
}

interface Way<Taken> {
  readonly start: PagePosition | undefined;
  readonly patienceMs: number;
  /** One step, in a transaction that may be tried again. */
  take(from: PagePosition | undefined): Work<Taken>;
}

/** One step after the other, until nothing is left or it took too long. */
export async function* inSteps<Taken extends { readonly next: PagePosition | undefined }>(
  { database, monotonic }: ListSources,
  { start, patienceMs, take }: Way<Taken>,
): AsyncGenerator<Taken> {
  const until = monotonic() + patienceMs;
  let from = start;
  for (;;) {
    const place = from;
    const taken = await database.read(() => take(place));
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

/** Counts what the first page did not reach. Undefined when that takes too long, as searches of bodies do. */
async function countAll(
  sources: ListSources,
  search: Search,
  { start, position, found }: ListedPage,
): Promise<number | undefined> {
  const isAll = isPlain(search.filter);
  const isWhole = start !== undefined || isAll;
  if (!isWhole && position === undefined) return found;
  let total = isWhole ? 0 : found;
  const { countPatienceMs: patienceMs, hasFilterIndexes } = search.dialect.listing;
  // Without a filter the index alone is counted, which needs no steps where nobody else writes it.
  const steps = isAll && !hasFilterIndexes ? { ...search, step: undefined } : search;
  function* count(from: PagePosition | undefined) {
    let next: PagePosition | undefined;
    let all = 0;
    for (const way of waysOf(steps)) {
      const opened = yield* openStep({ ...way, from });
      const { query } = opened;
      const counted = query.clearOrderBy().select(({ fn }) => fn.countAll<number>().as('count'));
      all += (yield* firstOf(counted))?.count ?? 0;
      next = opened.next;
    }
    return { next, count: all };
  }
  let end = isWhole ? undefined : position;
  const way = { start: end, patienceMs, take: count };
  for await (const counted of inSteps(sources, way)) {
    total += counted.count;
    end = counted.next;
  }
  return end === undefined ? total : undefined;
}

/** Whether a filter takes all records of its time. */
export function isPlain({
  from: _from,
  to: _to,
  searchesBodies: _searchesBodies,
  ...names
}: RequestFilter): boolean {
  return Object.values(names).every((name) => name === undefined);
}

interface Step extends Search {
  /** Only rows after it. */
  readonly from: PagePosition | undefined;
}

function* readStep({ limit, ...step }: Step & { readonly limit: number }) {
  const { query, next } = yield* openStep(step);
  const found = yield* rowsOf(query.select([...LISTED, 'requests.sequence']).limit(limit + 1));
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const isFull = found.length > limit && last !== undefined;
  return {
    rows: page.map(({ sequence: _, ...row }) => fromRequestsRow(row)),
    next: isFull ? last : next,
  };
}

/** The records of one step behind a place, latest first along the index of times; and where the next begins. */
export function* openStep({ from, step, ...search }: Step) {
  const { from: earliest, to: latest = Number.POSITIVE_INFINITY } = search.filter;
  // SQLite goes along its index by one bound of each side, and that may be the one without a sequence: it is no wider.
  const end = from === undefined ? latest : Math.min(latest, from.at + 1);
  const spanFrom = (begin: number | undefined) => {
    let span = builder
      .selectFrom('requests')
      .orderBy('requests.at', 'desc')
      .orderBy('requests.sequence', 'desc');
    if (begin !== undefined) span = span.where('requests.at', '>=', begin);
    if (Number.isFinite(end)) span = span.where('requests.at', '<', end);
    return from === undefined ? span : span.where((eb) => isPlaced(eb, '<', from));
  };
  const next =
    step === undefined
      ? undefined
      : yield* firstOf(spanFrom(earliest).select(PLACE).limit(1).offset(step));
  const query = spanFrom(next?.at ?? earliest).where((eb) => narrow(eb, search));
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

// The store.

/** What one step of a removal takes, whichever comes first: a few milliseconds of work. */
const REMOVED_AT_ONCE = 500;
const BYTES_AT_ONCE = 4_194_304;
/** Spans whose usage is summed at once, at most; where all groups are asked for, one. */
const SPANS_AT_ONCE = 32;
/** Others get their turn after about so long. */
const TURN_MS = 10;
const MINUTE_MS = 60_000;

export function createMonitorStore(
  database: Database,
  clock: Pick<Clock, 'now' | 'monotonic'>,
): RequestStore {
  const { dialect } = database;
  /** Bytes of all records; summed up once, then kept by what is written and removed. */
  let stored: number | undefined;
  let isReducing = false;
  /** False after a save that failed: it may have been done all the same, and is tried again. */
  let isSure = true;
  /** Reads so much at once that others wait little; of a database with a process of its own, the most. */
  const createPace = (most: number) => {
    let count = dialect.isShared ? most : 1;
    return async <Part>(read: (count: number) => Work<Part>): Promise<Part> => {
      const begun = clock.monotonic();
      const part = await database.read(() => read(count));
      const tookMs = clock.monotonic() - begun;
      if (!dialect.isShared && tookMs > TURN_MS) count = Math.max(1, Math.floor(count / 2));
      if (!dialect.isShared && tookMs < TURN_MS / 2) count = Math.min(most, count * 2);
      await pause();
      return part;
    };
  };
  const inParts = async <Part>(
    request: SumRequest,
    read: (some: SumRequest) => Work<Part>,
    atOnce = SPANS_AT_ONCE,
  ): Promise<readonly Part[]> => {
    const parts: Part[] = [];
    const inTurns = createPace(atOnce);
    let rest = request.spans;
    while (rest.length > 0) {
      const spans = rest;
      const { part, count } = await inTurns(function* (count) {
        return { part: yield* read({ ...request, spans: spans.slice(0, count) }), count };
      });
      parts.push(part);
      rest = rest.slice(count);
    }
    return parts;
  };
  /** All of the time, from its beginning on. */
  const inSteps = async <Found>(
    { spans, ...request }: SumRequest,
    read: (asked: StepRequest, most: number) => Work<FirstPart<Found>>,
    add: (found: Found) => void,
  ): Promise<void> => {
    const { from: whole, to } = hullOf(spans);
    const inTurns = createPace(Number.POSITIVE_INFINITY);
    let next: number | undefined = whole;
    while (next !== undefined) {
      const asked = { ...request, span: { from: next, to }, whole };
      const part: FirstPart<Found> = await inTurns((most) => read(asked, most));
      let begun = clock.monotonic();
      for (const one of part.found) {
        add(one);
        if (clock.monotonic() - begun < TURN_MS) continue;
        await pause();
        begun = clock.monotonic();
      }
      next = part.next;
    }
  };
  /** The names of all groups, those with the most tokens first. */
  const rank = async (request: SumRequest): Promise<readonly string[]> => {
    const ranked = new RankedGroups(request.by);
    await inSteps(
      request,
      (asked, most) => weighFirst(dialect, asked, most),
      (lists) => ranked.add(lists),
    );
    return ranked.names();
  };
  /** Those with the most tokens first. @param leading these alone; all when absent */
  const sumGroups = async (
    request: SumRequest,
    leading?: ReadonlySet<string>,
  ): Promise<readonly UsageRow[]> => {
    const groups = new UsageGroups(request.by, leading);
    await inSteps(
      request,
      (asked, most) => sumFirst(dialect, asked, most, USAGE_FIGURES, leading),
      (sum) => groups.add(sum),
    );
    return groups.ranked();
  };
  const removed = ({ count, bytes }: Removed): number => {
    if (stored !== undefined) stored -= bytes;
    return count;
  };
  return {
    async save(records) {
      const save = isSure ? saveRecords : saveMissing;
      isSure = false;
      const added = await database.write('crash', () => save(dialect, records, clock.now()));
      isSure = true;
      if (stored !== undefined) stored += added;
    },
    list: (filter, page) =>
      listRequests({ database, monotonic: () => clock.monotonic() }, filter, page),
    find: (id) => database.read(() => findRecord(id)),
    async usage(spans, by, filter) {
      const atOnce = by === 'none' ? SPANS_AT_ONCE : 1;
      const sums = await inParts({ spans, by, filter }, (some) => sumSpans(dialect, some), atOnce);
      return sums.flat();
    },
    async leadingUsage(request, leading, listed) {
      // What is narrowed is read as it was saved, where to read it once more costs more than its figures.
      const isNarrowed = Object.values(request.filter ?? {}).some((name) => name !== undefined);
      const all = isNarrowed ? await sumGroups(request) : undefined;
      const ranked = all?.map(({ group }) => group) ?? (await rank(request));
      const groups = all ?? (await sumGroups(request, new Set(ranked.slice(0, listed))));
      const names = new Set(ranked.slice(0, leading));
      const parts = await inParts(request, (some) => sumLeading(dialect, some, names));
      return {
        groups: groups.slice(0, listed),
        groupCount: ranked.length,
        buckets: parts.flatMap(({ buckets }) => buckets),
        totals: parts.flatMap(({ totals }) => totals),
        others: parts.flatMap(({ others }) => others),
      };
    },
    async latency(request, leading) {
      const spans = await inParts(request, (some) => timeSpans(dialect, some));
      if (request.by === 'none') return { spans: spans.flat(), groups: [] };
      const names =
        leading === undefined ? undefined : new Set((await rank(request)).slice(0, leading));
      const groups = new TimedGroups(request.by, names);
      await inSteps(
        request,
        (asked, most) => sumFirst(dialect, asked, most, TIMINGS, names),
        (sum) => groups.add(sum),
      );
      return { spans: spans.flat(), groups: groups.inOrder() };
    },
    attempts: (span, account) => database.read(() => readAttempts(dialect, span, account)),
    breakdown: (span, filter = {}) => database.read(() => breakDown(dialect, span, filter)),
    minutes: (span) => database.read(() => sumMinutes(span)),
    async sweep(limits) {
      stored ??= await database.read(sumBytes);
      if (stored > limits.maxBytes) isReducing = true;
      if (stored <= limits.reducedBytes) isReducing = false;
      const before = isReducing ? Number.MAX_SAFE_INTEGER : limits.oldest;
      const left = await database.write('crash', () => removeOldest(dialect, before));
      if (removed(left) > 0) return false;
      await database.write('crash', () => removeUsage(limits.oldestUsage));
      if (await database.write('crash', () => rollUp(dialect, limits.closedBefore))) return false;
      // Of a database that others write to as well, the figure is old by the next time.
      if (dialect.isShared) stored = undefined;
      return !(await database.giveBackRoom());
    },
    async removeBefore(at) {
      let total = 0;
      for (;;) {
        // A user who removes prompts wants them gone from the disk as well.
        const count = removed(await database.erase(() => removeOldest(dialect, at)));
        total += count;
        if (count === 0) break;
        await pause();
      }
      if (total > 0) await database.endErasing();
      return total;
    },
  };
}

function* findRecord(id: string): Work<RequestRecord | undefined> {
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
  const found = yield* rowsOf(candidates.limit(20));
  const chosen = found.find((one) => one.id === id) ?? found[0];
  if (chosen === undefined) return undefined;
  const { sequence, ...row } = chosen;
  const bodies = yield* firstOf(
    builder.selectFrom('request_bodies').selectAll().where('sequence', '=', sequence),
  );
  return fromStored(row, bodies);
}

/** Along the index of times. */
function* sumMinutes({ from, to }: TimeSpan): Work<readonly MinuteSum[]> {
  const minutes = yield* rowsOf(
    builder
      .selectFrom('requests')
      .select(({ fn }) => [
        sql<number>`at - at % ${sql.lit(MINUTE_MS)}`.as('minute'),
        fn.countAll<number>().as('requests'),
        fn.countAll<number>().filterWhere('outcome', '=', 'error').as('errors'),
        sql<number>`count(*) filter (where outcome = 'error' and status / 100 <> 4)`.as('faults'),
        sql<number>`sum(coalesce(input_tokens, 0) + coalesce(output_tokens, 0))`.as('tokens'),
      ])
      .where('at', '>=', from)
      .where('at', '<', to)
      .groupBy('minute')
      .orderBy('minute'),
  );
  return minutes.map(({ minute, ...sums }) => ({ at: minute, ...sums }));
}

function* sumBytes(): Work<number> {
  const sum = builder
    .selectFrom('requests')
    .select(({ fn }) => fn.sum<number>('bytes').as('bytes'));
  return (yield* firstOf(sum))?.bytes ?? 0;
}

type Removed = Readonly<Record<'count' | 'bytes', number>>;

const RAISE = {
  clause:
    '(name) do update set latest = excluded.latest where excluded.latest > removed_requests.latest',
};

/** Bodies go with their record. */
function* removeOldest({ isAmong }: Dialect, before: number): Work<Removed> {
  const oldest = yield* rowsOf(
    builder
      .selectFrom('requests')
      .select(['sequence', 'bytes'])
      .where('at', '<', before)
      .orderBy('at')
      .orderBy('sequence')
      .limit(REMOVED_AT_ONCE),
  );
  let total = 0;
  const chosen = oldest.filter(({ bytes }) => {
    const hasRoom = total < BYTES_AT_ONCE;
    total += bytes;
    return hasRoom;
  });
  const sequences = JSON.stringify(chosen.map(({ sequence }) => sequence));
  const removal = builder.deleteFrom('requests').where(isAmong('sequence', sequences));
  // Those that another process was faster to remove are not among them.
  const removed = yield* rowsOf(removal.returning(['at', 'bytes']));
  if (removed.length > 0) {
    const latest = Math.max(...removed.map(({ at }) => at));
    yield* insert('removed_requests', [{ name: 'all', latest }], { onConflict: RAISE });
  }
  return { count: removed.length, bytes: removed.reduce((sum, { bytes }) => sum + bytes, 0) };
}

const REQUEST_COLUMNS = ['sequence', ...LISTED_COLUMNS, 'bytes', 'details'];
const BODY_TEXTS = [
  'clientRequest',
  'upstreamRequest',
  'response',
  'upstreamResponse',
  'clientResponse',
] as const;
const BODY_COLUMNS = ['sequence', ...BODY_TEXTS, 'isWhole'];

/** As `saveRecords`, of records that may have been saved before. */
function* saveMissing(
  dialect: Dialect,
  records: readonly RequestRecord[],
  now: number,
): Work<number> {
  const listOf = (name: 'id' | 'requestId') => [...new Set(records.map(({ row }) => row[name]))];
  const found = yield* rowsOf(
    builder
      .selectFrom('requests')
      .select('id')
      .where('requestId', 'in', listOf('requestId'))
      .where('id', 'in', listOf('id')),
  );
  const saved = new Set(found.map(({ id }) => id));
  const missing = records.filter(({ row }) => !saved.has(row.id));
  return yield* saveRecords(dialect, missing, now);
}

/** @returns the bytes that were added, about */
function* saveRecords(
  dialect: Dialect,
  records: readonly RequestRecord[],
  now: number,
): Work<number> {
  const sequences = yield* dialect.nextSequences('requests', records.length);
  const rows: object[] = [];
  const bodyRows: object[] = [];
  let added = 0;
  for (const [index, record] of records.entries()) {
    const sequence = sequences[index];
    const bodies = record.bodies && toBodiesRow(record.bodies);
    const row = toRequestsRow(record, bodies === undefined ? 0 : sizeOf(bodies));
    rows.push({ sequence, ...row });
    if (bodies !== undefined) bodyRows.push({ sequence, ...bodies });
    added += row.bytes;
  }
  yield* insert('requests', rows, { columns: REQUEST_COLUMNS });
  yield* insert('request_bodies', bodyRows, { columns: BODY_COLUMNS });
  yield* saveUsage(records, now);
  return added;
}

function sizeOf(row: ReturnType<typeof toBodiesRow>): number {
  return BODY_TEXTS.reduce((sum, name) => sum + Buffer.byteLength(row[name] ?? ''), 0);
}
