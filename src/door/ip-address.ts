// Internet addresses as numbers: every spelling and transition form of one host gives one value.

import ipaddr from 'ipaddr.js';

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
export function readSpelling(text: string): IpAddress | undefined {
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
export function embeddedIpv4({ family, value }: IpAddress): IpAddress | undefined {
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
