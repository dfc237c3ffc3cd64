// IP addresses, ranges and the hosts of URLs: read, compared, and judged as loopback or public; names looked up once; what a wrong
// clock does to certificates.

import { isIPv4, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Clock } from './clock.ts';
import { type Sentence, told } from './localized-message.ts';
import { remember } from './once.ts';

export interface IpAddress {
  readonly family: 4 | 6;
  readonly value: bigint;
}

export interface IpRange extends IpAddress {
  readonly prefixBits: number;
}

/** Prefixes (RFC 4291, RFC 6052) whose last 32 of 128 bits are an IPv4 address. */
const MAPPED_PREFIX = 0xffffn;
const NAT64_PREFIX = 0x64_ff9b_0000_0000_0000_0000n;
const MIN_COMPATIBLE = 0x1_0000n;
const IPV4_BITS = 32n;
/** `::192.0.2.1`, long obsolete; ipaddr.js takes it for the mapped form, the kernel does not. */
const COMPATIBLE = /^::(?=\d+\.)/;

/**
 * Reads the address of a peer: IPv4 in four decimal parts or IPv6; a zone is dropped and the mapped form becomes
 * IPv4. Octal, hexadecimal and shortened IPv4 are no addresses: different readers take them for different hosts.
 */
export function readAddress(text: string): IpAddress | undefined {
  if (COMPATIBLE.test(text)) return undefined;
  const address = parseIp(text);
  return address?.family === 6 ? unmap(address) : address;
}

/** As `readAddress`, for rules: IPv4 in NAT64 and in the obsolete compatible form becomes IPv4 as well. */
export function readIpAddress(text: string): IpAddress | undefined {
  const address = parseIp(text);
  return address && (embeddedIpv4(address) ?? address);
}

/** As it is written: IPv4 within IPv6 stays IPv6, as the prefix of a range counts from there. */
function parseIp(text: string): IpAddress | undefined {
  const zoneAt = text.indexOf('%');
  const plain = zoneAt === -1 ? text : text.slice(0, zoneAt);
  if (isIPv4(plain)) {
    return { family: 4, value: toValue(ipaddr.IPv4.parse(plain).toByteArray()) };
  }
  const spelled = plain.replace(COMPATIBLE, '::0:');
  if (!plain.includes(':') || !ipaddr.IPv6.isValid(spelled)) return undefined;
  return { family: 6, value: toValue(ipaddr.IPv6.parse(spelled).toByteArray()) };
}

function toValue(bytes: number[]): bigint {
  return BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
}

function unmap(address: IpAddress): IpAddress {
  return address.value >> IPV4_BITS === MAPPED_PREFIX ? toIpv4(address) : address;
}

/** The IPv4 address that an IPv6 one carries in any form; undefined for all others. */
function embeddedIpv4(address: IpAddress): IpAddress | undefined {
  if (address.family === 4) return undefined;
  const prefix = address.value >> IPV4_BITS;
  const isCompatible = prefix === 0n && address.value >= MIN_COMPATIBLE;
  const isEmbedded = prefix === MAPPED_PREFIX || prefix === NAT64_PREFIX || isCompatible;
  return isEmbedded ? toIpv4(address) : undefined;
}

function toIpv4({ value }: IpAddress): IpAddress {
  return { family: 4, value: BigInt.asUintN(32, value) };
}

export function widthOf({ family }: Pick<IpAddress, 'family'>): number {
  return family === 4 ? 32 : 128;
}

/** The shortest usual spelling. */
export function formatIpAddress(address: IpAddress): string {
  return toIpaddr(address).toString();
}

function toIpaddr({ family, value }: IpAddress): ipaddr.IPv4 | ipaddr.IPv6 {
  const width = widthOf({ family });
  const bytes = Array.from({ length: width / 8 }, (_, index) =>
    Number((value >> BigInt(width - 8 * (index + 1))) & 0xffn),
  );
  return ipaddr.fromByteArray(bytes);
}

/** Of addresses that requests come from, of which one sends many. */
export const MAX_KNOWN_ADDRESSES = 10_000;

/** Who counts as one visitor: an IPv4 address, or the /64 that an IPv6 network gives to one host. */
export const visitorOf = remember(MAX_KNOWN_ADDRESSES, (text) => {
  const address = readIpAddress(text);
  if (address === undefined) return text;
  if (address.family === 4) return formatIpAddress(address);
  const network = (address.value >> 64n) << 64n;
  return `${formatIpAddress({ family: 6, value: network })}/64`;
});

/** True for 127.0.0.0/8 and ::1. */
export function isLoopback({ family, value }: IpAddress): boolean {
  return family === 4 ? value >> 24n === 127n : value === 1n;
}

/** True for `localhost` and loopback addresses, as `HOST` or a URL spells them. */
export function isLoopbackHost(host: string): boolean {
  const address = readAddress(withoutBrackets(host));
  return host === 'localhost' || (address !== undefined && isLoopback(address));
}

/** An IPv6 address stands in brackets in a URL. */
export function withoutBrackets(host: string): string {
  return host.replace(/^\[|\]$/g, '');
}

/** IPv6 addresses that are routed at all so far (RFC 4291, IANA "IPv6 Global Unicast"). */
const GLOBAL_IPV6: IpRange = { family: 6, value: 0x2000n << 112n, prefixBits: 3 };

/** Looks public and is not: the host's own service of one cloud (Azure "IP address 168.63.129.16"). */
const HOST_SERVICE: IpAddress = { family: 4, value: 0xa83f_8110n };

/** False for everything that is not an address of the public internet, IPv4 inside IPv6 included. */
function isPublicAddress(text: string): boolean {
  const address = text.includes('%') ? undefined : readAddress(text);
  if (address === undefined || toIpaddr(address).range() !== 'unicast') return false;
  return address.family === 4
    ? address.value !== HOST_SERVICE.value
    : isInRange(address, GLOBAL_IPV6);
}

export function isInRange(address: IpAddress, range: IpRange): boolean {
  const hostBits = BigInt(widthOf(range) - range.prefixBits);
  return address.family === range.family && address.value >> hostBits === range.value >> hostBits;
}

/** Reads `10.0.0.0/8`, `fd00::/8` or a single address; bits behind the prefix do not count. */
export function readRange(text: string): IpRange | undefined {
  const [addressText = '', bitsText, ...rest] = text.trim().split('/');
  const base = rest.length > 0 || COMPATIBLE.test(addressText) ? undefined : parseIp(addressText);
  const bits = base && readBits(bitsText, base);
  if (base === undefined || bits === undefined) return undefined;
  const address = unmap(base);
  const prefixBits = bits - (widthOf(base) - widthOf(address));
  return prefixBits < 0 ? undefined : { ...address, prefixBits };
}

/**
 * A single address or CIDR range of a rule, its text in the usual spelling; else what is wrong with it, which starts
 * with "must".
 */
export function readIpRange(
  written: string,
): { readonly range: IpRange; readonly text: string } | Sentence {
  const [addressText = '', bitsText, ...rest] = written.trim().split('/');
  const base = rest.length > 0 ? undefined : parseIp(addressText);
  if (base === undefined) {
    return told`must be an IPv4 address in four decimal parts, an IPv6 address, or one of them with a prefix, such as 192.0.2.7, 10.0.0.0/8 or 2001:db8::/32`;
  }
  const bits = readBits(bitsText, base);
  if (bits === undefined)
    return told`must have a prefix from 0 to ${widthOf(base)} after the slash`;
  const range = embeddedRange(base, bits);
  if (range === undefined) {
    return told`must have at least 96 prefix bits where it holds an IPv4 address; write the IPv4 range`;
  }
  const hostBits = BigInt(widthOf(range) - range.prefixBits);
  const network = (range.value >> hostBits) << hostBits;
  if (network !== range.value) {
    const meant = `${formatIpAddress({ ...range, value: network })}/${range.prefixBits}`;
    return told`must have only zeros after its prefix; write ${meant} or the single address`;
  }
  const text = formatIpAddress(range);
  const isOne = range.prefixBits === widthOf(range);
  return { range, text: isOne ? text : `${text}/${range.prefixBits}` };
}

/** The bits of the prefix; those of a single address when there is no text. */
function readBits(text: string | undefined, base: IpAddress): number | undefined {
  if (text === undefined) return widthOf(base);
  if (!/^(?:0|[1-9]\d{0,2})$/.test(text)) return undefined;
  return Number(text) <= widthOf(base) ? Number(text) : undefined;
}

function embeddedRange(base: IpAddress, bits: number): IpRange | undefined {
  const embedded = embeddedIpv4(base);
  if (embedded === undefined) return { ...base, prefixBits: bits };
  return bits < 96 ? undefined : { ...embedded, prefixBits: bits - 96 };
}

const LOOPBACK_OF_ALL: ReadonlyMap<string, string> = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
]);

/** True for the addresses that stand for all addresses of this machine, as `HOST` spells them. */
export function isEveryAddress(host: string): boolean {
  return LOOPBACK_OF_ALL.has(host);
}

/** The URL at which this machine reaches what listens there. */
export function ownAddress(host: string, port: number, scheme: 'http' | 'https' = 'http'): string {
  return addressAt(LOOPBACK_OF_ALL.get(host) ?? host, port, scheme);
}

export function addressAt(host: string, port: number, scheme: 'http' | 'https'): string {
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/**
 * Whether a server that listens at one address is reached at another.
 * @param host where it listens, as the settings spell it
 * @param at the own end of a connection; undefined when it is gone
 * @returns true also for names, which are not resolved
 */
export function isHeardAt(host: string, at: string | undefined): boolean {
  const reached = at === undefined ? undefined : readAddress(at);
  if (reached === undefined) return true;
  if (host.toLowerCase() === 'localhost') return isLoopback(reached);
  const listening = readAddress(host);
  if (listening === undefined) return true;
  if (listening.value === 0n) return listening.family === 6 || reached.family === 4;
  return listening.family === reached.family && listening.value === reached.value;
}

/** An address or a path without the slashes at its end. */
export function withoutSlashes(address: string): string {
  return address.replace(/(?<!\/)\/+$/, '');
}

export type UrlFault = 'malformed' | 'credentials' | 'private';

/** Names that never leave a machine or a site (RFC 6761, RFC 6762, RFC 8375, RFC 9476). */
const PRIVATE_SUFFIXES = ['localhost', 'local', 'internal', 'home.arpa', 'lan', 'alt', 'test'];

/**
 * Why the text is not the URL of a public http(s) host; undefined when it is one. Only what can be known before
 * resolving is checked: literal addresses in any spelling, local names, credentials. A fetch has to check the
 * resolved address again.
 */
export function findUrlFault(text: string): UrlFault | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return 'malformed';
  if (url.username !== '' || url.password !== '') return 'credentials';
  return isPublicHost(url.hostname) ? undefined : 'private';
}

function isPublicHost(hostname: string): boolean {
  const host = withoutBrackets(hostname).replace(/\.$/, '');
  if (parseIp(host) !== undefined) return isPublicAddress(host);
  if (!host.includes('.')) return false;
  return !PRIVATE_SUFFIXES.some((suffix) => host.endsWith(`.${suffix}`));
}

/** Which addresses media may be fetched from: judged by name before the connection and by number at it. */
export interface AddressPolicy {
  allowsUrl(url: URL): boolean;
  /** Called with literal hosts and with every address a name resolves to. */
  allowsAddress(address: string): boolean;
}

/** https on its own port, public hosts only. */
export const PUBLIC_ONLY: AddressPolicy = {
  allowsUrl: (url) =>
    url.protocol === 'https:' && url.port === '' && findUrlFault(url.href) === undefined,
  allowsAddress: isPublicAddress,
};

/** The host's address when it is written as one; undefined for names. */
export function literalAddress({ hostname }: URL): string | undefined {
  const host = withoutBrackets(hostname);
  return parseIp(host) === undefined ? undefined : host;
}

/** True for URLs that may carry codes and tokens: https, or http of this machine, with no user, password or fragment. */
export function isSafeEndpoint(address: string): boolean {
  const url = URL.parse(address);
  if (url === null || url.username !== '' || url.password !== '' || url.hash !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname));
}

type ProxyUrlReading =
  | { readonly kind: 'good'; readonly url: string }
  /** Starts with "must"; never repeats the address, which may hold a password. */
  | { readonly kind: 'bad'; readonly problem: Sentence };

const SCHEMES = ['http:', 'https:', 'socks5:'];
/** In front of the `@` it ends the host: a user or a password that stands there as it is. */
const UNESCAPED = /^\w+:\/\/[^@]*[/?#].*@/;

/**
 * `http://`, `https://` or `socks5://`, a host, perhaps a port, a user and a password; nothing after that. `socks5h://`
 * is `socks5://`: names are resolved by the proxy in either case. So is `socks://`, as desktops write it into `ALL_PROXY`.
 */
export function readProxyUrl(text: string): ProxyUrlReading {
  const plain = text.trim().replace(/^socks(?:5h)?:/i, 'socks5:');
  if (UNESCAPED.test(plain)) {
    return badProxy(
      told`must have "/", "?" and "#" in user and password written as %2F, %3F and %23`,
    );
  }
  const url = URL.canParse(plain) ? new URL(plain) : undefined;
  if (url === undefined || !SCHEMES.includes(url.protocol) || url.hostname === '') {
    return badProxy(told`must be an address that starts with http://, https:// or socks5://`);
  }
  if (!['', '/'].includes(url.pathname) || url.search !== '' || url.hash !== '') {
    return badProxy(told`must end after the host and port`);
  }
  if (!canDecode(url.username) || !canDecode(url.password)) {
    return badProxy(told`must have "%" in user and password written as %25`);
  }
  if (url.password !== '' && url.username === '') {
    return badProxy(told`must name a user before the password`);
  }
  return { kind: 'good', url: url.href };
}

function badProxy(problem: Sentence): ProxyUrlReading {
  return { kind: 'bad', problem };
}

function canDecode(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** A resolver that took this long, as one whose first server is gone does, takes it for each question. */
const SLOW_MS = 1_000;
const KEPT_MS = 30_000;

type Hearer = Parameters<LookupFunction>[2];

/**
 * Asks once for a name, and tells all who ask meanwhile. A resolver that does not answer holds a thread for half a minute,
 * also when nobody waits any more; there are few of them, and then no other name is looked up, not even `localhost`. What
 * came slowly is kept for a while: whoever asked for it may have given up by then, and asks again.
 */
export function asksOnce(
  lookup: LookupFunction,
  { monotonic }: Pick<Clock, 'monotonic'>,
): LookupFunction {
  const waiting = new Map<string, Hearer[]>();
  const kept = new Map<string, { readonly answer: Parameters<Hearer>; readonly until: number }>();
  return (host, options, callback) => {
    const question = JSON.stringify([host, options]);
    const askedAt = monotonic();
    const known = kept.get(question);
    if (known !== undefined && askedAt < known.until) {
      queueMicrotask(() => callback(...known.answer));
      return;
    }
    const others = waiting.get(question);
    if (others !== undefined) {
      others.push(callback);
      return;
    }
    const all = [callback];
    waiting.set(question, all);
    lookup(host, options, (...answer) => {
      waiting.delete(question);
      const now = monotonic();
      const isKept = answer[0] === null && now - askedAt >= SLOW_MS;
      if (isKept) kept.set(question, { answer, until: now + KEPT_MS });
      else kept.delete(question);
      for (const tell of all) tell(...answer);
    });
  };
}

/** Node's codes for certificates that a wrong clock makes invalid. */
export const CLOCK_CODES: readonly string[] = ['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID'];
