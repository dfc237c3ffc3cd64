// Records of requests and their usage in SQLite: their rows, the pages of a search, sums and removals.

import {
  type Expression,
  type ExpressionBuilder,
  type ExpressionWrapper,
  type SqlBool,
  sql,
} from 'kysely';
import type { ReceiptEntry } from '../../canonical/receipt.ts';
import { asSentence } from '../../lib/localized-message.ts';
import { isWildcard } from '../../lib/names.ts';
import {
  type AttemptEntry,
  REQUEST_ROW_FIELDS,
  type ReceiptCounts,
  type RequestBodies,
  type RequestDetails,
  type RequestRecord,
  type RequestRow,
} from '../../monitor/record.ts';
import {
  type MinuteSum,
  type PagePosition,
  type PageRequest,
  type RequestFilter,
  type RequestPage,
  type RequestStore,
  readCursor,
  type TimeSpan,
  USAGE_FIGURES,
  type UsageGroup,
  type UsageRow,
  writeCursor,
} from '../../monitor/request-store.ts';
import { type QuarterSum, sumByQuarter } from '../../monitor/usage.ts';
import { builder, type TableRow, type Tables } from './schema.ts';
import { fromColumns, toColumns } from './sentence-columns.ts';
import {
  createGiveBackRoom,
  createInserter,
  type Queries,
  type SqliteConnection,
} from './session.ts';

// What a record is in its tables.

type ListedColumn = Exclude<keyof RequestRow, 'receipt'> | keyof ReceiptCounts | 'errorParts';

const { receipt, ...PLAIN } = REQUEST_ROW_FIELDS;
/** What lists show of a record. */
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
  const { receipt: counts, error: sentence, ...plain } = row;
  const details = JSON.stringify(given);
  const [error, errorParts] = sentence === undefined ? [] : toColumns(sentence);
  const texts = [error, errorParts, details];
  const written = texts.reduce((sum, text = '') => sum + Buffer.byteLength(text), 0);
  const bytes = ROW_BYTES + row.path.length + row.model.length + written + bodyBytes;
  return { ...plain, ...counts, error, errorParts, bytes, details };
}

function fromRequestsRow(row: ListedRow): RequestRow {
  const { dropped, approximated, repaired, error, errorParts, ...plain } = row;
  return {
    ...plain,
    stream: plain.stream === 1,
    outcome: REQUEST_ROW_FIELDS.outcome.enum.find((known) => known === plain.outcome) ?? 'error',
    receipt: { dropped, approximated, repaired },
    error: error === undefined ? undefined : fromColumns(error, errorParts),
  };
}

function toBodiesRow({ clientRequest, upstreamRequest, response }: RequestBodies) {
  const parts = [clientRequest, upstreamRequest, response];
  return {
    clientRequest: clientRequest?.text,
    upstreamRequest: upstreamRequest?.text,
    response: response && JSON.stringify(response.blocks),
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
  const whole = (index: number) => ({ isWhole: (isWhole & (1 << index)) !== 0 });
  const body = (text: string | undefined, index: number) =>
    text === undefined ? undefined : { text, ...whole(index) };
  return {
    clientRequest: body(clientRequest, 0),
    upstreamRequest: body(upstreamRequest, 1),
    response: response === undefined ? undefined : { blocks: JSON.parse(response), ...whole(2) },
  };
}

// Pages are found in small steps, so that nothing else waits long for a search.

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
function matchIds(queries: Queries, search: string) {
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

interface ListSources {
  readonly connection: SqliteConnection;
  readonly monotonic: () => number;
}

/** Lets everything else have its turn. */
function pause(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function listRequests(
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
  { connection, monotonic }: ListSources,
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

// The store.

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
    list: (filter, page) => listRequests({ connection, monotonic }, filter, page),
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
      stored ??= await connection.read(sumBytes);
      if (stored > limits.maxBytes) isReducing = true;
      if (stored <= limits.reducedBytes) isReducing = false;
      const before = isReducing ? Number.MAX_SAFE_INTEGER : limits.oldest;
      if ((await remove(before, removeOldest)) > 0) return false;
      const oldUsage = builder.deleteFrom('usage_sums').where('at', '<', limits.oldestUsage);
      await connection.write('crash', (queries) => queries.run(oldUsage));
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
  const column = by === 'key' ? 'keyId' : by;
  return some.flatMap(({ from, to }) => {
    const rows = queries.rows(
      builder
        .selectFrom('usage_sums')
        .select(({ fn, val, ref }) => [
          val(from).as('at'),
          (column === 'none' ? val('') : ref(column)).as('group'),
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

function sumBytes(queries: Queries): number {
  const sum = builder
    .selectFrom('requests')
    .select(({ fn }) => fn.sum<number>('bytes').as('bytes'));
  return queries.rows(sum)[0]?.bytes ?? 0;
}

/** Bodies go with their record. */
function removeOldest(queries: Queries, before: number) {
  const oldest = queries.rows(
    builder
      .selectFrom('requests')
      .select(['sequence', 'bytes'])
      .where('at', '<', before)
      .orderBy('at')
      .orderBy('sequence')
      .limit(REMOVED_AT_ONCE),
  );
  const removed = { count: 0, bytes: 0 };
  for (const { sequence, bytes } of oldest) {
    queries.run(builder.deleteFrom('requests').where('sequence', '=', sequence));
    removed.count += 1;
    removed.bytes += bytes;
    if (removed.bytes >= BYTES_AT_ONCE) break;
  }
  return removed;
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

/** Saves records in one transaction of the caller's. @returns the bytes that were added, about */
function createRecordWriter() {
  const newest = builder.selectFrom('requests').select('sequence').orderBy('sequence', 'desc');
  const last = newest.limit(1).compile();
  const insertRequest = createInserter<Sequenced<ReturnType<typeof toRequestsRow>>>(
    ['sequence', ...LISTED_COLUMNS, 'bytes', 'details'],
    (row) => builder.insertInto('requests').values(row).compile(),
  );
  const insertBodies = createInserter<Sequenced<ReturnType<typeof toBodiesRow>>>(
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

type Sequenced<Row> = Row & { readonly sequence: number };

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
