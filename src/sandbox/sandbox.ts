// The sandbox upstream: an in-process server that plays the generate-content API strictly and deterministically.

import { createServer, type RequestListener, type Server } from 'node:http';
import type { Clock } from '../lib/clock.ts';
import type { SandboxAccount } from './accounts.ts';
import { SandboxError } from './errors.ts';
import { answerExchange, type SandboxServices, toSandboxError } from './exchange.ts';
import { sendError } from './http/send-json.ts';
import { createSignatures } from './signatures.ts';
import { createFaults } from './state/faults.ts';
import { createPrefixCache } from './state/prefix-cache.ts';
import { createQuotaCounters } from './state/quota-counters.ts';
import { createRequestLog } from './state/request-log.ts';

export interface SandboxOptions {
  /** Who may call; e-mails and keys are unique. */
  readonly accounts: readonly SandboxAccount[];
  readonly clock: Clock;
  /** What signatures are made with. The default never changes, so signatures outlive a restart. */
  readonly seed?: string | undefined;
}

export interface Sandbox {
  /** Listens on 127.0.0.1 at a free port. `url` has no trailing slash. */
  start(): Promise<{ readonly url: string }>;
  /** Drops running answers and stops listening. */
  close(): Promise<void>;
  readonly accounts: readonly SandboxAccount[];
}

const DEFAULT_SEED = 'isthmus-sandbox';

export function createSandbox({ accounts, clock, seed = DEFAULT_SEED }: SandboxOptions): Sandbox {
  const server = createServer(
    createListener({
      accounts,
      clock,
      signatures: createSignatures(seed),
      faults: createFaults(),
      quotas: createQuotaCounters(clock),
      prefixes: createPrefixCache(),
      log: createRequestLog(),
    }),
  );
  return {
    accounts,
    start: () => listen(server),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listen(server: Server): Promise<{ readonly url: string }> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' ? address?.port : undefined;
      resolve({ url: `http://127.0.0.1:${port}` });
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
