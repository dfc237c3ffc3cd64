// Every feature of every client on every wire: nothing vanishes without a word.

import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/lib/json.ts';
import { expectGolden, goldenJson } from '../golden-file.ts';
import { ANSWER_FEATURES, ANSWER_WIRES, findAnswerCell } from './answers.ts';
import { type Cell, closeGridTargets, findCell, GRID_TARGET_NAMES } from './cells.ts';
import { type ClientName, FEATURE_GROUPS } from './features.ts';

afterAll(closeGridTargets);

const CLIENTS: readonly ClientName[] = ['chat', 'responses', 'messages', 'generate'];
const features = FEATURE_GROUPS.flatMap((group) => group.features);

describe.each(CLIENTS)('%s clients', (client) => {
  const asked = features.filter((feature) => feature[client] !== undefined);

  describe.each(GRID_TARGET_NAMES)('on %s', (target) => {
    test.each(asked)('$title', (feature) => {
      expect(findCell(feature, client, target)).toBeDefined();
    });
  });

  test.each(GRID_TARGET_NAMES)('what %s is sent', (target) => {
    const cells = asked.map((feature) => {
      const cell = findCell(feature, client, target);
      return [feature.title, cell === undefined ? null : describeCell(cell)] as const;
    });
    const golden = goldenJson(Object.fromEntries(cells));
    expectGolden(join(import.meta.dirname, `${client}.${target}.golden`), golden);
  });
});

test('clients are shown all of an answer, but for a signature that is kept for them', () => {
  const hidden = ANSWER_WIRES.flatMap((wire) =>
    CLIENTS.flatMap((client) =>
      ANSWER_FEATURES.filter((feature) => findAnswerCell(feature, client, wire) === 'absent').map(
        ({ title }) => `${title} of ${wire} to ${client}`,
      ),
    ),
  );
  expect(hidden).toEqual(['Signature of thoughts before a call of anthropic to chat']);
});

function describeCell({ outcome, entries, message, bodies }: Cell): JsonObject {
  if (message !== undefined) return { outcome, message };
  const receipt = entries.map((entry) => ({ ...entry, reason: entry.reason.text }));
  return { outcome, receipt, bodies: [...bodies] };
}
