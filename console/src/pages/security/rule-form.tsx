// The form of one address rule.

import { Button, SegmentedControl, Select, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import type { AddressRule } from '../../../../src/admin/contract.ts';
import { useAddRule, useChangeRule } from '../../api/queries/address-rules.ts';
import { ErrorNote } from '../../components/error-note.tsx';
import { readFieldError } from '../../components/read-field-error.ts';
import { sayTooLong } from '../../components/say-too-long.ts';
import { useFollowed } from '../../components/use-followed.ts';
import { useFormat } from '../../components/use-format.ts';
import { useSettle } from '../../components/use-settle.ts';
import { useToasts } from '../../components/use-toasts.tsx';
import { useUnsaved } from '../../components/use-unsaved.tsx';
import '../../components/form.css';

const LISTS = ['deny', 'allow'] as const;
const EXPIRIES = ['never', 'hour', 'day', 'week', 'month'] as const;
type Expiry = (typeof EXPIRIES)[number] | 'keep';

const HOUR_MS = 3_600_000;
const EXPIRY_HOURS: Readonly<Record<Exclude<Expiry, 'never' | 'keep'>, number>> = {
  hour: 1,
  day: 24,
  week: 7 * 24,
  month: 30 * 24,
};

const MAX_NOTE = 1024;

interface RuleValues {
  readonly list: AddressRule['list'];
  readonly range: string;
  readonly note: string;
  readonly expiry: Expiry;
}

export interface RuleFormProps {
  /** Undefined while a rule is made. */
  readonly edited: AddressRule | undefined;
  readonly range?: string;
  readonly onClose: () => void;
}

export function RuleForm({ edited, range = '', onClose }: RuleFormProps) {
  const { t } = useTranslation();
  const format = useFormat();
  const save = useSaveRule(edited, onClose);
  const read = readValues(edited, range);
  const form = useForm<RuleValues>({
    initialValues: read,
    validate: {
      range: (text) => (text.trim() === '' ? t('security.rangeMissing') : null),
      note: (text) => sayTooLong(text, MAX_NOTE, t) ?? null,
    },
  });
  useFollowed(form, read, edited?.revision);
  useUnsaved(form.isDirty() && !save.isPending);
  const fieldError = readFieldError(save.error, 'range');
  const expiries = EXPIRIES.map((value) => ({
    value: String(value),
    label: String(t(`security.expiries.${value}`)),
  }));
  if (edited?.expiresAt !== undefined) {
    const time = format.absolute(edited.expiresAt);
    expiries.unshift({ value: 'keep', label: t('security.expiries.keep', { time }) });
  }
  return (
    <form className="form-stack" onSubmit={form.onSubmit(save.run)} noValidate>
      <SegmentedControl
        aria-label={t('security.list')}
        data={LISTS.map((value) => ({ value, label: t(`security.lists.${value}`) }))}
        {...form.getInputProps('list')}
      />
      <TextInput
        label={t('security.range')}
        description={t('security.rangeHint')}
        placeholder={t('security.rangePlaceholder')}
        autoComplete="off"
        spellCheck={false}
        data-autofocus
        {...form.getInputProps('range')}
        error={form.errors.range ?? fieldError}
        errorProps={{ role: 'alert' }}
      />
      <TextInput
        label={t('security.note')}
        placeholder={t('security.notePlaceholder')}
        {...form.getInputProps('note')}
        error={sayTooLong(form.values.note, MAX_NOTE, t)}
      />
      <Select
        label={t('security.expires')}
        data={expiries}
        allowDeselect={false}
        {...form.getInputProps('expiry')}
      />
      {save.error !== null && fieldError === undefined && <ErrorNote error={save.error} />}
      <div className="dialog-actions">
        <Button variant="default" onClick={onClose}>
          {t('common.cancel')}
        </Button>
        <Button type="submit" loading={save.isPending}>
          {edited === undefined ? t('security.addRule') : t('common.save')}
        </Button>
      </div>
    </form>
  );
}

function readValues(edited: AddressRule | undefined, range: string): RuleValues {
  return {
    list: edited?.list ?? 'deny',
    range: edited?.range ?? range,
    note: edited?.note ?? '',
    expiry: edited?.expiresAt === undefined ? 'never' : 'keep',
  };
}

function useSaveRule(edited: AddressRule | undefined, onClose: () => void) {
  const { t } = useTranslation();
  const toasts = useToasts();
  const settle = useSettle();
  const addition = useAddRule();
  const change = useChangeRule();
  const run = ({ list, range, note, expiry }: RuleValues): void => {
    const rule = { list, range: range.trim(), note: note.trim(), ...writeExpiry(expiry) };
    const saved =
      edited === undefined
        ? addition.mutateAsync(rule)
        : change.mutateAsync({ rule: edited, change: rule });
    settle(saved, ({ range: known }, isOpen) => {
      if (isOpen) onClose();
      const text = edited === undefined ? 'security.ruleAdded' : 'security.ruleSaved';
      toasts.done(t(text, { range: known }));
    });
  };
  return {
    run,
    error: addition.error ?? change.error,
    isPending: addition.isPending || change.isPending,
  };
}

function writeExpiry(expiry: Expiry): { readonly expiresAt?: number | null } {
  if (expiry === 'keep') return {};
  if (expiry === 'never') return { expiresAt: null };
  return { expiresAt: Date.now() + EXPIRY_HOURS[expiry] * HOUR_MS };
}
