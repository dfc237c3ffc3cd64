// Builds the path of a model request after the edge: routing, dispatch, accounts, upstreams.

import { StoreError } from '../accounts/account-store.ts';
import { gatewayError } from '../canonical/error.ts';
import type { Settings } from '../config/effective.ts';
import { gatewaySecrets } from '../config/live.ts';
import { PROVIDER_ID } from '../config/upstreams.ts';
import { createDispatcher } from '../dispatch/dispatch.ts';
import { createModelDirectory } from '../dispatch/model-directory.ts';
import { createId } from '../lib/ids.ts';
import { told } from '../lib/localized-message.ts';
import { derived } from '../lib/once.ts';
import type { ProxyChoice } from '../lib/outbound-proxy.ts';
import { createRedactors } from '../lib/redact.ts';
import { createMcpServices } from '../mcp/services.ts';
import { createMediaFetcher, type MediaFetcher } from '../media/fetch-media.ts';
import { createProtocols } from '../protocols/index.ts';
import { createRouter, type Router } from '../routing/router.ts';
import { type BodyBudget, createBodyBudget } from '../server/gates/body.ts';
import { SignatureCache } from '../signatures/cache.ts';
import {
  createResponseStores,
  type DurableResponseStore,
} from '../stored-responses/response-store.ts';
import { openAccounts } from './accounts.ts';
import { createProviderRule, keepProviderAccount, openBackend } from './backend.ts';
import { type Foundation, type GatewayContext, noteSeeds, watchCredentials } from './foundation.ts';
import { createOutboundChoice } from './outbound.ts';

/** Longer names are no model's. */
const MAX_MODEL_CHARACTERS = 256;
/** Until an operator has added an account. */
const MISSING_RETRY_MS = 60_000;

export type Traffic = Awaited<ReturnType<typeof openTraffic>>;

/** @throws Error when an upstream cannot be built, StoreError when the stores cannot be read */
export async function openTraffic(context: GatewayContext, foundation: Foundation) {
  const { config, clock, random, log, version } = context;
  const { stores, secrets, turns, leader } = foundation;
  const { current, subscribe } = config;
  const userAgent = `isthmus/${version}`;
  const bodies = createBodyBudget(clock);
  const { store, secrets: accountSecrets } = await watchCredentials(stores.accounts);
  const proxyFor = createOutboundChoice({
    ...{ current, log },
    openCredential: secrets.openProxyCredential,
  });
  const backend = await openBackend({
    ...{ current, subscribe, version, clock, log, proxyFor },
    hasStoredAccounts: (await store.list()).length > 0,
    openSecret: secrets.open,
    answerRoom: bodies.answers,
  });
  noteSeeds(accountSecrets, backend.seeds);
  const redactorFor = createRedactors(derived(current, gatewaySecrets), accountSecrets);
  const accounts = await openAccounts({
    ...{ config, backend, userAgent, proxyFor, clock, random, log, store },
    ...{ cluster: context.cluster, turns, isLeading: leader?.isLeading },
    sessionStore: stores.sessions,
    cleanModel: createModelCleaner(redactorFor),
  });
  const { pool, book } = accounts;
  keepProviderAccount({ config, accountSecrets, log, book, openKey: secrets.openProviderKey });
  // Those of accounts that are not there are forgotten.
  await pool.loadSessions();
  const { router, route, provider } = createRouting(accounts, current);
  const keeper = await openSignatures(context, stores);
  const media = openMedia(context, { userAgent, proxyFor });
  const mcp = openMcp(context, foundation, { media, proxyFor });
  const responseStores = openResponseStores(context, stores, bodies.answers);
  return {
    /** How calls leave this machine. */
    proxyFor,
    backend,
    accounts,
    /** Takes out credentials: of the gateway, of all accounts, and those that are given. */
    redactorFor,
    /** The memory that requests and answers share. */
    bodies,
    router,
    provider,
    protocols: createProtocols(),
    models: createModelDirectory({ router, pool }),
    dispatcher: createDispatcher({
      ...{ router: { route, meant: router.meant }, pool, keeper, clock, random, createId, media },
      ...{ provider, answerRoom: bodies.answers },
      thinkingMode: derived(current, (settings) => settings.thinking),
    }),
    mcp,
    responseStores,
    signatures: keeper,
    /** In reverse order of opening; the stores stay open. */
    async close(): Promise<void> {
      responseStores.close();
      await mcp.close();
      await media.close();
      await accounts.close();
      await keeper.close();
      await backend.close();
    },
  };
}

async function openSignatures(
  { clock, log, cluster: { notices } }: GatewayContext,
  { signatures: store, callTraces: traceStore }: Foundation['stores'],
): Promise<SignatureCache> {
  const cache = new SignatureCache({ clock, log, notices, store, traceStore });
  await cache.load();
  return cache;
}

function openResponseStores(
  { clock, log, cluster }: GatewayContext,
  { storedResponses }: Foundation['stores'],
  room: BodyBudget['answers'],
) {
  return createResponseStores({
    ...{ clock, room },
    store: explainLoss(storedResponses),
    sharing: { cluster, clock },
    onFailure: (error) => log.warn({ error }, 'An answer could not be kept on disk.'),
  });
}

/** How long until a lost database may be back. */
const LOST_RETRY_MS = 10_000;

/** A client that names a stored answer is told that it cannot be read now, rather than that something went wrong. */
function explainLoss(store: DurableResponseStore): DurableResponseStore {
  const explain = (error: unknown): never => {
    if (!(error instanceof StoreError) || error.fault !== 'unavailable') throw error;
    const message = told`Stored responses cannot be read now. Try again in a moment, or send the conversation with the request.`;
    throw gatewayError('overloaded', message, { retryAfterMs: LOST_RETRY_MS, cause: error });
  };
  return {
    ...store,
    find: (...args) => store.find(...args).catch(explain),
    findByItem: (...args) => store.findByItem(...args).catch(explain),
    remove: (...args) => store.remove(...args).catch(explain),
  };
}

function openMedia(
  { config, clock }: GatewayContext,
  outbound: { readonly userAgent: string; readonly proxyFor: ProxyChoice },
): MediaFetcher {
  return createMediaFetcher({
    ...{ clock, ...outbound },
    isEnabled: derived(config.current, (settings) => settings.fetchRemoteMedia),
  });
}

function openMcp(
  { config, clock, log, version }: GatewayContext,
  { secrets, secretKey }: Foundation,
  { media, proxyFor }: { readonly media: MediaFetcher; readonly proxyFor: ProxyChoice },
) {
  return createMcpServices({
    ...{ version, userAgent: `isthmus/${version}`, media, clock, upstreamId: PROVIDER_ID },
    proxyFor,
    settings: () => config.current().externalProvider,
    openKey: secrets.openProviderKey,
    sessionKey: secretKey.derive('mcp sessions v1'),
    onFailure: (error) => log.warn({ error: String(error) }, 'An MCP request for pictures failed.'),
  });
}

function createRouting(
  { pool, families, missing }: Awaited<ReturnType<typeof openAccounts>>,
  current: () => Settings,
) {
  const router = createRouter({
    ...{ families, offered: pool.offered },
    mapping: derived(current, (settings) => settings.customMapping),
    targets: derived(current, (settings) => settings.targets),
  });
  return {
    router,
    provider: createProviderRule(current),
    /** Nothing is made up in place of an upstream that was named and cannot be asked. */
    route(name: string, account?: string): ReturnType<Router['route']> {
      const message = missing(account);
      if (message === undefined) return router.route(name);
      throw gatewayError('upstream-auth', message, { retryAfterMs: MISSING_RETRY_MS });
    },
  };
}

/** A client's own word is kept of an account's state: it may be a credential. */
function createModelCleaner(redactorFor: ReturnType<typeof createRedactors>) {
  return (model: string): string => {
    const redactor = redactorFor([]);
    if (model.length <= MAX_MODEL_CHARACTERS) return redactor.text(model);
    return redactor.beginning(model, MAX_MODEL_CHARACTERS);
  };
}
