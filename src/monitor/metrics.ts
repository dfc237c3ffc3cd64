// The figures of the process for Prometheus; nothing in them names a person, a key or a prompt.

import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { AttemptRecord } from '../canonical/call-record.ts';
import { groupOfModel } from '../canonical/model.ts';
import { toDollars } from '../pricing/cost.ts';
import { createMetricsText } from './metrics-text.ts';
import { type RequestRecord, usageModel } from './record.ts';

export interface MetricsSources {
  readonly inFlight: () => number;
  /** By what was given up, such as `request-records`. */
  readonly dropped: () => Readonly<Record<string, number>>;
  readonly feedReaders: () => number;
  readonly accounts: () => Readonly<Record<string, number>>;
  /** What is left of the quota of each model family, 0 to 1. */
  readonly quota?: (() => readonly QuotaLeft[]) | undefined;
  /** What needs attention, each kind once for each time it does. */
  readonly attention?: (() => readonly NeededAttention[]) | undefined;
  /** A pseudonym, unless names are allowed. */
  readonly nameOf?: ((accountId: string) => string) | undefined;
  readonly budgets?: (() => readonly BudgetFigures[]) | undefined;
  /** Whether the database across the network answers; absent where there is none. */
  readonly hasDatabase?: (() => boolean) | undefined;
  /** Whether what replicas share their state through answers; absent where they are none. */
  readonly hasValkey?: (() => boolean) | undefined;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
}

export interface BudgetFigures {
  readonly labels: Readonly<Record<'budget' | 'scope' | 'unit' | 'period', string>>;
  /** Of its amount, in the period that runs; above 1 where it only warns. */
  readonly share: number;
}

interface QuotaLeft {
  readonly family: string;
  readonly kind: string;
  readonly percent: number;
}

interface NeededAttention {
  readonly kind: string;
  readonly severity: string;
}

type MeasuredAttempt = Pick<AttemptRecord, 'accountId' | 'upstreamId' | 'outcome' | 'durationMs'>;

/** Of a request that ended, what its record has in whole milliseconds. */
interface MeasuredEnd {
  readonly attempts: readonly MeasuredAttempt[];
  /** How many upstream calls it was, where it was several at once. */
  readonly upstreamCalls?: number | undefined;
  readonly firstEventMs: number | undefined;
}

const ANSWERS = { least: 8, most: 262_144 };
const OWN_TIME = { least: 1, most: 1024 };
/** Models beyond these are counted together: each makes a dozen series. */
const MAX_MODELS = 200;
const MAX_ACCOUNTS = 1000;
const MAX_FAMILIES = 50;
/** Beyond so many accounts and endings the series is looked up each time. */
const MAX_KNOWN = 10_000;
const NANOSECONDS = 1e9;

/** Names beyond so many are one: clients may name any model. */
function bounded(most: number): (name: string) => string {
  const known = new Set<string>();
  return (name) => {
    if (known.has(name)) return name;
    if (known.size >= most) return 'other';
    known.add(name);
    return name;
  };
}

type Text = ReturnType<typeof createMetricsText>;

function createFamilies(text: Text) {
  return {
    requests: text.counter(
      'isthmus_requests_total',
      'Model requests that ended, with the kind of error as the reason.',
    ),
    tokens: text.counter(
      'isthmus_tokens_total',
      'Tokens by kind: cached ones and those written to a cache are part of the input, thoughts part of the output.',
    ),
    images: text.counter('isthmus_images_total', 'Images in answers.'),
    cost: text.counter(
      'isthmus_cost_usd_total',
      'Cost in US dollars of requests whose price is known: metered, or what flat-rate accounts would have cost.',
    ),
    savings: text.gaugeCounter(
      'isthmus_cache_savings_usd',
      'What caches saved in US dollars since the start, less what writing to them cost.',
    ),
    attempts: text.counter(
      'isthmus_attempts_total',
      'Attempts on accounts by how they ended: ok, or the kind of failure.',
    ),
    fallbacks: text.counter(
      'isthmus_fallbacks_total',
      'Targets of a mapping that were left for the next one, by the reason.',
    ),
    duration: text.histogram(
      'isthmus_request_duration_seconds',
      'Time from the beginning of a request to its end.',
      ANSWERS,
    ),
    firstToken: text.histogram(
      'isthmus_first_token_seconds',
      'Time from the beginning of a streamed request to the first of its answer.',
      ANSWERS,
    ),
    added: text.histogram(
      'isthmus_added_seconds',
      'Time to the first of an answer that was spent in the gateway and not at upstreams.',
      OWN_TIME,
    ),
  };
}

type Families = ReturnType<typeof createFamilies>;

function addBudgets(
  text: ReturnType<typeof createMetricsText>,
  { budgets = () => [] }: MetricsSources,
): void {
  text.gauge(
    'isthmus_budget_used_ratio',
    'How much of a budget is used in the period that runs: 1 is all of it.',
    () => budgets().map(({ labels, share }) => [labels, share]),
  );
}

export function createMetrics(sources: MetricsSources) {
  const text = createMetricsText();
  const families = createFamilies(text);
  addGauges(text, sources);
  const modelOf = bounded(MAX_MODELS);
  const familyOf = bounded(MAX_FAMILIES);
  const countAttempt = createAttemptCounts(families, sources);
  const makeSeries = ({ protocol, model, upstream, outcome, reason }: Counted) => {
    const at = { protocol, upstream, family: familyOf(groupOfModel(model).family) };
    return {
      requests: families.requests({ ...at, model, outcome, reason }),
      duration: families.duration({ ...at, outcome }),
      firstToken: families.firstToken(at),
      added: families.added({ protocol }),
      input: families.tokens({ model, kind: 'input' }),
      output: families.tokens({ model, kind: 'output' }),
      cached: families.tokens({ model, kind: 'cached' }),
      cacheWrite: families.tokens({ model, kind: 'cache_write' }),
      thought: families.tokens({ model, kind: 'thought' }),
    };
  };
  /** The series of each combination that was counted: looking them up would write their labels each time. */
  const known = new Map<string, ReturnType<typeof makeSeries>>();
  return {
    add({ row, details }: Pick<RequestRecord, 'row' | 'details'>, ended: MeasuredEnd): void {
      const model = modelOf(usageModel(row));
      const upstream = ended.attempts.at(-1)?.upstreamId ?? '';
      const { protocol, outcome } = row;
      const reason = outcome === 'ok' ? '' : (details.errorKind ?? '');
      const key = `${protocol} ${outcome} ${reason} ${upstream} ${model}`;
      const series = known.get(key) ?? makeSeries({ protocol, model, upstream, outcome, reason });
      known.set(key, series);
      series.requests.value += 1;
      for (const attempt of ended.attempts) countAttempt(attempt);
      series.duration.observe(row.totalMs);
      const { stream, firstEventMs } = row;
      if (stream && firstEventMs !== undefined) series.firstToken.observe(firstEventMs);
      const own = ownTimeOf(ended);
      if (own !== undefined) series.added.observe(own);
      series.input.value += row.inputTokens ?? 0;
      series.output.value += row.outputTokens ?? 0;
      series.cached.value += row.cachedTokens ?? 0;
      series.cacheWrite.value += row.cacheWriteTokens ?? 0;
      series.thought.value += row.thoughtTokens ?? 0;
      countRest(families, model, { row, details });
    },
    write: () => text.write(),
  };
}

/** What most requests have nothing of. */
function countRest(
  { fallbacks, images, cost, savings }: Families,
  model: string,
  { row, details }: Pick<RequestRecord, 'row' | 'details'>,
): void {
  for (const { reason } of details.fallbacks ?? []) fallbacks({ reason }).value += 1;
  if (row.images) images({ model }).value += row.images;
  if (row.costNanos !== undefined) {
    cost({ model, billing: 'metered' }).value += toDollars(row.costNanos);
  }
  if (row.flatRateNanos !== undefined) {
    cost({ model, billing: 'flat-rate' }).value += toDollars(row.flatRateNanos);
  }
  if (row.cacheSavingsNanos) savings({ model }).value += toDollars(row.cacheSavingsNanos);
}

function createAttemptCounts({ attempts }: Families, { nameOf = () => '' }: MetricsSources) {
  const accountOf = bounded(MAX_ACCOUNTS);
  const known = new Map<string, ReturnType<typeof attempts>>();
  return ({ accountId, upstreamId = '', outcome: reason }: MeasuredAttempt): void => {
    const key = `${accountId} ${reason}`;
    let series = known.get(key);
    if (series === undefined) {
      const account = accountOf(nameOf(accountId));
      series = attempts({ upstream: upstreamId, account, reason });
      if (known.size < MAX_KNOWN) known.set(key, series);
    }
    series.value += 1;
  };
}

interface Counted {
  readonly protocol: string;
  readonly model: string;
  readonly upstream: string;
  readonly outcome: string;
  readonly reason: string;
}

/** Undefined where no upstream was asked, or several at once. */
function ownTimeOf({ attempts, upstreamCalls = 1, firstEventMs }: MeasuredEnd): number | undefined {
  if (attempts.length === 0 || upstreamCalls > 1 || firstEventMs === undefined) return undefined;
  let away = 0;
  for (const { durationMs = 0 } of attempts) away += durationMs;
  return Math.max(0, firstEventMs - away);
}

function addGauges(text: Text, sources: MetricsSources): void {
  const gauge = (name: string, help: string, read: () => number): void =>
    text.gauge(name, help, () => [[{}, read()]]);
  gauge('isthmus_requests_in_flight', 'Model requests that run now.', sources.inFlight);
  gauge('isthmus_feed_readers', 'Readers of the live feed.', sources.feedReaders);
  gauge('process_start_time_seconds', 'Start of the process.', () => sources.startedAt / 1000);
  gauge('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss());
  const { hasDatabase, hasValkey, quota, attention } = sources;
  const up = (name: string, what: string, answers: (() => boolean) | undefined): void => {
    if (answers === undefined) return;
    gauge(name, `Whether ${what} answers: 1 or 0.`, () => Number(answers()));
  };
  up('isthmus_database_up', 'PostgreSQL', hasDatabase);
  up('isthmus_valkey_up', 'Valkey', hasValkey);
  text.total(
    'isthmus_dropped_total',
    'What could not be stored or sent on, so that requests need not wait for it.',
    () => Object.entries(sources.dropped()).map(([what, count]) => [{ what }, count]),
  );
  text.gauge('isthmus_accounts', 'Accounts by state.', () =>
    Object.entries(sources.accounts()).map(([state, count]) => [{ state }, count]),
  );
  addBudgets(text, sources);
  if (quota !== undefined) {
    text.gauge('isthmus_quota_left_ratio', 'What is left of quotas, mean of the accounts.', () =>
      quota().map(({ family, kind, percent }) => [{ family, kind }, percent / 100]),
    );
  }
  if (attention !== undefined) {
    text.gauge('isthmus_attention', 'What the overview says needs attention.', () =>
      countAttention(attention()),
    );
  }
  addLag(text);
}

function countAttention(found: readonly NeededAttention[]) {
  const kinds = Map.groupBy(found, ({ kind, severity }) => `${kind} ${severity}`);
  return [...kinds.values()].map((same) => {
    const [{ kind, severity } = { kind: '', severity: '' }] = same;
    return [{ kind, severity }, same.length] as const;
  });
}

/** Measured from the first scrape on: without one it costs nothing. */
function addLag(text: Text): void {
  let lag: ReturnType<typeof monitorEventLoopDelay> | undefined;
  text.gauge(
    'isthmus_event_loop_lag_seconds',
    'How late the event loop was since it was last asked for.',
    () => {
      if (lag === undefined) {
        lag = monitorEventLoopDelay({ resolution: 20 });
        lag.enable();
        return [];
      }
      const read = (nanoseconds: number): number =>
        Number.isFinite(nanoseconds) ? nanoseconds / NANOSECONDS : 0;
      const found = [
        [{ quantile: '0.5' }, read(lag.percentile(50))],
        [{ quantile: '0.99' }, read(lag.percentile(99))],
        [{ quantile: '1' }, read(lag.max)],
      ] as const;
      lag.reset();
      return found;
    },
  );
}
