// A router, a dispatcher and a model list over the pool of a test.

import { createDispatcher } from '../../src/dispatch/dispatch.ts';
import { createModelDirectory } from '../../src/dispatch/model-directory.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { createId } from '../../src/lib/ids.ts';
import type { Pool } from '../../src/pool/create-pool.ts';
import { createRouter } from '../../src/routing/router.ts';
import { SignatureCache } from '../../src/signatures/cache.ts';

export function dispatchOver(pool: Pool, clock: Clock) {
  const router = createRouter({ mapping: () => ({}), offered: pool.offered });
  const dispatcher = createDispatcher({
    router,
    pool,
    keeper: new SignatureCache({ clock }),
    clock,
    random: Math.random,
    createId,
    thinkingMode: () => ({ kind: 'auto' }),
  });
  return { router, dispatcher, models: createModelDirectory({ router, pool }) };
}
