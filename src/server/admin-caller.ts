// Reads who calls an admin route: address, locality, scheme, session cookie.

import type { AdminCaller, PageLanguage } from './admin-route.ts';
import type { Edge, Exchange } from './edge.ts';
import { isInRange, readAddress } from './gates/address.ts';
import { readClientAddress, readTrustedProxies } from './gates/client-address.ts';
import { isSamePage } from './gates/console.ts';
import { isHeardAt } from './gates/listening.ts';
import { classifyPeer, type PeerInput } from './gates/locality.ts';
import { readSessionCookie } from './gates/session-cookie.ts';

const PASSWORD_HEADER = 'x-isthmus-password';

/** @returns who calls, before anything they show was looked at */
export function readCaller(edge: Edge, exchange: Exchange, peer: PeerInput): AdminCaller {
  const { headers } = exchange;
  return {
    address: exchange.clientAddress,
    isLocal: classifyPeer(peer) === 'local',
    isSecure: isSecure(edge, exchange),
    cookie: readSessionCookie(headers, edge.door.login.cookieTag),
    hasShownPassword: false,
    passwordAgain: readPasswordAgain(headers[PASSWORD_HEADER]),
    language: readLanguage(headers['accept-language']),
    isPrefetch: headers['sec-purpose'] !== undefined || headers.purpose === 'prefetch',
    under({ host, trustedProxies, allowedHosts }) {
      const other = { ...peer, allowedHosts };
      return {
        address: readClientAddress({
          peer: exchange.request.socket.remoteAddress,
          forwardedFor: headers['x-forwarded-for'],
          trustedProxies: readTrustedProxies(trustedProxies),
        }),
        isLocal: classifyPeer(other) === 'local',
        isOwnPage: isSamePage(other),
        isHeard: isHeardAt(host, exchange.request.socket.localAddress),
      };
    },
  };
}

/** Browsers name the languages in the order they are preferred. */
function readLanguage(header = ''): PageLanguage {
  return /(?:^|,)\s*(?:en|(zh))\b/i.exec(header)?.[1] === undefined ? 'en' : 'zh';
}

/** Percent-encoded, since headers hold no other letters; what is not well encoded is taken as it is. */
function readPasswordAgain(header: string | undefined): string | undefined {
  if (header === undefined || header === '') return undefined;
  try {
    return decodeURIComponent(header);
  } catch {
    return header;
  }
}

/** By the page's own origin, which nobody but the browser writes, or by the word of a trusted proxy. */
function isSecure(edge: Edge, { request, headers, settings }: Exchange): boolean {
  if (headers.origin?.startsWith('https://')) return true;
  const peer = readAddress(request.socket.remoteAddress ?? '');
  const isTrusted =
    peer !== undefined && edge.trustedProxies(settings).some((range) => isInRange(peer, range));
  return isTrusted && headers['x-forwarded-proto']?.split(',').at(-1)?.trim() === 'https';
}
