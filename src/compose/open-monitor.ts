// Builds the monitor over its store, its admin routes, and what feeds its live events.

import type { ApiRoute } from '../admin/api-route.ts';
import { connectFeed, type FeedSourceOptions } from '../admin/monitor/feed-sources.ts';
import { createMonitorRoutes } from '../admin/monitor/monitor-routes.ts';
import type { GatewayFacts, MonitorRouteOptions } from '../admin/monitor/options.ts';
import { writeStatus } from '../admin/write-account.ts';
import type { LiveConfig } from '../config/live.ts';
import { isLoopbackHost } from '../lib/loopback.ts';
import { createMonitor, type Monitor, type MonitorOptions } from '../monitor/create-monitor.ts';
import type { LogFiles } from '../monitor/log-files.ts';
import type { RequestStore } from '../monitor/request-store.ts';
import { createSecretList } from './secret-list.ts';

export interface OpenMonitorOptions
  extends Omit<MonitorRouteOptions, 'monitor' | 'logFiles' | 'facts' | 'startedAt' | 'dispatcher'> {
  readonly store: RequestStore;
  readonly accountSecrets: NonNullable<MonitorOptions['accountSecrets']>;
  readonly targetOf: MonitorOptions['targetOf'];
  readonly config: LiveConfig;
  readonly door: FeedSourceOptions['door'];
  readonly logFiles: LogFiles | undefined;
  readonly dropped: MonitorOptions['dropped'];
  readonly readsRequests: boolean;
  /** Told of every record, also while none are kept. */
  readonly onRecord?: MonitorOptions['onRecord'];
  /** Where the gateway listens; asked when it is shown. */
  readonly address: () => string;
  /** Whether the built-in sandbox is what answers for this upstream. */
  readonly isBuiltIn: (upstreamId: string) => boolean;
  /** False while the stores are in memory. */
  readonly isLasting: boolean;
  readonly log: { warn(fields: object, message: string): void };
}

export interface GatewayMonitor {
  readonly monitor: Monitor;
  /** Call once, and begins what is told to readers of the live events. */
  connect(dispatcher: MonitorRouteOptions['dispatcher']): readonly ApiRoute[];
  /** Saves what waits; before the stores and the configuration are closed. */
  close(): Promise<void>;
}

export function openMonitor(options: OpenMonitorOptions): GatewayMonitor {
  const { config, clock } = options;
  const settings = () => config.current();
  const monitor = createMonitor({
    ...options,
    settings: () => settings().monitor,
    secrets: createSecretList(config),
    accountSecrets: options.accountSecrets,
    accounts: () => countStates(options),
  });
  let disconnect: (() => void) | undefined;
  return {
    monitor,
    connect(dispatcher) {
      const routeOptions = {
        ...options,
        monitor,
        dispatcher,
        startedAt: clock.now(),
        facts: () => {
          const { authMode, host, consolePassword, apiKey } = settings();
          return {
            isSandbox: isSandboxAlone(options),
            address: options.address(),
            authMode,
            isLoopback: isLoopbackHost(host),
            consolePassword: kindOfPassword(consolePassword, apiKey),
            configProblems: config.problems(),
            warnings: settings().warnings,
            isLasting: options.isLasting,
          };
        },
      };
      disconnect = connectFeed(routeOptions);
      return createMonitorRoutes(routeOptions);
    },
    async close() {
      disconnect?.();
      await monitor.close();
    },
  };
}

/** Where only the gateway key is set it is the password too. */
function kindOfPassword(
  password: string | undefined,
  apiKey: string | undefined,
): GatewayFacts['consolePassword'] {
  if (password === undefined) return 'none';
  return password === apiKey ? 'gateway-key' : 'own';
}

/** True while every account at work is the built-in sandbox's, also those that signed in there. */
function isSandboxAlone({ book, isBuiltIn }: OpenMonitorOptions): boolean {
  const atWork = book.list().filter(({ health }) => health.status.kind === 'active');
  return atWork.length > 0 && atWork.every(({ record }) => isBuiltIn(record.upstreamId));
}

function countStates(options: OpenMonitorOptions): Readonly<Record<string, number>> {
  const counts = { active: 0, disabled: 0, blocked: 0 };
  for (const account of options.book.list()) counts[writeStatus(account, options).kind] += 1;
  return counts;
}
