// Says what a failed connection means for the retry table and for the client.

import { type GatewayError, gatewayError, upstreamError } from '../../canonical/error.ts';
import { codeOf, type Sentence, told } from '../../lib/localized-message.ts';
import { CLOCK_CODES } from '../../lib/net.ts';
import type { OutboundProxy } from '../../lib/outbound-proxy.ts';
import { ProxyError, TLS_CODE } from '../../lib/proxy-agent.ts';
import { cutAnswer, pathFault, unavailable } from '../errors.ts';

/** The proxy that a request goes through. */
export interface ProxyInUse {
  readonly url: string;
  /** Where the gateway's own was named; absent for one of the account. */
  readonly source?: OutboundProxy['source'];
}

/** Whatever a proxy says, it is no word of the upstream about the account; of the gateway's own no account knows. */
export function proxyFault(cause: Error, proxy: ProxyInUse | undefined): GatewayError {
  const source = proxy?.source;
  if (source === undefined) {
    return pathFault(
      told`The upstream could not be reached through the proxy of the account.`,
      cause,
    );
  }
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
  const code = codeOf(error) ?? '';
  if (CLOSED_CODES.has(code))
    return gatewayFault('overloaded', told`The gateway is closing.`, error);
  if (error instanceof ProxyError && error.isOfProxy) return proxyFault(error, proxy);
  if (code === 'UND_ERR_INVALID_ARG') {
    return gatewayFault('internal', told`The gateway could not write the upstream request.`, error);
  }
  if (TIMEOUT_CODES.has(code))
    return timeoutFault(told`The upstream did not answer in time.`, error);
  if (code === 'UND_ERR_HEADERS_OVERFLOW')
    return pathFault(told`The upstream sent headers that are too long.`, error);
  if (hasAnswer) return cutAnswer(error);
  if (LOST_CODES.has(code)) {
    const message = told`The upstream closed the connection without an answer.`;
    return unavailable({ kind: 'connection-lost' }, message, error);
  }
  if (UNKNOWN_AUTHORITY.test(code)) {
    return pathFault(
      told`The certificate of the upstream is of no authority that the gateway knows: name one with NODE_EXTRA_CA_CERTS, or trust those of this system with NODE_USE_SYSTEM_CA=1.`,
      error,
    );
  }
  if (CLOCK_CODES.includes(code)) {
    return pathFault(
      told`The certificate of the upstream is not valid now: it has expired, or the clock of this machine is wrong.`,
      error,
    );
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return pathFault(told`The certificate of the upstream is for another address.`, error);
  }
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER') {
    return pathFault(
      told`The upstream does not speak HTTPS: its address may have to begin with http://.`,
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
