// Internet addresses in one form: mapped IPv6 un-mapped, zones dropped.

import ipaddr from 'ipaddr.js';

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
