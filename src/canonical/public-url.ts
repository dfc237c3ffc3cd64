// Tells addresses on the public internet from those a request must never make anyone look at.

import ipaddr from 'ipaddr.js';

export type UrlFault = 'malformed' | 'credentials' | 'private';

/** Names that never leave a machine or a site (RFC 6761, RFC 6762, RFC 8375, RFC 9476). */
const PRIVATE_SUFFIXES = ['localhost', 'local', 'internal', 'home.arpa', 'lan', 'alt', 'test'];

/**
 * Why the text is not the address of a public http(s) host; undefined when it is one. Only what can
 * be known before resolving is checked: literal addresses in any spelling, local names, credentials.
 * Whoever fetches must check the resolved address again.
 */
export function findUrlFault(text: string): UrlFault | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return 'malformed';
  if (url.username !== '' || url.password !== '') return 'credentials';
  return isPublicHost(url.hostname) ? undefined : 'private';
}

function isPublicHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (ipaddr.isValid(host)) return ipaddr.process(host).range() === 'unicast';
  if (!host.includes('.')) return false;
  return !PRIVATE_SUFFIXES.some((suffix) => host.endsWith(`.${suffix}`));
}
