// `npm run bench`: the gateway beside a bare pass-through, and nginx and Portkey when installed, in one run.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { measureCpu } from './cpu.ts';
import { type Field, LOAD_CORE, startField } from './field.ts';
import { measureHouse, measureWalks } from './house.ts';
import { pinThisProcess, readBusyMs, readCpuMs } from './kernel.ts';
import { measureBeginning, measureCrowd, measureLatency } from './latency.ts';
import { createPlan, type Plan } from './plan.ts';
import { atMost, countMissed, type Row, renderTable } from './report.ts';
import { warmUp, warmUpSide } from './warm-up.ts';
import { OTHER_WIRES, WORKLOADS, type Workload, workloadsOf } from './workloads.ts';

const LIMIT_MS = 600_000;

const { values: flags } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, only: { type: 'string', default: '' } },
});
const plan = createPlan({ isQuick: flags.quick });
const rows: Row[] = [];
const folder = mkdtempSync(join(tmpdir(), 'isthmus-bench-'));
const startedAt = performance.now();

process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const limit = setTimeout(() => finish('stopped at its time limit'), LIMIT_MS);

pinThisProcess(LOAD_CORE);
const field = await startField({ folder, withRivals: plan.withRivals });
const othersMs = await timeOfOthers(field, () => measure(field, plan));
await field.stop();
clearTimeout(limit);
rows.push({
  name: 'CPU time of other programs meanwhile',
  figure: `${((100 * othersMs) / (performance.now() - startedAt)).toFixed(0)} % of a core`,
});
finish('done');

async function measure(field: Field, plan: Plan): Promise<void> {
  rows.push(
    atMost('start to listening', {
      value: field.gatewayStartMs,
      most: 400,
      show: (value) => `${value.toFixed(0)} ms`,
    }),
  );
  for (const { warmUp, steps } of phasesOf(field, plan)) {
    const asked = steps.filter(({ name }) => name.includes(flags.only));
    if (asked.length === 0) continue;
    for (const step of [...(warmUp === undefined ? [] : [warmUp]), ...asked]) {
      console.error(`${secondsSinceStart()} s: ${step.name}`);
      rows.push(...(await step.run()));
    }
  }
}

interface Step {
  readonly name: string;
  run(): Promise<readonly Row[]>;
}

/**
 * A gateway is warmed up right before all that measures it: while it has nothing to do for a minute and a half, V8 throws
 * away what it compiled for the shapes of requests, and the next 20,000 cost up to three times as much.
 */
function phasesOf(
  field: Field,
  plan: Plan,
): readonly { readonly warmUp?: Step; readonly steps: readonly Step[] }[] {
  const cpu = (workload: Workload): Step => ({
    name: `cpu ${workload.name}`,
    run: () => measureCpu(workload, field, plan),
  });
  return [
    {
      warmUp: { name: 'warm up', run: () => warmUp(field, plan) },
      steps: [
        ...WORKLOADS.map(cpu),
        { name: 'latency', run: () => measureLatency(field, plan) },
        { name: 'beginning', run: () => measureBeginning(field, plan) },
        { name: 'crowd', run: () => measureCrowd(field, plan) },
      ],
    },
    ...OTHER_WIRES.map((wire) => ({
      warmUp: { name: `warm up ${wire}`, run: () => warmUpSide(field.others[wire], plan) },
      steps: workloadsOf(wire).map(cpu),
    })),
    {
      steps: [
        { name: 'walk', run: async () => measureWalks() },
        { name: 'house', run: async () => measureHouse() },
      ],
    },
  ];
}

/** What the rest of the machine used meanwhile, in milliseconds: the more, the less the figures say. */
async function timeOfOthers(field: Field, work: () => Promise<void>): Promise<number> {
  const ownMs = (): number =>
    field.children.reduce((sum, child) => sum + readCpuMs(child.pid), readCpuMs(process.pid));
  const before = readBusyMs() - ownMs();
  await work();
  return readBusyMs() - ownMs() - before;
}

/** Prints the table; the exit code tells only whether requests failed or time ran out. */
function finish(state: string): never {
  const failures = [...plan.failures].map(([name, count]) => `${name}: ${count}`);
  console.log(`${renderTable(rows)}\n`);
  console.log(
    `${state} after ${secondsSinceStart()} s, ${countMissed(rows)} budgets missed, ` +
      `failed requests: ${failures.join(', ') || 'none'} (node ${process.version})`,
  );
  process.exit(state === 'done' && failures.length === 0 ? 0 : 1);
}

function secondsSinceStart(): string {
  return ((performance.now() - startedAt) / 1000).toFixed(0);
}
