// The settings of an account that a person may change.

import { Button, Select, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import type { Account, AccountChange } from '../../../../src/admin/contract.ts';
import { ApiError } from '../../api/client.ts';
import { useChangeAccount } from '../../api/queries/accounts.ts';
import { AmountInput } from '../../components/amount-input.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { type AmountRange, isGoodAmount, takeAmount } from '../../components/read-amount.ts';
import { readFieldError } from '../../components/read-field-error.ts';
import { SecretInput } from '../../components/secret-input.tsx';
import { useFollowed } from '../../components/use-followed.ts';
import { useSettle } from '../../components/use-settle.ts';
import { useToasts } from '../../components/use-toasts.tsx';
import { useUnsaved } from '../../components/use-unsaved.tsx';

interface Values {
  readonly label: string;
  readonly tier: string | null;
  readonly billing: string | null;
  readonly project: string;
  /** As it is typed. */
  readonly priority: string;
  readonly notes: string;
  readonly proxyUrl: string;
  readonly key: string;
}

const PRIORITY: AmountRange = {
  least: -1_000_000,
  most: 1_000_000,
  isWhole: true,
  isNeeded: true,
};

const TIERS = ['ultra', 'pro', 'free'] as const;
const BILLINGS = ['metered', 'flat-rate'] as const;

export function EditForm({ account }: { readonly account: Account }) {
  const { t } = useTranslation();
  const toasts = useToasts();
  const settle = useSettle();
  const change = useChangeAccount();
  const read = valuesOf(account);
  const form = useForm<Values>({ initialValues: read });
  const showSaved = useFollowed(form, read, account.revision);
  const difference = changeOf(account, form.values);
  useUnsaved(Object.keys(difference).length > 0 && !change.isPending);
  if (account.origin !== 'stored') {
    return <p className="dimmed">{t(`accounts.originHints.${account.origin}`)}</p>;
  }
  const refusedField = change.error instanceof ApiError ? change.error.field : undefined;
  const sayRefusal = (error: unknown): void => {
    if (!(error instanceof ApiError)) return;
    const { field, status } = error;
    if (field !== undefined && field in form.values) {
      form.setFieldError(field, readFieldError(error, field));
    }
    // The drawer closes by itself over an account that is gone.
    if (status === 404) toasts.failed(error);
  };
  /** `sent` are the values that hold what is saved. */
  const save = (body: AccountChange, sent: Values): void =>
    settle(
      change.mutateAsync({ account, change: body }),
      (saved, isOpen) => {
        if (isOpen) showSaved(sent, valuesOf(saved));
        toasts.done(t('common.saved'));
      },
      sayRefusal,
    );
  const isReadable = isGoodAmount(form.values.priority, PRIORITY);
  const isChanged = isReadable && Object.keys(difference).length > 0;
  return (
    <form className="form-stack" onSubmit={form.onSubmit(() => save(difference, form.getValues()))}>
      <TextInput
        label={t('accounts.label')}
        description={t('accounts.labelHint')}
        {...form.getInputProps('label')}
      />
      <div className="form-pair">
        <Select
          label={t('accounts.tier')}
          description={t('accounts.tierHint')}
          clearable
          placeholder={t('common.unknown')}
          data={TIERS.map((value) => ({ value, label: t(`accounts.tiers.${value}`) }))}
          {...form.getInputProps('tier')}
        />
        <AmountInput
          label={t('accounts.priority')}
          range={PRIORITY}
          value={form.values.priority}
          error={form.errors.priority}
          onChange={(text) => form.setFieldValue('priority', text)}
        />
      </div>
      <Select
        label={t('accounts.billing')}
        description={t('accounts.billingHint')}
        clearable
        placeholder={t(`accounts.billings.${account.usualBilling}`)}
        data={BILLINGS.map((value) => ({ value, label: t(`accounts.billings.${value}`) }))}
        {...form.getInputProps('billing')}
      />
      <TextInput
        label={t('accounts.project')}
        description={t('accounts.projectHint')}
        {...form.getInputProps('project')}
      />
      {account.kind === 'api-key' && (
        <SecretInput
          label={t('accounts.newKey')}
          description={t('accounts.newKeyHint')}
          autoComplete="off"
          {...form.getInputProps('key')}
        />
      )}
      <TextInput
        label={t('accounts.proxy')}
        description={account.hasProxy ? t('accounts.proxySet') : t('accounts.proxyHint')}
        autoComplete="off"
        {...form.getInputProps('proxyUrl')}
      />
      {account.hasProxy && (
        <Button
          className="align-start"
          size="compact-sm"
          variant="subtle"
          onClick={() => save({ proxyUrl: null }, form.getInitialValues())}
        >
          {t('accounts.proxyClear')}
        </Button>
      )}
      <Textarea
        label={t('accounts.notes')}
        description={t('accounts.notesHint')}
        autosize
        minRows={2}
        maxRows={8}
        {...form.getInputProps('notes')}
      />
      {change.error !== null && (refusedField === undefined || !(refusedField in form.values)) && (
        <ErrorNote error={change.error} />
      )}
      <div className="dialog-actions">
        <Button type="submit" loading={change.isPending} disabled={!isChanged}>
          {t('accounts.saveChanges')}
        </Button>
      </div>
    </form>
  );
}

function valuesOf({ label, tier, billing, project, priority, notes }: Account): Values {
  return {
    label,
    tier,
    billing,
    project: project ?? '',
    priority: String(priority),
    notes: notes ?? '',
    proxyUrl: '',
    key: '',
  };
}

/** Only what differs; an emptied text clears, an empty secret stays as it is. */
function changeOf(account: Account, values: Values): AccountChange {
  const { label, project, priority, notes, proxyUrl, key } = values;
  const tier = TIERS.find((one) => one === values.tier) ?? null;
  const billing = BILLINGS.find((one) => one === values.billing) ?? null;
  const rank = takeAmount(priority, PRIORITY) ?? account.priority;
  return {
    ...(label === account.label ? {} : { label }),
    ...(tier === account.tier ? {} : { tier }),
    ...(billing === account.billing ? {} : { billing }),
    ...(project === (account.project ?? '') ? {} : { project: project === '' ? null : project }),
    ...(rank === account.priority ? {} : { priority: rank }),
    ...(notes === (account.notes ?? '') ? {} : { notes: notes === '' ? null : notes }),
    ...(proxyUrl === '' ? {} : { proxyUrl }),
    ...(key === '' ? {} : { key }),
  };
}
