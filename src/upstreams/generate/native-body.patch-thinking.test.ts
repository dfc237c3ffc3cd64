import { expect, test } from 'vitest';
import type { ThinkingMode } from '../../canonical/effort.ts';
import type { JsonObject } from '../../lib/json.ts';
import { patch } from './native-body.ts';
import { gemini, targetOf } from './requests.test-support.ts';

const PATH = 'generationConfig.thinkingConfig';
const BUDGET_MODEL = 'gemini-2.5-flash';
const LEVEL_MODEL = 'gemini-3-pro';

const AUTO: ThinkingMode = { kind: 'auto' };
const PASSTHROUGH: ThinkingMode = { kind: 'passthrough' };
const CUSTOM: ThinkingMode = { kind: 'custom', tokens: 4096 };
const ADAPTIVE: ThinkingMode = { kind: 'adaptive' };

function patched(thinkingConfig: JsonObject, thinkingMode: ThinkingMode, modelId = BUDGET_MODEL) {
  const target = targetOf(modelId, { thinkingMode });
  const contents = [{ role: 'user', parts: [{ text: 'x' }] }];
  const { generationConfig } = patch(
    { contents, generationConfig: { thinkingConfig } },
    target,
    gemini,
  );
  return { generationConfig, entries: target.receipt.entries };
}

const sent = (thinkingConfig: JsonObject) => ({ generationConfig: { thinkingConfig } });

test.each<[ThinkingMode]>([[AUTO], [PASSTHROUGH], [CUSTOM], [ADAPTIVE]])(
  'the mode %j touches only a configuration that asks for thinking',
  (mode) => {
    for (const config of [{ includeThoughts: true }, { thinkingBudget: 0 }]) {
      expect(patched(config, mode)).toEqual({ ...sent(config), entries: [] });
    }
    expect(patched({ thinkingLevel: 'NONE' }, mode)).toMatchObject(sent({ thinkingBudget: 0 }));
  },
);

test('V110 a level of none that the model cannot keep to is told', () => {
  const { generationConfig, entries } = patched({ thinkingLevel: 'NONE' }, AUTO, 'gemini-2.5-pro');
  expect({ generationConfig }).toEqual(sent({ thinkingBudget: 128 }));
  expect(entries).toMatchObject([{ action: 'approximated', path: `${PATH}.thinkingLevel` }]);
});

test.each([100_000, 5])('passthrough sends a native budget of %i as it is', (thinkingBudget) => {
  const config = { thinkingBudget, includeThoughts: true };
  expect(patched({ ...config, thinkingLevel: 'LOW' }, PASSTHROUGH)).toEqual({
    ...sent(config),
    entries: [],
  });
});

test('passthrough still turns what the model cannot take into what it takes', () => {
  expect(patched({ thinkingLevel: 'LOW' }, PASSTHROUGH)).toMatchObject(
    sent({ thinkingBudget: 8192 }),
  );
  expect(patched({ thinkingBudget: 9000 }, PASSTHROUGH, LEVEL_MODEL)).toEqual(
    patched({ thinkingBudget: 9000 }, AUTO, LEVEL_MODEL),
  );
});

test.each([
  [{ thinkingBudget: 9000 }, 'thinkingBudget'],
  [{ thinkingBudget: -1 }, 'thinkingBudget'],
  [{ thinkingLevel: 'HIGH' }, 'thinkingLevel'],
])("custom puts the operator's budget in place of %j", (config, field) => {
  const entries = [{ action: 'approximated', path: `${PATH}.${field}` }];
  const onBudgets = patched(config, CUSTOM);
  expect(onBudgets).toMatchObject({ ...sent({ thinkingBudget: 4096 }), entries });
  expect(onBudgets.generationConfig).toEqual(sent({ thinkingBudget: 4096 }).generationConfig);
  const onLevels = patched(config, CUSTOM, LEVEL_MODEL);
  expect(onLevels.generationConfig).toEqual(sent({ thinkingLevel: 'LOW' }).generationConfig);
  expect(onLevels.entries).toMatchObject(entries);
});

test('P015 custom is capped by the model; it is no loss where the client asked for the same', () => {
  const most: ThinkingMode = { kind: 'custom', tokens: 1_000_000 };
  const { generationConfig, entries } = patched({ thinkingBudget: 9000 }, most);
  expect(generationConfig).toEqual({ thinkingConfig: { thinkingBudget: 24_576 } });
  expect(entries).toHaveLength(1);
  expect(patched({ thinkingBudget: 24_576 }, most).entries).toEqual([]);
});

test('adaptive leaves the amount to the model', () => {
  const entries = [{ action: 'approximated', path: `${PATH}.thinkingLevel` }];
  expect(patched({ thinkingLevel: 'LOW' }, ADAPTIVE)).toMatchObject({
    ...sent({ thinkingBudget: -1 }),
    entries,
  });
  const config = { thinkingLevel: 'LOW', includeThoughts: true };
  expect(patched(config, ADAPTIVE, LEVEL_MODEL)).toMatchObject({
    ...sent({ includeThoughts: true }),
    entries,
  });
  expect(patched({ thinkingBudget: -1 }, ADAPTIVE).entries).toEqual([]);
});
