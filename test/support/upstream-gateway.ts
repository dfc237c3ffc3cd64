// The edge, the dispatcher and a pool over upstreams that a test has built itself.

import type { Clock } from '../../src/lib/clock.ts';
import { createProtocols } from '../../src/protocols/index.ts';
import { createServer } from '../../src/server/create-server.ts';
import { DEFAULT_EDGE_SETTINGS, type EdgeSettings } from '../../src/server/settings.ts';
import { createResponseStores } from '../../src/stored-responses/response-store.ts';
import type { Upstream } from '../../src/upstreams/upstream.ts';
import { loadMemoryAccess } from './memory-access-stores.ts';
import { dispatchOver } from './pool-dispatch.ts';
import { createSeedPool } from './seed-pool.ts';

export interface UpstreamGateway {
  readonly url: string;
  close(): Promise<void>;
}

/** The key clients send. */
export const GATEWAY_KEY = 'sk-upstream-gateway-0123456789';

/**
 * The upstream has the accounts `a` and `b`, with the keys `key-a` and `key-b`; those beside it have one each, which is
 * called as they are and comes after these. All are closed with the gateway.
 */
export async function startGatewayOver(
  upstream: Upstream,
  clock: Clock,
  beside: readonly Upstream[] = [],
): Promise<UpstreamGateway> {
  const others = beside.map(({ id }) => ({ id, upstreamId: id, priority: -1 }));
  const { pool } = createSeedPool({
    accounts: [{ id: 'a' }, { id: 'b' }, ...others],
    upstream,
    upstreams: new Map([upstream, ...beside].map((one) => [one.id, one])),
    clock,
  });
  const { dispatcher, models } = dispatchOver(pool, clock);
  const silent = (): void => {};
  const log = { debug: silent, info: silent, warn: silent, error: silent, request: silent };
  const settings: EdgeSettings = {
    ...DEFAULT_EDGE_SETTINGS,
    port: 0,
    authMode: 'strict',
    // Those of its own accounts too, so that one can stand before another.
    apiKeys: [
      { id: 'main', key: GATEWAY_KEY },
      ...['a', 'b'].map((id) => ({ id, key: `key-${id}` })),
    ],
  };
  const server = createServer({
    protocols: createProtocols(),
    dispatcher,
    models,
    responseStores: createResponseStores({ clock, onFailure: silent }),
    adminRoutes: [],
    settings: () => settings,
    access: await loadMemoryAccess({ settings: () => settings, clock, log }),
    clock,
    log,
    version: 'test',
  });
  const { url } = await server.listen();
  return {
    url,
    async close() {
      await server.close();
      await pool.close();
      for (const one of [upstream, ...beside]) await one.close();
    },
  };
}
