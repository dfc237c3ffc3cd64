// Builds the alerts: what they look at, and how webhooks are called.

import { lookup } from 'node:dns/promises';
import { type AttentionOptions, readAttention } from '../admin/monitor/overview.ts';
import { type AlertSettings, type AlertsOptions, createAlerts } from '../alerts/alerts.ts';
import type { Settings } from '../config/effective.ts';
import { isLinkLocal } from '../config/values.ts';
import type { Clock } from '../lib/clock.ts';
import { withoutBrackets } from '../lib/net.ts';
import type { ProxyChoice } from '../lib/outbound-proxy.ts';
import { createRedactors, type SecretIndex } from '../lib/redact.ts';
import { createOutboundFetch } from './outbound.ts';

interface OpenAlertsOptions extends Pick<AlertsOptions, 'clock' | 'isLeading' | 'notices' | 'log'> {
  readonly current: () => Pick<Settings, 'alerts' | 'alertChannels'>;
  readonly attention: AttentionOptions;
  readonly proxyFor: ProxyChoice;
  readonly secrets: () => readonly string[];
  readonly accountSecrets: Pick<SecretIndex, 'hide' | 'version'> | undefined;
}

export function openAlerts(options: OpenAlertsOptions) {
  const { current, attention, proxyFor, secrets, accountSecrets, clock, ...rest } = options;
  const redactorFor = createRedactors(secrets, accountSecrets);
  const settings = (): AlertSettings => readAlertSettings(current());
  const alerts = createAlerts({
    ...rest,
    ...{ clock, settings },
    conditions: () =>
      readAttention(attention).map(({ about, ...condition }) => ({
        ...condition,
        about: [about.account, about.upstream, about.family, about.quotaKind].join(' '),
      })),
    post: createPost({ proxyFor, clock }),
    gateway: () => attention.facts().address,
    hide: (text) => redactorFor([]).text(text),
  });
  return { alerts, settings };
}

function readAlertSettings({
  alerts: { holdMs, repeatMs },
  alertChannels,
}: Pick<Settings, 'alerts' | 'alertChannels'>): AlertSettings {
  const entries = Object.entries(alertChannels).map(
    ([name, { webhook, format = 'json', severity = 'warning' }]) =>
      [name, { webhook, format, severity }] as const,
  );
  return { channels: Object.fromEntries(entries), holdMs, repeatMs };
}

const ANSWER_MS = 10_000;

interface PostOptions {
  readonly proxyFor: ProxyChoice;
  readonly clock: Pick<Clock, 'startTimer'>;
}

/** Follows nobody elsewhere, and tells no address in what went wrong. */
export function createPost({ proxyFor, clock }: PostOptions): AlertsOptions['post'] {
  const fetch = createOutboundFetch(proxyFor);
  return async (url, body) => {
    if (proxyFor(url) === undefined) await refuseLinkLocal(new URL(url).hostname);
    const limit = new AbortController();
    const timer = clock.startTimer(ANSWER_MS, () => limit.abort());
    try {
      const { status } = await fetch(url, {
        method: 'POST',
        redirect: 'manual',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: limit.signal,
      });
      return { status };
    } catch (error) {
      if (limit.signal.aborted) {
        throw new Error(`There was no answer within ${ANSWER_MS / 1000} seconds.`);
      }
      throw new Error(`It could not be reached (${reasonOf(error)}).`);
    } finally {
      timer.cancel();
    }
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
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' ? code : 'unknown reason';
}
