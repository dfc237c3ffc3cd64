// Builds the monitor, its admin routes and live events, and telemetry where it is configured.

import { randomUUID } from 'node:crypto';
import type { AccessControl } from '../access/access.ts';
import type { AccountBook } from '../accounts/account-book.ts';
import { writeStatus } from '../admin/account-view.ts';
import { createMonitorRoutes } from '../admin/admin-routes.ts';
import { connectFeed, type FeedSourceOptions } from '../admin/monitor/events.ts';
import type { GatewayFacts, MonitorRouteOptions } from '../admin/monitor/options.ts';
import type { ApiRoute } from '../admin/route.ts';
import type { Settings } from '../config/effective.ts';
import type { LiveConfig } from '../config/live.ts';
import type { UpstreamProfile } from '../config/values.ts';
import type { Clock } from '../lib/clock.ts';
import { createId } from '../lib/ids.ts';
import { isLoopbackHost } from '../lib/net.ts';
import type { LogFiles } from '../monitor/log-files.ts';
import { createMonitor, type Monitor, type MonitorOptions } from '../monitor/monitor.ts';
import type { RequestStore } from '../monitor/request-store.ts';
import { findTarget } from '../routing/router.ts';
import type { Destination } from '../telemetry/request-spans.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { UpstreamDirectory } from '../upstreams/directory.ts';
import { createSecretList, type Foundation, type GatewayContext } from './foundation.ts';
import type { Traffic } from './traffic.ts';

export interface ObservationParts extends Foundation, Traffic {
  readonly access: AccessControl;
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
  const { access, logFiles, port, signatures } = parts;
  const settings = () => config.current();
  const telemetry = await openTelemetry({
    ...context,
    ...{ settings, book, upstreams: backend.upstreams },
    accountKey: secretKey.derive('telemetry accounts'),
  });
  const monitoring = openMonitor({
    ...context,
    accountSecrets,
    ...{ book, access, pool, isProtected, trials, protocols, logFiles, createId },
    upstreams: backend.upstreams,
    isBuiltIn: backend.isBuiltIn,
    dropped: () => ({
      'log-lines': logFiles?.dropped ?? 0,
      'access-log-entries': access.accessLog.dropped,
      signatures: signatures.droppedWrites,
      'trace-spans': telemetry?.droppedSpans ?? 0,
    }),
    readsRequests: telemetry !== undefined,
    onRecord: (record, ended) => telemetry?.observe(record, ended),
    store: stores.requests,
    isLasting: stores.isLasting,
    targetOf: (model) => findTarget(model, { router, pool }),
    keyName: (id) => access.keys.get(id)?.key.name,
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

interface OpenMonitorOptions
  extends Omit<MonitorRouteOptions, 'monitor' | 'logFiles' | 'facts' | 'startedAt' | 'dispatcher'> {
  readonly store: RequestStore;
  readonly accountSecrets: NonNullable<MonitorOptions['accountSecrets']>;
  readonly targetOf: MonitorOptions['targetOf'];
  readonly config: LiveConfig;
  readonly access: FeedSourceOptions['access'];
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

interface GatewayMonitor {
  readonly monitor: Monitor;
  /** Call once, and begins what is told to readers of the live events. */
  connect(dispatcher: MonitorRouteOptions['dispatcher']): readonly ApiRoute[];
  /** Saves what waits; before the stores and the configuration are closed. */
  close(): Promise<void>;
}

function openMonitor(options: OpenMonitorOptions): GatewayMonitor {
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

export interface OpenTelemetryOptions {
  readonly settings: () => Pick<Settings, 'telemetry' | 'upstreams'>;
  readonly book: Pick<AccountBook, 'find'>;
  readonly upstreams: Pick<UpstreamDirectory, 'get'>;
  readonly accountKey: Uint8Array;
  readonly version: string;
  readonly clock: Clock;
  readonly log: { warn(fields: object, message: string): void };
}

/**
 * `gen_ai.provider.name`, with the well-known values where there are any:
 * github.com/open-telemetry/semantic-conventions-genai, docs/gen-ai/gen-ai-spans.md
 */
const PROVIDERS: Readonly<Record<UpstreamProfile, string>> = {
  'gemini-api': 'gcp.gemini',
  vertex: 'gcp.vertex_ai',
  generic: 'gcp.gen_ai',
  sandbox: 'isthmus.sandbox',
};

/** Undefined without `OTEL_EXPORTER_OTLP_ENDPOINT`. The caller closes it. */
export async function openTelemetry(options: OpenTelemetryOptions): Promise<Telemetry | undefined> {
  const { settings, accountKey, version, clock, log } = options;
  const { telemetry } = settings();
  if (telemetry === undefined) return undefined;
  const { createTelemetry } = await import('../telemetry/telemetry.ts');
  return createTelemetry({
    ...telemetry,
    accountKey,
    version,
    clock,
    log,
    instanceId: randomUUID(),
    destinationOf: (accountId) => findDestination(accountId, options),
  });
}

function findDestination(
  accountId: string,
  { settings, book, upstreams }: OpenTelemetryOptions,
): Destination | undefined {
  const upstreamId = book.find(accountId)?.record.upstreamId;
  if (upstreamId === undefined) return undefined;
  // What no settings name is the embedded sandbox.
  const profile = settings().upstreams.find(({ id }) => id === upstreamId)?.profile ?? 'sandbox';
  const baseUrl = upstreams.get(upstreamId)?.baseUrl;
  return { provider: PROVIDERS[profile], ...readAddress(baseUrl) };
}

function readAddress(baseUrl: string | undefined): Pick<Destination, 'address' | 'port'> {
  if (baseUrl === undefined || !URL.canParse(baseUrl))
    return { address: undefined, port: undefined };
  const { hostname, port, protocol } = new URL(baseUrl);
  const usual = protocol === 'https:' ? 443 : 80;
  return { address: hostname, port: port === '' ? usual : Number(port) };
}
