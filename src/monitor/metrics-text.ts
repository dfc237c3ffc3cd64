// The text format of Prometheus: counters and histograms written in it, and the pages of several workers added up.

import { type Cluster, othersOf, type Topic, Waits } from '../cluster/cluster.ts';
import { type Clock, waitAtMost } from '../lib/clock.ts';
import { createId } from '../lib/ids.ts';
import { parseObject } from '../lib/json.ts';
import { BOUNDS_MS, BUCKETS, bucketOf } from './latency.ts';

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
    /** Of times, in seconds. @param span the shortest and the longest that are told apart, in milliseconds */
    histogram(name: string, help: string, span: BoundSpan) {
      const bounds = placesOf(span);
      const make = () => new Series();
      return family(name, { help, type: 'histogram', make }, (labels, series) =>
        writeSeries({ name, labels, series, bounds }),
      );
    },
    /** Read when the metrics are written. */
    gauge: readFamily('gauge'),
    /** As `gauge`, for a count that is kept elsewhere and only rises. */
    total: readFamily('counter'),
    write: () => families.map((write) => write()).join(''),
  };
}

/** The same buckets as those of the console's percentiles. */
class Series {
  readonly counts: number[] = Array.from({ length: BUCKETS }, () => 0);
  /** Milliseconds. */
  sum = 0;
  count = 0;

  observe(ms: number): void {
    const bucket = bucketOf(ms);
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
    this.sum += ms;
    this.count += 1;
  }
}

interface BoundSpan {
  readonly least: number;
  readonly most: number;
}

/** Powers of two alone: all of them would be twice as many series. */
function placesOf({ least, most }: BoundSpan): readonly number[] {
  return BOUNDS_MS.flatMap((bound, place) =>
    bound >= least && bound <= most && Number.isInteger(Math.log2(bound)) ? [place] : [],
  );
}

interface WrittenSeries {
  readonly name: string;
  readonly labels: string;
  readonly series: Series;
  readonly bounds: readonly number[];
}

function writeSeries({ name, labels, series, bounds }: WrittenSeries): string {
  const { counts, sum, count } = series;
  let below = 0;
  let next = 0;
  let lines = '';
  for (const place of bounds) {
    for (; next <= place; next += 1) below += counts[next] ?? 0;
    const bound = (BOUNDS_MS[place] ?? 0) / 1000;
    lines += lineOf(`${name}_bucket`, join(labels, `le="${bound}"`), below);
  }
  lines += lineOf(`${name}_bucket`, join(labels, 'le="+Inf"'), count);
  const seconds = sum / 1000;
  return `${lines}${lineOf(`${name}_sum`, labels, seconds)}${lineOf(`${name}_count`, labels, count)}`;
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

interface SharedMetricsOptions {
  readonly cluster: Pick<Cluster, 'notices' | 'replica' | 'state' | 'values'>;
  readonly clock: Pick<Clock, 'startTimer'>;
  readonly write: () => string;
}

/** A worker that does not answer by then has what it last said. */
const WAIT_MS = 1000;
/** Series that all processes have of one thing: not added, the lowest value counts. */
const SAME =
  /^(?:isthmus_(?:accounts|database_up|valkey_up|quota_left_ratio)|process_start_time_seconds)\b/;
/** Series of which the highest value counts. */
const WORST = /^isthmus_(?:attention|event_loop_lag_seconds)\b/;
/** Families of what was counted since the start, by their heads. */
const COUNTED = /^# TYPE (?:\S+ (?:counter|histogram)|isthmus_cache_savings_usd gauge)$/m;

interface MetricsNotice {
  readonly kind: 'ask' | 'answer';
  readonly id: string;
  readonly text?: string;
}

const TOPIC: Topic<MetricsNotice> = { name: 'metrics 1' };

/** Of those that are gone. */
const GONE = '';
/** What each worker had counted when it last said it, by its name. */
const COUNTED_KEY = 'counted by workers 1';
/** As long as the parent lives. */
const COUNTED_MS = 10 * 365 * 86_400_000;

/** One page for all workers of a machine: the one asked adds up. Replicas are scraped one by one. */
export function shareMetrics({ cluster, clock, write }: SharedMetricsOptions) {
  const { notices, replica, state, values } = cluster;
  const waits = new Waits<[answer: MetricsNotice, from: string]>(clock, WAIT_MS);
  const isShared = state().kind === 'parent';
  notices.listen(TOPIC, {
    take(notice, from) {
      if (notice.kind === 'answer') waits.tell(notice, from);
      else notices.tell(TOPIC, { kind: 'answer', id: notice.id, text: write() });
    },
  });
  /** Counters never fall: what is kept of those without a page here goes on. @returns all pages there are */
  const keep = async (pages: ReadonlyMap<string, string>): Promise<readonly string[]> => {
    const kept = Object.entries(parseObject((await values.get(COUNTED_KEY)) ?? '{}'));
    const all = new Map([...kept.map(([name, page]) => [name, String(page)] as const), ...pages]);
    const counted = Array.from(all, ([name, page]) => [name, countersOf(page)] as const);
    const here = new Set(state().replicas);
    const gone = counted.filter(([name]) => !here.has(name)).map(([, page]) => page);
    const next = [...counted.filter(([name]) => here.has(name)), [GONE, addUp(gone)] as const];
    await values.put(COUNTED_KEY, JSON.stringify(Object.fromEntries(next)), COUNTED_MS);
    return [...all.values()];
  };
  return {
    async gather(): Promise<string> {
      const own = write();
      if (!isShared) return own;
      const pages = new Map([[replica, own]]);
      const others = othersOf(cluster).length;
      if (others > 0) {
        const id = createId('metrics_');
        const answered = waits.until((answer, from) => {
          if (answer.id === id) pages.set(from, answer.text ?? '');
          return pages.size > others;
        });
        notices.tell(TOPIC, { kind: 'ask', id });
        await answered;
      }
      return addUp(await keep(pages));
    },
    /** Says what was counted until the end. */
    async close(): Promise<void> {
      if (isShared) await waitAtMost(clock, WAIT_MS, keep(new Map([[replica, write()]])));
    },
  };
}

function familiesOf(page: string): readonly string[] {
  return page.split(/^(?=# HELP )/m);
}

function countersOf(page: string): string {
  return familiesOf(page)
    .filter((family) => COUNTED.test(family))
    .join('');
}

/** Series of the same name and labels are added; what only some pages have comes behind the rest of its family. */
function addUp(pages: readonly string[]): string {
  const families = new Map<string, Map<string, number>>();
  for (const page of pages) {
    for (const family of familiesOf(page)) {
      const lines = family.trimEnd().split('\n');
      const head = lines.filter((line) => line.startsWith('#')).join('\n');
      const series = families.get(head) ?? new Map<string, number>();
      families.set(head, series);
      for (const line of lines) if (!line.startsWith('#')) add(series, line);
    }
  }
  const write = ([head, series]: readonly [string, ReadonlyMap<string, number>]): string =>
    `${head}\n${Array.from(series, ([name, value]) => `${name} ${value}\n`).join('')}`;
  return [...families].map(write).join('');
}

function add(series: Map<string, number>, line: string): void {
  const at = line.lastIndexOf(' ');
  if (at < 0) return;
  const name = line.slice(0, at);
  const known = series.get(name);
  const value = Number(line.slice(at + 1));
  if (known === undefined) series.set(name, value);
  else if (SAME.test(name)) series.set(name, Math.min(known, value));
  else series.set(name, WORST.test(name) ? Math.max(known, value) : known + value);
}
