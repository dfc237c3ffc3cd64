// Readers of single configuration values. Each throws ValueError, which never holds a secret.

import { availableParallelism } from 'node:os';
import { domainToASCII } from 'node:url';
import ipaddr from 'ipaddr.js';
import {
  asSentence,
  codeOf,
  type Sentence,
  SpokenError,
  textOf,
  told,
} from '../lib/localized-message.ts';
import {
  isInRange,
  isLoopbackHost,
  readAddress,
  readProxyUrl,
  readRange,
  withoutBrackets,
} from '../lib/net.ts';
import { shownProxy, withProxyScheme } from '../lib/outbound-proxy.ts';
import { isOutOfRoom } from '../lib/private-file.ts';

export const AUTH_MODES = ['off', 'auto', 'strict'] as const;
export type AuthMode = (typeof AUTH_MODES)[number];

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

export const UPSTREAM_PROFILES = [
  ...(['sandbox', 'generic', 'gemini-api', 'vertex'] as const),
  ...(['anthropic', 'messages'] as const),
  ...(['openai', 'openai-compatible'] as const),
] as const;
export type UpstreamProfile = (typeof UPSTREAM_PROFILES)[number];

/** Services and servers of the Chat Completions wire whose differences are known (`upstreams/chat/profiles.ts`). */
export const QUIRK_PRESETS = [
  ...(['openrouter', 'litellm', 'groq', 'mistral', 'deepseek', 'moonshot', 'zai'] as const),
  ...(['minimax', 'qwen', 'xai'] as const),
  ...(['vllm', 'llama.cpp', 'llama-cpp-python', 'lm-studio', 'ollama'] as const),
] as const;
export type QuirkPreset = (typeof QUIRK_PRESETS)[number];

export const TRACE_SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/** What a value should have been; the reader's caller adds the name of the place. */
export class ValueError extends SpokenError {}

/** A word of a list, whatever its case. */
export function readWord<Word extends string>(text: string, words: readonly Word[]): Word {
  const word = words.find((each) => each === text.trim().toLowerCase());
  if (word === undefined) throw new ValueError(told`must be one of ${words.join(', ')}`);
  return word;
}

export function readSwitch(text: string): boolean {
  return readWord(text, ['true', 'false']) === 'true';
}

/** A reader of whole numbers within bounds, both inclusive. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,15}$/.test(text.trim()) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new ValueError(told`must be a whole number from ${least} to ${most}`);
  };
}

export const readPort = wholeNumber(0, 65_535);

const readWorkerNumber = wholeNumber(1, 64);

/** `auto` is one for each core that this process may use. */
export function readWorkers(text: string): number {
  return text.trim() === 'auto' ? availableParallelism() : readWorkerNumber(text);
}

export function readRatio(text: string): number {
  const value = /^(?:\d+(?:\.\d*)?|\.\d+)$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (!(value <= 1)) throw new ValueError(told`must be a number from 0 to 1`);
  return value;
}

export function readSecret(text: string): string {
  if (!/^[^\s\p{Cc}]+$/u.test(text)) {
    throw new ValueError(told`must be one line without blanks or control characters`);
  }
  return text;
}

/** Why no header can carry a key, without it: what is copied may have an ellipsis in its middle, or a blank without width. */
export function whyUncarried(key: string): Sentence | undefined {
  return /[^\x20-\xff]/.test(key)
    ? told`has characters that no request can carry: put the key exactly as the upstream gave it to you`
    : undefined;
}

/** The key of an upstream. */
export function readHeaderSecret(text: string): string {
  const reason = whyUncarried(readSecret(text));
  if (reason !== undefined) throw new ValueError(reason);
  return text;
}

/** Longer ones are neither hashed nor compared at a sign-in. */
const MAX_PASSWORD_CHARACTERS = 1_024;

/** @throws ValueError for what can be no password */
export function readPassword(text: string): string {
  readOneLine(text);
  if (text.length > MAX_PASSWORD_CHARACTERS) {
    throw new ValueError(told`must have at most ${MAX_PASSWORD_CHARACTERS} characters`);
  }
  return text;
}

/** The key of the clients, which may be the password too. */
export function readClientKey(text: string): string {
  return readPassword(readSecret(text));
}

export function readOneLine(text: string): string {
  if (/\p{Cc}/u.test(text)) throw new ValueError(told`must be one line`);
  return text;
}

/** A short name without blanks; a `/` stands before the number of a worker. */
export function readReplicaName(text: string): string {
  const name = text.trim();
  if (/^[\w.:/-]{1,80}$/.test(name)) return name;
  throw new ValueError(told`must be up to 80 letters, digits and . : / - _`);
}

export function readPath(text: string): string {
  if (/\p{Cc}/u.test(text)) throw new ValueError(told`must be a path without control characters`);
  return text;
}

/** A host name or address to listen on. */
export function readHost(text: string): string {
  const host = text.trim();
  if (!ipaddr.isValid(host) && !isHostName(host)) {
    throw new ValueError(told`must be a host name or an address, without port`);
  }
  return host;
}

/** An address of the given schemes, without user and password unless they are part of it. */
export function readUrl(text: string, schemes: readonly string[]): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !schemes.includes(url.protocol.slice(0, -1))) {
    throw new ValueError(told`must be an address that starts with ${schemes.join(':// or ')}://`);
  }
  const isWeb = url.protocol === 'http:' || url.protocol === 'https:';
  if (isWeb && (url.username !== '' || url.password !== '')) {
    throw new ValueError(told`must be an address without user and password`);
  }
  return text.trim();
}

/** An address that paths are put behind. */
export function readBaseUrl(text: string): string {
  const address = readUrl(text, ['http', 'https']);
  // Nothing of it would ever be sent, and a key in it would be shown wherever the address is.
  if (/[?#]/.test(address)) throw new ValueError(told`must be an address without "?" and "#"`);
  return address;
}

export function readWebUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new ValueError(told`must be an address that starts with https:// or http://`);
  }
  return text;
}

/** What a webhook is sent: JSON of our own, or what Slack and Discord take. */
export const WEBHOOK_FORMATS = ['json', 'slack', 'discord'] as const;
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];

const LINK_LOCAL = ['169.254.0.0/16', 'fe80::/10'].flatMap((text) => readRange(text) ?? []);

/** Where clouds keep what only their machines may know. */
export function isLinkLocal(host: string): boolean {
  const address = readAddress(withoutBrackets(host));
  return address !== undefined && LINK_LOCAL.some((range) => isInRange(address, range));
}

/** An address of the operator's choice, also in the local network. */
export function readWebhook(text: string): string {
  const url = new URL(readWebUrl(text));
  if (url.username !== '' || url.password !== '') {
    throw new ValueError(told`must not hold a user or a password`);
  }
  if (isLinkLocal(url.hostname)) throw new ValueError(told`must not be a link-local address`);
  return text;
}

/** An address that credentials are sent to: https, or http on this machine. */
export function readServiceUrl(text: string): string {
  const url = new URL(readUrl(text, ['https', 'http']));
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname)) {
    throw new ValueError(told`must start with https://, except on this machine`);
  }
  return text.trim();
}

/** A proxy for calls of the gateway, as environment variables name it: perhaps without a scheme, with user and password. */
export function readProxy(text: string): string {
  const reading = readProxyUrl(withProxyScheme(text.trim()));
  if (reading.kind === 'bad') throw new ValueError(reading.problem);
  return reading.url;
}

/** As `readProxy`, without user and password, which are sealed elsewhere. */
export function readPlainProxy(text: string): string {
  const url = readProxy(text);
  if (new URL(url).username === '') return shownProxy(url);
  throw new ValueError(
    told`must be an address without user and password: set them as outbound_proxy_credential`,
  );
}

/** `user:password`, or sealed. */
export function readProxyCredential(text: string): string {
  if (text.startsWith('sealed:') || /^[^:\s\p{Cc}]+:[^\s\p{Cc}]*$/u.test(text)) return text;
  throw new ValueError(told`must be a user and a password with ":" between them`);
}

/** A host that is reached without proxy: a name with all below it, an address or range, perhaps with a port; `*` is all. */
export function readDirectHost(text: string): string {
  const entry = text.trim().toLowerCase();
  const host = entry.replace(/^\*?\./, '').replace(/(?<=[^:]|\]):\d{1,5}$/, '');
  const isRange = ipaddr.isValidCIDR(entry) || ipaddr.isValid(withoutBrackets(host));
  if (entry === '*' || isRange || isHostName(host)) return entry;
  throw new ValueError(
    told`must be hosts such as example.com, addresses or CIDR ranges, not "${text}"`,
  );
}

/** As other programs take it: what is no host is one that nobody asks for. */
export function readDirectHosts(text: string): string[] {
  return text.split(/[\s,]+/).filter((entry) => entry !== '');
}

/** A cloud location such as `us-central1`; it becomes part of a host name. */
export function readLocation(text: string): string {
  const location = text.trim().toLowerCase();
  if (!/^[a-z](?:[a-z\d-]{0,61}[a-z\d])?$/.test(location)) {
    throw new ValueError(told`must be a location such as us-central1, or global`);
  }
  return location;
}

/** The parts between commas, blanks around them removed; none may be empty. */
export function readList<Item>(text: string, readItem: (text: string) => Item): Item[] {
  return text.split(',').map((part) => {
    const item = part.trim();
    if (item === '') throw new ValueError(told`must be a comma list without empty entries`);
    return readItem(item);
  });
}

/** `name=value` pairs, comma list, values percent-encoded where they hold commas, blanks or `%`. */
export function readPairs(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    readList(text, (part): [string, string] => {
      const [, name = '', value = ''] = /^([^\s=]+)\s*=\s*(.*)$/.exec(part) ?? [];
      if (name === '') throw new ValueError(told`must be pairs such as name=value, comma list`);
      return [name, decodeValue(name, value)];
    }),
  );
}

export function readHeaders(text: string): Readonly<Record<string, string>> {
  const headers = readPairs(text);
  const [fault] = headerFaults(headers);
  if (fault !== undefined) throw new ValueError(fault);
  return headers;
}

/** Of each that no request can carry. */
export function headerFaults(headers: Readonly<Record<string, string>>): readonly Sentence[] {
  return Object.entries(headers)
    .filter(
      ([name, value]) => !/^[\w!#$%&'*+.^`|~-]+$/.test(name) || !/^[\t\x20-\x7e]*$/.test(value),
    )
    .map(([name]) => told`must be headers in ASCII without line breaks: "${name}" is none`);
}

function decodeValue(name: string, value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    throw new ValueError(told`must be percent-encoded: the value of "${name}" is not`);
  }
}

/** An address or CIDR range of a proxy. Ranges that hold half the internet are refused. */
export function readAddressRange(text: string): string {
  const [address = '', bits] = text.trim().split('/');
  const isAddress = ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address);
  const isRange = bits === undefined || ipaddr.isValidCIDR(text.trim());
  if (!isAddress || !isRange) {
    throw new ValueError(told`must be addresses or CIDR ranges such as 10.0.0.0/8, not "${text}"`);
  }
  const least = address.includes(':') ? 16 : 8;
  if (bits !== undefined && Number(bits) < least) {
    throw new ValueError(told`must not trust a range wider than /${least}, such as "${text}"`);
  }
  return text.trim();
}

/** Of a program that is made of web pages: `app://obsidian.md`, `tauri://localhost`, `chrome-extension://…`. */
const PROGRAM_ORIGIN = /^[a-z][a-z\d+.-]*:\/\/[a-z\d._-]+(?::\d+)?$/;

/** A web origin: scheme, host and port, nothing after it. */
export function readOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.origin === 'null' && PROGRAM_ORIGIN.test(text.trim())) return text.trim();
  if (url !== undefined && isInternational(text) && /^https?:\/\/[^/?#@]+$/.test(text.trim())) {
    throw new ValueError(told`must be as browsers send it, "${url.origin}", not "${text}"`);
  }
  if (url === undefined || url.origin !== text.trim() || !url.protocol.startsWith('http')) {
    throw new ValueError(told`must be origins such as https://app.example.com, not "${text}"`);
  }
  // No browser sends one, so that it would let nobody in whom it seems to.
  if (url.host.includes('*')) {
    throw new ValueError(told`must be whole origins, one for each host, not "${text}"`);
  }
  return url.origin;
}

/** A name or address under which the gateway may be called, as a `Host` header writes it. */
export function readHostName(text: string): string {
  const name = text.trim().toLowerCase();
  const address = withoutBrackets(name);
  if (ipaddr.IPv6.isValid(address)) return `[${ipaddr.IPv6.parse(address).toRFC5952String()}]`;
  const sent = isInternational(name) ? domainToASCII(name) : '';
  if (sent !== '') throw new ValueError(told`must be as clients send it, "${sent}", not "${text}"`);
  if (!ipaddr.isValid(name) && !isHostName(name)) {
    throw new ValueError(told`must be host names without port, not "${text}"`);
  }
  return name;
}

/** Such a name reaches the gateway as Punycode only (RFC 5891 §5.5). */
function isInternational(text: string): boolean {
  return /[^\0-\x7f]/.test(text);
}

/** A last part of digits alone would be the end of an address. */
function isHostName(text: string): boolean {
  if (/(?:^|\.)\d+\.?$/.test(text)) return false;
  return /^(?=.{1,253}$)[a-z\d](?:[a-z\d_-]*[a-z\d])?(?:\.[a-z\d](?:[a-z\d_-]*[a-z\d])?)*\.?$/i.test(
    text,
  );
}

/** A configuration that cannot be used: every problem, each with its place. */
export class ConfigError extends Error {
  override readonly name: string = 'ConfigError';
  /** One line each, starting with the variable or JSON path; never holds a secret. */
  readonly problems: readonly Sentence[];

  constructor(source: string, problems: readonly (string | Sentence)[]) {
    const lines = problems.map((problem) => `  ${textOf(problem)}`);
    super([`${source} cannot be used:`, ...lines].join('\n'));
    this.problems = problems.map(asSentence);
  }
}

/** The file is wrong as it stands: what was to be changed in it has no part in that. */
export class UnusableFileError extends ConfigError {
  override readonly name = 'UnusableFileError';
}

/** The disk or its rights are in the way; the file is as it was. */
export class UnwritableFileError extends Error {
  override readonly name = 'UnwritableFileError';

  constructor(path: string, cause: unknown) {
    const code = codeOf(cause) ?? 'unknown error';
    const why = isOutOfRoom(cause)
      ? ': its disk has no room left. Free some and try again.'
      : ` (${code}). Let the user of this process write to it and to its folder.`;
    super(`The config file ${path} could not be written${why}`, { cause });
  }
}

/** Another writer changed the file after it was read for a change. */
export class StaleConfigError extends Error {
  override readonly name = 'StaleConfigError';
}

/** A path below an address. */
export function readUrlPath(text: string): string {
  if (!/^\/[^\s?#\p{Cc}]*$/u.test(text)) {
    throw new ValueError(told`must be a path that starts with "/", without query`);
  }
  return text;
}
