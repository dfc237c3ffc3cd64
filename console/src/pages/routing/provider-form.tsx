// The form of the external provider.

import { Button, Fieldset, Select, Switch, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import type { ConfigSection } from '../../../../src/admin/contract.ts';
import { useChangeSection } from '../../api/queries/config.ts';
import { ErrorNote } from '../../components/error-note.tsx';
import { readFieldError } from '../../components/read-field-error.ts';
import { SecretInput } from '../../components/secret-input.tsx';
import { useFollowed } from '../../components/use-followed.ts';
import { useSettle } from '../../components/use-settle.ts';
import { useToasts } from '../../components/use-toasts.tsx';
import {
  badLine,
  FAMILIES,
  hasKey,
  MODES,
  type ProviderValues,
  readProvider,
  SERVICES,
  writePatch,
} from './provider-values.ts';

const SERVICE_TEXTS = {
  enabled: 'provider.mcpEnabled',
  web_search_enabled: 'provider.webSearch',
  web_reader_enabled: 'provider.webReader',
  vision_enabled: 'provider.vision',
} as const;

export function ProviderForm({ section }: { readonly section: ConfigSection }) {
  const { values, revision } = section;
  const { t } = useTranslation();
  const toasts = useToasts();
  const settle = useSettle();
  const change = useChangeSection('extprov');
  const read = readProvider(values);
  const form = useForm({
    initialValues: read,
    validate: {
      base_url: (url) =>
        url === '' || /^https?:\/\/\S+$/i.test(url) ? null : t('provider.urlBad'),
      mapping(text) {
        const line = badLine(text);
        return line === undefined ? null : t('provider.exactBad', { line });
      },
    },
  });
  const showSaved = useFollowed(form, read, revision);
  const patch = writePatch(values, form.values);
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
        // Nothing uses it yet: it can only be taken out of a file that has it on.
        disabled={!form.values.enabled}
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
          {SERVICES.map((service) => (
            <Switch
              key={service}
              label={t(SERVICE_TEXTS[service])}
              {...form.getInputProps(`mcp.${service}`, { type: 'checkbox' })}
            />
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

/** The two texts that the gateway checks; undefined for what is wrong elsewhere. */
function refusedFieldOf(error: unknown) {
  for (const name of ['api_key', 'base_url'] as const) {
    const words = readFieldError(error, `proxy.extprov.${name}`);
    if (words !== undefined) return { name, words };
  }
  return undefined;
}
