// The external provider: how it takes part, and how its account does.

import { Button, Fieldset, Select, Skeleton, Switch, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { ConfigSection } from '../../../../src/admin/contract.ts';
import { accountsQuery } from '../../api/queries/accounts.ts';
import { sectionQuery, useChangeSection } from '../../api/queries/config.ts';
import { ErrorNote } from '../../components/error-note.tsx';
import { NotLoaded } from '../../components/not-loaded.tsx';
import { Panel } from '../../components/panel.tsx';
import { readFieldError } from '../../components/read-field-error.ts';
import { SecretInput } from '../../components/secret-input.tsx';
import { RelativeTime } from '../../components/times.tsx';
import { useFollowed } from '../../components/use-followed.ts';
import { useSettle } from '../../components/use-settle.ts';
import { useToasts } from '../../components/use-toasts.tsx';
import { useUnsaved } from '../../components/use-unsaved.tsx';
import { StateMark, StateReason } from '../accounts/account-state.tsx';
import {
  badLine,
  FAMILIES,
  hasKey,
  MODES,
  type ProviderValues,
  readProvider,
  writePatch,
} from './provider-values.ts';

export function ProviderPanel() {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(sectionQuery('extprov'));
  return (
    <Panel title={t('provider.title')} hint={t('provider.hint')}>
      <div className="form-stack provider">
        <ProviderState />
        {data === undefined && (
          <NotLoaded error={error} onRetry={() => void refetch()} height={420} />
        )}
        {data !== undefined && <ProviderForm section={data} />}
      </div>
    </Panel>
  );
}

/** The settings make one account while the provider takes part. */
function ProviderState() {
  const { t } = useTranslation();
  const { data } = useQuery(accountsQuery);
  const account = data?.accounts.find(({ origin }) => origin === 'settings');
  if (data === undefined) return <Skeleton height={44} />;
  if (account === undefined)
    return <p className="provider-state dimmed">{t('provider.inactive')}</p>;
  const { label, lastUsedAt } = account;
  return (
    <section className="provider-state" aria-label={t('provider.state')}>
      <StateMark account={account} />
      <span className="dimmed small">
        <StateReason account={account} />
      </span>
      <span className="dimmed small">
        {t('accounts.lastUsed')}:{' '}
        {lastUsedAt === null ? t('accounts.notUsed') : <RelativeTime at={lastUsedAt} />}
      </span>
      <Link to="/requests" search={{ account: label }}>
        {t('provider.requests')}
      </Link>
    </section>
  );
}

const isUrlOrNone = (url: string): boolean => url === '' || /^https?:\/\/\S+$/i.test(url);

/** Each with what it needs besides being on. */
const SERVICES = [
  ['web_search_enabled', 'provider.webSearch', 'web_search_url', 'provider.webSearchUrl'],
  ['web_reader_enabled', 'provider.webReader', 'web_reader_url', 'provider.webReaderUrl'],
  ['vision_enabled', 'provider.vision', 'vision_model', 'provider.visionModel'],
] as const;

function ProviderForm({ section }: { readonly section: ConfigSection }) {
  const { values, revision } = section;
  const { t } = useTranslation();
  const toasts = useToasts();
  const settle = useSettle();
  const change = useChangeSection('extprov');
  const read = readProvider(values);
  const form = useForm({
    initialValues: read,
    validate: {
      base_url: (url) => (isUrlOrNone(url) ? null : t('provider.urlBad')),
      mcp: {
        web_search_url: (url) => (isUrlOrNone(url) ? null : t('provider.urlBad')),
        web_reader_url: (url) => (isUrlOrNone(url) ? null : t('provider.urlBad')),
      },
      mapping(text) {
        const line = badLine(text);
        return line === undefined ? null : t('provider.exactBad', { line });
      },
    },
  });
  const showSaved = useFollowed(form, read, revision);
  const patch = writePatch(values, form.values);
  useUnsaved(Object.keys(patch).length > 0 && !change.isPending);
  const save = (sent: ProviderValues): void =>
    settle(
      change.mutateAsync({ patch }),
      (saved, isOpen) => {
        if (isOpen) showSaved(sent, readProvider(saved.values));
        toasts.done(t('provider.saved'));
      },
      (refusal) => {
        const field = refusedFieldOf(refusal);
        if (field !== undefined) form.setFieldError(field.name, field.words);
      },
    );
  return (
    <form className="form-stack" onSubmit={form.onSubmit(save)}>
      <Switch
        label={t('provider.enabled')}
        description={t('provider.enabledHint')}
        {...form.getInputProps('enabled', { type: 'checkbox' })}
      />
      <TextInput
        label={t('provider.baseUrl')}
        placeholder="https://"
        inputMode="url"
        autoComplete="off"
        {...form.getInputProps('base_url')}
      />
      <SecretInput
        label={t('provider.apiKey')}
        description={hasKey(values) ? t('provider.apiKeySet') : undefined}
        autoComplete="off"
        {...form.getInputProps('api_key')}
      />
      <Select
        label={t('provider.mode')}
        allowDeselect={false}
        description={
          form.values.enabled && form.values.dispatch_mode === 'off'
            ? t('provider.modeOffHint')
            : undefined
        }
        data={MODES.map((value) => ({ value, label: t(`provider.modes.${value}`) }))}
        {...form.getInputProps('dispatch_mode')}
      />
      <Fieldset legend={t('provider.families')}>
        <p className="dimmed small">{t('provider.familiesHint')}</p>
        <div className="form-triple">
          {FAMILIES.map((family) => (
            <TextInput
              key={family}
              label={t(`provider.${family}`)}
              autoComplete="off"
              {...form.getInputProps(`models.${family}`)}
            />
          ))}
        </div>
      </Fieldset>
      <Textarea
        label={t('provider.exact')}
        description={t('provider.exactHint')}
        className="mono-field"
        autosize
        minRows={3}
        maxRows={12}
        spellCheck={false}
        {...form.getInputProps('mapping')}
      />
      <Fieldset legend={t('provider.mcp')}>
        <div className="form-stack">
          <Switch
            label={t('provider.mcpEnabled')}
            {...form.getInputProps('mcp.enabled', { type: 'checkbox' })}
          />
          {SERVICES.map(([service, label, need, needLabel]) => (
            <div key={service} className="provider-service">
              <Switch
                label={t(label)}
                description={<span className="mono">/mcp/{ENDPOINTS[service]}/mcp</span>}
                {...form.getInputProps(`mcp.${service}`, { type: 'checkbox' })}
              />
              <TextInput
                label={t(needLabel)}
                placeholder={need === 'vision_model' ? form.values.models.sonnet : 'https://'}
                inputMode={need === 'vision_model' ? 'text' : 'url'}
                autoComplete="off"
                spellCheck={false}
                {...form.getInputProps(`mcp.${need}`)}
              />
            </div>
          ))}
        </div>
      </Fieldset>
      {change.error !== null && refusedFieldOf(change.error) === undefined && (
        <ErrorNote error={change.error} />
      )}
      <div className="dialog-actions">
        <Button type="submit" loading={change.isPending} disabled={Object.keys(patch).length === 0}>
          {t('common.save')}
        </Button>
      </div>
    </form>
  );
}

/** The path of each below `/mcp`. */
const ENDPOINTS = {
  web_search_enabled: 'web_search',
  web_reader_enabled: 'web_reader',
  vision_enabled: 'vision',
} as const;

/** The texts that the gateway checks; undefined for what is wrong elsewhere. */
function refusedFieldOf(error: unknown) {
  for (const name of REFUSABLE) {
    const words = readFieldError(error, `proxy.extprov.${name}`);
    if (words !== undefined) return { name, words };
  }
  return undefined;
}

const REFUSABLE = ['api_key', 'base_url', 'mcp.web_search_url', 'mcp.web_reader_url'] as const;
