// The address a request counts for: the socket's peer, or what trusted proxies say stands before it.

import { type AddressRange, isInRange, readAddress, readRange } from './address.ts';

export interface AddressInput {
  /** The socket's peer, as node gives it. */
  readonly peer: string | undefined;
  /** `X-Forwarded-For`, repeated lines joined with ", ". */
  readonly forwardedFor: string | undefined;
  readonly trustedProxies: readonly AddressRange[];
}

/** Ranges of the readable entries; an unreadable one trusts nobody. */
export function readTrustedProxies(entries: readonly string[]): readonly AddressRange[] {
  return entries.map(readRange).filter((range) => range !== undefined);
}

/**
 * The client's address in normal form. `X-Forwarded-For` is believed only from a trusted peer, is
 * walked from the right, trusted entries are skipped and the first other one is the client. A token
 * that is no address makes the whole chain worthless: the peer counts.
 */
export function readClientAddress(input: AddressInput): string {
  const peer = input.peer === undefined ? undefined : readAddress(input.peer);
  if (peer === undefined) return 'unknown';
  const { forwardedFor, trustedProxies } = input;
  const isTrusted = (address: typeof peer): boolean =>
    trustedProxies.some((range) => isInRange(address, range));
  if (forwardedFor === undefined || !isTrusted(peer)) return peer.toString();
  let client = peer;
  for (const token of forwardedFor.split(',').reverse()) {
    const address = readAddress(withoutPort(token.trim()));
    if (address === undefined) return peer.toString();
    client = address;
    if (!isTrusted(address)) break;
  }
  return client.toString();
}

/** As `readClientAddress`; remembers peers, which send many requests each. */
export function createAddressReader(): typeof readClientAddress {
  const known = new Map<string, string>();
  return (input) => {
    const { peer, forwardedFor } = input;
    if (peer === undefined || forwardedFor !== undefined) return readClientAddress(input);
    const found = known.get(peer);
    if (found !== undefined) return found;
    if (known.size === MOST_PEERS) known.clear();
    const address = readClientAddress(input);
    known.set(peer, address);
    return address;
  };
}

const MOST_PEERS = 1024;

/** Some proxies write `192.0.2.1:1234` or `[2001:db8::1]:1234`. */
function withoutPort(token: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(token);
  if (bracketed !== null) return bracketed[1] ?? '';
  const dotted = /^([\d.]+):\d{1,5}$/.exec(token);
  return dotted?.[1] ?? token;
}
