// All that a model request passes behind the edge: routing, dispatch, the accounts and their upstreams.

import { createDispatcher } from '../dispatch/dispatch.ts';
import type { Dispatcher } from '../dispatch/dispatcher.ts';
import { createModelDirectory, type ModelDirectory } from '../dispatch/model-directory.ts';
import { createId } from '../lib/ids.ts';
import { createMediaFetcher } from '../media/fetch-media.ts';
import { createProtocols, type Protocols } from '../protocols/index.ts';
import { createRouter, type Router } from '../routing/router.ts';
import { type AnswerShelves, createAnswerShelves } from '../shelf/answer-shelf.ts';
import { createSignatureKeeper, type DurableSignatureKeeper } from '../signatures/keeper.ts';
import { type Accounts, openAccounts } from './accounts.ts';
import { type Backend, openBackend } from './backend.ts';
import type { Foundation, GatewayContext } from './foundation.ts';

export interface Traffic {
  readonly backend: Backend;
  readonly accounts: Accounts;
  readonly router: Router;
  readonly protocols: Protocols;
  readonly models: ModelDirectory;
  readonly dispatcher: Dispatcher;
  readonly shelves: AnswerShelves;
  readonly signatures: Pick<DurableSignatureKeeper, 'droppedWrites'>;
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
  const { backend, accounts } = await openPool(context, foundation, userAgent);
  const { pool } = accounts;
  const router = createRouter({
    mapping: () => settings().customMapping,
    offered: () => pool.offered(),
  });
  const keeper = createSignatureKeeper({
    ...{ clock, log, store: stores.signatures, traceStore: stores.callTraces },
  });
  await keeper.load();
  const isEnabled = () => settings().fetchRemoteMedia;
  const media = createMediaFetcher({ clock, userAgent, isEnabled });
  const thinkingMode = () => settings().thinking;
  return {
    backend,
    accounts,
    router,
    protocols: createProtocols(),
    models: createModelDirectory({ router, pool }),
    dispatcher: createDispatcher({
      ...{ router, pool, keeper, clock, random, createId, media, thinkingMode },
    }),
    shelves: createAnswerShelves({
      clock,
      store: stores.keptAnswers,
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

async function openPool(
  context: GatewayContext,
  { stores, secrets }: Foundation,
  userAgent: string,
): Promise<Pick<Traffic, 'backend' | 'accounts'>> {
  const { config, clock, random, log, version } = context;
  const stored = await stores.accounts.list();
  const backend = await openBackend({
    settings: () => config.current(),
    subscribe: (listener) => void config.subscribe(listener),
    hasStoredAccounts: stored.length > 0,
    openSecret: secrets.open,
    version,
    clock,
    log,
  });
  const store = stores.accounts;
  const accounts = await openAccounts({ config, backend, store, userAgent, clock, random, log });
  return { backend, accounts };
}
