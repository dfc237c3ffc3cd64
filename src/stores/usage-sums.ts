// What was used, summed as it is saved by quarters of an hour, and later by hours and days: long times are read fast.

import {
  type Expression,
  type ExpressionBuilder,
  type RawBuilder,
  type SqlBool,
  sql,
} from 'kysely';
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
import { builder, type Tables, type TimingColumn } from './schema.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Whoever saves what began in an hour so long over looks whether that hour is rolled up already. */
const LATE_MS = 900_000;

const PLACES = Array.from({ length: BUCKETS }, (_, place) => place);
const DURATIONS = PLACES.map((place) => `duration${place}` as const);
const FIRST_TOKENS = PLACES.map((place) => `first${place}` as const);
const TIMINGS: readonly TimingColumn[] = [
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
  const day = hour - (hour % DAY_MS);
  const rolled = yield* run(
    builder
      .deleteFrom('usage_rolled')
      .where((eb) =>
        eb.or([
          eb.and([eb('step', '=', 'hour'), eb('at', '=', hour)]),
          eb.and([eb('step', '=', 'day'), eb('at', '=', day)]),
        ]),
      ),
  );
  if (rolled === 0) return;
  const sums = builder.deleteFrom('usage_rollups');
  yield* run(sums.where('step', '=', 'hour').where('at', '=', hour));
  yield* run(sums.where('step', '=', 'day').where('at', '=', day));
}

// Rolling up: in steps of one hour or day and one kind of group, by one process of all.

type RollStep = 'hour' | 'day';

const KINDS = [
  ...(['none', 'model', 'account', 'key', 'protocol', 'owner', 'team', 'tag'] as const),
] as const satisfies readonly UsageGroup[];
const ROLL_MS: Readonly<Record<RollStep, number>> = { hour: HOUR_MS, day: DAY_MS };

interface Roll {
  readonly step: RollStep;
  readonly kind: UsageGroup;
  readonly at: number;
}

/** Rolls up one hour or day of one kind of group, the latest first. False when there was none left. */
export function* rollUp(dialect: Dialect, closedBefore: number): Work<boolean> {
  const first = yield* firstOf(sql<{ at?: number }>`select min(at) as at from usage_sums`);
  if (first?.at === undefined) return false;
  for (const step of ['hour', 'day'] as const) {
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
  const source = sql.table(step === 'hour' ? 'usage_sums' : 'usage_rollups');
  const figures = [...USAGE_FIGURES, ...TIMINGS];
  const isOfAll = step === 'hour' && kind === 'none';
  const group = step === 'day' ? sql.ref('name') : kind === 'none' ? sql`''` : groupRef(kind);
  const ofKind = step === 'day' ? sql`step = 'hour' and kind = ${kind} and` : sql``;
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

/** Each condition begins with `and`. */
function conditionsOf(
  filter: UsageFilter,
  refOf: (name: Narrowing) => RawBuilder<unknown>,
): RawBuilder<unknown> {
  const all = NARROWING.flatMap((name) => {
    const value = filter[name];
    if (value === undefined) return [];
    return [
      sql`and ${name === 'tag' ? hasTag(value, refOf(name)) : sql`${refOf(name)} = ${value}`}`,
    ];
  });
  return all.length === 0 ? sql`` : sql.join(all, sql` `);
}

export function* removeUsage(before: number): Work<void> {
  yield* run(builder.deleteFrom('usage_sums').where('at', '<', before));
  yield* run(builder.deleteFrom('attempt_sums').where('at', '<', before));
  yield* run(builder.deleteFrom('usage_rolled').where('at', '<', before));
  yield* run(builder.deleteFrom('usage_rollups').where('at', '<', before));
}

// Reading: what is rolled up, and between it the sums as they were saved.

interface Piece extends TimeSpan {
  readonly step: RollStep | 'quarter';
}

const inQuarters = ({ from, to }: TimeSpan): readonly Piece[] => [{ step: 'quarter', from, to }];

/** The fewest rows that hold a time, in order: what is rolled up of a kind has nothing else to filter by. */
function* createPieces(kind: UsageGroup, filter: UsageFilter, { from, to }: TimeSpan) {
  if (narrowingOf(filter).some((name) => name !== kind)) return inQuarters;
  const rolled = yield* rowsOf(
    builder
      .selectFrom('usage_rolled')
      .select(['step', 'at'])
      .where('kind', '=', kind)
      .where('at', '>=', from)
      .where('at', '<', to)
      .orderBy('at')
      // A day before its first hour.
      .orderBy('step'),
  );
  return (span: TimeSpan): readonly Piece[] => {
    const pieces: Piece[] = [];
    let at = span.from;
    const add = (step: Piece['step'], to: number): void => {
      const last = pieces.at(-1);
      if (last?.step === step) pieces[pieces.length - 1] = { ...last, to };
      else pieces.push({ step, from: at, to });
      at = to;
    };
    for (const one of rolled) {
      const step = one.step === 'day' ? 'day' : 'hour';
      const end = one.at + ROLL_MS[step];
      if (one.at < at || end > span.to) continue;
      if (one.at > at) add('quarter', one.at);
      add(step, end);
    }
    if (at < span.to) add('quarter', span.to);
    return pieces;
  };
}

interface Sums<Column extends string> {
  readonly group: string;
  readonly groupName?: string | undefined;
  readonly sums: Readonly<Partial<Record<Column, number | undefined>>>;
}

interface Question<Column extends string> {
  readonly by: UsageGroup;
  readonly columns: readonly Column[];
  readonly filter: UsageFilter;
  /** Of these groups alone, as they are stored; all when absent. */
  readonly names?: readonly string[] | undefined;
}

type SummedColumn = (typeof USAGE_FIGURES)[number] | TimingColumn;

function startsOf({ step, from, to }: Piece): readonly number[] {
  const length = step === 'day' ? DAY_MS : HOUR_MS;
  return Array.from({ length: (to - from) / length }, (_, nth) => from + nth * length);
}

/** One entry a group that has any. */
function* sumPiece<Column extends SummedColumn>(
  { latest }: Dialect,
  { by, columns, filter, names }: Question<Column>,
  piece: Piece,
): Work<readonly Sums<Column>[]> {
  if (names?.length === 0) return [];
  const { step, from, to } = piece;
  const isRaw = step === 'quarter';
  const name = isRaw ? (by === 'none' ? sql`''` : groupRef(by)) : sql.ref('name');
  const ofKind = isRaw ? sql`` : sql`step = ${step} and kind = ${by} and`;
  const ofFilter = conditionsOf(filter, isRaw ? groupRef : () => name);
  const ofNames = names === undefined ? sql`` : sql`and ${name} in (${sql.join(names)})`;
  // Few rows of many are looked up, each by its key.
  const isLookup = !isRaw && names !== undefined;
  const inTime = isLookup
    ? sql`at in (${sql.join(startsOf(piece))})`
    : sql`at >= ${from} and at < ${to}`;
  const keyName = by === 'key' ? latest('keyName', 'at') : sql`null`;
  const rows = yield* rowsOf(sql<Readonly<Record<string, unknown>>>`
    select ${name} as ${sql.ref('group')}, ${keyName} as ${sql.ref('groupName')}, ${sql.join(
      columns.map((column) => sql`sum(${sql.ref(column)}) as ${sql.ref(column)}`),
    )}
    from ${sql.table(isRaw ? 'usage_sums' : 'usage_rollups')}
    where ${ofKind} ${inTime} ${ofFilter} ${ofNames}
    ${isRaw && by === 'none' ? sql`having count(*) > 0` : sql`group by ${name} order by ${name}`}`);
  return rows.map(({ group: found, groupName, ...sums }) => ({
    group: String(found),
    groupName: groupName as string | undefined,
    sums: sums as Sums<Column>['sums'],
  }));
}

/** @param columns other figures are 0 */
export function* sumSpans(
  dialect: Dialect,
  { spans, by, filter = {} }: SumRequest,
  columns: readonly (keyof UsageSum)[] = USAGE_FIGURES,
): Work<readonly UsageRow[]> {
  // One group alone is rolled up by its kind.
  const [kind = by] = by === 'none' ? narrowingOf(filter) : [];
  const piecesOf = yield* createPieces(kind, filter, hullOf(spans));
  const question = { by: kind, columns, filter };
  const all: UsageRow[] = [];
  for (const span of spans) {
    const groups: UsageGroups = new Map();
    for (const piece of piecesOf(span)) {
      for (const { group, groupName, sums } of yield* sumPiece(dialect, question, piece)) {
        if (by === 'none') addToGroups(groups, [''], { sums, at: span.from });
        else addToGroups(groups, groupsIn(by, group), { groupName, sums, at: span.from });
      }
    }
    all.push(...inOrder(groups));
  }
  return all;
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
  const piecesOf = yield* createPieces(by, filter, hullOf(spans));
  const question = { by, columns: USAGE_FIGURES, filter, names: namesOf(by, leading) };
  const buckets: UsageRow[] = [];
  const others: UsageRow[] = [];
  for (const span of spans) {
    const rest = rests.get(span.from);
    if (rest === undefined) continue;
    const groups: UsageGroups = new Map();
    for (const piece of piecesOf(span)) {
      for (const { group, groupName, sums } of yield* sumPiece(dialect, question, piece)) {
        const own = groupsIn(by, group).filter((name) => leading.has(name));
        addToGroups(groups, own, { groupName, sums, at: span.from });
        if (own.length === 0) continue;
        for (const figure of USAGE_FIGURES) rest[figure] -= sums[figure] ?? 0;
      }
    }
    buckets.push(...inOrder(groups));
    if (rest.requests > 0) others.push(rest);
  }
  return { buckets, totals, others };
}

/** Sets of tags are all read: the database is not asked which of them hold one. */
function namesOf(by: UsageGroup, leading: ReadonlySet<string>): readonly string[] | undefined {
  return by === 'tag' ? undefined : [...leading];
}

type UsageGroups = Map<string, Mutable<UsageRow>>;

function inOrder(groups: UsageGroups): readonly UsageRow[] {
  const rows = [...groups.values()];
  return rows.sort((left, right) => compareCodePoints(left.group, right.group));
}

function addToGroups(
  groups: UsageGroups,
  names: readonly string[],
  { groupName, sums, at }: Omit<Sums<keyof UsageSum>, 'group'> & Pick<UsageRow, 'at'>,
): void {
  for (const group of names) {
    const row = groups.get(group) ?? { at, group, ...NO_USAGE };
    groups.set(group, row);
    for (const figure of USAGE_FIGURES) row[figure] += sums[figure] ?? 0;
    if (groupName !== undefined) row.groupName = groupName;
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
  // One group alone is rolled up by its kind.
  const [by = 'none'] = narrowingOf(filter);
  const piecesOf = yield* createPieces(by, filter, hullOf(spans));
  const timed: TimedSpan[] = [];
  for (const span of spans) {
    let timings = NO_TIMINGS;
    for (const piece of piecesOf(span)) {
      const found = yield* sumPiece(dialect, { by, columns: TIMINGS, filter }, piece);
      for (const { sums } of found) timings = addTimings(timings, fromColumns(sums));
    }
    timed.push({ at: span.from, ...timings });
  }
  return timed;
}

/** By group: all of the time. */
export function* timeGroups(
  dialect: Dialect,
  { spans, by, filter = {} }: SumRequest,
  leading?: ReadonlySet<string>,
): Work<readonly TimedGroup[]> {
  if (by === 'none') return [];
  const span = hullOf(spans);
  const groups = new Map<string, TimedGroup>();
  const names = leading && namesOf(by, leading);
  const question = { by, columns: TIMINGS, filter, names };
  for (const piece of (yield* createPieces(by, filter, span))(span)) {
    for (const one of yield* sumPiece(dialect, question, piece)) {
      for (const name of groupsIn(by, one.group)) {
        if (leading?.has(name) === false) continue;
        const known = groups.get(name);
        groups.set(name, {
          group: name,
          groupName: one.groupName ?? known?.groupName,
          ...addTimings(known ?? NO_TIMINGS, fromColumns(one.sums)),
        });
      }
    }
  }
  return [...groups.values()];
}

export function* readAttempts(
  { from, to }: TimeSpan,
  account: string | undefined,
): Work<readonly AttemptSum[]> {
  const sums = builder
    .selectFrom('attempt_sums')
    .select(['at', 'account', 'good', 'failed'])
    .where('at', '>=', from)
    .where('at', '<', to)
    .orderBy('at');
  return yield* rowsOf(account === undefined ? sums : sums.where('account', '=', account));
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
      .select(({ fn }) => USAGE_FIGURES.map((name) => fn.sum<number>(name).as(name)))
      .select(latest('keyName', 'at').as('keyName'))
      .where('at', '>=', from)
      .where('at', '<', to)
      .where((eb) => isUseOf(eb, filter))
      .groupBy(KINDS_OF_USE)
      .orderBy('model')
      .orderBy('account')
      .orderBy('keyId')
      .orderBy('owner')
      .orderBy('team')
      .orderBy('tags')
      .orderBy('protocol'),
  );
  return rows.map(({ tags, ...row }) => ({ at: from, ...row, tags: readTags(tags) }));
}

function isUseOf(
  eb: ExpressionBuilder<Tables, 'usage_sums'>,
  { tag, key, ...names }: UsageFilter,
): Expression<SqlBool> {
  const all: Expression<SqlBool>[] = tag === undefined ? [] : [hasTag(tag)];
  if (key !== undefined) all.push(eb('keyId', '=', key));
  for (const name of ['model', 'account', 'protocol', 'owner', 'team'] as const) {
    const value = names[name];
    if (value !== undefined) all.push(eb(name, '=', value));
  }
  return eb.and(all);
}
