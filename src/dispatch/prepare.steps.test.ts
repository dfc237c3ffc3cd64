import { expect, test } from 'vitest';
import { requestOf, user } from '../../test/support/canonical.ts';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { createFakeUpstream } from '../../test/support/fake-upstream.ts';
import { createSeedPool } from '../../test/support/seed-pool.ts';
import { countTurns } from '../../test/support/turns.ts';
import { SignatureCache } from '../signatures/cache.ts';
import { FIRST_PLAN } from './attempt-plan.ts';
import { contextOf } from './dispatch.test-support.ts';
import { CallBodies } from './prepare.ts';

const ROUTE = { target: 'm', webSearch: false };
const request = requestOf({
  turns: [user('a'), { role: 'assistant', parts: [{ kind: 'text', text: 'b' }] }, user('c')],
});

function prepare(isLarge: boolean) {
  const upstream = {
    ...createFakeUpstream(() => ({ frames: [] })),
    encode: ({ turns }: typeof request) => ({ said: JSON.stringify(turns) }),
  };
  const clock = createFakeClock();
  const { pool } = createSeedPool({ accounts: [{ id: 'a' }], upstream, clock });
  const leased = pool.lease({ model: 'm', clientKeyId: 'k' });
  if (leased.kind !== 'lease') throw new Error('No account was lent.');
  const { lease } = leased;
  const bodies = new CallBodies(
    { request },
    { ...contextOf(), isLarge },
    {
      keeper: new SignatureCache({ clock }),
      thinkingMode: () => ({ kind: 'auto' }),
    },
  );
  return countTurns(() => bodies.prepare(lease, FIRST_PLAN, ROUTE));
}

test('a large body is translated with a turn for others behind each rule, any other at once', async () => {
  const large = await prepare(true);
  const small = await prepare(false);
  expect(large.result.body).toEqual(small.result.body);
  expect(small.turns).toBeLessThan(2);
  expect(large.turns).toBeGreaterThan(8);
});
