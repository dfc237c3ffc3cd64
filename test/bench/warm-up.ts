// Lets every contender's code be compiled before it is measured: servers run for long.

import { type Contender, shotAt } from './contender.ts';
import type { Field, Side } from './field.ts';
import { fire } from './load.ts';
import type { Plan } from './plan.ts';
import type { Row } from './report.ts';
import {
  OTHER_PACED_STREAMS,
  OTHER_WARM_UP_WORKLOADS,
  PACED_STREAMS,
  WARM_UP_WORKLOADS,
  type Workload,
} from './workloads.ts';

/** The gateway's cost falls for its first 20,000 requests or so; the others have far less code. */
const GATEWAY_REQUESTS = 20_000;
const GATEWAY_SECONDS = 15;
/** A slow machine takes longer for them, but not for ever. */
const MOST_TURNS = 4;
const OTHERS_SECONDS = 5;
/** Events that come one by one take other ways through the same code; it takes everybody longer to learn them. */
const PACED_SECONDS = 10;

interface Exercise {
  readonly workloads: readonly Workload[];
  readonly seconds: number;
}

/** Measures nothing: no rows. */
export async function warmUp(field: Field, plan: Plan): Promise<Row[]> {
  const gateway = Object.values(field.gateway);
  const others = [field.bare, ...field.rivals];
  const all = { workloads: WARM_UP_WORKLOADS };
  await exerciseGateway(gateway, WARM_UP_WORKLOADS, plan);
  await exercise(others, { ...all, seconds: OTHERS_SECONDS }, plan);
  const paced = { workloads: [PACED_STREAMS], seconds: PACED_SECONDS };
  await exercise([...gateway, ...others], paced, plan);
  return [];
}

/** The same for a gateway before an upstream of another wire. */
export async function warmUpSide({ bare, gateway }: Side, plan: Plan): Promise<Row[]> {
  const both = Object.values(gateway);
  await exerciseGateway(both, OTHER_WARM_UP_WORKLOADS, plan);
  const paced = { workloads: [OTHER_PACED_STREAMS], seconds: OTHERS_SECONDS };
  await exercise([...both, bare], paced, plan);
  await exercise([bare], { workloads: OTHER_WARM_UP_WORKLOADS, seconds: OTHERS_SECONDS }, plan);
  return [];
}

/** One gateway, in the dialects it is spoken to. */
async function exerciseGateway(
  dialects: readonly Contender[],
  workloads: readonly Workload[],
  plan: Plan,
): Promise<void> {
  let answered = 0;
  for (let turn = 0; turn < MOST_TURNS && answered < GATEWAY_REQUESTS * plan.scale; turn += 1)
    answered += await exercise(dialects, { workloads, seconds: GATEWAY_SECONDS }, plan);
}

/** All at the same time. @returns how many requests were answered well */
async function exercise(
  contenders: readonly Contender[],
  { workloads, seconds }: Exercise,
  plan: Plan,
): Promise<number> {
  const runs = contenders.flatMap((contender) =>
    workloads.map(async ({ requests, connections }) => {
      const load = { connections, seconds: seconds * plan.scale };
      const result = await fire(shotAt(contender, requests), load);
      plan.note(contender, result);
      return result.good;
    }),
  );
  return (await Promise.all(runs)).reduce((sum, good) => sum + good, 0);
}
