// The webhooks that are told what needs attention: adding, trying and removing one, and what they were told.

import { Button, Select, TextInput } from '@mantine/core';
import { IconSend, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { AlertDelivery, AlertList, Attention } from '../../../../src/admin/contract.ts';
import { alertsQuery, useTestAlert } from '../../api/queries/alerts.ts';
import { useChangeSection } from '../../api/queries/config.ts';
import { overviewQuery } from '../../api/queries/overview.ts';
import { ErrorNote } from '../../components/error-note.tsx';
import { Panel } from '../../components/panel.tsx';
import { SecretInput } from '../../components/secret-input.tsx';
import { StatusMark } from '../../components/status-mark.tsx';
import { RelativeTime } from '../../components/times.tsx';
import { useAttentionFacts } from '../../components/use-attention-facts.ts';
import { useSettle } from '../../components/use-settle.ts';
import { useToasts } from '../../components/use-toasts.tsx';
import { useUnsaved } from '../../components/use-unsaved.tsx';

const SECTION = 'alerts';
const FORMATS = ['json', 'slack', 'discord'] as const;
const SEVERITIES = ['warning', 'error'] as const;

export function AlertsPanel() {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(alertsQuery);
  return (
    <>
      <Panel title={t('alerts.title')} hint={t('alerts.hint')}>
        {data === undefined && error !== null && (
          <ErrorNote error={error} onRetry={() => void refetch()} />
        )}
        {data !== undefined && data.channels.length > 0 && (
          <ul className="upstreams is-inset">
            {data.channels.map((channel) => (
              <ChannelRow key={channel.name} channel={channel} />
            ))}
          </ul>
        )}
        <NewChannel onAdded={() => void refetch()} />
      </Panel>
      {data !== undefined && data.firing.length > 0 && <Firing firing={data.firing} />}
      {data !== undefined && data.deliveries.length > 0 && (
        <Deliveries deliveries={data.deliveries} />
      )}
    </>
  );
}

function ChannelRow({ channel }: { readonly channel: AlertList['channels'][number] }) {
  const { t } = useTranslation();
  const toasts = useToasts();
  const settle = useSettle();
  const test = useTestAlert();
  const { mutateAsync } = useChangeSection(SECTION);
  const { name, host, format, severity } = channel;
  const send = (): void =>
    settle(test.mutateAsync(name), ({ outcome, status, fault }) => {
      if (outcome === 'delivered') toasts.done(t('alerts.tested', { name }));
      else toasts.warn(t('alerts.testFailed', { name, reason: fault ?? `HTTP ${status}` }));
    });
  const remove = (): void =>
    settle(mutateAsync({ patch: { channels: { [name]: null } } }), () =>
      toasts.done(t('alerts.removed', { name })),
    );
  return (
    <li>
      <div>
        <strong className="wrap-anywhere">{name}</strong>
        <span className="sub-line wrap-anywhere">
          {[host, t(`alerts.formats.${format}`), t(`alerts.severities.${severity}`)].join(' · ')}
        </span>
      </div>
      <div className="alert-actions">
        <Button
          size="xs"
          variant="default"
          leftSection={<IconSend size={14} />}
          loading={test.isPending}
          onClick={send}
        >
          {t('alerts.test')}
        </Button>
        <Button
          size="xs"
          variant="subtle"
          color="red"
          leftSection={<IconTrash size={14} />}
          aria-label={t('alerts.remove', { name })}
          onClick={remove}
        >
          {t('common.remove')}
        </Button>
      </div>
    </li>
  );
}

function NewChannel({ onAdded }: { readonly onAdded: () => void }) {
  const { t } = useTranslation();
  const toasts = useToasts();
  const settle = useSettle();
  const { mutateAsync, isPending, error } = useChangeSection(SECTION);
  const [name, setName] = useState('');
  const [webhook, setWebhook] = useState('');
  const [format, setFormat] = useState<string>('json');
  const [severity, setSeverity] = useState<string>('warning');
  const id = name.trim();
  const address = webhook.trim();
  useUnsaved((id !== '' || address !== '') && !isPending);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (id === '' || address === '') return;
    const patch = { channels: { [id]: { webhook: address, format, severity } } };
    settle(mutateAsync({ patch }), () => {
      setName('');
      setWebhook('');
      toasts.done(t('alerts.added', { name: id }));
      onAdded();
    });
  };
  return (
    <form className="alert-new" onSubmit={submit}>
      <TextInput
        label={t('alerts.name')}
        placeholder={t('alerts.nameHint')}
        value={name}
        onChange={({ currentTarget: { value } }) => setName(value)}
      />
      <SecretInput
        label={t('alerts.webhook')}
        description={t('alerts.webhookHint')}
        autoComplete="off"
        value={webhook}
        onChange={({ currentTarget: { value } }) => setWebhook(value)}
      />
      <Select
        label={t('alerts.format')}
        data={FORMATS.map((value) => ({ value, label: t(`alerts.formats.${value}`) }))}
        value={format}
        allowDeselect={false}
        onChange={(value) => setFormat(value ?? 'json')}
      />
      <Select
        label={t('alerts.severity')}
        data={SEVERITIES.map((value) => ({ value, label: t(`alerts.severities.${value}`) }))}
        value={severity}
        allowDeselect={false}
        onChange={(value) => setSeverity(value ?? 'warning')}
      />
      {error !== null && <ErrorNote error={error} />}
      <Button type="submit" loading={isPending} disabled={id === '' || address === ''}>
        {t('alerts.add')}
      </Button>
    </form>
  );
}

function Firing({ firing }: Pick<AlertList, 'firing'>) {
  const { t } = useTranslation();
  const { data } = useQuery(overviewQuery);
  return (
    <Panel title={t('alerts.firing')} hint={t('alerts.firingHint')}>
      <ul className="alert-list">
        {firing.map(({ kind, severity, message, since }) => {
          // What it is made of is known as long as it lasts.
          const entry = data?.attention.find((one) => one.kind === kind && one.message === message);
          return (
            <li key={`${kind} ${message}`}>
              <StatusMark tone={severity === 'error' ? 'bad' : 'warn'}>
                {t(`alerts.marks.${severity}`)}
              </StatusMark>
              <span className="wrap-anywhere">
                {entry === undefined ? message : <AttentionText entry={entry} />}
              </span>
              <span className="dimmed small">
                <RelativeTime at={since} />
              </span>
            </li>
          );
        })}
      </ul>
    </Panel>
  );
}

function AttentionText({ entry }: { readonly entry: Attention }) {
  const { t } = useTranslation();
  return t(`overview.attentions.${entry.kind}.message`, useAttentionFacts(entry));
}

const TONES = { delivered: 'ok', retried: 'warn', failed: 'bad' } as const;

function Deliveries({ deliveries }: { readonly deliveries: readonly AlertDelivery[] }) {
  const { t } = useTranslation();
  return (
    <Panel title={t('alerts.deliveries')} hint={t('alerts.deliveriesHint')}>
      <ul className="alert-list">
        {deliveries.map(({ at, channel, kinds, outcome, tries, status, fault }) => (
          <li key={`${at} ${channel} ${tries}`}>
            <StatusMark tone={TONES[outcome]}>{t(`alerts.outcomes.${outcome}`)}</StatusMark>
            <span className="wrap-anywhere">
              {[channel, kinds.join(', '), fault ?? (status === undefined ? '' : `HTTP ${status}`)]
                .filter((text) => text !== '')
                .join(' · ')}
            </span>
            <span className="dimmed small">
              <RelativeTime at={at} />
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
