// Whether a gateway that listens at one address hears what comes in at another.

import { isLoopback, readAddress } from './address.ts';

/**
 * @param host where it listens, as the settings spell it
 * @param at the own end of a connection; undefined when it is gone
 * @returns true also for names, as nobody can say before the start where they lead
 */
export function isHeardAt(host: string, at: string | undefined): boolean {
  const reached = at === undefined ? undefined : readAddress(at);
  if (reached === undefined) return true;
  if (host.toLowerCase() === 'localhost') return isLoopback(reached);
  const listening = readAddress(host);
  if (listening === undefined) return true;
  if (listening.range() !== 'unspecified') return listening.toString() === reached.toString();
  // `::` takes IPv4 as well.
  return listening.kind() === 'ipv6' || reached.kind() === 'ipv4';
}
