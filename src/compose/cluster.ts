// Joins the processes that serve the same clients: replicas through Valkey, workers through their parent, or none.

import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { type Cluster, replicaId, type Topic } from '../cluster/cluster.ts';
import type { LeaseStore } from '../cluster/leases.ts';
import { createMemoryCluster } from '../cluster/memory.ts';
import { type Channel, createWorkerCluster } from '../cluster/parent.ts';
import type { LiveConfig } from '../config/live.ts';
import type { Clock, Timer } from '../lib/clock.ts';
import type { Log } from '../server/settings.ts';
import type { SharedDatabase } from './shared-database.ts';

interface OpenClusterOptions {
  /** Of Valkey or Redis; it shares among all replicas, workers included. */
  readonly redisUrl?: string | undefined;
  /** The workers of this machine, where this is one. */
  readonly siblings?: Cluster | undefined;
  /** What people call this process; the name of the machine when absent. */
  readonly name?: string | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** The caller closes it, after all that uses it. */
export async function openCluster(options: OpenClusterOptions): Promise<Cluster> {
  const { redisUrl, siblings, name = hostname(), clock, log } = options;
  const replica = nameRun(name);
  if (redisUrl !== undefined) {
    // Its code is read only where it is used.
    const { joinValkeyCluster } = await import('../cluster/valkey.ts');
    return joinValkeyCluster({ url: redisUrl, replica, clock, log });
  }
  if (siblings !== undefined) return siblings;
  return createMemoryCluster({ replica, clock, onFault: sayFault(log) });
}

/** The workers behind the same parent. */
export function joinSiblings(
  channel: Channel,
  { name, clock, log }: { name: string; clock: Clock; log: Log },
): Cluster {
  const replica = nameRun(name);
  return createWorkerCluster({ replica, channel, clock, onFault: sayFault(log) });
}

/** A process that takes a name over is another member. */
function nameRun(name: string): string {
  return replicaId(name, randomBytes(3).toString('hex'));
}

function sayFault(log: Log): (error: unknown) => void {
  return (error) => log.warn({ error }, 'A notice of another process could not be taken.');
}

const SETTINGS: Topic<null> = { name: 'settings 1' };

/** Whatever process the settings are changed in, all read them again. */
export function shareSettings(
  config: Pick<LiveConfig, 'subscribe' | 'reload'>,
  { notices }: Pick<Cluster, 'notices'>,
): void {
  const reload = (): void => void config.reload();
  notices.listen(SETTINGS, { take: reload, catchUp: reload });
  config.subscribe(() => notices.tell(SETTINGS, null));
}

/** While no process can tell another of anything, what one changes is known to all in so long. */
const ALONE_REREAD_MS = 5000;
/** Held by one that no other can hear: what it changes is in the store alone. */
const UNHEARD = 'unheard process';
const UNHEARD_MS = 3 * ALONE_REREAD_MS;

interface KeepUpOptions {
  readonly cluster: Cluster;
  readonly leases: Pick<LeaseStore, 'take'>;
  readonly shared?: Pick<SharedDatabase, 'reachability' | 'subscribe'> | undefined;
  readonly clock: Pick<Clock, 'startTimer'>;
}

/** Reads again what others changed, as notices of it may be lost. @returns what ends it */
export function keepUp({ cluster, leases, shared, clock }: KeepUpOptions): () => void {
  const canRead = (): boolean => shared?.reachability().isReachable !== false;
  const reread = async (): Promise<void> => {
    const { isConnected } = cluster.state();
    // Whoever is heard only looks whether another holds it.
    const taken = leases.take(UNHEARD, cluster.replica, isConnected ? 0 : UNHEARD_MS);
    const isOthers = await taken.then(
      (lease) => lease === undefined,
      () => false,
    );
    if (isOthers || !isConnected) cluster.catchUp();
  };
  let timer: Timer | undefined;
  const look = (): void => {
    timer = clock.startTimer(ALONE_REREAD_MS, () => {
      if (canRead()) void reread();
      look();
    });
  };
  const { kind } = cluster.state();
  if (kind !== 'memory') cluster.catchUp();
  if (kind === 'valkey') look();
  const unsubscribe = shared?.subscribe(({ isReachable }) => {
    if (isReachable) cluster.catchUp();
  });
  return () => {
    timer?.cancel();
    unsubscribe?.();
  };
}
