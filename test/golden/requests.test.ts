// Every recorded request against its goldens, and against the sandbox's own strict reading.

import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { SandboxError } from '../../packages/sandbox/src/errors.ts';
import { findModel } from '../../packages/sandbox/src/models.ts';
import { readMessage } from '../../packages/sandbox/src/proto.ts';
import { checkRequest } from '../../packages/sandbox/src/rules.ts';
import { createSignatures } from '../../packages/sandbox/src/state.ts';
import { asGatewayError } from '../../src/canonical/error.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { sharedList } from '../support/shared-list.ts';
import { caseNames, expectGolden, goldenJson, orphanGoldens } from './golden-file.ts';
import { describeTranslation, type RequestCase, readCase, translate } from './request-case.ts';
import { TARGET_NAMES, targets } from './targets.ts';

const LEAST_CASES = 60;
const signatures = createSignatures('golden');

afterAll(async () => {
  for (const { upstream } of Object.values(targets)) await upstream.close();
});

describe.each(['chat', 'messages', 'generate', 'responses'])('%s requests', (protocol) => {
  const folder = join(import.meta.dirname, 'requests', protocol);
  const cases = caseNames(folder, '.json');

  test('there are enough cases and no golden without one', () => {
    expect(cases.length).toBeGreaterThanOrEqual(LEAST_CASES);
    expect(orphanGoldens(folder, { cases, targets: TARGET_NAMES })).toEqual([]);
  });

  for (const name of cases) {
    const request = readCase(join(folder, `${name}.json`));

    test.each(TARGET_NAMES)(`${name} for %s`, (target) => {
      const golden = goldenJson(describeTranslation(request, target));
      expectGolden(join(folder, `${name}.${target}.golden`), golden);
      const shared = withSharedTools(request);
      for (let nth = 0; shared !== undefined && nth < 2; nth += 1) {
        expect(goldenJson(describeTranslation(shared, target))).toBe(golden);
      }
    });

    test(`${name} is taken by the strict sandbox`, () => {
      expect(sandboxVerdict(request)).toBe(request.refusedUpstream ?? '');
    });
  }
});

/** The same request with tools that other requests brought before; undefined where it has none. */
function withSharedTools(request: RequestCase): RequestCase | undefined {
  const { tools } = request.body;
  if (typeof tools !== 'object' || tools === null) return undefined;
  return { ...request, body: { ...request.body, tools: sharedList(frozenCopy(tools)) } };
}

function frozenCopy<Value>(value: Value): Value {
  const freeze = (member: unknown): void => {
    if (typeof member !== 'object' || member === null) return;
    Object.values(Object.freeze(member)).forEach(freeze);
  };
  const copy = structuredClone(value);
  freeze(copy);
  return copy;
}

/** What the sandbox says to the translated body; '' when it takes it or the gateway refuses first. */
function sandboxVerdict(request: ReturnType<typeof readCase>): string {
  let body: JsonObject;
  let modelId: string;
  try {
    ({ body, modelId } = translate(request, 'sandbox'));
  } catch (error) {
    if (asGatewayError(error).kind === 'internal') throw error;
    return '';
  }
  const model = findModel(modelId);
  if (model === undefined) throw new Error(`The sandbox has no model ${modelId}.`);
  try {
    checkRequest({
      request: readMessage('GenerateContentRequest', JSON.parse(JSON.stringify(body))),
      model,
      // Recorded signatures are invented: whether one stands where it must is still checked.
      signatures: { ...signatures, check: () => 'valid' },
    });
    return '';
  } catch (error) {
    if (error instanceof SandboxError) return error.message;
    throw error;
  }
}
