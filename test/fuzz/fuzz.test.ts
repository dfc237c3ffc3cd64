// Mutated bodies of real clients through the whole pure path: refused in the client's form, or good upstream.

import { afterAll, expect, test } from 'vitest';
import { isJsonObject, parseSurveyed } from '../../src/lib/json.ts';
import type { RequestCase } from '../golden/request-case.ts';
import { targets } from '../golden/targets.ts';
import { countOf } from '../support/counts.ts';
import { unexpectedLines } from './allowed.ts';
import { FUZZED_SURFACES, readCorpus } from './corpus.ts';
import { mutateBody } from './mutate.ts';
import { createRandom } from './random.ts';
import { judge, type Lane } from './verdict.ts';

const runsOf = (isFirst: boolean): number =>
  countOf({ slow: 10_000, everyday: isFirst ? 300 : 150 });
/** Another start gives other bodies; the number in a finding is added to it. */
const SEED = Number(process.env.ISTHMUS_FUZZ_SEED ?? 20_260_101);
const MAX_MS = 1000;
const MOST_SHOWN = 10;
/** Below this the mutations would say nothing about what is accepted. */
const LEAST_ACCEPTED_SHARE = 0.2;

afterAll(async () => {
  for (const { upstream } of Object.values(targets)) await upstream.close();
});

test.each(FUZZED_SURFACES)(
  '%s bodies are refused properly or carried validly, whatever stands in them',
  (surface) => {
    const runs = runsOf(['chat', 'messages', 'generate'].includes(surface));
    const corpus = readCorpus(surface);
    const lanes: readonly Lane[] = surface === 'generate' ? ['relay', 'translate'] : ['translate'];
    const prototypeBefore = describePrototypes();
    const findings: string[] = [];
    let accepted = 0;
    for (let run = 0; run < runs; run += 1) {
      const random = createRandom(SEED + run);
      const start = random.pick(corpus.cases);
      // As the server reads it: mutations work on values, clients send text.
      const text = JSON.stringify(mutateBody(start.body, random, corpus));
      const body = parseSurveyed(text, { mayHoldRiskyNumber: true, mayHoldEscapedKey: true });
      if (!isJsonObject(body)) continue;
      for (const lane of lanes) {
        const found = examine({ ...start, body }, lane);
        if (found === 'accepted') accepted += 1;
        else if (found !== 'refused') findings.push(`#${run} ${start.name} (${lane}): ${found}`);
      }
    }
    expect(findings.slice(0, MOST_SHOWN)).toEqual([]);
    expect(describePrototypes()).toEqual(prototypeBefore);
    expect(accepted).toBeGreaterThan(runs * LEAST_ACCEPTED_SHARE);
  },
  120_000,
);

/** `accepted`, `refused`, or what is wrong. */
function examine(request: RequestCase, lane: Lane): string {
  const before = process.threadCpuUsage();
  const verdict = judge(request, lane);
  const { user, system } = process.threadCpuUsage(before);
  const tookMs = (user + system) / 1000;
  if (tookMs > MAX_MS) return `took ${Math.round(tookMs)} ms`;
  switch (verdict.kind) {
    case 'accepted':
    case 'refused':
      return verdict.kind;
    case 'upstream-refused': {
      const lines = unexpectedLines(verdict.message, lane);
      return lines.length === 0 ? 'refused' : lines.join(' | ').slice(0, 500);
    }
    case 'broken':
      return `${verdict.message}\n${verdict.error instanceof Error ? verdict.error.stack : ''}`;
    default:
      return verdict satisfies never;
  }
}

/** Nothing a body says may reach what all objects share. */
function describePrototypes(): readonly string[] {
  return [Object.prototype, Array.prototype, Function.prototype].map((prototype) =>
    Reflect.ownKeys(prototype).map(String).join(' '),
  );
}
