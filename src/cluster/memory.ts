// A process alone; and the hub that members in one process share, behind a process alone and in the parent of workers.

import type { Clock } from '../lib/clock.ts';
import { createListeners } from '../lib/listeners.ts';
import { type Cluster, type ClusterState, NoticeListeners } from './cluster.ts';
import { LocalBank } from './counters.ts';

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

interface HubMember {
  readonly replica: string;
  take(topic: string, notice: unknown, from: string): void;
  /** Told of all members whenever one comes or goes. */
  meet(replicas: readonly string[]): void;
}

/** Values whose time is over leave when so many more have come. */
const SWEEP_EVERY = 1000;

export class Hub {
  readonly bank: LocalBank;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #members = new Map<string, HubMember>();
  readonly #values = new Map<string, { readonly value: string; readonly expiresAt: number }>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
    this.bank = new LocalBank(clock);
  }

  /** @returns what ends the membership */
  join(member: HubMember): () => void {
    this.#members.set(member.replica, member);
    this.#introduce();
    return () => {
      if (this.#members.get(member.replica) !== member) return;
      this.#members.delete(member.replica);
      this.bank.release(member.replica);
      this.#introduce();
    };
  }

  tell(topic: string, notice: unknown, from: string): void {
    for (const member of this.#members.values())
      if (member.replica !== from) member.take(topic, notice, from);
  }

  put(key: string, value: string, lifetimeMs: number): void {
    const now = this.#clock.now();
    this.#values.set(key, { value, expiresAt: now + lifetimeMs });
    if (this.#values.size % SWEEP_EVERY !== 0) return;
    for (const [known, { expiresAt }] of this.#values)
      if (expiresAt <= now) this.#values.delete(known);
  }

  get(key: string): string | undefined {
    const known = this.#values.get(key);
    return known === undefined || known.expiresAt <= this.#clock.now() ? undefined : known.value;
  }

  take(key: string): string | undefined {
    const value = this.get(key);
    this.#values.delete(key);
    return value;
  }

  #introduce(): void {
    const replicas = [...this.#members.keys()];
    for (const member of this.#members.values()) member.meet(replicas);
  }
}
