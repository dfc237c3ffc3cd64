// What the stores ask of a database, whichever it is: units of work made of statements, which it carries out.

import type {
  AliasableExpression,
  CompiledQuery,
  Expression,
  RawBuilder,
  RootOperationNode,
  SqlBool,
} from 'kysely';
import { asSentence, type Sentence } from '../lib/localized-message.ts';
import type { builder, Tables } from './schema.ts';

/** `power-cut`: on the disk when acknowledged; `crash`: may be lost with the machine, not with the process. */
export type Survives = 'power-cut' | 'crash';

/** A database of whose transactions each is one unit of work. Every method may throw StoreError. */
export interface Database {
  readonly dialect: Dialect;
  /** One consistent state; `work` may run again. */
  read<Result>(work: () => Work<Result>): Promise<Result>;
  /** All of it or nothing; `work` may run again. */
  write<Result>(survives: Survives, work: () => Work<Result>): Promise<Result>;
  /** As `write`, of what need not survive a power cut, but nothing that is removed can be read in its files. */
  erase<Result>(work: () => Work<Result>): Promise<Result>;
  /** Once all was erased: nothing of it is left in the database's own log. */
  endErasing(): Promise<void>;
  /** Gives room that removed rows took back to the disk, a step at a time. False when there is nothing to do. */
  giveBackRoom(): Promise<boolean>;
  close(): Promise<void>;
}

/** The statements of a transaction, each handed out for its outcome: a remote database may take its time. */
export type Work<Result> = Generator<Statement, Result, Outcome>;

export type Statement =
  | { readonly kind: 'rows' | 'run'; readonly query: Query }
  | { readonly kind: 'insert'; readonly insertion: Insertion }
  /** Several statements of SQL that give nothing back. */
  | { readonly kind: 'script'; readonly text: string };

export interface Outcome {
  readonly rows: readonly object[];
  /** How many rows it changed. */
  readonly changes: number;
}

/** A query of kysely's, or a template of SQL. */
interface Query<Row = unknown> {
  compile(by: typeof builder): CompiledQuery<Row>;
  toOperationNode(): RootOperationNode;
}

/** Rows of one table, in their order. */
export interface Insertion {
  readonly table: keyof Tables;
  readonly columns: readonly string[];
  readonly rows: readonly NewFields[];
  /** What stands there already: refused when absent, replaced, or what a clause of SQL says. */
  readonly onConflict?: 'replace' | { readonly clause: string } | undefined;
}

/** How a list of records is found. */
interface Listing {
  /** Whether a model, an account, a key and failures have an index each, so that lists of them need no steps. */
  readonly hasFilterIndexes: boolean;
  /** A search goes on so long; then it gives what it found and the place to go on from. */
  readonly patienceMs: number;
  /** Counting gives up sooner: the page is what was asked for. */
  readonly countPatienceMs: number;
}

type ListedColumn = readonly [name: string, type: 'bigint' | 'text'];

/** What databases say in different words. */
export interface Dialect {
  readonly listing: Listing;
  readonly name: 'sqlite' | 'postgres';
  /** Whether processes of other machines write to it too. */
  readonly isShared: boolean;
  /** Whether a query may be asked for each row of another; a database without goes from row to row by itself. */
  readonly hasLateral: boolean;
  /** A row when there is a table of that name. */
  tableNamed(name: string): Query;
  /** Milliseconds since the epoch, by the clock of the database where several machines ask it. */
  now(ofProcess: number): Expression<number>;
  /** Whether a text holds a pattern of `%` and `_`, which `\` escapes, in any case. */
  isLike(column: string, pattern: string): Expression<SqlBool>;
  /** Whether a number is one of a list in JSON. */
  isAmong(column: string, list: string): Expression<SqlBool>;
  /** A list in JSON of lists, each as a row. */
  listed(list: string, columns: readonly ListedColumn[]): RawBuilder<unknown>;
  /** Of grouped rows: a list in JSON of what each has; several lists of them are in one order. */
  collected(value: RawBuilder<unknown>): RawBuilder<string>;
  /** Of grouped rows: the value of one column in the row with the highest of another, of those that have a value. */
  latest(column: string, by: string): AliasableExpression<string | undefined>;
  /** Until the end of the transaction no other writes to a table, and what others wrote is seen. */
  holdWriters(table: 'usage_sums' | 'account_health'): Work<void>;
  nextSequences(table: 'requests', count: number): Work<readonly number[]>;
  /** Lets new rows come behind those that were inserted with their places. */
  continueSequences(table: keyof Tables): Work<void>;
}

/** A row has the value of a unique column or a primary key already. */
export class DuplicateRow extends Error {
  override readonly name = 'DuplicateRow';

  constructor(cause: unknown) {
    super('The row is there already.', { cause });
  }
}

export function* runScript(text: string): Work<void> {
  yield { kind: 'script', text };
}

export function* rowsOf<Row>(query: Query<Row>): Work<readonly Row[]> {
  const { rows } = yield { kind: 'rows', query };
  // The one narrowing of this folder: kysely derived the row's type from the tables' types.
  return rows as readonly Row[];
}

export function* firstOf<Row>(query: Query<Row>): Work<Row | undefined> {
  return (yield* rowsOf(query))[0];
}

/** @returns how many rows it changed */
export function* run(query: Query): Work<number> {
  return (yield { kind: 'run', query }).changes;
}

type NewFields = Readonly<Record<string, unknown>>;

/** What can be stored in a row: absent fields take their default. */
type NewRow<Table extends keyof Tables> = { readonly [Field in keyof Tables[Table]]?: unknown };

/** Inserts rows with few statements, compiled once. @throws DuplicateRow unless `onConflict` is given */
export function* insert<Table extends keyof Tables>(
  table: Table,
  rows: readonly NewRow<Table>[],
  {
    columns = columnsOf(rows),
    onConflict,
  }: Partial<Pick<Insertion, 'columns' | 'onConflict'>> = {},
): Work<void> {
  if (rows.length === 0) return;
  yield { kind: 'insert', insertion: { table, columns, rows, onConflict } };
}

/** Inserts rows in the place of those with the same key, which come last then where rows have a sequence. */
export function put<Table extends keyof Tables>(
  table: Table,
  rows: readonly NewRow<Table>[],
): Work<void> {
  return insert(table, rows, { onConflict: 'replace' });
}

function columnsOf(rows: readonly object[]): readonly string[] {
  return [...new Set(rows.flatMap((row) => Object.keys(row)))];
}

const columnNames = new Map<string, string>();
const fieldNames = new Map<string, string>();

/** The column of a field: `keyId` is `key_id`. */
export function columnOf(field: string): string {
  let name = columnNames.get(field);
  if (name === undefined) {
    name = field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    columnNames.set(field, name);
  }
  return name;
}

/** The field of a column: `key_id` is `keyId`. */
function fieldOf(column: string): string {
  let name = fieldNames.get(column);
  if (name === undefined) {
    name = column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    fieldNames.set(column, name);
  }
  return name;
}

/** Rows from lists of values, with undefined for null. The driver's own objects take four times as long. */
export function readRows(
  columns: readonly string[],
  rows: readonly (readonly unknown[])[],
  readValue?: (value: unknown) => unknown,
): readonly object[] {
  const fields = columns.map(fieldOf);
  return rows.map((values) => {
    const row: Record<string, unknown> = {};
    fields.forEach((field, place) => {
      const value = values[place];
      row[field] = (readValue === undefined ? value : readValue(value)) ?? undefined;
    });
    return row;
  });
}

/** A value as a column holds it. @throws TypeError for what none can hold */
export function toStored(value: unknown): string | number | bigint | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value === 'string' || typeof value === 'bigint') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw new TypeError(`A ${typeof value} cannot be stored.`);
}

/** Expired and surplus rows leave with every so many saves: counting them costs more than a save. */
const SAVES_BETWEEN_SWEEPS = 64;
/** Or when so much of what all may take was saved since. */
const SWEEP_SHARE = 1 / 16;

/** Says after each save whether rows are to be swept now. */
export function createSweepSchedule() {
  let saves = 0;
  let bytesSinceSweep = 0;
  return (bytes: number, maxBytes: number): boolean => {
    saves += 1;
    bytesSinceSweep += bytes;
    const isDue = saves % SAVES_BETWEEN_SWEEPS === 1 || bytesSinceSweep > maxBytes * SWEEP_SHARE;
    if (isDue) bytesSinceSweep = 0;
    return isDue;
  };
}

/** A sentence as its English text and what it is made of, in JSON: absent of a text from elsewhere. */
export function toColumns({ code, params, text }: Sentence): [text: string, parts?: string] {
  return code === null ? [text] : [text, JSON.stringify({ code, params })];
}

/** Rows of earlier versions have the text alone. */
export function fromColumns(text: string, parts: string | undefined): Sentence {
  // This file wrote them.
  return { ...asSentence(text), ...(parts === undefined ? {} : (JSON.parse(parts) as object)) };
}
