// The ways to one upstream through the proxies of its accounts, each with its own connections.

import { type Agent, type Dispatcher, Pool, ProxyAgent } from 'undici';
import type { GatewayError } from '../../canonical/error.ts';
import { readProxyUrl } from '../../lib/proxy-url.ts';
import { told } from '../../lib/told.ts';
import { pathFault } from './errors.ts';
import { scrubText } from './scrub.ts';

export interface ProxyAgents {
  /**
   * The way through a proxy; the caller calls `release` once when its exchange is over.
   * @param use `fresh` takes a new connection and closes it afterwards
   * @throws GatewayError with `failure` kind `path` when the address cannot be used
   */
  acquire(proxyUrl: string, use: 'kept' | 'fresh'): ProxyRoute;
  /** Ends every connection at once. */
  close(): Promise<void>;
}

export interface ProxyRoute {
  /** Sends a request; errors come without the proxy's secrets and known as a proxy's. */
  dispatch(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void;
  release(): void;
}

interface KeptAgent {
  readonly dispatcher: Dispatcher;
  /** Parts of the address that must not be shown. */
  readonly secrets: readonly string[];
  inUse: number;
}

/** Idle ones beyond this are closed, the one unused for longest first. */
const MOST_KEPT = 256;

/** `options` are those of the direct way; connecting to a proxy and through it has the same limit. */
export function createProxyAgents(
  options: Agent.Options,
  { mostKept = MOST_KEPT, connectMs }: { readonly mostKept?: number; readonly connectMs: number },
): ProxyAgents {
  const agentOptions = { kept: options, fresh: { ...options, pipelining: 0 } };
  // Said with each request again: undici's own pools behind SOCKS5 proxies know nothing of the agent's.
  const { headersTimeout = null, bodyTimeout = null } = options;
  const limits = { headersTimeout, bodyTimeout };
  const requestOptions = { kept: limits, fresh: { ...limits, reset: true } };
  /** In the order of their last use, the longest unused first. */
  const kept = new Map<string, KeptAgent>();

  const trim = (): void => {
    for (const [key, { dispatcher, inUse }] of kept) {
      if (kept.size <= mostKept) return;
      if (inUse > 0) continue;
      kept.delete(key);
      void dispatcher.destroy();
    }
  };

  return {
    acquire(proxyUrl, use) {
      const key = `${use} ${proxyUrl}`;
      const agent = kept.get(key) ?? createAgent(proxyUrl, agentOptions[use], connectMs);
      kept.delete(key);
      kept.set(key, agent);
      agent.inUse += 1;
      trim();
      return {
        dispatch(request, handler) {
          const marked = markProxyErrors(handler, agent.secrets);
          agent.dispatcher.dispatch({ ...request, ...requestOptions[use] }, marked);
        },
        release() {
          agent.inUse -= 1;
          trim();
        },
      };
    },
    async close() {
      const agents = [...kept.values()];
      kept.clear();
      await Promise.all(agents.map(({ dispatcher }) => dispatcher.destroy()));
    },
  };
}

function createAgent(proxyUrl: string, options: Agent.Options, connectMs: number): KeptAgent {
  const reading = readProxyUrl(proxyUrl);
  if (reading.kind === 'bad') {
    throw unreachedThroughProxy(new Error(`The proxy address ${reading.problem}.`));
  }
  const { connect: _direct, ...shared } = options;
  const dispatcher = new ProxyAgent({
    ...shared,
    uri: reading.url,
    connectTimeout: connectMs,
    // Plain http goes to the proxy itself over a pool that undici would make without our limits.
    factory: (origin, own) => new Pool(origin, { ...shared, ...own }),
    // Asks for the tunnel: a proxy that takes the connection and then says nothing must not hang us.
    clientFactory: (origin, own) => new Pool(origin, { ...own, headersTimeout: connectMs }),
  });
  const { username, password } = new URL(reading.url);
  const secrets = [password, username].flatMap((part) => [decodeURIComponent(part), part]);
  return { dispatcher, secrets: secrets.filter((part) => part !== ''), inUse: 0 };
}

/** Errors of an exchange through a proxy, before any answer: the proxy's, without what it may not say. */
export class ProxyError extends Error {
  /** undici's or the system's own word for what went wrong. */
  readonly code: string;

  constructor(error: Error, secrets: readonly string[]) {
    super(scrubText(error.message, secrets));
    this.name = 'ProxyError';
    this.code = 'code' in error && typeof error.code === 'string' ? error.code : 'unknown';
  }
}

function markProxyErrors(
  handler: Dispatcher.DispatchHandler,
  secrets: readonly string[],
): Dispatcher.DispatchHandler {
  return {
    onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
    onResponseStarted: () => handler.onResponseStarted?.(),
    onResponseStart: (controller, status, headers, message) =>
      handler.onResponseStart?.(controller, status, headers, message),
    onResponseData: (controller, chunk) => handler.onResponseData?.(controller, chunk),
    onResponseEnd: (controller, trailers) => handler.onResponseEnd?.(controller, trailers),
    onResponseError: (controller, error) =>
      handler.onResponseError?.(controller, new ProxyError(error, secrets)),
  };
}

/** A fault of the path: whatever the proxy says, it is no word of the upstream about the account. */
export function unreachedThroughProxy(cause: Error): GatewayError {
  return pathFault(
    told`The upstream could not be reached through the proxy of the account.`,
    cause,
  );
}
