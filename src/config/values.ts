// Readers of single configuration values, shared by environment, file and flags.

import ipaddr from 'ipaddr.js';

export const AUTH_MODES = ['off', 'auto', 'strict'] as const;
export type AuthMode = (typeof AUTH_MODES)[number];

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const UPSTREAM_PROFILES = ['sandbox', 'generic', 'gemini-api', 'vertex'] as const;
export type UpstreamProfile = (typeof UPSTREAM_PROFILES)[number];

/** What a value should have been; the reader's caller adds the name of the place. */
export class ValueError extends Error {}

/** A word of a list, whatever its case. @throws ValueError */
export function readWord<Word extends string>(text: string, words: readonly Word[]): Word {
  const word = words.find((each) => each === text.trim().toLowerCase());
  if (word === undefined) throw new ValueError(`must be one of ${words.join(', ')}`);
  return word;
}

/** @throws ValueError */
export function readSwitch(text: string): boolean {
  return readWord(text, ['true', 'false']) === 'true';
}

export function readPort(text: string): number {
  return readInteger(text, { least: 0, most: 65_535 });
}

/** @throws ValueError */
export function readInteger(
  text: string,
  { least, most }: { readonly least: number; readonly most: number },
): number {
  const value = /^\d{1,15}$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (!(value >= least && value <= most)) {
    throw new ValueError(`must be a whole number from ${least} to ${most}`);
  }
  return value;
}

/** A secret in one line without blanks. @throws ValueError */
export function readSecret(text: string): string {
  if (!/^[^\s\p{Cc}]+$/u.test(text)) {
    throw new ValueError('must be one line without blanks or control characters');
  }
  return text;
}

export function readPath(text: string): string {
  if (/\p{Cc}/u.test(text)) throw new ValueError('must be a path without control characters');
  return text;
}

/** A host name or address to listen on. @throws ValueError */
export function readHost(text: string): string {
  const host = text.trim();
  if (!ipaddr.isValid(host) && !isHostName(host)) {
    throw new ValueError('must be a host name or an address, without port');
  }
  return host;
}

/** An address of the given schemes, without user and password unless they are part of it. @throws ValueError */
export function readUrl(text: string, schemes: readonly string[]): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !schemes.includes(url.protocol.slice(0, -1))) {
    throw new ValueError(`must be an address that starts with ${schemes.join(':// or ')}://`);
  }
  const isWeb = url.protocol === 'http:' || url.protocol === 'https:';
  if (isWeb && (url.username !== '' || url.password !== '')) {
    throw new ValueError('must be an address without user and password');
  }
  return text.trim();
}

/** The parts between commas, blanks around them removed. @throws ValueError when a part is empty. */
export function readList<Item>(text: string, readItem: (text: string) => Item): Item[] {
  return text.split(',').map((part) => {
    const item = part.trim();
    if (item === '') throw new ValueError('must be a comma list without empty entries');
    return readItem(item);
  });
}

/** An address or CIDR range of a proxy. Ranges that hold half the internet are refused. @throws ValueError */
export function readAddressRange(text: string): string {
  const [address = '', bits] = text.trim().split('/');
  const isAddress = ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address);
  const isRange = bits === undefined || ipaddr.isValidCIDR(text.trim());
  if (!isAddress || !isRange) {
    throw new ValueError(`must be addresses or CIDR ranges such as 10.0.0.0/8, not "${text}"`);
  }
  const least = address.includes(':') ? 16 : 8;
  if (bits !== undefined && Number(bits) < least) {
    throw new ValueError(`must not trust a range wider than /${least}, such as "${text}"`);
  }
  return text.trim();
}

/** A web origin: scheme, host and port, nothing after it. @throws ValueError */
export function readOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.origin !== text.trim() || !url.protocol.startsWith('http')) {
    throw new ValueError(`must be origins such as https://app.example.com, not "${text}"`);
  }
  return url.origin;
}

/** A host name under which the gateway may be called. @throws ValueError */
export function readHostName(text: string): string {
  const name = text.trim().toLowerCase();
  if (!ipaddr.isValid(name) && !isHostName(name)) {
    throw new ValueError(`must be host names without port, not "${text}"`);
  }
  return name;
}

function isHostName(text: string): boolean {
  return /^(?=.{1,253}$)[a-z\d](?:[a-z\d_-]*[a-z\d])?(?:\.[a-z\d](?:[a-z\d_-]*[a-z\d])?)*\.?$/i.test(
    text,
  );
}
