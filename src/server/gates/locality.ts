// Decides whether a request comes from a program on this machine, and the client address it counts for.

import {
  formatIpAddress,
  type IpRange,
  isInRange,
  isLoopback,
  readAddress,
  readRange,
} from '../../lib/net.ts';
import { remember } from '../../lib/once.ts';
import type { HeaderMap } from '../settings.ts';

export interface PeerInput {
  /** The socket's peer, as node gives it. */
  readonly peer: string | undefined;
  readonly port: number;
  readonly headers: HeaderMap;
  /** Names of ours besides the loopback ones, in lower case and without port. */
  readonly allowedHosts: readonly string[];
}

/** So many peers are remembered, as each sends many requests. */
export const MAX_PEERS = 1024;

const isLoopbackText = remember(MAX_PEERS, (text) => {
  const address = readAddress(text);
  return address !== undefined && isLoopback(address);
});

/** The parts of a `Host`, and whether it names this machine. Others write hosts: what is longer than most is not remembered. */
const readHost = remember(MAX_PEERS, splitHost);
const MAX_HOST_CHARACTERS = 64;

/** Every one of them says that the peer speaks for somebody else. */
const FORWARDING_HEADERS = new Set(['forwarded', 'via', 'x-real-ip', 'true-client-ip']);
const FORWARDING_PREFIXES = /^(?:x-forwarded-|cf-)/;

/**
 * `local` only when all of these hold: the peer is loopback; no header speaks of a proxy or tunnel;
 * `Host` is a loopback name or address, or an allowed name, with our port (a rebound name is
 * neither); and no foreign web page sent it (`Origin`, `Sec-Fetch-Site`). Private ranges are remote.
 */
export function classifyPeer(input: PeerInput): 'local' | 'remote' {
  if (input.peer === undefined || !isLoopbackText(input.peer)) return 'remote';
  for (const name in input.headers) {
    if (FORWARDING_HEADERS.has(name) || FORWARDING_PREFIXES.test(name)) return 'remote';
  }
  if (!isOwnHost(input.headers.host, input)) return 'remote';
  const isOfPage =
    input.headers.origin !== undefined || input.headers['sec-fetch-site'] !== undefined;
  return !isOfPage || isOwnPage(input) ? 'local' : 'remote';
}

/** True unless a web page that is not our own sent the request. */
export function isOwnPage(input: Omit<PeerInput, 'peer'>): boolean {
  const { origin, 'sec-fetch-site': site } = input.headers;
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  if (origin === undefined) return true;
  const host = /^https?:\/\/([^/?#@\s]+)$/i.exec(origin)?.[1];
  return host !== undefined && isOwnHost(host, input);
}

/** True for a page that stands on the very address it calls, where that is numeric: such a name cannot be rebound. */
export function isOwnNumericPage({
  headers: { origin, host },
}: Pick<PeerInput, 'headers'>): boolean {
  const page = origin?.replace(/^https?:\/\//, '');
  return page !== undefined && page === host && NUMERIC_HOST.test(host);
}

/** True for a `Host` that no foreign page can have, on any port. Only old programs send none. */
export function isKnownHost({
  headers: { host },
  allowedHosts,
}: Pick<PeerInput, 'headers' | 'allowedHosts'>): boolean {
  if (host === undefined || NUMERIC_HOST.test(host)) return true;
  const { name } = splitHost(host.toLowerCase());
  if (name === 'localhost' || name.endsWith('.localhost')) return true;
  return allowedHosts.includes(name);
}

const NUMERIC_HOST = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

function isOwnHost(
  host: string | undefined,
  { allowedHosts, port }: Omit<PeerInput, 'peer'>,
): boolean {
  if (host === undefined) return false;
  const lower = host.toLowerCase();
  const own = lower.length <= MAX_HOST_CHARACTERS ? readHost(lower) : splitHost(lower);
  // What a client leaves out is the port that its scheme has by itself.
  const isUsual = own.port === '' && (port === 80 || port === 443);
  if (own.port !== String(port) && !isUsual) return false;
  return own.isLoopback || allowedHosts.includes(own.name);
}

interface Host {
  readonly name: string;
  readonly port: string;
  readonly isLoopback: boolean;
}

function splitHost(host: string): Host {
  const match = /^(\[[0-9a-f:.]*\]|[^:[\]]*)(?::(\d{1,5}))?$/.exec(host);
  const [, name = '', port = ''] = match ?? [];
  const bracketed = name.startsWith('[') && name.endsWith(']');
  const address = readAddress(bracketed ? name.slice(1, -1) : name);
  const isAddress = address !== undefined && bracketed === name.includes(':');
  return { name, port, isLoopback: name === 'localhost' || (isAddress && isLoopback(address)) };
}

interface AddressInput {
  /** The socket's peer, as node gives it. */
  readonly peer: string | undefined;
  /** `X-Forwarded-For`, repeated lines joined with ", ". */
  readonly forwardedFor: string | undefined;
  readonly trustedProxies: readonly IpRange[];
}

/** Ranges of the readable entries; an unreadable one trusts nobody. */
export function readTrustedProxies(entries: readonly string[]): readonly IpRange[] {
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
  if (forwardedFor === undefined || !isTrusted(peer)) return formatIpAddress(peer);
  let client = peer;
  for (const token of forwardedFor.split(',').reverse()) {
    const address = readAddress(withoutPort(token.trim()));
    if (address === undefined) return formatIpAddress(peer);
    client = address;
    if (!isTrusted(address)) break;
  }
  return formatIpAddress(client);
}

/** Some proxies write `192.0.2.1:1234` or `[2001:db8::1]:1234`. */
function withoutPort(token: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(token);
  if (bracketed !== null) return bracketed[1] ?? '';
  const dotted = /^([\d.]+):\d{1,5}$/.exec(token);
  return dotted?.[1] ?? token;
}
