// Says what a failed connection means for the retry table and for the client, and keeps the ways through proxies.

import type { Agent, Dispatcher } from 'undici';
import { type GatewayError, gatewayError, upstreamError } from '../../canonical/error.ts';
import { type Sentence, told } from '../../lib/localized-message.ts';
import type { OutboundProxy } from '../../lib/outbound-proxy.ts';
import { createProxyAgent, ProxyError, TLS_CODE } from '../../lib/proxy-agent.ts';
import { pathFault, unavailable } from '../errors.ts';

interface ProxyRoute {
  /** Sends a request; errors come without the proxy's secrets and known as a proxy's. */
  dispatch(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void;
  /** Call once when the exchange is over. */
  release(): void;
}

interface KeptAgent {
  readonly dispatcher: Dispatcher;
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
   * @throws ProxyError when the address cannot be used
   */
  acquire(proxyUrl: string, use: 'kept' | 'fresh'): ProxyRoute {
    const isFresh = use === 'fresh';
    const key = `${use} ${proxyUrl}`;
    const options = isFresh ? { ...this.#options, pipelining: 0 } : this.#options;
    const agent = this.#kept.get(key) ?? this.#open(proxyUrl, options);
    this.#kept.delete(key);
    this.#kept.set(key, agent);
    agent.inUse += 1;
    this.#trim();
    const asked = isFresh ? { reset: true } : {};
    return {
      dispatch: (request, handler) =>
        void agent.dispatcher.dispatch({ ...request, ...asked }, handler),
      release: () => {
        agent.inUse -= 1;
        this.#trim();
      },
    };
  }

  #open(proxyUrl: string, options: Agent.Options): KeptAgent {
    const connectMs = this.#connectMs;
    return { dispatcher: createProxyAgent(proxyUrl, { ...options, connectMs }), inUse: 0 };
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

/** The proxy that a request goes through. */
export type ProxyInUse =
  | { readonly owner: 'account' }
  | ({ readonly owner: 'gateway' } & OutboundProxy);

/** Whatever a proxy says, it is no word of the upstream about the account; of the gateway's own no account knows. */
export function proxyFault(cause: Error, proxy: ProxyInUse | undefined): GatewayError {
  if (proxy?.owner !== 'gateway') {
    return pathFault(
      told`The upstream could not be reached through the proxy of the account.`,
      cause,
    );
  }
  const { source } = proxy;
  const detail = told`The proxy that ${source} names failed or refused: ${cause.message}`;
  const message = told`The upstream could not be reached through the proxy of the gateway.`;
  return unavailable({ kind: 'gateway-proxy', detail }, message, cause);
}

const LOST_CODES = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);
const TIMEOUT_CODES = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
]);
const CLOSED_CODES = new Set(['UND_ERR_DESTROYED', 'UND_ERR_CLOSED']);
/** OpenSSL's words for an authority that this machine does not know (openssl-verify(1)). */
const UNKNOWN_AUTHORITY =
  /^(?:UNABLE_TO_(?:GET_ISSUER|VERIFY_LEAF)|SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED)/;

/**
 * The error an exchange that broke off amounts to. Never names addresses. A connection reset while
 * it was idle also fails requests that were only waiting for it, so that whether the request had
 * been sent makes no difference.
 */
export function readNetworkError(
  error: unknown,
  { hasAnswer, proxy }: { readonly hasAnswer: boolean; readonly proxy?: ProxyInUse | undefined },
): GatewayError {
  const code = codeOf(error);
  if (CLOSED_CODES.has(code))
    return gatewayFault('overloaded', told`The gateway is closing.`, error);
  if (error instanceof ProxyError && error.isOfProxy) return proxyFault(error, proxy);
  if (code === 'UND_ERR_INVALID_ARG') {
    return gatewayFault('internal', told`The gateway could not write the upstream request.`, error);
  }
  if (TIMEOUT_CODES.has(code))
    return timeoutFault(told`The upstream did not answer in time.`, error);
  if (hasAnswer) return pathFault(told`The upstream cut its answer off.`, error);
  if (LOST_CODES.has(code)) {
    const message = told`The upstream closed the connection without an answer.`;
    return unavailable({ kind: 'connection-lost' }, message, error);
  }
  if (UNKNOWN_AUTHORITY.test(code)) {
    return pathFault(
      told`The certificate of the upstream is of no authority that the gateway knows: name one with NODE_EXTRA_CA_CERTS.`,
      error,
    );
  }
  if (TLS_CODE.test(code)) {
    return pathFault(told`No secure connection to the upstream could be made.`, error);
  }
  return pathFault(told`The upstream could not be reached.`, error);
}

/** A fault of the path that is a matter of time. */
export function timeoutFault(message: Sentence, cause?: unknown): GatewayError {
  return upstreamError('timeout', message, { failure: { kind: 'path' }, cause });
}

/** Nobody's attempt failed: there is no `failure`, so no account and no path is blamed. */
export function gatewayFault(
  kind: 'overloaded' | 'internal',
  message: Sentence,
  cause?: unknown,
): GatewayError {
  return gatewayError(kind, message, { cause });
}

function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}
