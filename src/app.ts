// The composition root: builds everything once, from the configuration inwards to the server.

import { join, resolve } from 'node:path';
import {
  type AccessControl,
  type AccessControlOptions,
  loadAccessControl,
} from './access/access.ts';
import { keepPasswordHashed } from './access/password-hash.ts';
import type { AccountBook } from './accounts/account-book.ts';
import { createAdminRoutes } from './admin/admin-routes.ts';
import type { ModelLister, SignInProgress } from './admin/options.ts';
import type { ApiRoute } from './admin/route.ts';
import { VERSION } from './cli/package-name.ts';
import type { Cluster } from './cluster/cluster.ts';
import { SealedValues } from './cluster/sealed-values.ts';
import { keepUp, openCluster, shareSettings } from './compose/cluster.ts';
import { recordEdits } from './compose/config-secrets.ts';
import { type Foundation, type GatewayContext, openFoundation } from './compose/foundation.ts';
import {
  listenerUrl,
  type ObservationParts,
  openObservation,
  readWholeUsage,
} from './compose/monitor.ts';
import { createCallPrices, createUsedIn } from './compose/pricing.ts';
import { openTraffic } from './compose/traffic.ts';
import { configPath, type Settings } from './config/effective.ts';
import { createId } from './lib/ids.ts';
import { derived } from './lib/once.ts';
import { type ProxyChoice, shownProxy } from './lib/outbound-proxy.ts';
import type { LogFiles } from './monitor/log-files.ts';
import { createAccountTransfer } from './oauth/imports.ts';
import { createRevoker } from './oauth/revoker.ts';
import { createSignIns, type PendingSignIn } from './oauth/sign-ins.ts';
import type { Pool } from './pool/create-pool.ts';
import { answerOnce } from './pool/probes.ts';
import { openWithPassphrase, sealWithPassphrase } from './sealing/seal.ts';
import type { AdminRoute } from './server/admin-route.ts';
import type { CertificateState } from './server/certificate.ts';
import { createConsoleFiles } from './server/console.ts';
import { type CloseOptions, createServer, type EdgeServer } from './server/create-server.ts';
import type { Incoming } from './server/edge.ts';
import { DEFAULT_EDGE_SETTINGS, type EdgeSettings } from './server/settings.ts';
import type { Upstream } from './upstreams/upstream.ts';

export interface AppOptions extends Omit<GatewayContext, 'version' | 'cluster'> {
  /** Without it this process serves alone. */
  readonly cluster?: Cluster | undefined;
  /** Where the log is kept, to show it; undefined where it is not. */
  readonly logFiles?: LogFiles | undefined;
  /** A version that is published and newer than this one; undefined where there is none, or nobody asks. */
  readonly newerVersion?: (() => string | undefined) | undefined;
  /** How many the system lets this process have open; undefined where it does not say. */
  readonly openFiles?: number | undefined;
  /** Where another process listens for this one. */
  readonly incoming?: Incoming | undefined;
  /** True where it listens in plain HTTP whatever the settings say: for a command on this machine. */
  readonly isPlain?: boolean | undefined;
}

export interface App {
  readonly version: string;
  readonly book: AccountBook;
  readonly pool: Pool;
  readonly access: AccessControl;
  readonly server: EdgeServer;
  /** How calls leave this machine. */
  readonly proxyFor: ProxyChoice;
  /** True when the accounts are the sandbox's, because none was configured. */
  readonly isSandbox: boolean;
  /**
   * Begins what goes on behind requests: model lists and quota figures are read and kept fresh, the
   * console's files compressed. `/readyz` says so.
   */
  start(): void;
  /** Drains and closes everything, in reverse order of opening. */
  close(options?: CloseOptions): Promise<void>;
}

/**
 * @throws Error when an upstream of the configuration cannot be built, StoreError and others when the
 * data folder cannot be used; the message names the way out.
 */
export async function createApp(appOptions: AppOptions): Promise<App> {
  const { logFiles, openFiles, incoming, isPlain, newerVersion, ...options } = appOptions;
  const { config, clock, log } = options;
  const cluster = options.cluster ?? (await openCluster({ clock, log }));
  const context = { ...options, version: VERSION, cluster };
  shareSettings(config, cluster);
  const foundation = await openFoundation(context);
  const traffic = await openTraffic(context, foundation);
  const settings = derived(config.current, toEdgeSettings);
  const access = await openAccessControl({
    ...{ config, settings, clock, createId, cluster, log },
    isAlone: foundation.turns === undefined,
    hasFile: context.shared === undefined,
    stores: foundation.stores.access,
    derive: (purpose) => foundation.secretKey.derive(purpose),
    digestKey: foundation.stores.digestKey,
    provider: {
      settings: () => config.current().signIn,
      openSecret: foundation.secrets.openSignInSecret,
      fetch: traffic.accounts.fetch,
      pending: sealedValues(context, foundation, 'sign-in at the provider'),
    },
    redactorFor: traffic.redactorFor,
    usedIn: createUsedIn({ usage: (...asked) => usage(...asked) }),
  });
  let { port } = config.current();
  const listener = {
    port: () => port,
    certificate: (): CertificateState | undefined => server.certificate(),
  };
  const parts = { ...foundation, ...traffic, access, logFiles, newerVersion, listener };
  const observation = await openObservation(context, parts);
  const usage = readWholeUsage(context, observation.monitor);
  const { backend, router, protocols, dispatcher, models, responseStores, bodies, mcp } = traffic;
  const server = createServer({
    ...{ protocols, dispatcher, models, responseStores, bodies, access, settings, clock, log },
    ...{ openFiles, incoming, isPlain, version: VERSION },
    sharing: {
      ...{ cluster, clock },
      pieces: sealedValues(context, foundation, 'pieces of a background stream'),
    },
    prices: createCallPrices({ router, ...traffic.accounts }),
    consoleFiles: createConsoleFiles({ distPath: consoleFolder(config.current().distPath), log }),
    observer: observation.monitor.observer,
    adminRoutes: createAdministration(context, parts, observation.routes),
    services: [...mcp.routes, ...observation.services],
  });
  const { book, pool, quota } = traffic.accounts;
  const endKeepingUp = keepUp({ ...context, leases: foundation.stores.leases });
  return {
    ...{ version: VERSION, book, pool, access, isSandbox: backend.isSandbox },
    proxyFor: traffic.proxyFor,
    server: {
      ...server,
      async listen() {
        const address = await server.listen();
        port = address.port;
        return address;
      },
    },
    start() {
      void pool.ensureModels();
      quota.start();
      server.serve();
    },
    async close(options) {
      const { leader, stores } = foundation;
      await server.close(options);
      endKeepingUp();
      const inReverse = [observation, access, traffic, leader, stores, config];
      for (const part of inReverse) await part?.close();
    },
  };
}

function toEdgeSettings(settings: Settings): EdgeSettings {
  const { apiKey, console } = settings;
  return {
    ...DEFAULT_EDGE_SETTINGS,
    ...settings,
    apiKeys: apiKey === undefined ? [] : [{ id: 'api-key', key: apiKey }],
    sessionIdleMs: console.sessionIdleMs,
  };
}

type OpenAccessControlOptions = Omit<AccessControlOptions, 'passwordSettled'> &
  Pick<GatewayContext, 'config'> & {
    /** Whether no other process has these stores or this file. */
    readonly isAlone: boolean;
    /** Whether the settings are in a file, which people edit. */
    readonly hasFile: boolean;
  };

/**
 * Access control over its stores; keeps the console password of the config file hashed. Close it before the
 * stores and the configuration.
 * @throws StoreError
 */
async function openAccessControl(options: OpenAccessControlOptions): Promise<AccessControl> {
  const { config, cluster, isAlone, hasFile, log } = options;
  const access = await loadAccessControl({ ...options, passwordSettled: () => keeper.settled() });
  const keeper = keepPasswordHashed({ config, hasher: access.hasher, log });
  const path = configPath(config.current().dataDir);
  const bank = isAlone ? undefined : cluster?.bank;
  const endEdits = hasFile ? recordEdits({ config, audit: access.audit, path, bank }) : undefined;
  return {
    ...access,
    async close() {
      await keeper.close();
      await endEdits?.();
      await access.close();
    },
  };
}

function sealedValues<Value>(
  { cluster, clock }: Pick<GatewayContext, 'cluster' | 'clock'>,
  { vault }: Pick<Foundation, 'vault'>,
  purpose: string,
): SealedValues<Value> {
  return new SealedValues<Value>({ values: cluster.values, sealer: vault, clock, purpose });
}

/** The routes of the admin API. @param more routes that need more than `parts`, such as the monitor's */
function createAdministration(
  { config, cluster, clock, log, version }: GatewayContext,
  parts: ObservationParts,
  more: readonly ApiRoute[],
): readonly AdminRoute[] {
  const { secretKey, vault, secrets, access, listener, router } = parts;
  const { models, protocols, dispatcher, provider } = parts;
  const { upstreams, oauth, choices } = parts.backend;
  const { book, tokens, fetch, pool, quota, isProtected, trials, pricing } = parts.accounts;
  const common = { book, oauth, fetch, clock, log };
  const shared = <Value>(purpose: string): SealedValues<Value> =>
    sealedValues({ cluster, clock }, { vault }, purpose);
  return createAdminRoutes(
    {
      ...{ version, clock, log, access, router, provider, models, protocols, dispatcher },
      ...{ book, tokens, pool, quota, isProtected, trials },
      usualBilling: pricing.usualBilling,
      prices: pricing,
      signIns: createSignIns({
        ...{ ...common, pending: shared<PendingSignIn>('sign-in') },
        onCredentialReplaced: (id) => tokens.forget(id),
      }),
      signInProgress: shared<SignInProgress>('progress of a sign-in'),
      transfer: createAccountTransfer({
        ...{ ...common, tokens, createId },
        hasUpstream: (id) => upstreams.get(id) !== undefined,
        sealing: { sealWithPassphrase, openWithPassphrase },
      }),
      revoker: createRevoker(common),
      revisionKey: secretKey.derive('config revisions').toString('hex'),
      upstreams: {
        list: choices,
        get: (id) => modelsOf(upstreams.get(id)),
        proxyOf(id) {
          const proxy = parts.proxyFor(upstreams.get(id)?.baseUrl ?? 'http://localhost');
          return proxy && { address: shownProxy(proxy.url), source: proxy.source };
        },
      },
      callbackUrl: () => `${listenerUrl(listener, '127.0.0.1')}/oauth/callback`,
      config: secrets.guard(access.hasher),
      origins: config,
      ownKeys: () => [config.current().apiKey, config.current().consolePassword],
    },
    more,
  );
}

function modelsOf(upstream: Upstream | undefined): ModelLister | undefined {
  if (upstream === undefined) return undefined;
  return {
    listModels: (access, signal) => upstream.listModels(access, signal),
    answerOnce: (access, asked) => answerOnce(upstream, access, asked),
  };
}

/** The default folder is the program's own, whatever folder it was started in. */
function consoleFolder(distPath: string): string {
  return distPath === 'dist' ? join(import.meta.dirname, '../dist') : resolve(distPath);
}
