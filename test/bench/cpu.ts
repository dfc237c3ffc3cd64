// CPU time per request or event: every contender in turn, each round in another order, as ratios.

import { type Contender, shotAt } from './contender.ts';
import type { Field } from './field.ts';
import { median, orderOf, spreadOf } from './figures.ts';
import { readCpuMs } from './kernel.ts';
import { fire } from './load.ts';
import type { Plan } from './plan.ts';
import { atMost, type Row } from './report.ts';
import type { Workload } from './workloads.ts';

/** Of the rounds, in a quick run. */
const QUICK_SHARE = 0.2;

/** Microseconds of CPU time per unit, one value a round. */
type Costs = ReadonlyMap<Contender, number[]>;

export async function measureCpu(workload: Workload, field: Field, plan: Plan): Promise<Row[]> {
  const { bare, gateway, rivals } = sideOf(workload, field);
  const contenders = [bare, ...gateway, ...rivals];
  const costs: Costs = new Map(contenders.map((contender) => [contender, []]));
  // Not counted: opens connections, and lets everybody forget what the workload before was.
  if (!plan.isQuick) for (const contender of contenders) await runOnce(workload, contender, plan);
  const rounds = Math.ceil(workload.rounds * (plan.isQuick ? QUICK_SHARE : 1));
  for (let round = 0; round < rounds; round += 1) {
    for (const contender of orderOf(contenders, round)) {
      costs.get(contender)?.push(await runOnce(workload, contender, plan));
    }
  }
  return [
    bareRow(workload, costs.get(bare) ?? []),
    ...gateway.map((lane) => gatewayRow(workload, lane, { costs, bare })),
    ...rivals.map((rival) => rivalRow(workload, rival, { costs, field })),
  ];
}

/** Who takes part: rivals only before the upstream they all know. */
function sideOf(
  { upstream, lanes }: Workload,
  field: Field,
): {
  readonly bare: Contender;
  readonly gateway: Contender[];
  readonly rivals: readonly Contender[];
} {
  if (upstream === undefined) return { ...field, gateway: Object.values(field.gateway) };
  const { bare, gateway } = field.others[upstream];
  return { bare, gateway: (lanes ?? [upstream]).map((lane) => gateway[lane]), rivals: [] };
}

async function runOnce(workload: Workload, contender: Contender, plan: Plan): Promise<number> {
  const before = readCpuMs(contender.child.pid);
  const result = await fire(shotAt(contender, workload.requests), {
    connections: workload.connections,
    seconds: workload.seconds * plan.scale,
  });
  plan.note(contender, result);
  if (result.good === 0) return Number.NaN;
  const usedMs = readCpuMs(contender.child.pid) - before;
  return (usedMs * 1000) / (result.good * workload.unitsPerRequest);
}

function bareRow(workload: Workload, bare: readonly number[]): Row {
  return {
    name: `${workload.name}: bare pass-through`,
    figure: `${median(bare).toFixed(0)} µs CPU/${workload.unit} ${spreadOf(bare, 0)}`,
  };
}

function gatewayRow(
  workload: Workload,
  lane: Contender,
  { costs, bare }: { readonly costs: Costs; readonly bare: Contender },
): Row {
  const own = costs.get(lane) ?? [];
  const multiples = ratios(own, costs.get(bare) ?? []);
  const row = atMost(`${workload.name}: ${lane.name}`, {
    value: median(multiples),
    most: workload.mostOfBare,
    show: (ratio) => `${ratio.toFixed(2)}× bare`,
  });
  const cost = `${median(own).toFixed(0)} µs CPU/${workload.unit}`;
  return { ...row, figure: `${row.figure} ${spreadOf(multiples, 2)}, ${cost}` };
}

/** A rival is compared with the gateway's lane of the same dialect. */
function rivalRow(
  workload: Workload,
  rival: Contender,
  { costs, field }: { readonly costs: Costs; readonly field: Field },
): Row {
  const lane = field.gateway[rival.dialect];
  const costsOf = (contender: Contender): readonly number[] => costs.get(contender) ?? [];
  const own = costsOf(rival);
  const multiples = ratios(own, costsOf(lane));
  const cost = `${median(own).toFixed(0)} µs CPU/${workload.unit}`;
  const row = {
    name: `${workload.name}: ${rival.name}`,
    figure: `${median(multiples).toFixed(2)}× ${lane.name} ${spreadOf(multiples, 2)}, ${cost}`,
  };
  const least = rival.name === 'Portkey' ? workload.leastAddedByPortkey : undefined;
  if (least === undefined) return row;
  // Rounds are too short for differences: those of their medians say what each adds.
  const bare = median(costsOf(field.bare));
  const added = (median(own) - bare) / Math.max(0, median(costsOf(lane)) - bare);
  return {
    ...row,
    figure: `adds ${added.toFixed(1)}× as much; ${row.figure}`,
    budget: `adds ≥ ${least}× as much`,
    isKept: added >= least,
  };
}

function ratios(costs: readonly number[], base: readonly number[]): number[] {
  return costs.map((cost, round) => cost / (base[round] ?? Number.NaN));
}
