// The form of one key: its name and everything that limits it.

import { Autocomplete, Button, Select, Switch, TagsInput, TextInput } from '@mantine/core';
import { type UseFormReturnType, useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Key, KeyChange } from '../../../../src/admin/contract.ts';
import { keysQuery } from '../../api/queries/keys.ts';
import { modelsQuery } from '../../api/queries/models.ts';
import { AmountInput } from '../../components/amount-input.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { useNow } from '../../components/now.tsx';
import { ownTimeZone } from '../../components/own-time-zone.ts';
import { readAmount } from '../../components/read-amount.ts';
import { sayTooLong } from '../../components/say-too-long.ts';
import { TimeZoneSelect } from '../../components/time-zone-select.tsx';
import { useSayAmountProblem } from '../../components/use-amount.ts';
import { useFollowed } from '../../components/use-followed.ts';
import { useUnsaved } from '../../components/use-unsaved.tsx';
import { BudgetList } from './budget-list.tsx';
import {
  badLimits,
  clockIn,
  EXPIRIES,
  findProblem,
  hasCurfewTimes,
  isInCurfew,
  type KeyValues,
  LIMIT_RANGES,
  type LimitField,
  MAX_NAME_LENGTH,
  MAX_TAG_LENGTH,
  MAX_TAGS,
  RECORDINGS,
  readValues,
  writeChange,
} from './key-values.ts';
import '../../components/form.css';

export interface KeyFormProps {
  /** Undefined while a key is made. */
  readonly edited: Key | undefined;
  readonly isSaving: boolean;
  readonly error: unknown;
  readonly onSave: (change: KeyChange) => void;
  readonly onCancel: () => void;
}

type Form = UseFormReturnType<KeyValues>;

export function KeyForm({ edited, isSaving, error, onSave, onCancel }: KeyFormProps) {
  const { t } = useTranslation();
  const read = readValues(edited, ownTimeZone());
  const form: Form = useForm<KeyValues>({ initialValues: read });
  useFollowed(form, read, edited?.revision);
  useUnsaved(form.isDirty() && !isSaving);
  const sayProblem = useSayAmountProblem();
  const submit = form.onSubmit((values) => {
    const saving = { now: Date.now(), edited };
    const problem = findProblem(values, saving);
    // On a phone the form is longer than its drawer.
    if (problem === 'name' || problem === 'name-length') form.getInputNode('name')?.focus();
    switch (problem) {
      case 'name':
        form.setFieldError('name', t('keys.nameMissing'));
        return;
      case 'name-length':
        return;
      case 'expiresAt':
        form.setFieldError('expiresAt', t('keys.expiresAtBad'));
        return;
      case 'curfew':
        form.setFieldError(
          form.getValues().curfewFrom === '' ? 'curfewFrom' : 'curfewTo',
          t('keys.curfewBad'),
        );
        return;
      case 'limit':
        for (const field of badLimits(values)) {
          const amount = readAmount(values[field], { isSize: false, words: [] });
          form.setFieldError(field, sayProblem(LIMIT_RANGES[field], amount));
        }
        return;
      default:
        onSave(writeChange(values, saving));
    }
  });
  return (
    <form onSubmit={submit} className="form-stack" noValidate>
      <TextInput
        label={t('keys.name')}
        description={t('keys.nameHint')}
        placeholder={t('keys.namePlaceholder')}
        data-autofocus
        autoComplete="off"
        {...form.getInputProps('name')}
        error={form.errors.name ?? sayTooLong(form.values.name.trim(), MAX_NAME_LENGTH, t)}
      />
      <HolderFields form={form} />
      <ExpiryFields form={form} />
      <AccessFields form={form} />
      <LimitFields form={form} />
      <fieldset className="form-group">
        <legend>{t('budgets.title')}</legend>
        {edited === undefined ? (
          <p className="form-note">{t('budgets.whenMade')}</p>
        ) : (
          <BudgetList keyId={edited.id} />
        )}
      </fieldset>
      <CurfewFields form={form} />
      <Select
        label={t('keys.recording')}
        description={t('keys.recordingHint')}
        data={RECORDINGS.map((value) => ({ value, label: t(`keys.recordings.${value}`) }))}
        allowDeselect={false}
        {...form.getInputProps('recording')}
      />
      {error !== null && <ErrorNote error={error} />}
      <div className="form-actions">
        <Button variant="default" onClick={onCancel}>
          {t('common.cancel')}
        </Button>
        <Button type="submit" loading={isSaving}>
          {edited === undefined ? t('keys.create') : t('common.save')}
        </Button>
      </div>
    </form>
  );
}

/** Whose key it is; names that other keys have are offered. */
function HolderFields({ form }: { readonly form: Form }) {
  const { t } = useTranslation();
  const { data } = useQuery(keysQuery);
  const keys = data?.keys ?? [];
  const known = (names: readonly (string | null | undefined)[]): string[] =>
    [...new Set(names)].filter((name) => typeof name === 'string').toSorted();
  return (
    <>
      <div className="form-row">
        <Autocomplete
          label={t('keys.owner')}
          description={t('keys.ownerHint')}
          data={known(keys.map(({ owner }) => owner))}
          maxLength={MAX_NAME_LENGTH}
          {...form.getInputProps('owner')}
        />
        <Autocomplete
          label={t('keys.team')}
          description={t('keys.teamHint')}
          data={known(keys.map(({ team }) => team))}
          maxLength={MAX_NAME_LENGTH}
          {...form.getInputProps('team')}
        />
      </div>
      <TagsInput
        label={t('keys.tags')}
        description={t('keys.tagsHint')}
        data={known(keys.flatMap(({ tags }) => tags))}
        maxTags={MAX_TAGS}
        maxLength={MAX_TAG_LENGTH}
        {...form.getInputProps('tags')}
      />
    </>
  );
}

function ExpiryFields({ form }: { readonly form: Form }) {
  const { t } = useTranslation();
  return (
    <div className="form-row">
      <Select
        label={t('keys.expiry')}
        data={EXPIRIES.map((value) => ({ value, label: t(`keys.expiries.${value}`) }))}
        allowDeselect={false}
        {...form.getInputProps('expiry')}
      />
      {form.values.expiry === 'custom' && (
        <TextInput
          type="datetime-local"
          label={t('keys.expiresAt')}
          description={t('keys.expiresAtHint', { zone: ownTimeZone() })}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          {...form.getInputProps('expiresAt')}
        />
      )}
    </div>
  );
}

function AccessFields({ form }: { readonly form: Form }) {
  const { t } = useTranslation();
  const models = useQuery(modelsQuery);
  const isOpen = form.values.allowedModels.length === 0;
  return (
    <fieldset className="form-group">
      <legend>{t('keys.access')}</legend>
      <TagsInput
        label={t('keys.allowedModels')}
        description={t('keys.allowedModelsHint')}
        placeholder={isOpen ? t('keys.allowedModelsPlaceholder') : t('keys.addModel')}
        data={[...new Set(models.data?.models.map(({ id }) => id))]}
        limit={50}
        {...form.getInputProps('allowedModels')}
      />
      <div className="form-row">
        <LimitInput form={form} field="maxAddresses" hint={t('keys.maxAddressesHint')} />
      </div>
    </fieldset>
  );
}

function LimitFields({ form }: { readonly form: Form }) {
  const { t } = useTranslation();
  return (
    <fieldset className="form-group">
      <legend>{t('keys.rates')}</legend>
      <div className="form-row">
        <LimitInput form={form} field="requestsPerMinute" />
        <LimitInput form={form} field="tokensPerMinute" />
        <LimitInput form={form} field="maxConcurrency" />
      </div>
    </fieldset>
  );
}

interface LimitInputProps {
  readonly form: Form;
  readonly field: LimitField;
  readonly hint?: string;
}

function LimitInput({ form, field, hint }: LimitInputProps) {
  const { t } = useTranslation();
  return (
    <AmountInput
      label={t(`keys.${field}`)}
      {...(hint === undefined ? {} : { description: hint })}
      placeholder={t('keys.noLimit')}
      range={LIMIT_RANGES[field]}
      value={form.values[field]}
      error={form.errors[field]}
      onChange={(text) => form.setFieldValue(field, text)}
    />
  );
}

function CurfewFields({ form }: { readonly form: Form }) {
  const { t } = useTranslation();
  const now = useNow();
  const { hasCurfew, curfewFrom: from, curfewTo: to, curfewZone: timeZone } = form.values;
  const isIn = isInCurfew({ from, to, timeZone }, now);
  return (
    <fieldset className="form-group">
      <legend>{t('keys.curfew')}</legend>
      <Switch
        label={t('keys.curfewOn')}
        description={t('keys.curfewHint')}
        {...form.getInputProps('hasCurfew', { type: 'checkbox' })}
      />
      {hasCurfew && (
        <>
          <div className="form-row">
            <TextInput
              type="time"
              label={t('keys.curfewFrom')}
              {...form.getInputProps('curfewFrom')}
            />
            <TextInput type="time" label={t('keys.curfewTo')} {...form.getInputProps('curfewTo')} />
            <TimeZoneSelect
              label={t('keys.curfewZone')}
              value={timeZone}
              onChange={(zone) => form.setFieldValue('curfewZone', zone)}
            />
          </div>
          {hasCurfewTimes(form.values) && (
            <p className="form-note">
              {t('keys.curfewClock', {
                clock: clockIn(timeZone, now),
                state: isIn ? t('keys.curfewIn') : t('keys.curfewOut'),
              })}
            </p>
          )}
        </>
      )}
    </fieldset>
  );
}
