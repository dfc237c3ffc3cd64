// The sandbox upstream: an in-process server that plays the generate-content API strictly and deterministically.

import { createServer, type RequestListener, type Server } from 'node:http';
import { DEFAULT_TIER_QUOTAS, type SandboxAccount, type TierQuotas } from './accounts.ts';
import type { SandboxClock } from './clock.ts';
import { SandboxError } from './errors.ts';
import { answerExchange, type SandboxServices, toSandboxError } from './exchange.ts';
import { sendError } from './http/send-json.ts';
import { createDefaultClient, DEFAULT_CLIENT_ID, type SandboxClient } from './oauth/clients.ts';
import { createCodes } from './oauth/codes.ts';
import { createGrants } from './oauth/grants.ts';
import { type OAuthAddresses, oauthAddresses } from './oauth/metadata.ts';
import { createServiceAccountKeys } from './oauth/service-account-keys.ts';
import { createTokens } from './oauth/tokens.ts';
import { createSignatures } from './signatures.ts';
import { createFaults } from './state/faults.ts';
import { createMembers } from './state/members.ts';
import { createPrefixCache } from './state/prefix-cache.ts';
import { createQuotaCounters } from './state/quota-counters.ts';
import { createRequestLog } from './state/request-log.ts';

export { createDefaultAccounts, type SandboxAccount, type SandboxTier } from './accounts.ts';

export interface SandboxOptions {
  /** Who may call with a key; e-mails and keys are unique. */
  readonly accounts: readonly SandboxAccount[];
  readonly clock: SandboxClock;
  /**
   * What signatures, tokens and keys of service accounts are made with. The default never changes,
   * so they outlive a restart; it is no secret.
   */
  readonly seed?: string | undefined;
  /** What each plan allows. */
  readonly quotas?: Partial<TierQuotas> | undefined;
  /** An hour unless given. */
  readonly accessTokenLifetimeMs?: number | undefined;
  /** Return addresses of the built-in client beside those on this machine. */
  readonly redirectUrls?: readonly string[] | undefined;
  /** OAuth clients beside the built-in one. */
  readonly clients?: readonly SandboxClient[] | undefined;
}

interface SandboxStart {
  /** Without a trailing slash. */
  readonly url: string;
  readonly oauth: OAuthAddresses & { readonly clientId: string };
}

export interface Sandbox {
  /** Listens on 127.0.0.1 at a free port. */
  start(): Promise<SandboxStart>;
  /** Drops running answers and stops listening. */
  close(): Promise<void>;
  readonly accounts: readonly SandboxAccount[];
}

const DEFAULT_SEED = 'isthmus-sandbox';
const ACCESS_TOKEN_LIFETIME_MS = 3_600_000;

export function createSandbox(options: SandboxOptions): Sandbox {
  const { accounts } = options;
  let url = '';
  const server = createServer(createListener(createServices(options, () => url)));
  return {
    accounts,
    async start() {
      url = await listen(server);
      return { url, oauth: { ...oauthAddresses(url), clientId: DEFAULT_CLIENT_ID } };
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function createServices(options: SandboxOptions, issuer: () => string): SandboxServices {
  const { accounts, clock, seed = DEFAULT_SEED } = options;
  const tiers = { ...DEFAULT_TIER_QUOTAS, ...options.quotas };
  return {
    accounts,
    clock,
    tiers,
    issuer,
    signatures: createSignatures(seed),
    faults: createFaults(),
    quotas: createQuotaCounters({ clock, tiers }),
    prefixes: createPrefixCache(),
    log: createRequestLog(),
    members: createMembers(accounts),
    clients: [createDefaultClient(options.redirectUrls ?? []), ...(options.clients ?? [])],
    tokens: createTokens(seed),
    codes: createCodes(clock),
    grants: createGrants(),
    keys: createServiceAccountKeys(seed),
    accessTokenLifetimeMs: options.accessTokenLifetimeMs ?? ACCESS_TOKEN_LIFETIME_MS,
  };
}

function listen(server: Server): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' ? address?.port : undefined;
      resolve(`http://127.0.0.1:${port}`);
    });
  });
}

function createListener(services: SandboxServices): RequestListener {
  return (request, response) => {
    const gone = new AbortController();
    response.once('close', () => {
      if (!response.writableFinished) gone.abort(new Error('The caller is gone.'));
    });
    const fail = (error: unknown): void => {
      if (!gone.signal.aborted) sendError(response, toSandboxError(error));
    };
    const url = URL.parse(request.url ?? '/', 'http://sandbox');
    if (url === null) return fail(new SandboxError(400, 'The request target is not an address.'));
    answerExchange({ request, response, url, signal: gone.signal }, services).catch(fail);
  };
}
