// Counters and histograms, written in the text format of Prometheus.

type Labels = Readonly<Record<string, string>>;

type ReadSeries = () => readonly (readonly [Labels, number])[];

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * The Prometheus text format (https://prometheus.io/docs/instrumenting/exposition_formats/), by hand: the
 * usual library takes a tenth of a second to load, and each count ten times as long.
 */
export function createMetricsText() {
  const families: (() => string)[] = [];
  /** @returns what gives the series of labels, made when first asked for */
  const family = <Series>(
    name: string,
    parts: { readonly help: string; readonly type: string; make(): Series },
    write: (labels: string, series: Series) => string,
  ) => {
    const all = new Map<string, Series>();
    const head = `# HELP ${name} ${parts.help}\n# TYPE ${name} ${parts.type}\n`;
    families.push(() => head + Array.from(all, ([key, series]) => write(key, series)).join(''));
    return (labels: Labels): Series => {
      const key = writeLabels(labels);
      const series = all.get(key) ?? parts.make();
      all.set(key, series);
      return series;
    };
  };
  const valueFamily = (type: 'gauge' | 'counter') => (name: string, help: string) =>
    family(name, { help, type, make: () => ({ value: 0 }) }, (labels, { value }) =>
      lineOf(name, labels, value),
    );
  const readFamily =
    (type: 'gauge' | 'counter') => (name: string, help: string, read: ReadSeries) => {
      const head = `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
      families.push(
        () =>
          head +
          read()
            .map(([labels, value]) => lineOf(name, writeLabels(labels), value))
            .join(''),
      );
    };
  return {
    counter: valueFamily('counter'),
    /** As `counter`, for a sum that may fall too. */
    gaugeCounter: valueFamily('gauge'),
    /** @param bounds upper ends of the buckets, rising */
    histogram: (name: string, help: string, bounds: readonly number[]) =>
      family(name, { help, type: 'histogram', make: () => new Series(bounds) }, (labels, series) =>
        writeSeries(name, labels, series),
      ),
    /** Read when the metrics are written. */
    gauge: readFamily('gauge'),
    /** As `gauge`, for a count that is kept elsewhere and only rises. */
    total: readFamily('counter'),
    write: () => families.map((write) => write()).join(''),
  };
}

class Series {
  readonly bounds: readonly number[];
  /** By bucket, each without those below it; behind them what is above all bounds. */
  readonly counts: number[];
  sum = 0;
  count = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = bounds.map(() => 0);
  }

  observe(value: number): void {
    let index = 0;
    while (value > (this.bounds[index] ?? Number.POSITIVE_INFINITY)) index += 1;
    this.counts[index] = (this.counts[index] ?? 0) + 1;
    this.sum += value;
    this.count += 1;
  }
}

function writeSeries(name: string, labels: string, { counts, sum, count, bounds }: Series): string {
  let below = 0;
  let lines = '';
  for (const [index, bound] of bounds.entries()) {
    below += counts[index] ?? 0;
    lines += lineOf(`${name}_bucket`, join(labels, `le="${bound}"`), below);
  }
  lines += lineOf(`${name}_bucket`, join(labels, 'le="+Inf"'), count);
  return `${lines}${lineOf(`${name}_sum`, labels, sum)}${lineOf(`${name}_count`, labels, count)}`;
}

function join(labels: string, more: string): string {
  return labels === '' ? more : `${labels},${more}`;
}

function lineOf(name: string, labels: string, value: number): string {
  return labels === '' ? `${name} ${value}\n` : `${name}{${labels}} ${value}\n`;
}

function writeLabels(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => {
      const text = value.replace(/[\\"]/g, (sign) => `\\${sign}`).replaceAll('\n', '\\n');
      return `${name}="${text}"`;
    })
    .join(',');
}
