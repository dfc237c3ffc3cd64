import { expect, test } from 'vitest';
import { capabilitiesOf, requestOf } from '../../test/support/canonical.ts';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { createFakeUpstream } from '../../test/support/fake-upstream.ts';
import { createSeedPool } from '../../test/support/seed-pool.ts';
import type { ModelCapabilities } from '../canonical/model.ts';
import type { CanonicalRequest } from '../canonical/request.ts';
import type { JsonObject } from '../lib/json.ts';
import { choicesOf } from './call-setup.ts';
import { callOf, contextOf } from './dispatch.test-support.ts';
import { askApart } from './fan-out.ts';

function routingOf(capabilities: Partial<ModelCapabilities>, ids = ['a']) {
  const upstream = {
    ...createFakeUpstream(() => ({ frames: [] })),
    capabilities: () => capabilitiesOf(capabilities),
  };
  const accounts = ids.map((id) => ({ id, priority: 0 }));
  const { pool } = createSeedPool({ accounts, upstream, clock: createFakeClock() });
  return {
    pool,
    random: () => 0,
    router: { route: (name: string) => ({ target: name, webSearch: false }) },
  };
}

const asking = (fields: Partial<CanonicalRequest>) => callOf({ request: requestOf(fields) });

test('of a model that gives one answer at a time each is asked for by itself, with a seed of its own', async () => {
  const call = asking({ choices: 3, sampling: { temperature: 1, seed: 7 } });
  expect(choicesOf(call)).toBeGreaterThan(1);
  const apart = await askApart(call, contextOf(), routingOf({ severalAnswers: false }));
  expect(apart.fanOut).toMatchObject({
    takesPartial: true,
    requests: [7, 8, 9].map((seed) => ({ choices: 1, sampling: { temperature: 1, seed } })),
  });
  expect(apart.request.choices).toBe(1);
});

test('several prompts are asked for prompt by prompt, and stay all or nothing', async () => {
  const requests = ['a', 'b'].map((text) =>
    requestOf({ choices: 2, system: [{ kind: 'text', text }] }),
  );
  const call = { ...asking({ choices: 2 }), fanOut: { requests, takesPartial: false } };
  const { fanOut } = await askApart(call, contextOf(), routingOf({ severalAnswers: false }));
  expect(fanOut?.takesPartial).toBe(false);
  expect(fanOut?.requests.map(({ system }) => system[0]?.text)).toEqual(['a', 'a', 'b', 'b']);
});

test('a call stays one where its model gives several, and where no account is left', async () => {
  const call = asking({ choices: 2 });
  expect(await askApart(call, contextOf(), routingOf({ severalAnswers: true }))).toBe(call);
  expect(await askApart(call, contextOf(), routingOf({ severalAnswers: false }, []))).toBe(call);
});

test('one answer is one request, and more than eight of them are refused', async () => {
  expect(choicesOf(asking({}))).toBe(1);
  const asked = askApart(asking({ choices: 9 }), contextOf(), routingOf({ severalAnswers: false }));
  await expect(asked).rejects.toThrow('n: at most 8 answers are possible.');
});

test('a body is relayed with what it asks for, but where the upstream is known to give one answer', async () => {
  const refuse = (): never => {
    throw new Error('nothing is written here');
  };
  const relay = {
    ...{ wire: 'fake-wire', body: {}, choices: 2, openingText: () => undefined },
    ...{ declaredNames: () => new Set<string>(), renameCalls: (frame: JsonObject) => frame },
    ...{ createStreamWriter: refuse, writeReply: refuse },
  };
  const call = { ...asking({ choices: 2 }), relay };
  const judging = routingOf({ severalAnswers: false });
  expect(await askApart(call, contextOf(), judging)).toBe(call);
  const alone = routingOf({ severalAnswers: false, relaysOneAnswer: true });
  const apart = await askApart(call, contextOf(), alone);
  expect(apart.relay).toBeUndefined();
  expect(apart.fanOut?.requests).toHaveLength(2);
});
