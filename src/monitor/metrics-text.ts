// Figures in the Prometheus text format (https://prometheus.io/docs/instrumenting/exposition_formats/).

type Labels = Readonly<Record<string, string>>;

/** One series of a family; whoever counts often keeps it, as looking it up writes its labels. */
interface Counter {
  add(amount: number): void;
}

interface Histogram {
  observe(value: number): void;
}

type ReadSeries = () => readonly (readonly [Labels, number])[];

/** Written by hand: the usual library takes a tenth of a second to load, and each count ten times as long. */
export interface MetricsText {
  counter(name: string, help: string): (labels: Labels) => Counter;
  /** @param bounds upper ends of the buckets, rising */
  histogram(name: string, help: string, bounds: readonly number[]): (labels: Labels) => Histogram;
  /** Read when it is asked for. */
  gauge(name: string, help: string, read: ReadSeries): void;
  /** As `gauge`, of what only rises and is counted elsewhere. */
  total(name: string, help: string, read: ReadSeries): void;
  write(): string;
}

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export function createMetricsText(): MetricsText {
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
    counter(name, help) {
      const counts = new Map<string, Count>();
      family(name, { help, type: 'counter' }, () =>
        Array.from(counts, ([labels, { value }]) => lineOf(name, labels, value)),
      );
      return (labels) => findOrMake(counts, writeLabels(labels), () => new Count());
    },
    histogram(name, help, bounds) {
      const all = new Map<string, Series>();
      family(name, { help, type: 'histogram' }, () =>
        Array.from(all, ([labels, series]) => writeSeries(name, labels, series)),
      );
      return (labels) => findOrMake(all, writeLabels(labels), () => new Series(bounds));
    },
    gauge: (name, help, read) => readFamily(name, { help, type: 'gauge' }, read),
    total: (name, help, read) => readFamily(name, { help, type: 'counter' }, read),
    write: () => families.map((write) => write()).join(''),
  };
}

class Count implements Counter {
  value = 0;

  add(amount: number): void {
    this.value += amount;
  }
}

class Series implements Histogram {
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
