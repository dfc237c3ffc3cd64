// What was used, summed as it is saved by quarters of an hour, and later by hours to weeks: long times are read fast.

import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import { compareCodePoints } from '../lib/names.ts';
import { addTimings, BUCKETS, NO_TIMINGS, type Timings } from '../monitor/latency.ts';
import type { RequestRecord } from '../monitor/record.ts';
import {
  type AttemptSum,
  type LeadingSums,
  NO_USAGE,
  type SumRequest,
  type TimedGroup,
  type TimedSpan,
  type TimeSpan,
  USAGE_FIGURES,
  type UsageBreakdown,
  type UsageFilter,
  type UsageGroup,
  type UsageRow,
  type UsageSum,
} from '../monitor/request-store.ts';
import { type Mutable, readTags, SUMMED_BY, sumAttempts, sumByQuarter } from '../monitor/usage.ts';
import { columnOf, type Dialect, firstOf, insert, rowsOf, run, type Work } from './database.ts';
import { builder, type TimingColumn } from './schema.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A save into an hour that ended this long ago first reads whether the hour is rolled up. */
const LATE_MS = 900_000;

const PLACES = Array.from({ length: BUCKETS }, (_, place) => place);
const DURATIONS = PLACES.map((place) => `duration${place}` as const);
const FIRST_TOKENS = PLACES.map((place) => `first${place}` as const);
export const TIMINGS: readonly TimingColumn[] = [
  ...DURATIONS,
  ...FIRST_TOKENS,
  ...(['timedTokens', 'timedMs'] as const),
];

type TimingRow = Partial<Readonly<Record<TimingColumn, number | undefined>>>;

/** Places without a count stay empty. */
function toColumns({ durations, firstTokens, timedTokens, timedMs }: Timings): TimingRow {
  const row: Partial<Record<TimingColumn, number>> = {};
  for (const place of PLACES) {
    if (durations[place]) row[`duration${place}`] = durations[place];
    if (firstTokens[place]) row[`first${place}`] = firstTokens[place];
  }
  if (timedMs > 0) Object.assign(row, { timedTokens, timedMs });
  return row;
}

function fromColumns(row: TimingRow): Timings {
  return {
    durations: DURATIONS.map((column) => row[column]),
    firstTokens: FIRST_TOKENS.map((column) => row[column]),
    timedTokens: row.timedTokens ?? 0,
    timedMs: row.timedMs ?? 0,
  };
}

// Saving.

const SUM_COLUMNS = [...SUMMED_BY, ...USAGE_FIGURES, ...TIMINGS, 'keyName'];

/** Writes a sum, or adds it to the one that stands there. */
const ADD = {
  clause: `(${SUMMED_BY.map(columnOf).join(', ')}) do update set ${[
    ...USAGE_FIGURES.map(columnOf).map((name) => `${name} = usage_sums.${name} + excluded.${name}`),
    ...TIMINGS.map(columnOf).map(
      (name) =>
        `${name} = coalesce(usage_sums.${name} + excluded.${name}, usage_sums.${name}, excluded.${name})`,
    ),
    'key_name = coalesce(excluded.key_name, usage_sums.key_name)',
  ].join(', ')}`,
};

const ADD_ATTEMPTS = {
  clause:
    '(at, account) do update set good = attempt_sums.good + excluded.good, failed = attempt_sums.failed + excluded.failed',
};

/** @param now milliseconds since the epoch */
export function* saveUsage(records: readonly RequestRecord[], now: number): Work<void> {
  const sums = sumByQuarter(records);
  const rows = sums.map(({ timings, ...sum }) => ({ ...sum, ...toColumns(timings) }));
  yield* insert('usage_sums', rows, { columns: SUM_COLUMNS, onConflict: ADD });
  yield* insert('attempt_sums', sumAttempts(records), { onConflict: ADD_ATTEMPTS });
  const late = new Set(sums.map(({ at }) => at - (at % HOUR_MS)));
  for (const hour of late) if (hour + HOUR_MS + LATE_MS <= now) yield* forgetHour(hour);
}

/** What is rolled up of an hour is no longer all of it: it is rolled up anew. */
function* forgetHour(hour: number): Work<void> {
  for (const step of ROLL_STEPS) {
    const at = hour - (hour % ROLL_MS[step]);
    const ofHour = (table: 'usage_rolled' | 'usage_rollups') =>
      builder
        .deleteFrom(table)
        .where('kind', 'in', KINDS)
        .where((eb) => eb.and({ step, at }));
    if ((yield* run(ofHour('usage_rolled'))) > 0) yield* run(ofHour('usage_rollups'));
  }
}

// Rolling up: in steps of one piece of time and one kind of group, by one process of all.

const KINDS = [
  ...(['none', 'model', 'account', 'key', 'protocol', 'owner', 'team', 'tag'] as const),
] as const satisfies readonly UsageGroup[];
/** Each is summed up of the one before it. */
const ROLL_STEPS = ['hour', 'six-hours', 'day', 'week'] as const;
type RollStep = (typeof ROLL_STEPS)[number];
const ROLL_MS: Readonly<Record<RollStep, number>> = {
  hour: HOUR_MS,
  'six-hours': 6 * HOUR_MS,
  day: DAY_MS,
  week: 7 * DAY_MS,
};

interface Roll {
  readonly step: RollStep;
  readonly kind: UsageGroup;
  readonly at: number;
}

/** Rolls up one step of one kind of group, the latest first. False when there was none left. */
export function* rollUp(dialect: Dialect, closedBefore: number): Work<boolean> {
  const first = yield* firstOf(sql<{ at?: number }>`select min(at) as at from usage_sums`);
  if (first?.at === undefined) return false;
  for (const step of ROLL_STEPS) {
    const length = ROLL_MS[step];
    // What is before the first whole one is read as it is: its beginning may have left by its age.
    const from = Math.ceil(first.at / length) * length;
    const to = Math.floor(closedBefore / length) * length;
    for (const kind of KINDS) {
      const at = yield* latestMissing({ step, kind }, { from, to });
      if (at === undefined) continue;
      yield* dialect.holdWriters('usage_sums');
      yield* rollOne(dialect, { step, kind, at });
      return true;
    }
  }
  return false;
}

/** Halves the time as long as the later half is whole. */
function* latestMissing(
  { step, kind }: Omit<Roll, 'at'>,
  span: TimeSpan,
): Work<number | undefined> {
  const length = ROLL_MS[step];
  const lacks = function* (from: number, to: number): Work<boolean> {
    if (to <= from) return false;
    const rolled = yield* firstOf(
      builder
        .selectFrom('usage_rolled')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('step', '=', step)
        .where('kind', '=', kind)
        .where('at', '>=', from)
        .where('at', '<', to),
    );
    return (rolled?.count ?? 0) < (to - from) / length;
  };
  let { from, to } = span;
  if (!(yield* lacks(from, to))) return undefined;
  while (to - from > length) {
    const middle = from + Math.floor((to - from) / length / 2) * length;
    if (yield* lacks(middle, to)) from = middle;
    else to = middle;
  }
  return from;
}

function* rollOne({ latest }: Dialect, { step, kind, at }: Roll): Work<void> {
  const end = at + ROLL_MS[step];
  yield* insert('usage_rolled', [{ step, kind, at }]);
  const part = ROLL_STEPS[ROLL_STEPS.indexOf(step) - 1];
  const source = sql.table(part === undefined ? 'usage_sums' : 'usage_rollups');
  const figures = [...USAGE_FIGURES, ...TIMINGS];
  const isOfAll = part === undefined && kind === 'none';
  const group = part !== undefined ? sql.ref('name') : kind === 'none' ? sql`''` : groupRef(kind);
  const ofKind = part === undefined ? sql`` : sql`step = ${part} and kind = ${kind} and`;
  const keyName = kind === 'key' ? latest('keyName', 'at') : sql`null`;
  yield* run(sql`
    insert into ${sql.table('usage_rollups')} (${sql.join(
      ['step', 'kind', 'at', 'name', 'keyName', ...figures].map((name) => sql.ref(name)),
    )})
    select ${step}, ${kind}, ${sql.lit(at)}, ${group}, ${keyName}, ${sql.join(
      figures.map((name) => sql`sum(${sql.ref(name)})`),
    )}
    from ${source} where ${ofKind} at >= ${at} and at < ${end}
    ${isOfAll ? sql`` : sql`group by ${group}`} having count(*) > 0`);
}

const OWN_COLUMNS: Readonly<Partial<Record<UsageGroup, string>>> = { key: 'keyId', tag: 'tags' };

function groupRef(kind: Exclude<UsageGroup, 'none'>) {
  return sql.ref(OWN_COLUMNS[kind] ?? kind);
}

/** Whether tags, as usage has them, hold one: within their JSON nothing else reads as it does. */
export function hasTag(
  tag: string,
  tags: RawBuilder<unknown> = sql.ref('tags'),
): Expression<SqlBool> {
  return sql<SqlBool>`replace(${tags}, ${JSON.stringify(tag)}, '') <> ${tags}`;
}

/** Sums are of sets of tags: each of them counts all. */
function groupsIn(by: UsageGroup, name: string): readonly string[] {
  const tags = by === 'tag' ? readTags(name) : [];
  return tags.length === 0 ? [name] : tags;
}

type Narrowing = keyof UsageFilter;

const NARROWING = KINDS.filter((kind) => kind !== 'none');

function narrowingOf(filter: UsageFilter): readonly Narrowing[] {
  return NARROWING.filter((name) => filter[name] !== undefined);
}

function conditionsOf(
  filter: UsageFilter,
  refOf: (name: Narrowing) => RawBuilder<unknown> = groupRef,
): readonly Expression<SqlBool>[] {
  return NARROWING.flatMap((name) => {
    const value = filter[name];
    if (value === undefined) return [];
    const column = refOf(name);
    return [name === 'tag' ? hasTag(value, column) : sql<SqlBool>`${column} = ${value}`];
  });
}

export function* removeUsage(before: number): Work<void> {
  for (const table of ['usage_sums', 'attempt_sums', 'usage_rolled', 'usage_rollups'] as const) {
    yield* run(builder.deleteFrom(table).where('at', '<', before));
  }
}

// Reading: what is rolled up, and between it the sums as they were saved.

/** A part of the span that begins at `span`. */
interface Piece extends TimeSpan {
  readonly span: number;
  readonly step: RollStep | 'quarter';
}

/** The fewest rows that hold the spans: what is rolled up of a kind has nothing else to filter by. */
function* cutPieces(
  kind: UsageGroup,
  filter: UsageFilter,
  spans: readonly TimeSpan[],
): Work<readonly Piece[]> {
  const isRolledUp = narrowingOf(filter).every((name) => name === kind);
  const rolled = isRolledUp ? yield* readRolled(kind, hullOf(spans)) : [];
  return spans.flatMap((span) => cutPiece(span, rolled));
}

function cutPiece({ from: span, to: end }: TimeSpan, rolled: readonly Omit<Roll, 'kind'>[]) {
  const pieces: Piece[] = [];
  let from = span;
  const add = (step: Piece['step'], to: number): void => {
    if (from < to) pieces.push({ span, step, from, to });
    from = to;
  };
  for (const { step, at } of rolled) {
    const to = at + ROLL_MS[step];
    if (at < from || to > end) continue;
    add('quarter', at);
    add(step, to);
  }
  add('quarter', end);
  return pieces;
}

/** In order; of those that begin together the longest first. */
function* readRolled(
  kind: UsageGroup,
  { from, to }: TimeSpan,
): Work<readonly Omit<Roll, 'kind'>[]> {
  const rolled = yield* rowsOf(
    builder
      .selectFrom('usage_rolled')
      .select(['step', 'at'])
      .where('kind', '=', kind)
      .where('at', '>=', from)
      .where('at', '<', to),
  );
  return rolled
    .flatMap(({ step: found, at }) => {
      const step = ROLL_STEPS.find((known) => known === found);
      return step === undefined ? [] : [{ step, at }];
    })
    .sort((left, right) => left.at - right.at || ROLL_MS[right.step] - ROLL_MS[left.step]);
}

/** One row as it is read: of many thousands nothing is made anew. */
type Sums<Column extends string> = Readonly<Partial<Record<Column, number | undefined>>> & {
  readonly span: number;
  readonly group: string;
  readonly groupName?: string | undefined;
  /** When the last of it began; of keys alone, whose names change. */
  readonly last?: number | undefined;
};

interface Question<Column extends string> {
  readonly by: UsageGroup;
  readonly columns: readonly Column[];
  readonly filter: UsageFilter;
  /** Of these groups alone, as they are stored; all when absent. */
  readonly names?: readonly string[] | undefined;
}

type SummedColumn = (typeof USAGE_FIGURES)[number] | TimingColumn;

/** At least one entry for each span and group with usage; of keys the latest last. */
function* sumPieces<Column extends SummedColumn>(
  dialect: Dialect,
  question: Question<Column>,
  pieces: readonly Piece[],
): Work<readonly Sums<Column>[]> {
  const all = yield* eachTable(pieces, (table, own) =>
    sumTable(dialect, { ...question, table }, own),
  );
  return question.by === 'key' ? all.toSorted(byLast) : all;
}

function* eachTable<Found>(
  pieces: readonly Piece[],
  read: (table: string, own: readonly Piece[]) => Work<readonly Found[]>,
): Work<readonly Found[]> {
  const found: (readonly Found[])[] = [];
  for (const table of ['usage_rollups', 'usage_sums']) {
    const own = pieces.filter(({ step }) => (step === 'quarter') === (table === 'usage_sums'));
    if (own.length > 0) found.push(yield* read(table, own));
  }
  return found.flat();
}

type Dated = Pick<Sums<never>, 'last'>;

const byLast = ({ last: left = 0 }: Dated, { last: right = 0 }: Dated): number => left - right;

type Asked = Omit<Question<never>, 'columns'> & { readonly table: string };

/** What a statement that goes from piece to piece reads. */
function readingOf(
  { listed }: Dialect,
  { by, filter, names, table }: Asked,
  pieces: readonly Piece[],
) {
  const isRaw = table === 'usage_sums';
  const name = !isRaw ? sql.ref('name') : by === 'none' ? sql`cast('' as text)` : groupRef(by);
  const list = listed(
    JSON.stringify(pieces.map(({ span, step, from, to }) => [span, step, from, to])),
    [
      ['span', 'bigint'],
      ['piece', 'text'],
      ['since', 'bigint'],
      ['until', 'bigint'],
    ],
  );
  const inPiece = isRaw
    ? sql`at >= since and at < until`
    : sql`step = piece and kind = ${by} and at = since`;
  const where = sql.join(
    [
      inPiece,
      ...conditionsOf(filter, isRaw ? groupRef : () => name),
      ...(names === undefined ? [] : [sql`${name} in (${sql.join(names)})`]),
    ],
    sql` and `,
  );
  return { isRaw, name, list, rows: sql`${sql.table(table)} where ${where}` };
}

function* sumTable<Column extends SummedColumn>(
  dialect: Dialect,
  { columns, ...asked }: Asked & Question<Column>,
  pieces: readonly Piece[],
): Work<readonly Sums<Column>[]> {
  const { by, names } = asked;
  if (names?.length === 0) return [];
  const { latest, hasLateral } = dialect;
  const { isRaw, name, list, rows } = readingOf(dialect, asked, pieces);
  // Of a span that is one piece nothing is left to sum up.
  const isSummed = !isRaw && new Set(pieces.map(({ span }) => span)).size === pieces.length;
  const keyName = isSummed ? sql.ref('keyName') : latest('keyName', 'at');
  const named = sql`${isSummed ? sql.ref('at') : sql`max(at)`} as last, ${keyName} as ${sql.ref('groupName')}`;
  const figures = columns.map(
    (column) => sql`${isSummed ? asNumber(column) : sumOf(column)} as ${sql.ref(column)}`,
  );
  const summed = sql.join([
    sql`${name} as ${sql.ref('group')}`,
    ...(by === 'key' ? [named] : []),
    ...figures,
  ]);
  const byGroup = isRaw && by === 'none' ? [] : [name];
  const grouped =
    isRaw && hasLateral
      ? sql`select span, summed.* from pieces cross join lateral (
          select ${summed} from ${rows} ${groupBy(byGroup)} having count(*) > 0
        ) as summed`
      : sql`select span, ${summed} from pieces cross join ${rows} ${
          isSummed ? sql`` : groupBy([sql.ref('span'), ...byGroup])
        }`;
  return yield* rowsOf(sql<Sums<Column>>`with pieces as materialized ${list} ${grouped}`);
}

/** Of what the database wrote. */
function readList<Item>(list: string): readonly Item[] {
  return JSON.parse(list);
}

/** Lists in JSON, one entry a row: rows of their own take twice as long to read. */
type WeightLists = Readonly<Record<keyof Weight, string>>;

function* weighTable(
  dialect: Dialect,
  asked: Asked,
  pieces: readonly Piece[],
): Work<readonly WeightLists[]> {
  const { collected, hasLateral } = dialect;
  const { name, list, rows } = readingOf(dialect, asked, pieces);
  const tokens = collected(sql`input_tokens + output_tokens`);
  const lists = sql`${collected(name)} as ${sql.ref('group')}, ${tokens} as tokens,
    ${collected(sql.ref('requests'))} as requests`;
  const read = hasLateral
    ? sql`select lists.* from pieces cross join lateral (select ${lists} from ${rows}) as lists`
    : sql`select ${lists} from pieces cross join ${rows}`;
  return yield* rowsOf(sql<WeightLists>`with pieces as materialized ${list} ${read}`);
}

function groupBy(names: readonly RawBuilder<unknown>[]) {
  return names.length === 0 ? sql`` : sql`group by ${sql.join(names)}`;
}

/** SQLite gives no whole number beyond 2^53, as which costs of many requests may add up. */
function sumOf(column: SummedColumn) {
  return sql<number>`cast(sum(${sql.ref(column)}) as double precision)`;
}

function asNumber(column: SummedColumn) {
  return sql<number>`cast(${sql.ref(column)} as double precision)`;
}

/** @param columns other figures are 0 */
export function* sumSpans(
  dialect: Dialect,
  { spans, by, filter = {} }: SumRequest,
  columns: readonly (keyof UsageSum)[] = USAGE_FIGURES,
): Work<readonly UsageRow[]> {
  const kind = kindOf(by, filter);
  const pieces = yield* cutPieces(kind, filter, spans);
  const groups = new UsageGroups(by);
  for (const one of yield* sumPieces(dialect, { by: kind, columns, filter }, pieces)) {
    groups.add(one);
  }
  return groups.inOrder();
}

/** One group alone is rolled up by its kind. */
function kindOf(by: UsageGroup, filter: UsageFilter): UsageGroup {
  const [kind = by] = by === 'none' ? narrowingOf(filter) : [];
  return kind;
}

export interface StepRequest extends Omit<SumRequest, 'spans'> {
  /** What is left of the whole, which begins at `whole`. */
  readonly span: TimeSpan;
  readonly whole: number;
}

export interface FirstPart<Found> {
  readonly found: readonly Found[];
  /** Where the rest begins; undefined when that was all. */
  readonly next: number | undefined;
}

/** What the first pieces of a span come to, at most `most` of them. @param leading these groups alone; all when absent */
export function* sumFirst<Column extends SummedColumn>(
  dialect: Dialect,
  request: StepRequest,
  most: number,
  columns: readonly Column[],
  leading?: ReadonlySet<string>,
): Work<FirstPart<Sums<Column>>> {
  const { pieces, next, asked } = yield* cutFirst(request, most);
  const names = leading && namesOf(request.by, leading);
  return { found: yield* sumPieces(dialect, { ...asked, columns, names }, pieces), next };
}

/** What says which groups come first in the first pieces of a span, at most `most` of them. */
export function* weighFirst(
  dialect: Dialect,
  request: StepRequest,
  most: number,
): Work<FirstPart<WeightLists>> {
  const { pieces, next, asked } = yield* cutFirst(request, most);
  return {
    found: yield* eachTable(pieces, (table, own) => weighTable(dialect, { ...asked, table }, own)),
    next,
  };
}

function* cutFirst({ span: { from, to }, whole, by, filter = {} }: StepRequest, most: number) {
  const kind = kindOf(by, filter);
  // What begins in the first half of it ends in it.
  const near = Number.isFinite(most) ? Math.min(to, from + 2 * ROLL_MS.week) : to;
  const all = yield* cutPieces(kind, filter, [{ from, to: near }]);
  const pieces = Number.isFinite(most)
    ? all.flatMap(cutDays).filter((piece) => near === to || piece.from < from + ROLL_MS.week)
    : all;
  const first = pieces.slice(0, most).map((piece) => ({ ...piece, span: whole }));
  const next = first.at(-1)?.to ?? to;
  return { pieces: first, next: next < to ? next : undefined, asked: { by: kind, filter } };
}

/** What is read as it was saved may be long. */
function cutDays(piece: Piece): readonly Piece[] {
  if (piece.step !== 'quarter') return [piece];
  const days: Piece[] = [];
  for (let { from } = piece; from < piece.to; from += DAY_MS) {
    days.push({ ...piece, from, to: Math.min(from + DAY_MS, piece.to) });
  }
  return days;
}

/** Few rows, however many groups there are: those of the leading ones, and the sums of all. */
export function* sumLeading(
  dialect: Dialect,
  { spans, by, filter = {} }: SumRequest,
  leading: ReadonlySet<string>,
): Work<LeadingSums> {
  const totals = yield* sumSpans(dialect, { spans, by: 'none', filter });
  if (by === 'none') return { buckets: totals, totals, others: [] };
  const rests = new Map(totals.map((total) => [total.at, { ...total }]));
  const pieces = yield* cutPieces(by, filter, spans);
  const question = { by, columns: USAGE_FIGURES, filter, names: namesOf(by, leading) };
  const groups = new UsageGroups(by, leading);
  for (const one of yield* sumPieces(dialect, question, pieces)) {
    const rest = groups.add(one) ? rests.get(one.span) : undefined;
    if (rest === undefined) continue;
    for (const figure of USAGE_FIGURES) rest[figure] -= one[figure] ?? 0;
  }
  const others = [...rests.values()].filter(({ requests }) => requests > 0);
  return { buckets: groups.inOrder(), totals, others };
}

/** Sets of tags are all read: the database is not asked which of them hold one. All together have no name. */
function namesOf(by: UsageGroup, leading: ReadonlySet<string>): readonly string[] | undefined {
  return by === 'tag' || by === 'none' ? undefined : [...leading];
}

/** What says which groups come first. */
interface Weight {
  readonly group: string;
  readonly tokens: number;
  readonly requests: number;
}

const byWeight = (left: Weight, right: Weight): number =>
  right.tokens - left.tokens ||
  right.requests - left.requests ||
  compareCodePoints(left.group, right.group);

const weightOf = ({ group, inputTokens, outputTokens, requests }: UsageRow): Weight => ({
  ...{ group, tokens: inputTokens + outputTokens, requests },
});

/** Tells of many groups which have the most tokens. */
export class RankedGroups {
  readonly #groups = new Map<string, Mutable<Weight>>();
  readonly #by: UsageGroup;

  constructor(by: UsageGroup) {
    this.#by = by;
  }

  add(lists: WeightLists): void {
    const tokens = readList<number>(lists.tokens);
    const requests = readList<number>(lists.requests);
    for (const [place, name] of readList<string>(lists.group).entries()) {
      for (const group of this.#by === 'none' ? [''] : groupsIn(this.#by, name)) {
        const known = this.#groups.get(group) ?? { group, tokens: 0, requests: 0 };
        if (known.requests === 0) this.#groups.set(group, known);
        known.tokens += tokens[place] ?? 0;
        known.requests += requests[place] ?? 0;
      }
    }
  }

  /** The most tokens first. */
  names(): readonly string[] {
    return [...this.#groups.values()].sort(byWeight).map(({ group }) => group);
  }
}

/** Of each span, by its beginning. */
export class UsageGroups {
  readonly #spans = new Map<number, Map<string, Mutable<UsageRow>>>();
  readonly #by: UsageGroup;
  readonly #leading: ReadonlySet<string> | undefined;

  /** @param leading these alone; all when absent */
  constructor(by: UsageGroup, leading?: ReadonlySet<string>) {
    this.#by = by;
    this.#leading = leading;
  }

  /** @returns whether it is of any of the groups */
  add(sums: Sums<keyof UsageSum>): boolean {
    const { span, group: stored, groupName } = sums;
    const isOne = this.#by === 'none';
    const rows = this.#spans.get(span) ?? new Map<string, Mutable<UsageRow>>();
    this.#spans.set(span, rows);
    const names = isOne ? [''] : leadingOf(groupsIn(this.#by, stored), this.#leading);
    for (const group of names) {
      const row = rows.get(group) ?? { at: span, group, ...NO_USAGE };
      rows.set(group, row);
      for (const figure of USAGE_FIGURES) row[figure] += sums[figure] ?? 0;
      if (groupName !== undefined && !isOne) row.groupName = groupName;
    }
    return names.length > 0;
  }

  /** The most tokens first. */
  ranked(): readonly UsageRow[] {
    return this.inOrder().toSorted((left, right) => byWeight(weightOf(left), weightOf(right)));
  }

  inOrder(): readonly UsageRow[] {
    const inTime = [...this.#spans].sort(([left], [right]) => left - right);
    return inTime.flatMap(([, rows]) =>
      [...rows.values()].sort((left, right) => compareCodePoints(left.group, right.group)),
    );
  }
}

export function hullOf(spans: readonly TimeSpan[]): TimeSpan {
  return { from: spans[0]?.from ?? 0, to: spans.at(-1)?.to ?? 0 };
}

/** By time, all groups together. */
export function* timeSpans(
  dialect: Dialect,
  { spans, filter = {} }: SumRequest,
): Work<readonly TimedSpan[]> {
  const by = kindOf('none', filter);
  const pieces = yield* cutPieces(by, filter, spans);
  const timed = new Map(spans.map(({ from }) => [from, NO_TIMINGS]));
  const question = { by, columns: TIMINGS, filter };
  for (const sums of yield* sumPieces(dialect, question, pieces)) {
    const { span } = sums;
    timed.set(span, addTimings(timed.get(span) ?? NO_TIMINGS, fromColumns(sums)));
  }
  return [...timed].map(([at, timings]) => ({ at, ...timings }));
}

function leadingOf(names: readonly string[], leading: ReadonlySet<string> | undefined) {
  return leading === undefined ? names : names.filter((name) => leading.has(name));
}

/** By group: all of the time. */
export class TimedGroups {
  readonly #groups = new Map<string, TimedGroup>();
  readonly #by: UsageGroup;
  readonly #leading: ReadonlySet<string> | undefined;

  /** @param leading these alone; all when absent */
  constructor(by: UsageGroup, leading: ReadonlySet<string> | undefined) {
    this.#by = by;
    this.#leading = leading;
  }

  add(sums: Sums<TimingColumn>): void {
    const { group: stored, groupName } = sums;
    for (const group of leadingOf(groupsIn(this.#by, stored), this.#leading)) {
      const known = this.#groups.get(group);
      this.#groups.set(group, {
        group,
        groupName: groupName ?? known?.groupName,
        ...addTimings(known ?? NO_TIMINGS, fromColumns(sums)),
      });
    }
  }

  inOrder(): readonly TimedGroup[] {
    return [...this.#groups.values()].sort((left, right) =>
      compareCodePoints(left.group, right.group),
    );
  }
}

/** The database gives one row a half hour: it is faster than one for each account of it. */
export function* readAttempts(
  { collected }: Dialect,
  { from, to }: TimeSpan,
  account: string | undefined,
): Work<readonly AttemptSum[]> {
  const sums = builder
    .selectFrom('attempt_sums')
    .select([
      'at',
      ...(['account', 'good', 'failed'] as const).map((name) => collected(sql.ref(name)).as(name)),
    ])
    .where('at', '>=', from)
    .where('at', '<', to)
    .groupBy('at')
    .orderBy('at');
  const rows = yield* rowsOf(account === undefined ? sums : sums.where('account', '=', account));
  return rows.flatMap(({ at, ...lists }) => {
    const good = readList<number>(lists.good);
    const failed = readList<number>(lists.failed);
    return readList<string>(lists.account).map((name, place) => ({
      ...{ at, account: name, good: good[place] ?? 0, failed: failed[place] ?? 0 },
    }));
  });
}

const KINDS_OF_USE = SUMMED_BY.filter((name) => name !== 'at');

export function* breakDown(
  { latest }: Dialect,
  { from, to }: TimeSpan,
  filter: UsageFilter,
): Work<readonly UsageBreakdown[]> {
  const rows = yield* rowsOf(
    builder
      .selectFrom('usage_sums')
      .select(KINDS_OF_USE)
      .select(USAGE_FIGURES.map((name) => sumOf(name).as(name)))
      .select(latest('keyName', 'at').as('keyName'))
      .where('at', '>=', from)
      .where('at', '<', to)
      .where(({ and }) => and(conditionsOf(filter)))
      .groupBy(KINDS_OF_USE)
      .orderBy('model')
      .orderBy('account')
      .orderBy('keyId')
      .orderBy('owner')
      .orderBy('team')
      .orderBy('tags')
      .orderBy('protocol'),
  );
  return rows.map((row) => ({ ...row, at: from, tags: readTags(row.tags) }));
}
