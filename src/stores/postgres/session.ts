// A PostgreSQL server: its pool of connections, transactions, errors, and the wait until it is back after a loss.

import { createQueryId, PostgresQueryCompiler, sql } from 'kysely';
import pg from 'pg';
import { StoreError } from '../../accounts/account-store.ts';
import type { Clock, Timer } from '../../lib/clock.ts';
import { createListeners } from '../../lib/listeners.ts';
import { type Sentence, told } from '../../lib/localized-message.ts';
import type { LineLog } from '../../lib/log.ts';
import { createDataKey, type DataKeyRow, openDataKey, requireSameDataKey } from '../data-key.ts';
import {
  columnOf,
  type Database,
  type Dialect,
  DuplicateRow,
  type Insertion,
  type Outcome,
  readRows,
  rowsOf,
  runScript,
  type Statement,
  type Survives,
  toStored,
  type Work,
} from '../database.ts';
import { migrate, readVersion } from '../migrations.ts';
import { builder, type Tables } from '../schema.ts';
import { openStores, type StoresOptions } from '../stores.ts';

export interface PostgresOptions {
  /** With user and password. */
  readonly url: string;
  readonly poolSize: number;
  readonly connectTimeoutMs: number;
  /** Of one statement; the server ends it then. */
  readonly statementTimeoutMs: number;
  readonly clock: Pick<Clock, 'now' | 'monotonic' | 'sleep' | 'startTimer'>;
  readonly random: () => number;
  readonly log?: LineLog | undefined;
}

/** Whether the server answers; `since` in milliseconds since the epoch. */
export interface Reachability {
  readonly isReachable: boolean;
  readonly since: number;
}

/** What a lost server is tried again after, at first and at most. */
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 10_000;
/** A statement that the server does not end by itself is given up: the network is cut, or the server hangs. */
const ANSWER_MARGIN_MS = 5_000;
const IDLE_MS = 10_000;
const CLOSE_MS = 5_000;
/** And a connection from a server that has given out all. */
const FULL_STEP_MS = 50;
/** Transactions that got in each other's way are tried again so often. */
const MAX_TRIES = 8;
const RETRY_STEP_MS = 4;

/** What is guessed to be much is compiled first, for longer than it takes: up to 0.4 s for what takes a millisecond. */
const READ = 'begin isolation level repeatable read read only; set local jit = off';
const WRITE: Readonly<Record<Survives, string>> = {
  // Whoever reads before writing sees that another was faster: the transaction fails then, and is tried again.
  'power-cut': 'begin isolation level repeatable read',
  // On the disk as well: nobody waits for it, and the server may end while the gateway goes on.
  crash: 'begin',
};
/** One process at a time, however long it takes; each statement sees what the one before it left. */
const ALONE = 'begin; set local statement_timeout = 0; set local lock_timeout = 0';
/** "isth": tells this lock of a database from those of other programs. */
const ALONE_LOCK = 0x69737468;

export class PostgresDatabase implements Database {
  readonly dialect = DIALECT;
  /** Without user and password. */
  readonly name: string;
  readonly #options: PostgresOptions;
  readonly #pool: pg.Pool;
  readonly #listeners;
  readonly #ended = new AbortController();
  #reachability: Reachability;
  #failures = 0;
  #wasReached = false;
  #lastWrite: Promise<unknown> = Promise.resolve();
  /** While it is lost: when it is tried again, by the monotonic clock, and what is said until then. */
  #pause: { readonly until: number; readonly error: StoreError } | undefined;
  #probe: Timer | undefined;

  constructor(options: PostgresOptions) {
    const { url, poolSize, connectTimeoutMs, statementTimeoutMs, clock, log } = options;
    this.#options = options;
    const { host, pathname } = new URL(url);
    this.name = `${host}${pathname}`;
    this.#reachability = { isReachable: true, since: clock.now() };
    this.#listeners = createListeners<Reachability>((error) => {
      log?.warn(
        { error },
        'A part of the gateway could not take that PostgreSQL was lost or is back.',
      );
    });
    this.#pool = new pg.Pool({
      connectionString: url,
      max: poolSize,
      connectionTimeoutMillis: connectTimeoutMs,
      idleTimeoutMillis: IDLE_MS,
      statement_timeout: statementTimeoutMs,
      query_timeout: statementTimeoutMs + ANSWER_MARGIN_MS,
      idle_in_transaction_session_timeout: statementTimeoutMs,
      keepAlive: true,
      application_name: 'isthmus',
      allowExitOnIdle: true,
      types: { getTypeParser: readerOf },
    });
    // A connection that nobody used was closed: the next one who needs it learns whether that is a loss.
    this.#pool.on('error', (error) => void log?.info({ error: error.message }, IDLE_CLOSED));
    // One that breaks between two statements of whoever holds it: the next statement fails, and tells of it. Without a
    // listener it would end the process.
    this.#pool.on('connect', (client) => void client.on('error', () => undefined));
  }

  read<Result>(work: () => Work<Result>): Promise<Result> {
    return this.#repeat(READ, work);
  }

  /** What is written behind requests, in the order of the calls; what people write, at the same time. */
  write<Result>(survives: Survives, work: () => Work<Result>): Promise<Result> {
    const written = (): Promise<Result> => this.#repeat(WRITE[survives], work);
    if (survives === 'power-cut') return written();
    const turn = this.#lastWrite.then(written);
    this.#lastWrite = turn.catch(() => undefined);
    return turn;
  }

  /** The server's vacuum overwrites in its own time what was removed. */
  erase<Result>(work: () => Work<Result>): Promise<Result> {
    return this.write('crash', work);
  }

  async endErasing(): Promise<void> {}

  /** The server's own vacuum does that. */
  async giveBackRoom(): Promise<boolean> {
    return false;
  }

  /** As `write`, after and before every other process that does so. */
  alone<Result>(work: () => Work<Result>): Promise<Result> {
    return this.#repeat(ALONE, function* () {
      yield* rowsOf(sql`select pg_advisory_xact_lock(${sql.lit(ALONE_LOCK)})`);
      return yield* work();
    });
  }

  /** For a start: a server that starts at the same time, or has no connection left, is waited for. @throws StoreError */
  async waitUntilReachable(limitMs: number): Promise<void> {
    const { clock } = this.#options;
    const until = clock.monotonic() + limitMs;
    for (;;) {
      try {
        (await this.#connect()).release();
        return;
      } catch (error) {
        const left = until - clock.monotonic();
        const cause = error instanceof StoreError ? error.cause : undefined;
        const canPass = isLoss(cause) || sqlState(cause) === TOO_MANY_CONNECTIONS;
        if (!canPass || left <= 0) throw error;
        const pauseMs = Math.max(0, (this.#pause?.until ?? 0) - clock.monotonic());
        await clock.sleep(Math.min(left, pauseMs), this.#ended.signal);
      }
    }
  }

  /** Whether the last try reached the server. */
  reachability(): Reachability {
    return this.#reachability;
  }

  /** Calls back when the server is lost and when it is back; the answer ends it. */
  subscribe(listener: (reachability: Reachability) => void): () => void {
    return this.#listeners.add(listener);
  }

  /** After the work under way. */
  async close(): Promise<void> {
    const { clock } = this.#options;
    const limit = Promise.withResolvers<void>();
    const timer = clock.startTimer(CLOSE_MS, limit.resolve);
    await Promise.race([this.#lastWrite, limit.promise]);
    this.#ended.abort();
    this.#probe?.cancel();
    await Promise.race([this.#pool.end(), limit.promise]);
    timer.cancel();
  }

  async #repeat<Result>(begin: string, work: () => Work<Result>): Promise<Result> {
    const { clock, random } = this.#options;
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#transact(begin, work);
      } catch (error) {
        if (!mayBeRepeated(error) || tries >= MAX_TRIES) throw toStoreError(error, this.name);
      }
      await clock.sleep(RETRY_STEP_MS * 2 ** tries * random(), this.#ended.signal);
    }
  }

  async #transact<Result>(begin: string, work: () => Work<Result>): Promise<Result> {
    const client = await this.#connect();
    let isBegun = false;
    try {
      const beginning: TimedQuery = { text: begin, query_timeout: this.#options.connectTimeoutMs };
      await client.query(beginning);
      isBegun = true;
      const result = await carryOut(work(), (statement) => execute(client, statement));
      const { command } = await client.query('commit');
      // What went on after a refused statement is not kept, and the server says so in this one word only.
      if (command !== 'COMMIT') throw new Error('The transaction was not kept.');
      client.release();
      return result;
    } catch (error) {
      await this.#giveBack(client, error);
      if (isBegun || !isLoss(error)) throw error;
      // The server was restarted since this connection was used last, or nobody hears it any more: a new one may be good.
      await this.#dropIdle();
      throw new IdleConnectionLost(error);
    }
  }

  /** Those that nobody uses are as old: each would be waited for in turn. */
  async #dropIdle(): Promise<void> {
    while (this.#pool.idleCount > 0) (await this.#pool.connect()).release(true);
  }

  async #giveBack(client: pg.PoolClient, error: unknown): Promise<void> {
    if (!isLoss(error) && sqlState(error) !== READ_ONLY) {
      try {
        await client.query('rollback');
        client.release();
        return;
      } catch {
        // The first error is what counts; a connection that cannot even do that is closed.
      }
    }
    client.release(true);
  }

  async #connect(): Promise<pg.PoolClient> {
    const { clock } = this.#options;
    if (this.#ended.signal.aborted) {
      throw new StoreError('unavailable', told`The database ${this.name} is closed.`);
    }
    if (this.#pause !== undefined && clock.monotonic() < this.#pause.until) throw this.#pause.error;
    try {
      const client = await this.#connectInTurn();
      this.#noteBack();
      return client;
    } catch (error) {
      // All connections are at work: the server is slow, not lost.
      const isBusy = this.#pool.idleCount === 0 && this.#pool.totalCount >= this.#options.poolSize;
      if (isBusy)
        throw new StoreError('unavailable', told`The database ${this.name} is too busy.`, error);
      throw this.#noteLoss(error);
    }
  }

  /** A server that gives out no more connections is not lost: one of those there are becomes free. */
  async #connectInTurn(): Promise<pg.PoolClient> {
    const { clock, random, connectTimeoutMs } = this.#options;
    const until = clock.monotonic() + connectTimeoutMs;
    for (;;) {
      try {
        return await this.#pool.connect();
      } catch (error) {
        const isFull = sqlState(error) === TOO_MANY_CONNECTIONS;
        if (!isFull || clock.monotonic() >= until) throw error;
      }
      await clock.sleep(FULL_STEP_MS * (1 + random()), this.#ended.signal);
    }
  }

  #noteLoss(error: unknown): StoreError {
    const { clock, random, log } = this.#options;
    const waitMs = Math.min(FIRST_PAUSE_MS * 2 ** this.#failures, MAX_PAUSE_MS);
    this.#failures += 1;
    const lost = toStoreError(error, this.name);
    const said = lost instanceof StoreError ? lost : unreachable(this.name, error);
    const jitteredMs = waitMs * (1 - random() / 4);
    this.#pause = { until: clock.monotonic() + jitteredMs, error: said };
    this.#probe?.cancel();
    if (!this.#ended.signal.aborted) {
      this.#probe = clock.startTimer(jitteredMs, () => void this.#lookAgain());
    }
    if (this.#reachability.isReachable) {
      log?.warn({ database: this.name, error }, this.#wasReached ? LOST : NOT_YET);
      this.#reachability = { isReachable: false, since: clock.now() };
      this.#listeners.tell(this.#reachability);
    }
    return said;
  }

  /** So that it is known to be back also when nobody asks. */
  async #lookAgain(): Promise<void> {
    try {
      this.#pause = undefined;
      (await this.#connect()).release();
    } catch {
      // Noted, and tried again later.
    }
  }

  #noteBack(): void {
    this.#failures = 0;
    this.#wasReached = true;
    this.#pause = undefined;
    if (this.#reachability.isReachable) return;
    const { clock, log } = this.#options;
    log?.info({ database: this.name }, 'PostgreSQL is back.');
    this.#reachability = { isReachable: true, since: clock.now() };
    this.#listeners.tell(this.#reachability);
  }
}

const IDLE_CLOSED = 'PostgreSQL closed a connection that nobody used.';
const NOT_YET = 'PostgreSQL cannot be reached yet. It is waited for.';
const LOST =
  'PostgreSQL cannot be reached. Requests go on with what is held in memory; records wait there too, and nothing can be changed until it is back.';

/** One statement after the other. */
async function carryOut<Result>(
  work: Work<Result>,
  execute: (statement: Statement) => Promise<Outcome>,
): Promise<Result> {
  let step = work.next();
  while (!step.done) {
    let outcome: Outcome;
    try {
      outcome = await execute(step.value);
    } catch (error) {
      step = work.throw(sqlState(error) === UNIQUE ? new DuplicateRow(error) : error);
      continue;
    }
    step = work.next(outcome);
  }
  return step.value;
}

const COMPILER = new PostgresQueryCompiler();

async function execute(client: pg.PoolClient, statement: Statement): Promise<Outcome> {
  if (statement.kind === 'script') {
    await client.query(statement.text);
    return { rows: [], changes: 0 };
  }
  if (statement.kind === 'insert') {
    const { rowCount } = await client.query(writeInsertion(statement.insertion));
    return { rows: [], changes: rowCount ?? 0 };
  }
  const id = createQueryId();
  // A template has the names of our fields yet; queries of the builder have those of the columns already.
  const node = builder.getExecutor().transformQuery(statement.query.toOperationNode(), id);
  const compiled = COMPILER.compileQuery(node, id);
  const values = compiled.parameters.map(toStored).map(writeValue);
  const query = { text: compiled.sql, values, rowMode: 'array' as const };
  const { fields, rows, rowCount } = await client.query<unknown[]>(query);
  const columns = fields.map(({ name }) => name);
  return { rows: readRows(columns, rows, readValue), changes: rowCount ?? 0 };
}

/** What makes a row the same one, where rows take the place of others. */
const KEYS: { readonly [Table in keyof Tables]?: readonly (keyof Tables[Table])[] } = {
  credentials: ['accountId'],
  account_health: ['accountId'],
  account_quotas: ['accountId', 'modelId'],
  signatures: ['key'],
  call_traces: ['key'],
  session_bindings: ['key'],
  kept_answers: ['clientKey', 'id'],
  kept_items: ['clientKey', 'itemId'],
  kept_pieces: ['writing', 'piece'],
  client_key_use: ['keyId'],
  console_sessions: ['hash'],
  settings: ['name'],
  data_keys: ['name'],
};
const SEQUENCED: readonly (keyof Tables)[] = ['signatures', 'call_traces', 'session_bindings'];
/** The column that numbers the rows of a table by itself. */
const PLACES: { readonly [Table in keyof Tables]?: string } = {
  accounts: 'rowid',
  kept_answers: 'rowid',
  access_log: 'id',
  audit_log: 'id',
  ...Object.fromEntries(
    [...SEQUENCED, 'client_keys', 'address_rules', 'people', 'invitations', 'requests'].map(
      (table) => [table, 'sequence'],
    ),
  ),
};

/** All rows at once, as JSON: one statement with one value, however many they are. */
function writeInsertion({ table, columns, rows, onConflict }: Insertion) {
  const names = columns.map(columnOf).join(', ');
  const keys: readonly string[] = KEYS[table] ?? [];
  const written = onConflict === 'replace' ? lastOfEach(rows, keys) : rows;
  const json = written.map((row) => {
    const fields: Readonly<Record<string, unknown>> = { ...row };
    return Object.fromEntries(
      columns.map((column) => [columnOf(column), writeValue(toStored(fields[column]))]),
    );
  });
  const text = `insert into ${table} (${names}) select ${names} from json_populate_recordset(null::${table}, $1)`;
  return {
    text: `${text}${writeConflict({ table, columns, onConflict }, keys)}`,
    values: [JSON.stringify(json)],
  };
}

function writeConflict(
  { table, columns, onConflict }: Omit<Insertion, 'rows'>,
  keys: readonly string[],
): string {
  if (onConflict === undefined) return '';
  if (onConflict !== 'replace') return ` on conflict ${onConflict.clause}`;
  // A row that replaces another gets the sequence of a new one.
  const all = SEQUENCED.includes(table) ? [...columns, 'sequence'] : columns;
  const changes = all.map(columnOf).map((name) => `${name} = excluded.${name}`);
  return ` on conflict (${keys.map(columnOf).join(', ')}) do update set ${changes.join(', ')}`;
}

/** One statement may change a row once only. */
function lastOfEach(rows: readonly object[], keys: readonly string[]): readonly object[] {
  const last = new Map<string, object>();
  for (const row of rows) {
    const fields: Readonly<Record<string, unknown>> = { ...row };
    const key = JSON.stringify(keys.map((name) => fields[name]));
    last.delete(key);
    last.set(key, row);
  }
  return [...last.values()];
}

function writeValue(value: ReturnType<typeof toStored>) {
  return typeof value === 'string' ? writeText(value) : value;
}

function readValue(value: unknown): unknown {
  return typeof value === 'string' ? readText(value) : value;
}

const INT8 = 20;
const NUMERIC = 1700;

/** Counts, sizes and times are all below 2^53. */
function readerOf(type: number, format?: 'text' | 'binary') {
  const isNumber = type === INT8 || type === NUMERIC;
  return isNumber && format !== 'binary' ? Number : pg.types.getTypeParser(type, format);
}

const DIALECT: Dialect = {
  name: 'postgres',
  isShared: true,
  hasLateral: true,
  listing: { hasFilterIndexes: true, patienceMs: 100, countPatienceMs: 50 },
  tableNamed: (name) => sql`select 1 from pg_class where oid = to_regclass(${name})`,
  now: () => sql`extract(epoch from clock_timestamp())::double precision * 1000`,
  isLike: (column, pattern) => sql`${sql.ref(column)} ilike ${pattern}`,
  isAmong: (column, list) =>
    sql`${sql.ref(column)} in (select value::bigint from json_array_elements_text(${list}) as value)`,
  listed: (list, columns) =>
    sql`(select ${sql.join(
      columns.map(
        ([name, type], place) =>
          sql`(value ->> ${sql.lit(place)})::${sql.raw(type)} as ${sql.ref(name)}`,
      ),
    )} from json_array_elements(${list}) as value)`,
  collected: (value) => sql`coalesce(json_agg(${value})::text, '[]')`,
  // Without a value there is no text, which counts for nothing.
  latest: (column, by) =>
    sql`substr(max(lpad(${sql.ref(by)}::text, 16, '0') || ${sql.ref(column)}), 17)`,
  *holdWriters(table) {
    yield* runScript(`lock table ${table} in share row exclusive mode`);
  },
  *nextSequences(table, count) {
    const next = sql<{ sequence: number }>`
      select nextval(pg_get_serial_sequence(${table}, 'sequence')) as sequence
      from generate_series(1, ${sql.lit(count)})`;
    return (yield* rowsOf(next)).map(({ sequence }) => sequence);
  },
  *continueSequences(table) {
    const column = PLACES[table];
    if (column === undefined) return;
    yield* rowsOf(sql`
      select setval(pg_get_serial_sequence(${table}, ${column}), max(${sql.ref(column)}))
      from ${sql.table(table)} having max(${sql.ref(column)}) is not null`);
  },
};

// Codes: https://www.postgresql.org/docs/current/errcodes-appendix.html
const UNIQUE = '23505';
const TOO_MANY_CONNECTIONS = '53300';
/** Of a server that another took the place of: a new connection may lead to that one. */
const READ_ONLY = '25006';
/** What was read was changed or removed by another transaction meanwhile. */
const REPEATABLE: ReadonlySet<string> = new Set(['40001', '40P01', '23503']);

/** The types of the client leave this out. */
interface TimedQuery extends pg.QueryConfig {
  readonly query_timeout: number;
}

class IdleConnectionLost extends Error {
  constructor(cause: unknown) {
    super('A connection was lost before it was used.', { cause });
  }
}

function mayBeRepeated(error: unknown): boolean {
  return error instanceof IdleConnectionLost || REPEATABLE.has(sqlState(error) ?? '');
}

function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}

/** The server goes down, or the connection to it is gone: whatever it was asked, nobody answers. */
function isLoss(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== undefined) return /^(?:08|57P)/.test(state);
  if (error instanceof StoreError || !(error instanceof Error)) return false;
  return 'errno' in error || NO_ANSWER.test(error.message);
}

/** How the client says that a connection is gone or answers no more. */
const NO_ANSWER = /^Connection terminated|^Query read timeout|^timeout exceeded|not queryable/;

/** The same error unless it comes from the server or the way to it; then the store error that says what to do. */
function toStoreError(thrown: unknown, name: string): unknown {
  const isWrapped = thrown instanceof DuplicateRow || thrown instanceof IdleConnectionLost;
  const error = isWrapped ? thrown.cause : thrown;
  const state = sqlState(error);
  if (state !== undefined && !isLoss(error)) {
    return new StoreError('unavailable', sayFault(state, name), error);
  }
  return isLoss(error) ? unreachable(name, error) : error;
}

function unreachable(name: string, cause: unknown): StoreError {
  const message = told`The database ${name} cannot be reached. It is tried again by itself; check that PostgreSQL runs and that DATABASE_URL leads to it.`;
  return new StoreError('unavailable', message, cause);
}

function sayFault(state: string, name: string): Sentence {
  if (state.startsWith('28')) {
    return told`The database ${name} does not let the gateway in. Check user and password of DATABASE_URL.`;
  }
  if (state === '3D000') {
    return told`There is no database ${name}. Create it, or correct DATABASE_URL.`;
  }
  if (state === '42501') {
    return told`The user of DATABASE_URL may not do what the gateway needs in the database ${name}. Make it the owner.`;
  }
  if (state === READ_ONLY) {
    return told`The database ${name} can only be read now. Let DATABASE_URL lead to the primary server.`;
  }
  if (state.startsWith('53')) {
    return told`The database ${name} has no room or no connection left (SQLSTATE ${state}).`;
  }
  if (state === '57014') {
    return told`The database ${name} took too long. Try again, or raise DATABASE_STATEMENT_TIMEOUT.`;
  }
  return told`The database ${name} refused the work (SQLSTATE ${state}).`;
}

/** A noncharacter, which texts of people do not hold; what holds it comes back whole all the same. */
const ESCAPE = '\uFDD0';
const CODES: Readonly<Record<string, string>> = {
  '\0': `${ESCAPE}0`,
  [ESCAPE]: `${ESCAPE}1`,
};

/** Halves of characters become U+FFFD, as in every text that is stored. */
export function writeText(text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed();
  if (!whole.includes('\0') && !whole.includes(ESCAPE)) return whole;
  return whole.replace(/[\0\uFDD0]/g, (character) => CODES[character] ?? character);
}

export function readText(text: string): string {
  if (!text.includes(ESCAPE)) return text;
  return text.replace(/\uFDD0([01])/g, (_, code) => (code === '0' ? '\0' : ESCAPE));
}

// Opens the database of a PostgreSQL server: reached, migrated and unlocked, or refused with a reason.

export interface OpenPostgresOptions extends StoresOptions {
  readonly database: PostgresDatabase;
  /** That of a database whose rows are copied here, which its key seals; a new one of its own when absent. */
  readonly dataKey?: DataKeyRow | undefined;
}

export type PostgresStores = Awaited<ReturnType<typeof openPostgres>>;

/** Of several processes one makes the tables. The caller closes the database. @throws StoreError */
export async function openPostgres({ database, dataKey, ...options }: OpenPostgresOptions) {
  const { vault, clock } = options;
  const { name, dialect } = database;
  const dataVault = await database.alone(function* () {
    const context = { name, dialect, now: clock.now() };
    const isNew = (yield* readVersion(context)) === 0;
    yield* migrate(context);
    if (isNew) yield* createDataKey(vault, dataKey);
    else if (dataKey !== undefined) yield* requireSameDataKey(name, dataKey);
    return yield* openDataKey({ name, vault });
  });
  const stores = await openStores(database, { ...options, name, dataVault });
  return { ...stores, isLasting: true };
}

/** A key that is lost with this process would lose all replicas what is stored. @throws StoreError */
export function requireSecretKey(environmentKey: string | undefined): string {
  if (environmentKey !== undefined) return environmentKey;
  const message = told`DATABASE_URL is set, so ISTHMUS_SECRET_KEY must be set too, the same on every replica: it seals what they all store.`;
  throw new StoreError('unavailable', message);
}
