// Every recorded upstream stream against what each client is sent, streamed and whole.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LANES, readAnswer, readCallers, showReplies, showStream } from './answer-case.ts';
import { caseNames, expectGolden, goldenJson, orphanGoldens } from './golden-file.ts';

const LEAST_CASES = 40;
const folder = join(import.meta.dirname, 'streams');
const cases = caseNames(folder, '.sse');

test('there are enough streams, and no golden or options file without one', () => {
  expect(cases.length).toBeGreaterThanOrEqual(LEAST_CASES);
  expect(orphanGoldens(folder, { cases, targets: [...LANES, 'reply'] })).toEqual([]);
  expect(caseNames(folder, '.json').filter((name) => !cases.includes(name))).toEqual([]);
});

for (const name of cases) {
  const answer = readAnswer([readFileSync(join(folder, `${name}.sse`))]);
  const callers = readCallers(join(folder, `${name}.json`));

  test.each(LANES)(`${name} as a stream for %s`, (lane) => {
    expectGolden(join(folder, `${name}.${lane}.golden`), showStream(lane, callers[lane], answer));
  });

  test(`${name} as whole answers`, () => {
    expectGolden(join(folder, `${name}.reply.golden`), goldenJson(showReplies(callers, answer)));
  });
}
