// The figures of the process for Prometheus; nothing in them names a person, a key or a prompt.

import { type RequestRow, usageModel } from './record.ts';

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
const MAX_MODELS = 200;

export function createMetrics(sources: MetricsSources) {
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
    if (models.size >= MAX_MODELS) return 'other';
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
    add(row: RequestRow): void {
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

type Labels = Readonly<Record<string, string>>;

type ReadSeries = () => readonly (readonly [Labels, number])[];

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * The Prometheus text format (https://prometheus.io/docs/instrumenting/exposition_formats/), by hand: the
 * usual library takes a tenth of a second to load, and each count ten times as long.
 */
export function createMetricsText() {
  const families: (() => string)[] = [];
  const family = (name: string, parts: { help: string; type: string }, lines: () => string[]) => {
    const head = `# HELP ${name} ${parts.help}\n# TYPE ${name} ${parts.type}\n`;
    families.push(() => head + lines().join(''));
  };
  const readFamily = (name: string, parts: { help: string; type: string }, read: ReadSeries) =>
    family(name, parts, () =>
      read().map(([labels, value]) => lineOf(name, writeLabels(labels), value)),
    );
  return {
    counter(name: string, help: string) {
      const counts = new Map<string, Count>();
      family(name, { help, type: 'counter' }, () =>
        Array.from(counts, ([labels, { value }]) => lineOf(name, labels, value)),
      );
      return (labels: Labels) => findOrMake(counts, writeLabels(labels), () => new Count());
    },
    /** @param bounds upper ends of the buckets, rising */
    histogram(name: string, help: string, bounds: readonly number[]) {
      const all = new Map<string, Series>();
      family(name, { help, type: 'histogram' }, () =>
        Array.from(all, ([labels, series]) => writeSeries(name, labels, series)),
      );
      return (labels: Labels) => findOrMake(all, writeLabels(labels), () => new Series(bounds));
    },
    /** Read when the metrics are written. */
    gauge: (name: string, help: string, read: ReadSeries) =>
      readFamily(name, { help, type: 'gauge' }, read),
    /** As `gauge`, for a count that is kept elsewhere and only rises. */
    total: (name: string, help: string, read: ReadSeries) =>
      readFamily(name, { help, type: 'counter' }, read),
    write: () => families.map((write) => write()).join(''),
  };
}

/** One series of a family; whoever counts often keeps it, as looking it up writes its labels. */
class Count {
  value = 0;

  add(amount: number): void {
    this.value += amount;
  }
}

class Series {
  readonly bounds: readonly number[];
  /** By bucket, each without those below it. */
  readonly counts: number[];
  sum = 0;
  count = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = bounds.map(() => 0);
  }

  observe(value: number): void {
    const index = this.bounds.findIndex((bound) => value <= bound);
    if (index !== -1) this.counts[index] = (this.counts[index] ?? 0) + 1;
    this.sum += value;
    this.count += 1;
  }
}

function findOrMake<Value>(all: Map<string, Value>, key: string, make: () => Value): Value {
  const found = all.get(key);
  if (found !== undefined) return found;
  const made = make();
  all.set(key, made);
  return made;
}

function writeSeries(name: string, labels: string, series: Series): string {
  const { counts, sum, count, bounds } = series;
  let below = 0;
  const buckets = bounds.map((bound, index) => {
    below += counts[index] ?? 0;
    return lineOf(`${name}_bucket`, join(labels, `le="${bound}"`), below);
  });
  return [
    ...buckets,
    lineOf(`${name}_bucket`, join(labels, 'le="+Inf"'), count),
    lineOf(`${name}_sum`, labels, sum),
    lineOf(`${name}_count`, labels, count),
  ].join('');
}

function join(labels: string, more: string): string {
  return labels === '' ? more : `${labels},${more}`;
}

function lineOf(name: string, labels: string, value: number): string {
  return labels === '' ? `${name} ${value}\n` : `${name}{${labels}} ${value}\n`;
}

function writeLabels(labels: Labels): string {
  let text = '';
  for (const name in labels) {
    const value = labels[name] ?? '';
    text += `${text === '' ? '' : ','}${name}="${/[\\"\n]/.test(value) ? escapeLabel(value) : value}"`;
  }
  return text;
}

function escapeLabel(value: string): string {
  return value.replace(/[\\"]/g, (sign) => `\\${sign}`).replaceAll('\n', '\\n');
}
