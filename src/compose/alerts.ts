// Builds the alerts: what they look at, and how webhooks are called.

import { type AttentionOptions, readAttention } from '../admin/monitor/overview.ts';
import { type AlertSettings, type AlertsOptions, createAlerts } from '../alerts/alerts.ts';
import type { Settings } from '../config/effective.ts';
import type { ProxyChoice } from '../lib/outbound-proxy.ts';
import { createRedactors, type SecretIndex } from '../lib/redact.ts';
import { createPost } from './outbound.ts';

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
