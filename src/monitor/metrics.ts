// The figures of the process for Prometheus; nothing in them names a person, a key or a prompt.

import { createMetricsText, METRICS_TYPE } from './metrics-text.ts';
import { type RequestRow, usageModel } from './request-record.ts';

export interface MonitorMetrics {
  add(row: RequestRow): void;
  write(): { readonly text: string; readonly contentType: string };
}

export interface MetricsSources {
  readonly inFlight: () => number;
  /** By what was given up, such as `request-records`. */
  readonly dropped: () => Readonly<Record<string, number>>;
  readonly feedReaders: () => number;
  /** Accounts by state. */
  readonly accounts: () => Readonly<Record<string, number>>;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
}

const SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
/** Models beyond these are counted together: each makes a dozen series. */
const MOST_MODELS = 200;

export function createMetrics(sources: MetricsSources): MonitorMetrics {
  const text = createMetricsText();
  const requests = text.counter('isthmus_requests_total', 'Model requests that ended.');
  const tokens = text.counter(
    'isthmus_tokens_total',
    'Tokens by kind: cached ones are part of the input, thoughts part of the output.',
  );
  const images = text.counter('isthmus_images_total', 'Images in answers.');
  const attempts = text.counter('isthmus_attempts_total', 'Attempts on accounts.');
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
  text.total(
    'isthmus_dropped_total',
    'What could not be stored or sent on, so that requests need not wait for it.',
    () => Object.entries(sources.dropped()).map(([what, count]) => [{ what }, count]),
  );
  text.gauge('isthmus_accounts', 'Accounts by state.', () =>
    Object.entries(sources.accounts()).map(([state, count]) => [{ state }, count]),
  );
  const models = new Set<string>();
  const modelLabel = (row: RequestRow): string => {
    const model = usageModel(row);
    if (models.has(model)) return model;
    if (models.size >= MOST_MODELS) return 'other';
    models.add(model);
    return model;
  };
  const allAttempts = attempts({});
  const makeSeries = (protocol: string, model: string, outcome: string) => ({
    requests: requests({ protocol, model, outcome }),
    duration: duration({ protocol }),
    firstEvent: firstEvent({ protocol }),
    input: tokens({ model, kind: 'input' }),
    output: tokens({ model, kind: 'output' }),
    cached: tokens({ model, kind: 'cached' }),
    thought: tokens({ model, kind: 'thought' }),
  });
  const known = new Map<string, ReturnType<typeof makeSeries>>();
  const seriesOf = (protocol: string, model: string, outcome: string) => {
    const key = `${protocol} ${outcome} ${model}`;
    const found = known.get(key) ?? makeSeries(protocol, model, outcome);
    known.set(key, found);
    return found;
  };
  return {
    add(row) {
      const model = modelLabel(row);
      const series = seriesOf(row.protocol, model, row.outcome);
      series.requests.add(1);
      allAttempts.add(row.attempts);
      series.duration.observe(row.totalMs / 1000);
      if (row.firstEventMs !== undefined) series.firstEvent.observe(row.firstEventMs / 1000);
      series.input.add(row.inputTokens ?? 0);
      series.output.add(row.outputTokens ?? 0);
      series.cached.add(row.cachedTokens ?? 0);
      series.thought.add(row.thoughtTokens ?? 0);
      if (row.images) images({ model }).add(row.images);
    },
    write: () => ({ text: text.write(), contentType: METRICS_TYPE }),
  };
}
