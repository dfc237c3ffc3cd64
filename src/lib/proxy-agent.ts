// Connections of undici: through a proxy, whose password is never told and whose faults are told apart, past a `100 Continue`,
// and with one question at a time for the addresses of a name.

import { lookup } from 'node:dns';
import type { Socket } from 'node:net';
import { type Agent, buildConnector, type Dispatcher, Pool, ProxyAgent } from 'undici';
import { createSystemClock } from './clock.ts';
import { codeOf } from './localized-message.ts';
import { asksOnce, readProxyUrl } from './net.ts';
import { proxySecrets } from './outbound-proxy.ts';
import { scrubText } from './redact.ts';

interface ProxyAgentOptions extends Agent.Options {
  /** For connecting to the proxy, for its answer, and for connecting through it. */
  readonly connectMs: number;
}

/**
 * A way through a proxy; its errors are `ProxyError`s.
 * @throws ProxyError when the address cannot be used
 */
export function createProxyAgent(proxyUrl: string, options: ProxyAgentOptions): Dispatcher {
  const reading = readProxyUrl(proxyUrl);
  if (reading.kind === 'bad') {
    throw new ProxyError(new Error(`The proxy address ${reading.problem.text}.`), {
      isOfProxy: true,
    });
  }
  const { connect: _direct, connectMs, ...shared } = options;
  const { headersTimeout = null, bodyTimeout = null } = shared;
  const { username, password } = new URL(reading.url);
  const agent = new ProxyAgent({
    ...shared,
    uri: reading.url,
    // For SOCKS5, where undici would send them as the address spells them.
    ...{ username: decodeURIComponent(username), password: decodeURIComponent(password) },
    connectTimeout: connectMs,
    // One through SOCKS5 would begin TLS with the proxy for it.
    ...(!reading.url.startsWith('socks5:') && { proxyTls: { lookup: lookupOnce } }),
    // Plain http goes to the proxy itself over a pool that undici would make without our limits.
    factory: (origin, { connect = {}, ...own }: Pool.Options) =>
      new Pool(origin, { ...shared, ...own, connect: soundConnections(connect) }),
    // Asks for the tunnel: a proxy that takes the connection and then says nothing must not hang us.
    clientFactory: (origin, own) => new Pool(origin, { ...own, headersTimeout: connectMs }),
  });
  const secrets = proxySecrets(reading.url);
  const isSecure = reading.url.startsWith('https:');
  return agent.compose((dispatch) => (request, handler) => {
    // Said with each request again: undici's own pools behind SOCKS5 proxies know nothing of the agent's.
    const limited = { ...request, headersTimeout, bodyTimeout };
    return dispatch(limited, markErrors(handler, { secrets, isSecure }));
  });
}

/** An error of an exchange through a proxy, without what it may not say. */
export class ProxyError extends Error {
  /** undici's or the system's own word for what went wrong. */
  readonly code: string;
  /** True where the proxy is to blame, or refused; false where the way beyond it failed. */
  readonly isOfProxy: boolean;

  constructor(
    error: Error,
    {
      secrets = [],
      isOfProxy,
    }: { readonly secrets?: readonly string[]; readonly isOfProxy: boolean },
  ) {
    super(scrubText(error.message, secrets));
    this.name = 'ProxyError';
    this.code = codeOf(error) ?? 'unknown';
    this.isOfProxy = isOfProxy;
  }
}

/** Codes of OpenSSL and node for a peer whose certificate or TLS is at fault. */
export const TLS_CODE =
  /^(?:ERR_TLS|ERR_SSL|CERT_|UNABLE_TO|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_|EPROTO)/;

/** undici's code for a proxy that asks for another password, too. */
const REFUSED = 'UND_ERR_INVALID_ARG';

interface MarkOptions {
  readonly secrets: readonly string[];
  /** True where TLS may fail at the proxy itself. */
  readonly isSecure: boolean;
}

/**
 * Until a request is sent, whatever fails is the proxy's doing, but for the certificate at the other end of the tunnel;
 * after that it may be either's.
 */
function markErrors(
  handler: Dispatcher.DispatchHandler,
  { secrets, isSecure }: MarkOptions,
): Dispatcher.DispatchHandler {
  let isSent = false;
  return {
    onRequestStart(...given) {
      isSent = true;
      handler.onRequestStart?.(...given);
    },
    onRequestUpgrade: (...given) => handler.onRequestUpgrade?.(...given),
    onResponseStarted: () => handler.onResponseStarted?.(),
    onResponseStart: (...given) => handler.onResponseStart?.(...given),
    onResponseData: (...given) => handler.onResponseData?.(...given),
    onResponseEnd: (...given) => handler.onResponseEnd?.(...given),
    onResponseError(controller, error) {
      const code = codeOf(error) ?? '';
      const isBeyond = TLS_CODE.test(code) && !isSecure;
      const isOfProxy = code === REFUSED || (!isSent && !isBeyond);
      handler.onResponseError?.(controller, new ProxyError(error, { secrets, isOfProxy }));
    },
  };
}

/** More proxies than these are not kept open at once, where calls are few. */
const MAX_PROXIES = 32;

/** The agents of the proxies in use; the one unused for longest is closed first. */
export class ProxyDispatchers {
  readonly #options: ProxyAgentOptions;
  readonly #most: number;
  readonly #open = new Map<string, Dispatcher>();

  /** @param options those of the direct way; connecting to a proxy and through it has the same limit */
  constructor(options: ProxyAgentOptions, most = MAX_PROXIES) {
    this.#options = options;
    this.#most = most;
  }

  /** @throws ProxyError as `createProxyAgent` */
  get(proxyUrl: string): Dispatcher {
    const dispatcher = this.#open.get(proxyUrl) ?? createProxyAgent(proxyUrl, this.#options);
    this.#open.delete(proxyUrl);
    const [oldest] = this.#open;
    if (oldest !== undefined && this.#open.size === this.#most) {
      const [address, leaving] = oldest;
      this.#open.delete(address);
      // A proxy in use ends its calls first: `close` waits for them.
      leaving.close().catch(() => leaving.destroy());
    }
    this.#open.set(proxyUrl, dispatcher);
    return dispatcher;
  }

  /** Ends every connection at once. */
  async destroy(): Promise<void> {
    await Promise.all([...this.#open.values()].map((dispatcher) => dispatcher.destroy()));
  }
}

// Connections as undici lacks them: a `100 Continue` that nobody asked for is passed over (RFC 9110, 15.2), for which undici
// breaks them off, and none is used again that still has to send what was answered already.

/** Connects as these options, or this way to connect, say. */
export function soundConnections(
  options: buildConnector.BuildOptions | buildConnector.connector,
): buildConnector.connector {
  const connect =
    typeof options === 'function' ? options : buildConnector({ lookup: lookupOnce, ...options });
  return (target, callback) =>
    connect(target, (...result) => {
      if (result[1]) mend(result[1]);
      callback(...result);
    });
}

const lookupOnce = asksOnce(lookup, createSystemClock());

const HEAD = /HTTP\/1\.[01] 1\d\d[ \r\n]/y;
const HEAD_END = '\r\n\r\n';
const FIRST_DIGIT = 'HTTP/1.1 '.length;
const LAST_DIGIT = FIRST_DIGIT + 2;
const [ONE, TWO] = [0x31, 0x32];

/**
 * Other interim answers undici hands over: a 100 is given out as a `102 Processing`, which says as little. A request that
 * was answered before all of it was sent, as refusals are, is not finished at the cost of the next one, whose bytes would
 * come behind it: that one finds the connection lost.
 */
function mend(socket: Socket): void {
  const { push, cork } = socket;
  /** What was written when the last answer began: what comes until more is written is the rest of that. */
  let answered = 0;
  socket.push = (chunk: unknown, encoding) => {
    const { bytesWritten } = socket;
    if (bytesWritten !== answered && Buffer.isBuffer(chunk)) {
      const isInterim = chunk[FIRST_DIGIT] === ONE && passHeads(chunk);
      if (!isInterim) answered = bytesWritten;
    }
    return push.call(socket, chunk, encoding);
  };
  // undici begins to write so where there is a body.
  socket.cork = () => {
    if (socket.writableLength > 0 && socket.bytesWritten === answered) {
      const left = new Error('The connection still sends a request that was answered.');
      socket.destroy(Object.assign(left, { code: 'ECONNRESET' }));
    }
    cork.call(socket);
  };
}

/** True while only interim answers came. */
function passHeads(chunk: Buffer): boolean {
  const text = chunk.toString('latin1');
  for (let at = 0; at < text.length; ) {
    HEAD.lastIndex = at;
    if (!HEAD.test(text)) return false;
    if (text.startsWith('100', at + FIRST_DIGIT)) chunk[at + LAST_DIGIT] = TWO;
    const end = text.indexOf(HEAD_END, at);
    if (end === -1) return true;
    at = end + HEAD_END.length;
  }
  return true;
}
