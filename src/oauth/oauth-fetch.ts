// How OAuth calls leave the process: one request, no redirects, through the account's own proxy.

import { Agent, type Dispatcher, ProxyAgent, request, Socks5ProxyAgent } from 'undici';

/** Like `fetch`, cut down to what OAuth calls need. Redirects are answered as they came, never followed. */
export type OAuthFetch = (url: string, options: OAuthFetchOptions) => Promise<OAuthFetchReply>;

export interface OAuthFetchOptions {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal: AbortSignal;
  /** `http://`, `https://` or `socks5://`, perhaps with user and password; undefined goes direct. */
  readonly proxyUrl?: string | undefined;
}

export interface OAuthFetchReply {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: AsyncIterable<Uint8Array> | null;
}

export interface OAuthOutbound {
  readonly fetch: OAuthFetch;
  /** Ends every connection at once. */
  close(): Promise<void>;
}

const LIMIT_MS = 10_000;
const MAX_PROXIES = 32;

export function createOAuthOutbound({ userAgent }: { readonly userAgent: string }): OAuthOutbound {
  const direct = new Agent(agentOptions());
  const proxies = new Map<string, Dispatcher>();

  const dispatcherFor = (proxyUrl: string | undefined): Dispatcher => {
    if (proxyUrl === undefined) return direct;
    const known = proxies.get(proxyUrl);
    const dispatcher = known ?? createProxy(proxyUrl);
    proxies.delete(proxyUrl);
    proxies.set(proxyUrl, dispatcher);
    dropOldest(proxies);
    return dispatcher;
  };

  return {
    fetch: async (url, { proxyUrl, headers, method, body, signal }) => {
      const reply = await request(url, {
        dispatcher: dispatcherFor(proxyUrl),
        method,
        headers: { ...headers, 'accept-encoding': 'identity', 'user-agent': userAgent },
        body: body ?? null,
        signal,
      });
      return {
        status: reply.statusCode,
        headers: { get: (name) => firstOf(reply.headers[name.toLowerCase()]) },
        body: reply.body,
      };
    },
    close: async () => {
      await Promise.all([direct, ...proxies.values()].map((dispatcher) => dispatcher.destroy()));
    },
  };
}

function createProxy(proxyUrl: string): Dispatcher {
  const url = new URL(proxyUrl);
  if (url.protocol === 'socks5:')
    return new Socks5ProxyAgent(url, { headersTimeout: LIMIT_MS, bodyTimeout: LIMIT_MS });
  return new ProxyAgent({ uri: proxyUrl, ...agentOptions() });
}

function agentOptions(): Agent.Options {
  return {
    allowH2: false,
    connect: { timeout: LIMIT_MS },
    headersTimeout: LIMIT_MS,
    bodyTimeout: LIMIT_MS,
  };
}

/** A proxy in use ends its calls first: `close` waits for them. */
function dropOldest(proxies: Map<string, Dispatcher>): void {
  const oldest = proxies.size > MAX_PROXIES ? proxies.entries().next().value : undefined;
  if (oldest === undefined) return;
  proxies.delete(oldest[0]);
  oldest[1].close().catch(() => oldest[1].destroy());
}

function firstOf(value: string | string[] | undefined): string | null {
  return (Array.isArray(value) ? value[0] : value) ?? null;
}
