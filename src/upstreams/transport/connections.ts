// Says what a failed connection means for the retry table and for the client.

import { type Agent, type Dispatcher, Pool, ProxyAgent } from 'undici';
import { GatewayError } from '../../canonical/error.ts';
import { type Sentence, told } from '../../lib/localized-message.ts';
import { readProxyUrl } from '../../lib/net.ts';
import { scrubText } from '../../lib/redact.ts';
import { pathFault, unavailable } from '../errors.ts';

interface ProxyRoute {
  /** Sends a request; errors come without the proxy's secrets and known as a proxy's. */
  dispatch(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void;
  /** Call once when the exchange is over. */
  release(): void;
}

interface KeptAgent {
  readonly dispatcher: Dispatcher;
  /** Parts of the address that must not be shown. */
  readonly secrets: readonly string[];
  inUse: number;
}

/** Idle ones beyond this are closed, the one unused for longest first. */
const MAX_KEPT = 256;

export class ProxyAgents {
  readonly #options: Agent.Options;
  readonly #connectMs: number;
  readonly #mostKept: number;
  /** In the order of their last use, the longest unused first. */
  readonly #kept = new Map<string, KeptAgent>();

  /** @param options those of the direct way; connecting to a proxy and through it has the same limit */
  constructor(
    options: Agent.Options,
    { connectMs, mostKept = MAX_KEPT }: { readonly connectMs: number; readonly mostKept?: number },
  ) {
    this.#options = options;
    this.#connectMs = connectMs;
    this.#mostKept = mostKept;
  }

  /**
   * The way through a proxy.
   * @param use `fresh` takes a new connection and closes it afterwards
   * @throws GatewayError with `failure` kind `path` when the address cannot be used
   */
  acquire(proxyUrl: string, use: 'kept' | 'fresh'): ProxyRoute {
    const isFresh = use === 'fresh';
    const key = `${use} ${proxyUrl}`;
    const options = isFresh ? { ...this.#options, pipelining: 0 } : this.#options;
    const agent = this.#kept.get(key) ?? createAgent(proxyUrl, options, this.#connectMs);
    this.#kept.delete(key);
    this.#kept.set(key, agent);
    agent.inUse += 1;
    this.#trim();
    // Said with each request again: undici's own pools behind SOCKS5 proxies know nothing of the agent's.
    const { headersTimeout = null, bodyTimeout = null } = this.#options;
    const limits = { headersTimeout, bodyTimeout, ...(isFresh ? { reset: true } : {}) };
    return {
      dispatch: (request, handler) => {
        const marked = markProxyErrors(handler, agent.secrets);
        agent.dispatcher.dispatch({ ...request, ...limits }, marked);
      },
      release: () => {
        agent.inUse -= 1;
        this.#trim();
      },
    };
  }

  #trim(): void {
    for (const [key, { dispatcher, inUse }] of this.#kept) {
      if (this.#kept.size <= this.#mostKept) return;
      if (inUse > 0) continue;
      this.#kept.delete(key);
      void dispatcher.destroy();
    }
  }

  /** Ends every connection at once. */
  async close(): Promise<void> {
    const agents = [...this.#kept.values()];
    this.#kept.clear();
    await Promise.all(agents.map(({ dispatcher }) => dispatcher.destroy()));
  }
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
class ProxyError extends Error {
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
function unreachedThroughProxy(cause: Error): GatewayError {
  return pathFault(
    told`The upstream could not be reached through the proxy of the account.`,
    cause,
  );
}

const LOST_CODES = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);
const TIMEOUT_CODES = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
]);
const CLOSED_CODES = new Set(['UND_ERR_DESTROYED', 'UND_ERR_CLOSED']);
const TLS_CODE = /^(?:ERR_TLS|ERR_SSL|CERT_|UNABLE_TO|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_|EPROTO)/;

/**
 * The error an exchange that broke off amounts to. Never names addresses. A connection reset while
 * it was idle also fails requests that were only waiting for it, so that whether the request had
 * been sent makes no difference.
 */
export function readNetworkError(
  error: unknown,
  { hasAnswer }: { readonly hasAnswer: boolean },
): GatewayError {
  const code = codeOf(error);
  if (CLOSED_CODES.has(code))
    return gatewayFault('overloaded', told`The gateway is closing.`, error);
  if (code === 'UND_ERR_INVALID_ARG') {
    // undici's word for a proxy that wants another password, too.
    if (error instanceof ProxyError) return unreachedThroughProxy(error);
    return gatewayFault('internal', told`The gateway could not write the upstream request.`, error);
  }
  if (TIMEOUT_CODES.has(code))
    return timeoutFault(told`The upstream did not answer in time.`, error);
  if (hasAnswer) return pathFault(told`The upstream cut its answer off.`, error);
  if (LOST_CODES.has(code)) {
    const message = told`The upstream closed the connection without an answer.`;
    return unavailable({ kind: 'connection-lost' }, message, error);
  }
  if (error instanceof ProxyError) return unreachedThroughProxy(error);
  if (TLS_CODE.test(code)) {
    return pathFault(told`No secure connection to the upstream could be made.`, error);
  }
  return pathFault(told`The upstream could not be reached.`, error);
}

/** A fault of the path that is a matter of time. */
export function timeoutFault(message: Sentence, cause?: unknown): GatewayError {
  return new GatewayError({
    kind: 'timeout',
    source: 'upstream',
    message,
    failure: { kind: 'path' },
    cause,
  });
}

/** Nobody's attempt failed: there is no `failure`, so no account and no path is blamed. */
export function gatewayFault(
  kind: 'overloaded' | 'internal',
  message: Sentence,
  cause?: unknown,
): GatewayError {
  return new GatewayError({ kind, source: 'gateway', message, cause });
}

function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}
