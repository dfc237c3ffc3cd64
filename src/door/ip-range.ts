// Address ranges as people write them, checked before they become a rule.

import { type Sentence, told } from '../lib/told.ts';
import {
  embeddedIpv4,
  type IpAddress,
  type IpRange,
  readSpelling,
  widthOf,
  writeIpAddress,
} from './ip-address.ts';

export type RangeReading =
  | { readonly kind: 'good'; readonly range: IpRange; readonly text: string }
  /** Starts with "must". */
  | { readonly kind: 'bad'; readonly problem: Sentence };

/** A single address or CIDR range; the text of a good one is its usual spelling. */
export function readIpRange(written: string): RangeReading {
  const [addressText = '', bitsText, ...rest] = written.trim().split('/');
  const base = rest.length > 0 ? undefined : readSpelling(addressText);
  if (base === undefined) {
    return bad(
      told`must be an IPv4 address in four decimal parts, an IPv6 address, or one of them with a prefix, such as 192.0.2.7, 10.0.0.0/8 or 2001:db8::/32`,
    );
  }
  const bits = bitsText === undefined ? widthOf(base) : readBits(bitsText, widthOf(base));
  if (bits === undefined)
    return bad(told`must have a prefix from 0 to ${widthOf(base)} after the slash`);
  const range = normalize(base, bits);
  if (range === undefined) {
    return bad(
      told`must have at least 96 prefix bits where it holds an IPv4 address; write the IPv4 range`,
    );
  }
  const hostBits = BigInt(widthOf(range) - range.prefixBits);
  const network = (range.value >> hostBits) << hostBits;
  if (network !== range.value) {
    const meant = `${writeIpAddress({ ...range, value: network })}/${range.prefixBits}`;
    return bad(told`must have only zeros after its prefix; write ${meant} or the single address`);
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

function bad(problem: Sentence): RangeReading {
  return { kind: 'bad', problem };
}
