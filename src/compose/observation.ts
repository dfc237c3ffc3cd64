// What watches the traffic: the monitor, and the telemetry where it is configured.

import type { ApiRoute } from '../admin/api-route.ts';
import type { Door } from '../door/door.ts';
import { createId } from '../lib/ids.ts';
import type { Monitor } from '../monitor/create-monitor.ts';
import type { LogFiles } from '../monitor/log-files.ts';
import { findTarget } from '../routing/find-target.ts';
import type { Foundation, GatewayContext } from './foundation.ts';
import { openMonitor } from './open-monitor.ts';
import { openTelemetry } from './telemetry.ts';
import type { Traffic } from './traffic.ts';

export interface ObservationParts extends Foundation, Traffic {
  readonly door: Door;
  /** Where the log is kept, to show it; undefined where it is not. */
  readonly logFiles: LogFiles | undefined;
  /** The port the gateway listens on; asked when it is shown. */
  readonly port: () => number;
}

export interface Observation {
  readonly observer: Monitor['observer'];
  readonly routes: readonly ApiRoute[];
  /** Saves and sends what waits; before the stores and the configuration are closed. */
  close(): Promise<void>;
}

export async function openObservation(
  context: GatewayContext,
  {
    secretKey,
    stores,
    backend,
    accounts,
    protocols,
    router,
    dispatcher,
    accountSecrets,
    ...parts
  }: ObservationParts,
): Promise<Observation> {
  const { config } = context;
  const { book, pool, isProtected, trials } = accounts;
  const { door, logFiles, port, signatures } = parts;
  const settings = () => config.current();
  const telemetry = await openTelemetry({
    ...context,
    ...{ settings, book, upstreams: backend.upstreams },
    accountKey: secretKey.derive('telemetry accounts'),
  });
  const monitoring = openMonitor({
    ...context,
    accountSecrets,
    ...{ book, door, pool, isProtected, trials, protocols, logFiles, createId },
    upstreams: backend.upstreams,
    isBuiltIn: backend.isBuiltIn,
    dropped: () => ({
      'log-lines': logFiles?.dropped ?? 0,
      'access-log-entries': door.accessLog.dropped,
      signatures: signatures.droppedWrites,
      'trace-spans': telemetry?.droppedSpans ?? 0,
    }),
    readsRequests: telemetry !== undefined,
    onRecord: (record, ended) => telemetry?.observe(record, ended),
    store: stores.requests,
    isLasting: stores.isLasting,
    targetOf: (model) => findTarget(model, { router, pool }),
    keyName: (id) => door.keys.get(id)?.key.name,
    address: () => `http://${settings().host}:${port()}`,
  });
  return {
    observer: monitoring.monitor.observer,
    routes: monitoring.connect(dispatcher),
    async close() {
      await monitoring.close();
      await telemetry?.close();
    },
  };
}
