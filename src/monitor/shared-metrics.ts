// One page of metrics for all workers of a machine: whoever is asked asks the others, and adds up.

import { type Cluster, othersOf, type Topic, Waits } from '../cluster/cluster.ts';
import type { Clock } from '../lib/clock.ts';
import { createId } from '../lib/ids.ts';

interface SharedMetricsOptions {
  readonly cluster: Pick<Cluster, 'notices' | 'replica' | 'state'>;
  readonly clock: Pick<Clock, 'startTimer'>;
  /** Those of this process. */
  readonly write: () => string;
}

/** A worker that does not answer by then is left out. */
const WAIT_MS = 1000;
/** What all processes say of one thing: not to be added, and whoever sees it worst is right. */
const SAME =
  /^(?:isthmus_(?:accounts|database_up|valkey_up|quota_left_ratio)|process_start_time_seconds)\b/;
/** Where whoever sees most is right. */
const WORST = /^isthmus_(?:attention|event_loop_lag_seconds)\b/;

interface MetricsNotice {
  readonly kind: 'ask' | 'answer';
  readonly id: string;
  readonly text?: string;
}

const TOPIC: Topic<MetricsNotice> = { name: 'metrics 1' };

/** @returns what gathers the metrics; replicas on several machines are asked by whoever collects, each for itself */
export function shareMetrics({ cluster, clock, write }: SharedMetricsOptions) {
  const { notices } = cluster;
  const waits = new Waits<[answer: MetricsNotice]>(clock, WAIT_MS);
  notices.listen(TOPIC, {
    take(notice) {
      if (notice.kind === 'answer') waits.tell(notice);
      else notices.tell(TOPIC, { kind: 'answer', id: notice.id, text: write() });
    },
  });
  return async (): Promise<string> => {
    const own = write();
    const others = othersOf(cluster).length;
    if (cluster.state().kind !== 'parent' || others === 0) return own;
    const id = createId('metrics_');
    const pages = [own];
    const answered = waits.until((answer) => {
      if (answer.id === id) pages.push(answer.text ?? '');
      return pages.length > others;
    });
    notices.tell(TOPIC, { kind: 'ask', id });
    await answered;
    return addUp(pages);
  };
}

/** Series of the same name and labels are added; what only some pages have comes behind the rest of its family. */
function addUp(pages: readonly string[]): string {
  const families = new Map<string, Map<string, number>>();
  for (const page of pages) {
    for (const family of page.split(/^(?=# HELP )/m)) {
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
