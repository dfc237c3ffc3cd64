// Figures in the Prometheus text format (https://prometheus.io/docs/instrumenting/exposition_formats/).

export type Labels = Readonly<Record<string, string>>;

export interface CounterFigure {
  add(labels: Labels, amount?: number): void;
}

export interface HistogramFigure {
  observe(labels: Labels, value: number): void;
}

/** Written by hand: the usual library takes a tenth of a second to load, and each count ten times as long. */
export interface MetricsText {
  counter(name: string, help: string): CounterFigure;
  /** @param bounds upper ends of the buckets, rising */
  histogram(name: string, help: string, bounds: readonly number[]): HistogramFigure;
  /** Read when it is asked for. */
  gauge(name: string, help: string, read: () => readonly (readonly [Labels, number])[]): void;
  write(): string;
}

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export function createMetricsText(): MetricsText {
  const families: (() => string)[] = [];
  const family = (name: string, parts: { help: string; type: string }, lines: () => string[]) => {
    const head = `# HELP ${name} ${parts.help}\n# TYPE ${name} ${parts.type}\n`;
    families.push(() => head + lines().join(''));
  };
  return {
    counter(name, help) {
      const values = new Map<string, number>();
      family(name, { help, type: 'counter' }, () =>
        Array.from(values, ([labels, value]) => lineOf(name, labels, value)),
      );
      return {
        add(labels, amount = 1) {
          const key = writeLabels(labels);
          values.set(key, (values.get(key) ?? 0) + amount);
        },
      };
    },
    histogram(name, help, bounds) {
      const series = new Map<string, Series>();
      family(name, { help, type: 'histogram' }, () =>
        Array.from(series, ([labels, one]) => writeSeries(name, labels, { ...one, bounds })),
      );
      return {
        observe(labels, value) {
          const key = writeLabels(labels);
          const known = series.get(key) ?? { counts: bounds.map(() => 0), sum: 0, count: 0 };
          const index = bounds.findIndex((bound) => value <= bound);
          if (index !== -1) known.counts[index] = (known.counts[index] ?? 0) + 1;
          known.sum += value;
          known.count += 1;
          series.set(key, known);
        },
      };
    },
    gauge(name, help, read) {
      family(name, { help, type: 'gauge' }, () =>
        read().map(([labels, value]) => lineOf(name, writeLabels(labels), value)),
      );
    },
    write: () => families.map((write) => write()).join(''),
  };
}

interface Series {
  /** By bucket, each without those below it. */
  readonly counts: number[];
  sum: number;
  count: number;
}

function writeSeries(
  name: string,
  labels: string,
  { counts, sum, count, bounds }: Series & { readonly bounds: readonly number[] },
): string {
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
