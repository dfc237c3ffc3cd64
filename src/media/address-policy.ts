// Which addresses media may be fetched from: public ones, judged by name before and by number at the connection.

import ipaddr from 'ipaddr.js';
import { findUrlFault } from '../canonical/public-url.ts';

export interface AddressPolicy {
  allowsUrl(url: URL): boolean;
  /** Asked of literal hosts and of every address a name resolves to. */
  allowsAddress(address: string): boolean;
}

/** https on its own port, public hosts only. */
export const PUBLIC_ONLY: AddressPolicy = {
  allowsUrl: (url) =>
    url.protocol === 'https:' && url.port === '' && findUrlFault(url.href) === undefined,
  allowsAddress: isPublicAddress,
};

/** IPv6 addresses that are routed at all so far (RFC 4291, IANA "IPv6 Global Unicast"). */
const GLOBAL_IPV6 = ipaddr.IPv6.parse('2000::');
const GLOBAL_IPV6_BITS = 3;

/** Looks public and is not: the host's own service of one cloud (Azure "IP address 168.63.129.16"). */
const HOST_SERVICES = new Set(['168.63.129.16']);

/** False for everything that is not an address of the public internet, IPv4 inside IPv6 included. */
export function isPublicAddress(address: string): boolean {
  const spelled = address.includes(':') ? spellIpv6(address) : address;
  if (spelled === undefined || !ipaddr.isValid(spelled)) return false;
  const parsed = ipaddr.process(spelled);
  if (parsed.range() !== 'unicast' || HOST_SERVICES.has(parsed.toString())) return false;
  return !(parsed instanceof ipaddr.IPv6) || parsed.match(GLOBAL_IPV6, GLOBAL_IPV6_BITS);
}

/** In hexadecimal throughout: `ipaddr` takes the old form `::1.2.3.4` for the IPv4 address itself. */
function spellIpv6(address: string): string | undefined {
  return URL.parse(`http://[${address}]/`)?.hostname.slice(1, -1);
}

/** The host's address when it is written as one; undefined for names. */
export function literalAddress({ hostname }: URL): string | undefined {
  const host = hostname.replace(/^\[|\]$/g, '');
  return ipaddr.isValid(host) ? host : undefined;
}
