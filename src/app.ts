// The composition root: builds everything once, from the configuration inwards to the server.

import { readFileSync } from 'node:fs';
import { createTranslateRoute } from './admin/translate.ts';
import type { Settings } from './config/effective.ts';
import type { LiveConfig } from './config/live.ts';
import { createDispatcher } from './dispatch/dispatch.ts';
import { createModelDirectory } from './dispatch/model-directory.ts';
import type { Clock } from './lib/clock.ts';
import { createId } from './lib/ids.ts';
import { createMediaFetcher } from './media/fetch-media.ts';
import { createMemoryPool } from './pool/memory-pool.ts';
import type { Pool } from './pool/pool.ts';
import type { AccountSeed } from './pool/pooled-account.ts';
import { createProtocols } from './protocols/index.ts';
import { createRouter, type Router } from './routing/router.ts';
import { createDefaultAccounts } from './sandbox/accounts.ts';
import { createSandbox } from './sandbox/sandbox.ts';
import { createServer, type EdgeServer } from './server/create-server.ts';
import type { Log } from './server/log.ts';
import { DEFAULT_EDGE_SETTINGS, type EdgeSettings } from './server/settings.ts';
import { createSignatureKeeper } from './signatures/keeper.ts';
import { createUpstream, type UpstreamSettings } from './upstreams/index.ts';
import type { Upstream } from './upstreams/upstream.ts';

export interface AppOptions {
  readonly config: LiveConfig;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}

export interface App {
  readonly version: string;
  readonly pool: Pool;
  readonly router: Router;
  readonly server: EdgeServer;
  /** True when the accounts are the sandbox's, because none was configured. */
  readonly isSandbox: boolean;
  /** Drains and closes everything, in reverse order of opening. */
  close(): Promise<void>;
}

export const VERSION: string = readVersion();

/** @throws Error when an upstream of the configuration cannot be built. */
export async function createApp({ config, clock, random, log }: AppOptions): Promise<App> {
  const backend = await openBackend(config.current(), clock);
  const pool = createMemoryPool({
    accounts: backend.accounts,
    clock,
    random,
    onModelListFailure: (account, error) =>
      log.warn({ account, error }, 'The model list of an account could not be read.'),
  });
  const router = createRouter({
    mapping: () => config.current().customMapping,
    offered: () => pool.offered(),
  });
  const keeper = createSignatureKeeper({ clock });
  const media = createMediaFetcher({
    clock,
    userAgent: `isthmus/${VERSION}`,
    isEnabled: () => config.current().fetchRemoteMedia,
  });
  const dispatcher = createDispatcher({
    router,
    pool,
    keeper,
    clock,
    random,
    createId,
    media,
    thinkingMode: () => config.current().thinking,
  });
  const protocols = createProtocols();
  const server = createServer({
    protocols,
    dispatcher,
    models: createModelDirectory({ router, pool }),
    adminRoutes: [createTranslateRoute({ protocols, dispatcher })],
    settings: createEdgeSettings(config),
    clock,
    log,
    version: VERSION,
  });
  return {
    version: VERSION,
    pool,
    router,
    server,
    isSandbox: backend.isSandbox,
    async close() {
      await server.close();
      await media.close();
      await pool.close();
      await backend.close();
      await config.close();
    },
  };
}

interface Backend {
  readonly accounts: readonly AccountSeed[];
  readonly isSandbox: boolean;
  close(): Promise<void>;
}

/** The upstreams and accounts of the environment; without any, the sandbox and its accounts. */
async function openBackend(settings: Settings, clock: Clock): Promise<Backend> {
  const seeds = settings.upstreamSeeds.filter(({ profile, baseUrl, apiKeys }) => {
    const isEmbedded = profile === 'sandbox' && baseUrl === undefined;
    if (apiKeys.length > 0 || isEmbedded) return !isEmbedded;
    throw new Error(`UPSTREAM_API_KEYS must hold a key for the ${profile} upstream.`);
  });
  if (seeds.length === 0) return openSandbox(clock);
  const upstreams: Upstream[] = [];
  const accounts = seeds.flatMap((seed): AccountSeed[] => {
    const upstream = createUpstream(upstreamSettings(seed), { clock });
    upstreams.push(upstream);
    return seed.apiKeys.map((credential, index) => {
      const id = `${upstream.id}/key-${index + 1}@env`;
      return {
        id,
        label: `key-${index + 1}@env`,
        upstream,
        access: { accountId: id, credential, credentialKind: 'api-key' },
      };
    });
  });
  return {
    accounts,
    isSandbox: false,
    close: async () => {
      await Promise.all(upstreams.map((upstream) => upstream.close()));
    },
  };
}

function upstreamSettings(seed: Settings['upstreamSeeds'][number]): UpstreamSettings {
  const { baseUrl, vocabulary = 'neutral', auth = 'bearer' } = seed;
  switch (seed.profile) {
    case 'gemini-api':
      return { profile: 'gemini-api', baseUrl, version: VERSION };
    case 'generic':
    case 'sandbox':
      if (baseUrl === undefined)
        throw new Error(`UPSTREAM_BASE_URL must name the ${seed.profile}.`);
      return seed.profile === 'sandbox'
        ? { profile: 'sandbox', baseUrl, version: VERSION }
        : { profile: 'generic', baseUrl, vocabulary, auth, version: VERSION };
    case 'vertex':
      throw new Error('UPSTREAM_PROFILE=vertex is not built yet; use gemini-api or generic.');
    default:
      return seed.profile satisfies never;
  }
}

async function openSandbox(clock: Clock): Promise<Backend> {
  const sandbox = createSandbox({ accounts: createDefaultAccounts(), clock });
  const { url } = await sandbox.start();
  const upstream = createUpstream(
    { profile: 'sandbox', baseUrl: url, version: VERSION },
    { clock },
  );
  const accounts = sandbox.accounts.map((account) => ({
    id: account.email,
    label: account.email,
    tier: account.tier,
    upstream,
    access: {
      accountId: account.email,
      credential: account.key,
      credentialKind: 'api-key' as const,
      projectId: account.project,
    },
  }));
  return {
    accounts,
    isSandbox: true,
    close: async () => {
      await upstream.close();
      await sandbox.close();
    },
  };
}

/** The edge's view of the settings, derived once for each change of them. */
function createEdgeSettings(config: LiveConfig): () => EdgeSettings {
  let source: Settings | undefined;
  let derived = DEFAULT_EDGE_SETTINGS;
  return () => {
    const settings = config.current();
    if (settings === source) return derived;
    source = settings;
    const { host, port, authMode, apiKey, maxBodyBytes } = settings;
    const { trustedProxies, allowedHosts, corsOrigins } = settings;
    derived = {
      ...DEFAULT_EDGE_SETTINGS,
      host,
      port,
      authMode,
      apiKeys: apiKey === undefined ? [] : [{ id: 'api-key', key: apiKey }],
      consolePassword: settings.consolePassword,
      maxBodyBytes,
      trustedProxies,
      allowedHosts,
      corsOrigins,
    };
    return derived;
  };
}

function readVersion(): string {
  const manifest: { version?: unknown } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  );
  return String(manifest.version);
}
