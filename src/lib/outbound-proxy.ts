// Which proxy a call of the gateway goes through: the gateway's own setting, else the variables of the environment.

import {
  type IpAddress,
  isInRange,
  isLoopbackHost,
  readAddress,
  readRange,
  withoutBrackets,
} from './net.ts';

/** A proxy that serves the whole gateway; a proxy of an account wins over it. */
export interface OutboundProxy {
  /** `http://`, `https://` or `socks5://`, perhaps with user and password. */
  readonly url: string;
  /** Where it was named, for messages: `proxy.outbound_proxy`, `HTTPS_PROXY`. */
  readonly source: string;
}

export interface OutboundProxies {
  /** For every call, whatever its scheme. */
  readonly all?: OutboundProxy | undefined;
  readonly http?: OutboundProxy | undefined;
  readonly https?: OutboundProxy | undefined;
  /** Hosts that are reached without a proxy, as `readNoProxyEntry` takes them. */
  readonly direct: readonly string[];
}

/** The proxy for a URL; undefined goes direct. */
export type ProxyChoice = (url: string | URL) => OutboundProxy | undefined;

export const NO_PROXY: ProxyChoice = () => undefined;

/** Loopback is never reached through a proxy. Read once per configuration; cheap to ask for every call. */
export function createProxyChoice({ all, http, https, direct }: OutboundProxies): ProxyChoice {
  const proxies = [all, http, https].filter((proxy) => proxy !== undefined);
  if (proxies.length === 0 || direct.includes('*')) return NO_PROXY;
  const rules = direct.map(readRule);
  return (address) => {
    const url = typeof address === 'string' ? new URL(address) : address;
    const proxy = all ?? (url.protocol === 'http:' ? http : https);
    return proxy === undefined || isOfMachine(url) || isDirect(url, rules) ? undefined : proxy;
  };
}

/** `localhost` and the names below it (RFC 6761) are this machine, wherever they are asked for. */
function isOfMachine({ hostname }: URL): boolean {
  const host = withoutDot(hostname);
  return isLoopbackHost(host) || host.endsWith('.localhost');
}

interface DirectRule {
  /** Undefined for any port. */
  readonly port: string | undefined;
  readonly covers: (host: string, address: IpAddress | undefined) => boolean;
}

function isDirect({ hostname, port, protocol }: URL, rules: readonly DirectRule[]): boolean {
  const host = withoutDot(withoutBrackets(hostname));
  const address = readAddress(host);
  const usual = protocol === 'http:' ? '80' : '443';
  return rules.some((rule) => {
    const isPort = rule.port === undefined || rule.port === (port || usual);
    return isPort && rule.covers(host, address);
  });
}

/** `*.example.com`, `.example.com` and `example.com` are one: the host and every host below it. */
function readRule(entry: string): DirectRule {
  const whole = readRange(withoutBrackets(entry));
  const [, name = '', port] = whole === undefined ? (/^(.*?)(?::(\d+))?$/.exec(entry) ?? []) : [];
  const range = whole ?? readRange(withoutBrackets(name));
  if (range !== undefined) {
    return { port, covers: (_host, address) => address !== undefined && isInRange(address, range) };
  }
  const suffix = withoutDot(name.toLowerCase().replace(/^\*?\./, ''));
  return { port, covers: (host) => host === suffix || host.endsWith(`.${suffix}`) };
}

function withoutDot(host: string): string {
  return host.replace(/\.$/, '');
}

/** As a variable of the environment names it; without a scheme it is an HTTP proxy, as for curl. */
export function withProxyScheme(text: string): string {
  return /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`;
}

/** The parts of its address that nobody may see, as written and as sent. */
export function proxySecrets(url: string): readonly string[] {
  const { username, password } = new URL(url);
  const parts = [password, username].flatMap((part) => [decodeURIComponent(part), part]);
  return [...new Set(parts)].filter((part) => part !== '');
}

/** Its address without user and password. */
export function shownProxy(url: string): string {
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}
