// A process alone: there is nobody to tell, and every figure is its own.

import type { Clock } from '../lib/clock.ts';
import { createListeners } from '../lib/listeners.ts';
import type { Cluster, ClusterState } from './cluster.ts';
import { Hub } from './hub.ts';
import { NoticeListeners } from './notice-listeners.ts';

interface MemoryClusterOptions {
  readonly replica: string;
  readonly clock: Pick<Clock, 'now'>;
  /** Several members of one hub are several replicas in one process, as tests want them. */
  readonly hub?: Hub;
  readonly onFault: (error: unknown) => void;
}

export function createMemoryCluster(options: MemoryClusterOptions): Cluster {
  const { replica, clock, onFault, hub = new Hub(clock) } = options;
  const listeners = new NoticeListeners(onFault);
  const changes = createListeners<ClusterState>(onFault);
  const since = clock.now();
  let replicas: readonly string[] = [replica];
  const state = (): ClusterState => ({ kind: 'memory', isConnected: true, since, replicas });
  const leave = hub.join({
    replica,
    take: (topic, notice, from) => listeners.take(topic, notice, from),
    meet(members) {
      replicas = members;
      changes.tell(state());
    },
  });
  return {
    replica,
    notices: {
      tell: ({ name }, notice) => hub.tell(name, notice, replica),
      listen: (topic, listener) => listeners.add(topic, listener),
    },
    values: {
      put: async (key, value, lifetimeMs) => hub.put(key, value, lifetimeMs),
      get: async (key) => hub.get(key),
      take: async (key) => hub.take(key),
    },
    bank: {
      isLocal: true,
      lease: (request) => hub.bank.lease(request, replica),
      giveBack: (counter, amount, held) => hub.bank.giveBack(counter, amount, held, replica),
    },
    state,
    subscribe: changes.add,
    catchUp: () => listeners.catchUp(),
    async close() {
      leave();
    },
  };
}
