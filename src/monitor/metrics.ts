// The figures of the process for Prometheus; nothing in them names a person, a key or a prompt.

import { toDollars } from '../pricing/cost.ts';
import { createMetricsText } from './metrics-text.ts';
import { type RequestRecord, usageModel } from './record.ts';

interface MetricsSources {
  readonly inFlight: () => number;
  /** By what was given up, such as `request-records`. */
  readonly dropped: () => Readonly<Record<string, number>>;
  readonly feedReaders: () => number;
  readonly accounts: () => Readonly<Record<string, number>>;
  /** Whether the database across the network answers; absent where there is none. */
  readonly hasDatabase?: (() => boolean) | undefined;
  /** Whether what replicas share their state through answers; absent where they are none. */
  readonly hasValkey?: (() => boolean) | undefined;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
}

const SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
/** Models beyond these are counted together: each makes a dozen series. */
const MAX_MODELS = 200;

export function createMetrics(sources: MetricsSources) {
  const text = createMetricsText();
  const requests = text.counter('isthmus_requests_total', 'Model requests that ended.');
  const tokens = text.counter(
    'isthmus_tokens_total',
    'Tokens by kind: cached ones and those written to a cache are part of the input, thoughts part of the output.',
  );
  const images = text.counter('isthmus_images_total', 'Images in answers.');
  const cost = text.counter(
    'isthmus_cost_usd_total',
    'Cost in US dollars of requests whose price is known: metered, or what flat-rate accounts would have cost.',
  );
  const savings = text.gaugeCounter(
    'isthmus_cache_savings_usd',
    'What caches saved in US dollars since the start, less what writing to them cost.',
  );
  const attempts = text.counter('isthmus_attempts_total', 'Attempts on accounts.');
  const fallbacks = text.counter(
    'isthmus_fallbacks_total',
    'Targets of a mapping that were left for the next one, by the reason.',
  );
  const duration = text.histogram(
    'isthmus_request_duration_seconds',
    'Time from the beginning of a request to its end.',
    SECONDS,
  );
  const firstEvent = text.histogram(
    'isthmus_first_event_seconds',
    'Time from the beginning of a request to the first of its answer.',
    SECONDS,
  );
  const gauge = (name: string, help: string, read: () => number): void =>
    text.gauge(name, help, () => [[{}, read()]]);
  gauge('isthmus_requests_in_flight', 'Model requests that run now.', sources.inFlight);
  gauge('isthmus_feed_readers', 'Readers of the live feed.', sources.feedReaders);
  gauge('process_start_time_seconds', 'Start of the process.', () => sources.startedAt / 1000);
  gauge('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss());
  const { hasDatabase, hasValkey } = sources;
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
  const models = new Set<string>();
  const allAttempts = attempts({});
  const makeSeries = (protocol: string, model: string, outcome: string) => ({
    requests: requests({ protocol, model, outcome }),
    duration: duration({ protocol }),
    firstEvent: firstEvent({ protocol }),
    input: tokens({ model, kind: 'input' }),
    output: tokens({ model, kind: 'output' }),
    cached: tokens({ model, kind: 'cached' }),
    cacheWrite: tokens({ model, kind: 'cache_write' }),
    thought: tokens({ model, kind: 'thought' }),
  });
  /** Whoever counts often keeps its series, as looking them up writes their labels. */
  const known = new Map<string, ReturnType<typeof makeSeries>>();
  return {
    add({ row, details }: Pick<RequestRecord, 'row' | 'details'>): void {
      let model = usageModel(row);
      if (!models.has(model)) {
        if (models.size < MAX_MODELS) models.add(model);
        else model = 'other';
      }
      const key = `${row.protocol} ${row.outcome} ${model}`;
      const series = known.get(key) ?? makeSeries(row.protocol, model, row.outcome);
      known.set(key, series);
      series.requests.value += 1;
      allAttempts.value += row.attempts;
      series.duration.observe(row.totalMs / 1000);
      if (row.firstEventMs !== undefined) series.firstEvent.observe(row.firstEventMs / 1000);
      series.input.value += row.inputTokens ?? 0;
      series.output.value += row.outputTokens ?? 0;
      series.cached.value += row.cachedTokens ?? 0;
      series.cacheWrite.value += row.cacheWriteTokens ?? 0;
      series.thought.value += row.thoughtTokens ?? 0;
      for (const { reason } of details.fallbacks ?? []) fallbacks({ reason }).value += 1;
      if (row.images) images({ model }).value += row.images;
      if (row.costNanos !== undefined) {
        cost({ model, billing: 'metered' }).value += toDollars(row.costNanos);
      }
      if (row.flatRateNanos !== undefined) {
        cost({ model, billing: 'flat-rate' }).value += toDollars(row.flatRateNanos);
      }
      if (row.cacheSavingsNanos) savings({ model }).value += toDollars(row.cacheSavingsNanos);
    },
    /** The text format of Prometheus. */
    write: () => text.write(),
  };
}
