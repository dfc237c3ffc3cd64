// How calls leave this machine: the proxy of the settings, and the posts of alerts.

import { lookup } from 'node:dns/promises';
import { fetch as fetchThrough } from 'undici';
import type { Settings } from '../config/effective.ts';
import { isLinkLocal } from '../config/values.ts';
import { type Clock, withinLimit } from '../lib/clock.ts';
import { codeOf } from '../lib/localized-message.ts';
import type { WarnLog } from '../lib/log.ts';
import { withoutBrackets } from '../lib/net.ts';
import { derived } from '../lib/once.ts';
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
  const choice = derived(current, ({ outbound }): ProxyChoice | undefined => {
    const { credential, ...proxies } = outbound;
    const { all, http, https } = proxies;
    // Mostly there is none to choose.
    if ((all ?? http ?? https) === undefined) return undefined;
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
  return (url) => choice()?.(url);
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

const ANSWER_MS = 10_000;

interface PostOptions {
  readonly proxyFor: ProxyChoice;
  readonly clock: Pick<Clock, 'startTimer'>;
}

/** Calls webhooks: follows no redirect, and names no address in errors. */
export function createPost({ proxyFor, clock }: PostOptions) {
  const fetch = createOutboundFetch(proxyFor);
  const limit = {
    clock,
    limitMs: ANSWER_MS,
    tooSlow: () => new Error(`There was no answer within ${ANSWER_MS / 1000} seconds.`),
    faultOf: (error: unknown) => new Error(`It could not be reached (${reasonOf(error)}).`),
  };
  return async (url: string, body: object) => {
    if (proxyFor(url) === undefined) await refuseLinkLocal(new URL(url).hostname);
    const { status } = await withinLimit(limit, (signal) =>
      fetch(url, {
        method: 'POST',
        redirect: 'manual',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal,
      }),
    );
    return { status };
  };
}

/** A name may lead there too. */
async function refuseLinkLocal(host: string): Promise<void> {
  const found = await lookup(withoutBrackets(host), { all: true }).catch(() => []);
  if (found.some(({ address }) => isLinkLocal(address))) {
    throw new Error('Its name leads to a link-local address, which is not called.');
  }
}

/** The word of the system, or of the proxy. */
function reasonOf(error: unknown): string {
  const { cause = error } = error instanceof Error ? error : {};
  return codeOf(cause) ?? 'unknown reason';
}
