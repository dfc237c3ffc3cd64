// What records of requests add up to, of any filter: how they ended over time, and their errors by group.

import { type SqlBool, sql } from 'kysely';
import { QUARTER_MS } from '../lib/calendar.ts';
import { isWildcard } from '../lib/names.ts';
import type { RequestRow } from '../monitor/record.ts';
import type {
  ErrorGroupSum,
  Histogram,
  NamedCount,
  OutcomeCounts,
  PagePosition,
  RequestFigures,
  RequestFilter,
  SessionSum,
  TimeSpan,
  UsageFilter,
} from '../monitor/request-store.ts';
import { type Database, type Dialect, firstOf, rowsOf, type Work } from './database.ts';
import {
  fromRequestsRow,
  inSteps,
  isPlain,
  LISTED,
  type ListSources,
  narrow,
  openStep,
  pause,
  planSearch,
  type Search,
  waysOf,
} from './monitor-store.ts';
import { builder } from './schema.ts';
import { sumSpans } from './usage-sums.ts';

export function createRequestFigures(sources: ListSources): RequestFigures {
  return {
    histogram: (filter, parts) => countOutcomes(sources, filter, parts),
    errorGroups: (filter, limit) => sumErrorGroups(sources, filter, limit),
    session: (session) => sources.database.read(() => sumSession(session)),
  };
}

/** Of these one is chosen, so that parts begin where a clock shows a round time. */
const STEPS_MS = [
  ...[1, 5, 15, 30].map((seconds) => seconds * 1000),
  ...[1, 5, 15, 30].map((minutes) => minutes * 60_000),
  ...[1, 3, 6, 12, 24].map((hours) => hours * 3_600_000),
];
const DAY_MS = 86_400_000;

/** Counting all along the index goes on so long: it has an end. */
const PATIENCE_MS = 1500;
/** With a filter that no index knows, what is not counted by then is left out. */
const FILTER_PATIENCE_MS = 40;

interface Cut {
  readonly from: number;
  readonly stepMs: number;
  readonly count: number;
}

async function countOutcomes(
  sources: ListSources,
  filter: RequestFilter,
  parts: number,
): Promise<Histogram | undefined> {
  const { database } = sources;
  const span = await database.read(() => spanOf(filter));
  if (span === undefined) return undefined;
  const cut = cutInto(span, parts);
  const counts = Array.from({ length: cut.count }, () => ({ ok: 0, error: 0, cancelled: 0 }));
  const timed = { ...filter, from: span.from, to: span.to };
  const search = await planSearch(database, timed);
  const usage = usageFilterOf(filter);
  const counting = { search, span, cut, counts };
  const isWhole =
    usage === undefined
      ? await countByStep(sources, counting)
      : await countAll(sources, counting, usage);
  return {
    span,
    stepMs: cut.stepMs,
    parts: counts.map((one, index) => ({ at: cut.from + index * cut.stepMs, ...one })),
    isWhole,
  };
}

/** The same records as usage sums them; undefined where usage does not know what is asked for. */
function usageFilterOf(filter: RequestFilter): UsageFilter | undefined {
  const { protocol, account, owner, team, tag, ...others } = filter;
  const names = { protocol, account, owner, team };
  const isExact = Object.values(names).every((name) => name === undefined || !isWildcard(name));
  return isExact && isPlain(others) ? { ...names, tag } : undefined;
}

/** The time asked for, as far as there are records; undefined where there are none. */
function* spanOf({ from, to }: RequestFilter): Work<TimeSpan | undefined> {
  const times = builder.selectFrom('requests').select('at').limit(1);
  const first = yield* firstOf(times.orderBy('at'));
  const last = yield* firstOf(times.orderBy('at', 'desc'));
  if (first === undefined || last === undefined) return undefined;
  const span = { from: from ?? first.at, to: to ?? Math.max(last.at, first.at) + 1 };
  return span.from < span.to ? span : undefined;
}

function cutInto({ from, to }: TimeSpan, parts: number): Cut {
  const least = (to - from) / parts;
  const stepMs = STEPS_MS.find((step) => step >= least) ?? Math.ceil(least / DAY_MS) * DAY_MS;
  const start = Math.floor(from / stepMs) * stepMs;
  return { from: start, stepMs, count: Math.ceil((to - start) / stepMs) };
}

type Counts = Omit<{ -readonly [Field in keyof OutcomeCounts]: OutcomeCounts[Field] }, 'at'>;

interface Counting {
  readonly search: Search;
  readonly span: TimeSpan;
  readonly cut: Cut;
  /** One a part; added to. */
  readonly counts: readonly Counts[];
}

const OUTCOMES = ['ok', 'error', 'cancelled'] as const;

/** What usage does not say along the index of outcomes alone, the shortest: a part at a time, the latest first. */
async function countAll(
  { database, monotonic }: ListSources,
  counting: Counting,
  usage: UsageFilter,
): Promise<boolean> {
  const until = monotonic() + PATIENCE_MS;
  const rest = await database.read(() => countByUsage(database.dialect, counting, usage));
  for (const [index, part] of [...counting.counts.entries()].reverse()) {
    for (const span of rest) {
      const within = partWithin(counting.cut, index, span);
      if (within === undefined) continue;
      if (monotonic() >= until) return false;
      const counted = await database.read(() => countPart(within, counting.search));
      for (const outcome of OUTCOMES) part[outcome] += counted[outcome];
      await pause();
    }
  }
  return true;
}

function partWithin({ from, stepMs }: Cut, index: number, span: TimeSpan): TimeSpan | undefined {
  const begin = from + index * stepMs;
  const within = { from: Math.max(span.from, begin), to: Math.min(span.to, begin + stepMs) };
  return within.from < within.to ? within : undefined;
}

/** Counts by usage what began after all removed records, but for cancelled ones. @returns the rest */
function* countByUsage(
  dialect: Dialect,
  { search, span, cut, counts }: Counting,
  filter: UsageFilter,
): Work<readonly TimeSpan[]> {
  const usage = yield* firstOf(
    builder.selectFrom('usage_sums').select('at').orderBy('at').limit(1),
  );
  const removed = yield* firstOf(builder.selectFrom('removed_requests').select('latest'));
  if (usage === undefined) return [span];
  const whole = Math.max(span.from, usage.at, (removed?.latest ?? 0) + 1);
  const from = Math.ceil(whole / QUARTER_MS) * QUARTER_MS;
  const to = Math.floor(span.to / QUARTER_MS) * QUARTER_MS;
  if (cut.stepMs % QUARTER_MS !== 0 || from >= to) return [span];
  const spans = counts.flatMap((_, index) => partWithin(cut, index, { from, to }) ?? []);
  const partAt = (at: number) => counts[Math.floor((at - cut.from) / cut.stepMs)];
  const sums = yield* sumSpans(dialect, { spans, by: 'none', filter }, ['requests', 'errors']);
  for (const { at, requests, errors } of sums) {
    const part = partAt(at);
    if (part !== undefined) Object.assign(part, { ok: requests - errors, error: errors });
  }
  const cancelled = builder
    .selectFrom('requests')
    .select(({ fn }) => [beginningIn(cut).as('begin'), fn.countAll<number>().as('count')])
    .where('outcome', '=', 'cancelled')
    .where('at', '>=', from)
    .where('at', '<', to)
    .where((eb) => narrow(eb, search))
    .groupBy('begin');
  for (const { begin, count } of yield* rowsOf(cancelled)) {
    const part = partAt(begin);
    if (part === undefined) continue;
    part.cancelled = count;
    part.ok -= count;
  }
  return [
    { from: span.from, to: from },
    { from: to, to: span.to },
  ];
}

function beginningIn({ from, stepMs }: Cut) {
  return sql<number>`requests.at - (requests.at - ${sql.lit(from)}) % ${sql.lit(stepMs)}`;
}

function* countPart({ from, to }: TimeSpan, search: Search): Work<Counts> {
  const counts: Counts = { ok: 0, error: 0, cancelled: 0 };
  for (const outcome of OUTCOMES) {
    const counted = builder
      .selectFrom('requests')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('outcome', '=', outcome)
      .where('at', '>=', from)
      .where('at', '<', to)
      .where((eb) => narrow(eb, search));
    counts[outcome] = (yield* firstOf(counted))?.count ?? 0;
  }
  return counts;
}

/** In the steps of a list, as a filter may pass over any number of records. */
async function countByStep(
  sources: ListSources,
  { search, cut, counts }: Counting,
): Promise<boolean> {
  let isWhole = true;
  for (const way of waysOf(search)) {
    let rest: PagePosition | undefined;
    const take = (from: PagePosition | undefined) => countStep({ ...way, from }, cut);
    const along = { start: undefined, patienceMs: FILTER_PATIENCE_MS, take };
    for await (const { next, found } of inSteps(sources, along)) {
      rest = next;
      for (const { begin, ...sums } of found) {
        const part = counts[Math.round((begin - cut.from) / cut.stepMs)];
        if (part !== undefined) for (const outcome of OUTCOMES) part[outcome] += sums[outcome];
      }
    }
    isWhole = isWhole && rest === undefined;
  }
  return isWhole;
}

function* countStep(step: Parameters<typeof openStep>[0], cut: Cut) {
  const { query, next } = yield* openStep(step);
  const grouped = query
    .clearOrderBy()
    .select(beginningIn(cut).as('begin'))
    .select(({ fn }) =>
      OUTCOMES.map((outcome) =>
        fn.countAll<number>().filterWhere('requests.outcome', '=', outcome).as(outcome),
      ),
    )
    .groupBy('begin');
  return { next, found: yield* rowsOf(grouped) };
}

/** Texts that no rule makes alike may give any number of groups. */
const MAX_GROUPS = 2000;
/** Of a group so many of the latest say which models and accounts it is about. */
const SAMPLE = 1000;
const MAX_NAMES = 3;

async function sumErrorGroups(
  { database, monotonic }: ListSources,
  filter: RequestFilter,
  limit: number,
): Promise<readonly ErrorGroupSum[]> {
  const search = await planSearch(database, filter);
  const until = monotonic() + PATIENCE_MS;
  const sums: GroupCount[] = [];
  let from = await database.read(() => groupAt('>', ''));
  while (from !== undefined && sums.length < MAX_GROUPS && monotonic() < until) {
    const first = from;
    const { found, next } = await database.read(() => countGroups(first, search));
    sums.push(...found);
    from = next;
    await pause();
  }
  const most = sums.sort((one, other) => other.count - one.count).slice(0, limit);
  return describeGroups(database, most, search);
}

/** Records of one step, fewer where it looks through bodies: of groups that have more each is counted by itself. */
const GROUPED_AT_ONCE = 10_000;
const groupedAtOnce = ({ step = GROUPED_AT_ONCE }: Search): number => step;

/** Along the index of groups, as are the records of a step. */
function* groupAt(operator: '>' | '>=', group: string, records = 0): Work<string | undefined> {
  const found = builder
    .selectFrom('requests')
    .select('errorGroup')
    .where('errorGroup', operator, group)
    .orderBy('errorGroup')
    .orderBy('at')
    .orderBy('sequence')
    .limit(1)
    .offset(records);
  return (yield* firstOf(found))?.errorGroup;
}

interface GroupCount extends TimeSpan {
  readonly group: string;
  readonly count: number;
}

/** Of one group or several; and the one the next step begins with. */
function* countGroups(first: string, search: Search) {
  const end = yield* groupAt('>=', first, groupedAtOnce(search));
  const isOne = end === first;
  const next = isOne ? yield* groupAt('>', first) : end;
  let errors = errorsIn(search).where('errorGroup', isOne ? '=' : '>=', first);
  if (!isOne && end !== undefined) errors = errors.where('errorGroup', '<', end);
  const counted = errors
    .select(({ fn }) => [
      sql<string>`error_group`.as('group'),
      fn.countAll<number>().as('count'),
      fn.min('requests.at').as('from'),
      fn.max('requests.at').as('to'),
    ])
    .groupBy('errorGroup');
  const found: readonly GroupCount[] = yield* rowsOf(counted);
  return { found, next };
}

function errorsIn(search: Search) {
  const { from, to } = search.filter;
  let errors = builder.selectFrom('requests').where((eb) => narrow(eb, search));
  if (from !== undefined) errors = errors.where('requests.at', '>=', from);
  if (to !== undefined) errors = errors.where('requests.at', '<', to);
  return errors;
}

async function describeGroups(
  database: Database,
  groups: readonly GroupCount[],
  search: Search,
): Promise<readonly ErrorGroupSum[]> {
  const latest = await database.read(() => latestOf(groups, search));
  const sampled: SampledNames[] = [];
  for (const some of inParts(groups, groupedAtOnce(search))) {
    sampled.push(...(await database.read(() => sampleGroups(some, search))));
    await pause();
  }
  const samples = Map.groupBy(sampled, ({ errorGroup }) => errorGroup);
  return groups.flatMap(({ group, count, from, to }) => {
    const row = latest.get(group);
    if (row === undefined) return [];
    const sample = samples.get(group) ?? [];
    return {
      ...{ group, count, firstAt: from, lastAt: to, latest: row },
      models: mostOf(sample.map(({ model, count: times }) => [model, times])),
      accounts: mostOf(sample.map(({ account, count: times }) => [account, times])),
    };
  });
}

/** Each group that is sampled apart, the others together. */
function inParts(
  groups: readonly GroupCount[],
  atOnce: number,
): readonly (readonly GroupCount[])[] {
  const parts: GroupCount[][] = [];
  let room = 0;
  for (const group of groups) {
    if (group.count > Math.min(room, SAMPLE)) {
      parts.push([]);
      room = group.count > SAMPLE ? 0 : atOnce;
    }
    parts.at(-1)?.push(group);
    room -= group.count;
  }
  return parts;
}

/** Those of one time come in their order: the last of a group stays. */
function* latestOf(groups: readonly GroupCount[], search: Search) {
  if (groups.length === 0) return new Map<string, RequestRow>();
  const ends = groups.map(({ group, to }) => sql`(${group}, ${sql.lit(to)})`);
  const found = errorsIn(search)
    .where(sql<SqlBool>`(error_group, at) in (values ${sql.join(ends)})`)
    .select(LISTED)
    .orderBy('requests.sequence');
  const rows = yield* rowsOf(found);
  return new Map(rows.map((row) => [row.errorGroup ?? '', fromRequestsRow(row)]));
}

interface SampledNames {
  readonly errorGroup: string | undefined;
  readonly model: string;
  readonly account: string | undefined;
  readonly count: number;
}

/** How often each of the names comes in the latest records of one group, or in all of several. */
function* sampleGroups(groups: readonly GroupCount[], search: Search) {
  const names = groups.map(({ group }) => group);
  let errors = errorsIn(search)
    .where('errorGroup', 'in', names)
    .select(['errorGroup', 'model', 'account']);
  if (groups.length === 1) {
    errors = errors
      .orderBy('requests.at', 'desc')
      .orderBy('requests.sequence', 'desc')
      .limit(SAMPLE);
  }
  const counted = builder
    .selectFrom(errors.as('errors'))
    .select(['errorGroup', 'model', 'account'])
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .groupBy(['errorGroup', 'model', 'account']);
  const found: readonly SampledNames[] = yield* rowsOf(counted);
  return found;
}

function mostOf(
  names: readonly (readonly [name: string | undefined, count: number])[],
): readonly NamedCount[] {
  const counts = new Map<string, number>();
  for (const [name, count] of names) {
    if (name !== undefined && name !== '') counts.set(name, (counts.get(name) ?? 0) + count);
  }
  return [...counts]
    .map(([name, count]) => ({ name, count }))
    .sort((one, other) => other.count - one.count)
    .slice(0, MAX_NAMES);
}

/** Of records, what usage sums up under the same name. */
const SUMMED = [
  ...(['inputTokens', 'outputTokens', 'cachedTokens', 'cacheWriteTokens'] as const),
  ...(['thoughtTokens', 'images', 'costNanos', 'flatRateNanos', 'cacheSavingsNanos'] as const),
] as const;

function* sumSession(session: string): Work<SessionSum | undefined> {
  const calls = builder.selectFrom('requests').where('session', '=', session);
  const sums = yield* firstOf(
    calls.select(({ fn }) => [
      fn.countAll<number>().as('requests'),
      fn.countAll<number>().filterWhere('outcome', '=', 'error').as('errors'),
      fn.count<number>('costBasis').as('pricedRequests'),
      fn.min<number>('at').as('firstAt'),
      fn.max<number>('at').as('lastAt'),
      ...SUMMED.map((figure) => fn.sum<number | null>(figure).as(figure)),
    ]),
  );
  if (sums === undefined || sums.requests === 0) return undefined;
  const named = yield* rowsOf(calls.select(['model', 'account', 'keyId']));
  const whole = SUMMED.map((figure) => [figure, sums[figure] ?? 0] as const);
  return {
    ...sums,
    ...(Object.fromEntries(whole) as Record<(typeof SUMMED)[number], number>),
    models: mostOf(named.map(({ model }) => [model, 1])),
    accounts: mostOf(named.map(({ account }) => [account, 1])),
    keyIds: [...new Set(named.map(({ keyId }) => keyId))],
  };
}
