// Builds the routes of the admin API.

import type { AccessControl } from '../access/access.ts';
import { createAdminRoutes } from '../admin/admin-routes.ts';
import type { AdminOptions, ModelLister } from '../admin/options.ts';
import type { ApiRoute } from '../admin/route.ts';
import { createId } from '../lib/ids.ts';
import { createAccountTransfer } from '../oauth/imports.ts';
import { createRevoker } from '../oauth/revoker.ts';
import { createSignIns } from '../oauth/sign-ins.ts';
import { answerOnce } from '../pool/probes.ts';
import { openWithPassphrase, sealWithPassphrase } from '../sealing/seal.ts';
import type { AdminRoute } from '../server/admin-route.ts';
import type { Upstream } from '../upstreams/upstream.ts';
import type { Foundation, GatewayContext } from './foundation.ts';
import type { Traffic } from './traffic.ts';

export interface AdministrationParts extends Foundation, Traffic {
  readonly access: AccessControl;
  /** The port the gateway listens on; asked when it is needed. */
  readonly port: () => number;
}

/** @param more routes that need more than `parts`, such as the monitor's */
export function createAdministration(
  context: GatewayContext,
  parts: AdministrationParts,
  more: readonly ApiRoute[],
): readonly AdminRoute[] {
  const { config, clock, log, version } = context;
  const { secretKey, secrets, access, backend, accounts, router, models, protocols, dispatcher } =
    parts;
  const { book, tokens, pool, quota, isProtected, trials } = accounts;
  const { upstreams } = backend;
  return createAdminRoutes(
    {
      ...{ version, clock, log, access, router, models, protocols, dispatcher },
      ...{ book, tokens, pool, quota, isProtected, trials },
      ...createAccountWork(context, parts),
      revisionKey: secretKey.derive('config revisions').toString('hex'),
      upstreams: { list: backend.choices, get: (id) => modelsOf(upstreams.get(id)) },
      callbackUrl: () => `http://127.0.0.1:${parts.port()}/oauth/callback`,
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

/** What brings accounts in and out. */
function createAccountWork(
  { clock, log }: GatewayContext,
  { backend, accounts }: AdministrationParts,
): Pick<AdminOptions, 'signIns' | 'transfer' | 'revoker'> {
  const { upstreams, oauth } = backend;
  const { book, tokens, fetch } = accounts;
  const common = { book, oauth, fetch, clock, log };
  return {
    signIns: createSignIns({ ...common, onCredentialReplaced: (id) => tokens.forget(id) }),
    transfer: createAccountTransfer({
      ...common,
      tokens,
      createId,
      hasUpstream: (id) => upstreams.get(id) !== undefined,
      sealing: { sealWithPassphrase, openWithPassphrase },
    }),
    revoker: createRevoker(common),
  };
}
