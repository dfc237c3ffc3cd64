// Builds the path of a model request after the edge: routing, dispatch, accounts, upstreams.

import { GatewayError } from '../canonical/error.ts';
import type { ListedModel, ModelTask } from '../canonical/model.ts';
import { createDispatcher } from '../dispatch/dispatch.ts';
import type { Dispatcher } from '../dispatch/dispatcher.ts';
import { createId } from '../lib/ids.ts';
import { createRedactors, type SecretIndex } from '../lib/redact.ts';
import { createMediaFetcher } from '../media/fetch-media.ts';
import type { Pool } from '../pool/create-pool.ts';
import { createProtocols, type Protocols } from '../protocols/index.ts';
import { CATALOG_CREATED_AT, findCatalogModel } from '../routing/catalog.ts';
import { familyOf } from '../routing/families.ts';
import { createRouter, type Router } from '../routing/router.ts';
import { type BodyBudget, createBodyBudget } from '../server/gates/body.ts';
import { SignatureCache } from '../signatures/cache.ts';
import { createResponseStores, type ResponseStores } from '../stored-responses/response-store.ts';
import { type Accounts, openAccounts } from './accounts.ts';
import { type Backend, openBackend } from './backend.ts';
import {
  createSecretList,
  type Foundation,
  type GatewayContext,
  noteSeeds,
  watchCredentials,
} from './foundation.ts';

/** Somebody has to come first. */
const MISSING_RETRY_MS = 60_000;

export interface Traffic {
  readonly backend: Backend;
  readonly accounts: Accounts;
  /** What stored accounts and those of the process prove themselves with. */
  readonly accountSecrets: SecretIndex;
  readonly router: Router;
  readonly protocols: Protocols;
  readonly models: ModelDirectory;
  readonly dispatcher: Dispatcher;
  readonly responseStores: ResponseStores;
  /** The memory that requests and answers share. */
  readonly bodies: BodyBudget;
  readonly signatures: Pick<SignatureCache, 'droppedWrites'>;
  /** In reverse order of opening; the stores stay open. */
  close(): Promise<void>;
}

/**
 * @throws Error when an upstream of the configuration cannot be built, StoreError when what is stored
 * cannot be read
 */
export async function openTraffic(
  context: GatewayContext,
  foundation: Foundation,
): Promise<Traffic> {
  const { config, clock, random, log, version } = context;
  const { stores } = foundation;
  const settings = () => config.current();
  const userAgent = `isthmus/${version}`;
  const bodies = createBodyBudget(clock);
  const { backend, accounts, accountSecrets } = await openPool(context, foundation, {
    userAgent,
    bodies,
  });
  const { pool } = accounts;
  const router = createRouter({
    mapping: () => settings().customMapping,
    offered: () => pool.offered(),
    families: accounts.families,
  });
  const keeper = new SignatureCache({
    ...{ clock, log, store: stores.signatures, traceStore: stores.callTraces },
  });
  await keeper.load();
  const isEnabled = () => settings().fetchRemoteMedia;
  const media = createMediaFetcher({ clock, userAgent, isEnabled });
  const thinkingMode = () => settings().thinking;
  return {
    backend,
    accounts,
    accountSecrets,
    bodies,
    router,
    protocols: createProtocols(),
    models: createModelDirectory({ router, pool }),
    dispatcher: createDispatcher({
      router: { route: (name, account) => routeUnlessMissing(router, accounts, { name, account }) },
      ...{ pool, keeper, clock, random, createId, media, thinkingMode },
    }),
    responseStores: createResponseStores({
      clock,
      store: stores.storedResponses,
      onFailure: (error) => log.warn({ error }, 'An answer could not be kept on disk.'),
    }),
    signatures: keeper,
    async close() {
      await media.close();
      await accounts.close();
      await keeper.close();
      await backend.close();
    },
  };
}

/** Nothing is made up in place of an upstream that was named and cannot be asked. */
function routeUnlessMissing(
  router: Router,
  accounts: Pick<Accounts, 'missing'>,
  { name, account }: { readonly name: string; readonly account: string | undefined },
): ReturnType<Router['route']> {
  const message = accounts.missing(account);
  if (message === undefined) return router.route(name);
  throw new GatewayError({
    kind: 'upstream-auth',
    source: 'gateway',
    message,
    retryAfterMs: MISSING_RETRY_MS,
  });
}

async function openPool(
  context: GatewayContext,
  { stores, secrets }: Foundation,
  { userAgent, bodies }: { readonly userAgent: string; readonly bodies: BodyBudget },
): Promise<Pick<Traffic, 'backend' | 'accounts' | 'accountSecrets'>> {
  const { config, clock, random, log, version } = context;
  const { store, secrets: accountSecrets } = await watchCredentials(stores.accounts);
  const stored = await store.list();
  const backend = await openBackend({
    settings: () => config.current(),
    subscribe: (listener) => void config.subscribe(listener),
    hasStoredAccounts: stored.length > 0,
    openSecret: secrets.open,
    version,
    clock,
    answerRoom: bodies.answers,
    log,
  });
  noteSeeds(accountSecrets, backend.seeds);
  const accounts = await openAccounts({
    ...{ config, backend, userAgent, clock, random, log },
    store,
    sessionStore: stores.sessions,
    cleanModel: cleanedBy(createRedactors(createSecretList(config), accountSecrets)),
  });
  return { backend, accounts, accountSecrets };
}

/** Longer names are no model's. */
const MAX_MODEL_CHARACTERS = 256;

/** A client's own word is kept of an account's state: it may be a credential. */
function cleanedBy(redactorFor: ReturnType<typeof createRedactors>): (model: string) => string {
  return (model) => {
    const redactor = redactorFor([]);
    if (model.length <= MAX_MODEL_CHARACTERS) return redactor.text(model);
    return redactor.beginning(model, MAX_MODEL_CHARACTERS);
  };
}

/**
 * The models a client may request, with limits from the upstream or, without those, built-in ones.
 */
type ModelDirectory = ReturnType<typeof createModelDirectory>;

export interface ModelDirectoryOptions {
  readonly router: Pick<Router, 'list' | 'explain'>;
  readonly pool: Pick<Pool, 'describe' | 'ensureModels'>;
}

/** Shown for models nobody gave figures for. */
const UNKNOWN_LIMITS = { inputTokenLimit: 1_048_576, outputTokenLimit: 65_536 };

/** Lists that say nothing about methods are lists of models that answer. */
const UNKNOWN_TASKS: readonly ModelTask[] = ['generate'];

export function createModelDirectory({ router, pool }: ModelDirectoryOptions) {
  const describe = (id: string): ListedModel | undefined => {
    const { route, servedAs } = router.explain(id);
    const target = route?.target;
    if (target === undefined || servedAs === undefined) return undefined;
    const offered = pool.describe(target);
    const known = findCatalogModel(target);
    if (offered === undefined && known === undefined) return undefined;
    return {
      id,
      displayName: id === target ? (known?.displayName ?? offered?.displayName ?? id) : id,
      description: known?.description ?? offered?.description ?? '',
      createdAt: known?.createdAt ?? CATALOG_CREATED_AT,
      inputTokenLimit:
        offered?.inputTokenLimit ?? known?.inputTokenLimit ?? UNKNOWN_LIMITS.inputTokenLimit,
      outputTokenLimit:
        offered?.outputTokenLimit ?? known?.outputTokenLimit ?? UNKNOWN_LIMITS.outputTokenLimit,
      supportsThinking: offered?.supportsThinking ?? known?.supportsThinking ?? false,
      drawsImages: known?.drawsImages ?? familyOf(target) === 'image',
      tasks: offered?.tasks ?? known?.tasks ?? UNKNOWN_TASKS,
    };
  };
  return {
    async list(): Promise<readonly ListedModel[]> {
      await pool.ensureModels();
      return router
        .list()
        .map(describe)
        .filter((model) => model !== undefined);
    },
    /** Undefined for a name that no enabled account serves. */
    async get(name: string): Promise<ListedModel | undefined> {
      await pool.ensureModels();
      return describe(name);
    },
  };
}
