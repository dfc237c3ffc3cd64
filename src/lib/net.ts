// Which host to listen on is this machine alone, and how this machine reaches itself at any other.

import ipaddr from 'ipaddr.js';
import { type Sentence, told } from './localized-message.ts';

/** True for `localhost` and the addresses of the loopback interface, as `HOST` spells them. */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** Every address of this machine, as `HOST` spells it. */
export function isEveryAddress(host: string): boolean {
  return LOOPBACK_OF_ALL.has(host);
}

/** Where this machine reaches what listens there: an address that stands for all is none to go to. */
export function ownAddress(host: string, port: number): string {
  const reached = LOOPBACK_OF_ALL.get(host) ?? host;
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`;
}

const LOOPBACK_OF_ALL: ReadonlyMap<string, string> = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
]);

// The address of an outbound proxy: which ones can be used, and why the others cannot.

export type ProxyUrlReading =
  | { readonly kind: 'good'; readonly url: string }
  /** Starts with "must"; never repeats the address, which may hold a password. */
  | { readonly kind: 'bad'; readonly problem: string };

const SCHEMES = ['http:', 'https:', 'socks5:'];

/** `http://`, `https://` or `socks5://`, a host, perhaps a port, a user and a password; nothing after that. */
export function readProxyUrl(text: string): ProxyUrlReading {
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  if (url === undefined || !SCHEMES.includes(url.protocol) || url.hostname === '') {
    return badProxy('be an address that starts with http://, https:// or socks5://');
  }
  if (!['', '/'].includes(url.pathname) || url.search !== '' || url.hash !== '') {
    return badProxy('end after the host and port');
  }
  if (!canDecode(url.username) || !canDecode(url.password)) {
    return badProxy('have "%" in user and password written as %25');
  }
  if (url.password !== '' && url.username === '')
    return badProxy('name a user before the password');
  return { kind: 'good', url: url.href };
}

function badProxy(problem: string): ProxyUrlReading {
  return { kind: 'bad', problem: `must ${problem}` };
}

function canDecode(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

// Internet addresses as numbers: every spelling and transition form of one host gives one value.

export interface IpAddress {
  readonly family: 4 | 6;
  readonly value: bigint;
}

export interface IpRange extends IpAddress {
  readonly prefixBits: number;
}

/** Prefixes (RFC 4291, RFC 6052) behind whose 96 bits an IPv4 address stands. */
const MAPPED_PREFIX = 0xffffn;
const NAT64_PREFIX = 0x64_ff9b_0000_0000_0000_0000n;
const LEAST_COMPATIBLE = 0x1_0000n;
const IPV4_BITS = 32n;

/**
 * Reads IPv4 in four decimal parts and IPv6 in any spelling; a zone is dropped. IPv4 within IPv6
 * (mapped, NAT64 and the obsolete compatible form) becomes the IPv4 address it stands for. Octal,
 * hexadecimal and shortened IPv4 are none: different readers take them for different hosts.
 */
export function readIpAddress(text: string): IpAddress | undefined {
  const plain = readSpelling(text);
  return plain === undefined ? undefined : (embeddedIpv4(plain) ?? plain);
}

/** As `readIpAddress`, but IPv6 stays IPv6: for ranges, whose prefix counts from there. */
function readSpelling(text: string): IpAddress | undefined {
  const zoneAt = text.indexOf('%');
  const plain = zoneAt === -1 ? text : text.slice(0, zoneAt);
  if (ipaddr.IPv4.isValidFourPartDecimal(plain)) {
    return { family: 4, value: toValue(ipaddr.IPv4.parse(plain).toByteArray()) };
  }
  const spelled = plain.replace(COMPATIBLE, '::0:');
  if (!plain.includes(':') || !ipaddr.IPv6.isValid(spelled)) return undefined;
  return { family: 6, value: toValue(ipaddr.IPv6.parse(spelled).toByteArray()) };
}

/** `::192.0.2.1`, which ipaddr.js takes for the mapped form and the kernel does not. */
const COMPATIBLE = /^::(?=\d+\.\d+\.\d+\.\d+$)/;

/** The IPv4 address that an IPv6 one carries; undefined for all others. */
function embeddedIpv4({ family, value }: IpAddress): IpAddress | undefined {
  if (family === 4) return undefined;
  const prefix = value >> IPV4_BITS;
  const isCompatible = prefix === 0n && value >= LEAST_COMPATIBLE;
  if (prefix !== MAPPED_PREFIX && prefix !== NAT64_PREFIX && !isCompatible) return undefined;
  return { family: 4, value: BigInt.asUintN(32, value) };
}

export function widthOf({ family }: Pick<IpAddress, 'family'>): number {
  return family === 4 ? 32 : 128;
}

/** The shortest usual spelling. */
export function writeIpAddress({ family, value }: IpAddress): string {
  const bytes = Array.from({ length: widthOf({ family }) / 8 }, (_, index) =>
    Number((value >> BigInt(widthOf({ family }) - 8 * (index + 1))) & 0xffn),
  );
  return ipaddr.fromByteArray(bytes).toString();
}

/** Who counts as one visitor: an IPv4 address, or the /64 that an IPv6 network gives to one host. */
export function visitorOf(text: string): string {
  const address = readIpAddress(text);
  if (address === undefined) return text;
  if (address.family === 4) return writeIpAddress(address);
  const network = (address.value >> 64n) << 64n;
  return `${writeIpAddress({ family: 6, value: network })}/64`;
}

function toValue(bytes: readonly number[]): bigint {
  return bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n);
}

// Address ranges as people write them, checked before they become a rule.

export type RangeReading =
  | { readonly kind: 'good'; readonly range: IpRange; readonly text: string }
  /** Starts with "must". */
  | { readonly kind: 'bad'; readonly problem: Sentence };

/** A single address or CIDR range; the text of a good one is its usual spelling. */
export function readIpRange(written: string): RangeReading {
  const [addressText = '', bitsText, ...rest] = written.trim().split('/');
  const base = rest.length > 0 ? undefined : readSpelling(addressText);
  if (base === undefined) {
    return badRange(
      told`must be an IPv4 address in four decimal parts, an IPv6 address, or one of them with a prefix, such as 192.0.2.7, 10.0.0.0/8 or 2001:db8::/32`,
    );
  }
  const bits = bitsText === undefined ? widthOf(base) : readBits(bitsText, widthOf(base));
  if (bits === undefined)
    return badRange(told`must have a prefix from 0 to ${widthOf(base)} after the slash`);
  const range = normalize(base, bits);
  if (range === undefined) {
    return badRange(
      told`must have at least 96 prefix bits where it holds an IPv4 address; write the IPv4 range`,
    );
  }
  const hostBits = BigInt(widthOf(range) - range.prefixBits);
  const network = (range.value >> hostBits) << hostBits;
  if (network !== range.value) {
    const meant = `${writeIpAddress({ ...range, value: network })}/${range.prefixBits}`;
    return badRange(
      told`must have only zeros after its prefix; write ${meant} or the single address`,
    );
  }
  return { kind: 'good', range, text: writeRange(range) };
}

function readBits(text: string, most: number): number | undefined {
  if (!/^(?:0|[1-9]\d{0,2})$/.test(text)) return undefined;
  return Number(text) <= most ? Number(text) : undefined;
}

function normalize(base: IpAddress, bits: number): IpRange | undefined {
  const embedded = embeddedIpv4(base);
  if (embedded === undefined) return { ...base, prefixBits: bits };
  return bits < 96 ? undefined : { ...embedded, prefixBits: bits - 96 };
}

function writeRange(range: IpRange): string {
  const text = writeIpAddress(range);
  return range.prefixBits === widthOf(range) ? text : `${text}/${range.prefixBits}`;
}

function badRange(problem: Sentence): RangeReading {
  return { kind: 'bad', problem };
}

// Internet addresses in one form: mapped IPv6 un-mapped, zones dropped.

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

export interface AddressRange {
  readonly base: Address;
  readonly prefixBits: number;
}

/** `::192.0.2.1`, long obsolete; ipaddr.js takes it for the mapped form, the kernel does not. */
const COMPATIBLE_FORM = /^::\d+\./;

/**
 * Reads an address as written in four decimal parts or as IPv6. Octal, hexadecimal and shortened
 * spellings of IPv4 are not addresses here: different readers take them for different hosts.
 */
export function readAddress(text: string): Address | undefined {
  const zoneAt = text.indexOf('%');
  const plain = zoneAt === -1 ? text : text.slice(0, zoneAt);
  if (ipaddr.IPv4.isValidFourPartDecimal(plain)) return ipaddr.IPv4.parse(plain);
  if (!plain.includes(':') || COMPATIBLE_FORM.test(plain)) return undefined;
  if (!ipaddr.IPv6.isValid(plain)) return undefined;
  return unmap(ipaddr.IPv6.parse(plain));
}

/** Reads `10.0.0.0/8`, `fd00::/8` or a single address; undefined when it is neither. */
export function readRange(text: string): AddressRange | undefined {
  const [addressText = '', bitsText, ...rest] = text.trim().split('/');
  const base = readAddress(addressText);
  if (base === undefined || rest.length > 0) return undefined;
  const widest = base.kind() === 'ipv4' ? 32 : 128;
  if (bitsText === undefined) return { base, prefixBits: widest };
  if (!/^(?:0|[1-9]\d{0,2})$/.test(bitsText)) return undefined;
  // A mapped range counts its bits from the IPv6 form.
  const mapped = widest === 32 && addressText.includes(':');
  const prefixBits = Number(bitsText) - (mapped ? 96 : 0);
  return prefixBits >= 0 && prefixBits <= widest ? { base, prefixBits } : undefined;
}

export function isInRange(address: Address, range: AddressRange): boolean {
  if (address.kind() !== range.base.kind()) return false;
  return address.match(range.base, range.prefixBits);
}

/** True for 127.0.0.0/8 and ::1, also in mapped form. */
export function isLoopback(address: Address): boolean {
  return address.range() === 'loopback';
}

function unmap(address: ipaddr.IPv6): Address {
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

// Whether a gateway that listens at one address hears what comes in at another.

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

// Tells addresses on the public internet from those a request must never make anyone look at.

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

// Which addresses media may be fetched from: public ones, judged by name before and by number at the connection.

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

// Which addresses may carry codes and tokens: https, or this machine itself.

/** True for absolute https addresses and http ones of this machine, without user, password or fragment. */
export function isSafeEndpoint(address: string): boolean {
  const url = URL.parse(address);
  if (url === null || url.username !== '' || url.password !== '' || url.hash !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackName(url.hostname));
}

function isLoopbackName(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}
