// Builds the monitor, its admin routes and live events.

import { statfsSync } from 'node:fs';
import type { AccessControl } from '../access/access.ts';
import { type BudgetState, levelOf } from '../access/budgets.ts';
import type { Account } from '../accounts/account.ts';
import { writeStatus } from '../admin/account-view.ts';
import { createMonitorRoutes } from '../admin/admin-routes.ts';
import { createAlertRoutes } from '../admin/monitor/attention.ts';
import { connectFeed } from '../admin/monitor/events.ts';
import { type AttentionOptions, readAttention } from '../admin/monitor/overview.ts';
import type { GatewayFacts, MonitorRouteOptions } from '../admin/options.ts';
import { sumFamilies } from '../admin/quota.ts';
import { type AlertSettings, createAlerts } from '../alerts/alerts.ts';
import { type Cluster, nameOfReplica } from '../cluster/cluster.ts';
import { createHearing } from '../cluster/hearing.ts';
import type { Settings } from '../config/effective.ts';
import { createId, createPseudonyms } from '../lib/ids.ts';
import { addressAt, isLoopbackHost } from '../lib/net.ts';
import { derived } from '../lib/once.ts';
import type { LogFiles } from '../monitor/log-files.ts';
import type { BudgetFigures } from '../monitor/metrics.ts';
import { shareMetrics } from '../monitor/metrics-text.ts';
import { createMonitor, type Monitor } from '../monitor/monitor.ts';
import { findTarget } from '../routing/router.ts';
import type { CertificateState } from '../server/certificate.ts';
import type { Foundation, GatewayContext } from './foundation.ts';
import { createPost } from './outbound.ts';
import { createOwnUsageRoute } from './own-usage.ts';
import { openTelemetry } from './telemetry.ts';
import type { Traffic } from './traffic.ts';
import { watchUpstreamCertificates } from './upstream-certificates.ts';

export interface ObservationParts extends Foundation, Omit<Traffic, 'close'> {
  readonly access: AccessControl;
  /** Where the log is kept, to show it; undefined where it is not. */
  readonly logFiles: LogFiles | undefined;
  /** A version that is published and newer than this one. */
  readonly newerVersion: (() => string | undefined) | undefined;
  readonly listener: Listener;
}

/** What the gateway listens with; asked when it is shown. */
interface Listener {
  readonly port: () => number;
  /** Undefined where it listens in plain HTTP. */
  readonly certificate: () => CertificateState | undefined;
}

/** The address of this gateway under one of its hosts. */
export function listenerUrl({ port, certificate }: Listener, host: string): string {
  return addressAt(host, port(), certificate() === undefined ? 'http' : 'https');
}

export async function openObservation(context: GatewayContext, parts: ObservationParts) {
  const { config, clock, version, log } = context;
  const { stores, backend, accounts, protocols, router, dispatcher, access, logFiles } = parts;
  const { proxyFor } = parts;
  const { book, pool, isProtected, trials } = accounts;
  const { upstreams } = backend;
  const { current } = config;
  const isClusterThere = (): boolean => context.cluster.state().isConnected;
  const accountKey = parts.secretKey.derive('telemetry accounts');
  const telemetry = await openTelemetry({
    ...{ settings: current, book, upstreams, version, clock, log, accountKey },
    proxyFor,
  });
  const { priceOf, usualBilling } = accounts.pricing;
  const facts = { book, pool, isProtected, trials, upstreams, clock, usualBilling };
  const keyName = (id: string): string | undefined => access.keys.get(id)?.key.name;
  const monitor = createMonitor({
    ...{ clock, log, createId, keyOf: access.keys.forRecord, store: stores.requests },
    settings: derived(current, (settings) => settings.monitor),
    replica: parts.replicaName,
    sharing: parts.replicaName === undefined ? undefined : context,
    redactorFor: parts.redactorFor,
    figures: {
      ...createFigures(facts, () => current().monitor.namesAccounts, accountKey),
      attention: () => readAttention(routeOptions),
      budgets: () => access.budgets.list().map(writeFigures),
    },
    dropped: () => ({ ...readDropped(parts), 'trace-spans': telemetry?.droppedSpans ?? 0 }),
    hasValkey: context.cluster.state().kind === 'valkey' ? isClusterThere : undefined,
    hasDatabase: parts.reachability && (() => parts.reachability?.().isReachable === true),
    isLeading: parts.leader?.isLeading,
    readsRequests: telemetry !== undefined,
    onRecord: telemetry && ((record, ended) => telemetry.observe(record, ended)),
    ...{ priceOf, onRecalledAttempts: pool.recallAttempts },
    targetOf: (model) => findTarget(model, { router, pool }),
  });
  const baseUrlOf = (id: string): string | undefined => upstreams.get(id)?.baseUrl;
  const certificates = watchUpstreamCertificates({ clock, current, proxyFor, baseUrlOf });
  const metrics = shareMetrics({
    cluster: context.siblings ?? context.cluster,
    ...{ clock, write: () => monitor.metrics.write() },
  });
  const routeOptions = {
    ...{ ...facts, version, protocols, createId, keyName, monitor, dispatcher },
    ...{ access, config, logFiles, startedAt: clock.now(), requestFigures: stores.requestFigures },
    bodyRecording: bodyRecordingIn(config),
    metrics: metrics.gather,
    facts: () => ({ ...readFacts(context, parts), upstreamCertificates: certificates.found() }),
  };
  const disconnect = connectFeed(routeOptions);
  const alerting = startAlerts(context, parts, routeOptions);
  return {
    monitor,
    services: [createOwnUsageRoute({ access, monitor, models: parts.models, clock })],
    routes: [...createMonitorRoutes(routeOptions), ...createAlertRoutes(alerting)],
    /** Saves and sends what waits; before the stores and the configuration are closed. */
    async close(): Promise<void> {
      disconnect();
      alerting.alerts.close();
      certificates.close();
      await metrics.close();
      await monitor.close();
      await telemetry?.close();
    },
  };
}

/** Another process that has not saved its records by then hangs. */
const SAVED_MS = 2000;

/** Reads usage with what ended until now in any process. */
export function readWholeUsage(
  { cluster, clock }: Pick<GatewayContext, 'cluster' | 'clock'>,
  { flush, store }: Pick<Monitor, 'flush' | 'store'>,
): Monitor['store']['usage'] {
  const { heard } = createHearing({
    ...{ cluster, clock, subject: 'request records', mostMs: SAVED_MS },
    taken: () => flush().then(() => true),
  });
  return async (...asked) => {
    await heard();
    return store.usage(...asked);
  };
}

/** Asked anew each time: it takes microseconds. */
function readDisk(folder: string): GatewayFacts['disk'] {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return { freeBytes: bavail * bsize };
  } catch {
    // A folder that is gone, or a system that does not say.
    return undefined;
  }
}

function readDropped({ logFiles, access, signatures }: ObservationParts) {
  return {
    'log-lines': logFiles?.dropped ?? 0,
    'access-log-entries': access.accessLog.dropped,
    signatures: signatures.droppedWrites,
  };
}

function readFacts(context: GatewayContext, parts: ObservationParts): GatewayFacts {
  const { config, cluster } = context;
  const { authMode, host, consolePassword, apiKey, warnings } = config.current();
  const unusedAccount = parts.accounts.pool.warnOfFixedAccount();
  // True while every account at work is the built-in sandbox's, also those that signed in there.
  const atWork = parts.accounts.book.list().filter(({ health }) => health.status.kind === 'active');
  const isBuiltIn = ({ record }: Account): boolean => parts.backend.isBuiltIn(record.upstreamId);
  return {
    isSandbox: atWork.length > 0 && atWork.every(isBuiltIn),
    address: listenerUrl(parts.listener, host),
    certificate: parts.listener.certificate(),
    authMode,
    isLoopback: isLoopbackHost(host),
    consolePassword: kindOfPassword(consolePassword, apiKey),
    configProblems: config.problems(),
    warnings: [...warnings, ...(unusedAccount === undefined ? [] : [unusedAccount])],
    isLasting: parts.stores.isLasting,
    disk: readDisk(config.current().dataDir),
    logFault: parts.logFiles?.fault,
    database: parts.reachability?.(),
    replicas: parts.replicaName === undefined ? undefined : replicaNames(cluster),
    cluster: cluster.state(),
    newerVersion: parts.newerVersion?.(),
    budgets: nameBudgets(parts.access),
  };
}

function nameBudgets({ budgets, keys }: ObservationParts['access']): GatewayFacts['budgets'] {
  return budgets.list().map((state) => {
    const { subject = '' } = state.budget;
    const subjectName = keys.get(subject)?.key.name ?? subject;
    return { state, level: levelOf(state), subjectName };
  });
}

/** What the metrics show of accounts: no name unless that is allowed. */
function createFigures(
  facts: Pick<MonitorRouteOptions, 'book' | 'clock' | 'isProtected' | 'upstreams'>,
  namesAccounts: () => boolean,
  key: Uint8Array,
) {
  const { book } = facts;
  const pseudonymOf = createPseudonyms(key);
  return {
    accounts() {
      const counts = { active: 0, disabled: 0, blocked: 0 };
      for (const account of book.list()) counts[writeStatus(account, facts).kind] += 1;
      return counts;
    },
    quota: () => sumFamilies(facts),
    nameOf: (id: string) =>
      namesAccounts() ? (book.find(id)?.record.label ?? id) : pseudonymOf(id),
  };
}

/** A time in the settings, which all processes read. */
function bodyRecordingIn({
  current,
  update,
}: GatewayContext['config']): Parameters<typeof createMonitorRoutes>[0]['bodyRecording'] {
  return {
    until: () => current().monitor.bodiesUntil,
    setUntil: (at) => update({ proxy: { monitor: { bodies_until: at } } }),
  };
}

/** Nothing of it names a person or a team. */
function writeFigures({ budget, used }: BudgetState): BudgetFigures {
  const { id, scope, unit, period, amount } = budget;
  return { labels: { budget: id, scope, unit, period }, share: amount === 0 ? 1 : used / amount };
}

/** Of several that take each other's place one by one two may have the same name. */
function replicaNames(cluster: Pick<Cluster, 'state'>): readonly string[] {
  return [...new Set(cluster.state().replicas.map(nameOfReplica))].sort();
}

/** Where only the gateway key is set it is the password too. */
function kindOfPassword(
  password: string | undefined,
  apiKey: string | undefined,
): GatewayFacts['consolePassword'] {
  if (password === undefined) return 'none';
  return password === apiKey ? 'gateway-key' : 'own';
}

function startAlerts(
  { config, clock, log, cluster: { notices } }: GatewayContext,
  { redactorFor, proxyFor, leader }: ObservationParts,
  attention: AttentionOptions,
) {
  const settings = (): AlertSettings => readAlertSettings(config.current());
  const alerts = createAlerts({
    ...{ clock, log, notices, settings, isLeading: leader?.isLeading },
    conditions: () =>
      readAttention(attention).map(({ about, subject, ...condition }) => ({
        ...condition,
        about: [subject, ...subjectOf(about)].join(' '),
      })),
    post: createPost({ proxyFor, clock }),
    gateway: () => attention.facts().address,
    hide: (text) => redactorFor([]).text(text),
  });
  return { alerts, settings };
}

type AttentionFacts = ReturnType<typeof readAttention>[number]['about'];

/** Models that an upstream cools down for come and go. */
function subjectOf({ account, upstream, family, quotaKind }: AttentionFacts) {
  return [account, upstream, family, quotaKind];
}

function readAlertSettings({
  alerts: { holdMs, repeatMs },
  alertChannels,
}: Pick<Settings, 'alerts' | 'alertChannels'>): AlertSettings {
  const entries = Object.entries(alertChannels).map(
    ([name, { webhook, format = 'json', severity = 'warning' }]) =>
      [name, { webhook, format, severity }] as const,
  );
  return { channels: Object.fromEntries(entries), holdMs, repeatMs };
}
