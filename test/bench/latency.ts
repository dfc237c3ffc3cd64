// What a proxy adds to an answer's time: one connection, a steady rate, many streams at once.

import { type Contender, shotAt } from './contender.ts';
import type { Field } from './field.ts';
import { median, orderOf, percentile, spreadOf } from './figures.ts';
import { readPeakMegabytes, resetPeak } from './kernel.ts';
import { fire, type Load, type LoadResult } from './load.ts';
import { SLOW } from './models.ts';
import type { Plan } from './plan.ts';
import { atMost, type Row } from './report.ts';
import {
  BURST_STREAM,
  PACED_STREAMS,
  SHORT_PROMPT,
  streamRequests,
  UNARY,
  type Workload,
} from './workloads.ts';

interface Comparison {
  readonly name: string;
  readonly requests: Workload['requests'];
  readonly load: Load;
  readonly times: 'totalMs' | 'firstMs' | 'eventMs';
  readonly budgets: { readonly p50?: number; readonly p99: number };
  /** What the budgets are for: what is added to no proxy at all, or to the bare pass-through. */
  readonly over: 'direct' | 'bare';
  readonly rounds: number;
}

const PACED: Comparison = {
  name: PACED_STREAMS.name,
  requests: PACED_STREAMS.requests,
  load: { connections: PACED_STREAMS.connections, seconds: 0 },
  times: 'eventMs',
  budgets: { p50: 2, p99: 25 },
  over: 'direct',
  rounds: 1,
};

/** The first event alone: what a request waits for while all others of its moment are taken in. */
const BEGINNING: Comparison = {
  name: `${PACED_STREAMS.connections} streams that begin together, first event`,
  requests: PACED_STREAMS.requests,
  load: { connections: PACED_STREAMS.connections, seconds: 0 },
  times: 'firstMs',
  budgets: { p50: 1, p99: 15 },
  over: 'bare',
  rounds: 4,
};

const CROWD: Comparison = {
  name: `1000 streams, ${1000 / SLOW.paceMs} events/s each`,
  requests: streamRequests(SLOW, SHORT_PROMPT),
  load: { connections: 1000, seconds: 0, rampMs: 1000 },
  times: 'eventMs',
  budgets: { p99: 300 },
  over: 'direct',
  rounds: 1,
};
const CROWD_MEGABYTES = 350;

export async function measureLatency(field: Field, plan: Plan): Promise<Row[]> {
  const rows: Row[] = [];
  for (const comparison of [...onFewConnections(plan), ...(plan.isQuick ? [] : [PACED])]) {
    rows.push(...(await compare(comparison, field, plan)));
  }
  return rows;
}

export function measureBeginning(field: Field, plan: Plan): Promise<Row[]> {
  return compare(BEGINNING, field, plan);
}

/** Memory, and unless it must be quick delay, with very many streams open. */
export async function measureCrowd(field: Field, plan: Plan): Promise<Row[]> {
  const { chat } = field.gateway;
  resetPeak(chat.child.pid);
  resetPeak(field.bare.child.pid);
  const rows: Row[] = [];
  if (plan.isQuick) plan.note(chat, await fire(shotAt(chat, CROWD.requests), CROWD.load));
  else rows.push(...(await compare(CROWD, field, plan)));
  const memory = atMost(`${CROWD.name}: RSS`, {
    value: readPeakMegabytes(chat.child.pid),
    most: CROWD_MEGABYTES,
    show: showMegabytes,
  });
  const bare = showMegabytes(readPeakMegabytes(field.bare.child.pid));
  return [...rows, { ...memory, figure: `${memory.figure} (bare pass-through ${bare})` }];
}

function onFewConnections({ scale, rounds }: Plan): readonly Comparison[] {
  // Short rounds, so that what else the machine does disturbs all contenders alike.
  const manyRounds = 4 * rounds;
  return [
    {
      name: 'one connection, unary',
      requests: UNARY.requests,
      load: { connections: 1, seconds: 0.25 * scale },
      times: 'totalMs',
      budgets: { p50: 0.3, p99: 1.5 },
      over: 'bare',
      rounds: manyRounds,
    },
    {
      name: 'one connection, first event',
      requests: BURST_STREAM.requests,
      load: { connections: 1, seconds: 0.25 * scale },
      times: 'firstMs',
      budgets: { p99: 10 },
      over: 'direct',
      rounds: manyRounds,
    },
    {
      name: '500 requests/s on 50 connections',
      requests: UNARY.requests,
      load: { connections: 50, seconds: 2 * scale, ratePerSecond: 500 },
      times: 'totalMs',
      budgets: { p50: 2, p99: 15 },
      over: 'direct',
      rounds: 1,
    },
  ];
}

/** The times through the gateway, less those without any proxy or through the bare pass-through. */
async function compare(comparison: Comparison, field: Field, plan: Plan): Promise<Row[]> {
  const contenders = [field.direct, field.bare, field.gateway.chat];
  const results = new Map<Contender, LoadResult[]>(contenders.map((one) => [one, []]));
  for (let round = 0; round < comparison.rounds; round += 1) {
    for (const contender of orderOf(contenders, round)) {
      const result = await fire(shotAt(contender, comparison.requests), comparison.load);
      plan.note(contender, result);
      results.get(contender)?.push(result);
    }
  }
  const timesOf = (contender: Contender, share: number): number[] =>
    (results.get(contender) ?? []).map((result) => percentile(result[comparison.times], share));
  const addedTo = (base: Contender, contender: Contender, share: number): readonly number[] => {
    const baseTimes = timesOf(base, share);
    return timesOf(contender, share).map((time, round) => time - (baseTimes[round] ?? 0));
  };
  const shares = [
    { name: 'p50', share: 0.5, most: comparison.budgets.p50 },
    { name: 'p99', share: 0.99, most: comparison.budgets.p99 },
  ];
  return shares.flatMap(({ name, share, most }): Row[] => {
    if (most === undefined) return [];
    const { chat } = field.gateway;
    const added = addedTo(field[comparison.over], chat, share);
    const row = atMost(`${comparison.name}: added ${name}`, {
      value: median(added),
      most,
      show: showMs,
    });
    const spread = comparison.rounds > 1 ? ` ${spreadOf(added, 2)}` : '';
    const bare = showMs(median(addedTo(field.direct, field.bare, share)));
    const beside =
      comparison.over === 'bare'
        ? `over the bare pass-through's ${bare}`
        : `(bare pass-through ${bare})`;
    return [{ ...row, figure: `${row.figure}${spread} ${beside}` }];
  });
}

function showMs(value: number): string {
  return `${value.toFixed(2)} ms`;
}

function showMegabytes(value: number): string {
  return `${value.toFixed(0)} MB`;
}
