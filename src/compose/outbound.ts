// How calls of the gateway leave this machine: the proxy of the settings, with its credential opened.

import { fetch as fetchThrough } from 'undici';
import type { Settings } from '../config/effective.ts';
import type { WarnLog } from '../lib/log.ts';
import { memoize } from '../lib/once.ts';
import { createProxyChoice, type OutboundProxy, type ProxyChoice } from '../lib/outbound-proxy.ts';
import { createProxyAgent } from '../lib/proxy-agent.ts';

interface OutboundOptions {
  readonly current: () => Pick<Settings, 'outbound'>;
  /** Opens a credential that the file holds sealed. */
  readonly openCredential: (text: string) => string;
  readonly log: WarnLog;
}

/** The proxy for each call, as the settings are now. */
export function createOutboundChoice(options: OutboundOptions): ProxyChoice {
  const { current, openCredential, log } = options;
  const choiceOf = memoize(({ credential, ...proxies }: Settings['outbound']): ProxyChoice => {
    const { all } = proxies;
    if (all === undefined || credential === undefined) return createProxyChoice(proxies);
    try {
      return createProxyChoice({
        ...proxies,
        all: withCredential(all, openCredential(credential)),
      });
    } catch (error) {
      log.warn(
        { error: String(error) },
        'The sealed credential of the outbound proxy does not open.',
      );
      return createProxyChoice(proxies);
    }
  });
  return (url) => choiceOf(current().outbound)(url);
}

function withCredential(proxy: OutboundProxy, credential: string): OutboundProxy {
  const url = new URL(proxy.url);
  const [user = '', ...password] = credential.split(':');
  url.username = encodeURIComponent(user);
  url.password = encodeURIComponent(password.join(':'));
  return { ...proxy, url: url.href };
}

const CONNECT_MS = 5_000;

/** A small question to another server. */
interface Question {
  readonly method?: 'POST';
  readonly body?: string;
  readonly redirect?: 'manual';
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** Asks through the proxy for its URL. The connection is given up after each answer. */
export function createOutboundFetch(proxyFor: ProxyChoice) {
  return async (url: string, question: Question): Promise<Pick<Response, 'status' | 'text'>> => {
    const proxy = proxyFor(url);
    if (proxy === undefined) return fetch(url, question);
    const dispatcher = createProxyAgent(proxy.url, { connectMs: CONNECT_MS });
    try {
      const response = await fetchThrough(url, { ...question, dispatcher });
      const text = await response.text();
      return { status: response.status, text: async () => text };
    } finally {
      await dispatcher.destroy();
    }
  };
}
