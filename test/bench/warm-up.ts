// Lets every contender's code be compiled before it is measured: servers run for long.

import { type Contender, shotAt } from './contender.ts';
import type { Field } from './field.ts';
import { fire } from './load.ts';
import type { Plan } from './plan.ts';
import type { Row } from './report.ts';
import { WARM_UP_WORKLOADS } from './workloads.ts';

/** The gateway's cost falls for its first 20,000 requests or so; the others have far less code. */
const GATEWAY_SECONDS = 15;
const OTHERS_SECONDS = 5;
const CONNECTIONS = 8;

/** Measures nothing: no rows. */
export async function warmUp(field: Field, plan: Plan): Promise<Row[]> {
  await exercise(Object.values(field.gateway), GATEWAY_SECONDS, plan);
  await exercise([field.bare, ...field.rivals], OTHERS_SECONDS, plan);
  return [];
}

/** All at the same time. */
async function exercise(
  contenders: readonly Contender[],
  seconds: number,
  plan: Plan,
): Promise<void> {
  const load = { connections: CONNECTIONS, seconds: seconds * plan.scale };
  await Promise.all(
    contenders.flatMap((contender) =>
      WARM_UP_WORKLOADS.map(async ({ requests }) =>
        plan.note(contender, await fire(shotAt(contender, requests), load)),
      ),
    ),
  );
}
