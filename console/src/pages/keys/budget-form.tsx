// The form of one budget: whose, how much of what, in which periods, and whether it refuses.

import { Autocomplete, Button, Select, Switch } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import type { KeyboardEvent } from 'react';
import { useTranslation } from 'react-i18next';
import type { Budget, NewBudget } from '../../../../src/admin/contract.ts';
import { keysQuery } from '../../api/queries/keys.ts';
import { AmountInput } from '../../components/amount-input.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { ownTimeZone } from '../../components/own-time-zone.ts';
import { TimeZoneSelect } from '../../components/time-zone-select.tsx';
import { useUnsaved } from '../../components/use-unsaved.tsx';
import {
  amountRange,
  BUDGET_PERIODS,
  BUDGET_SCOPES,
  BUDGET_UNITS,
  type BudgetOwner,
  type BudgetValues,
  findBudgetProblem,
  PERCENT_RANGE,
  readBudget,
  writeBudget,
} from './budget-values.ts';
import '../../components/form.css';

export interface BudgetFormProps {
  /** Undefined while one is made. */
  readonly edited: Budget | undefined;
  /** Whose it will be; undefined where that is asked. */
  readonly owner?: BudgetOwner | undefined;
  readonly isSaving: boolean;
  readonly error: unknown;
  readonly onSave: (budget: NewBudget) => void;
  readonly onCancel: () => void;
}

const ANYBODY: BudgetOwner = { scope: 'team', subject: '' };

export function BudgetForm(props: BudgetFormProps) {
  const { edited, owner, isSaving, error, onSave, onCancel } = props;
  const { t } = useTranslation();
  const form = useForm<BudgetValues>({
    initialValues: readBudget(edited, owner ?? ANYBODY, ownTimeZone()),
  });
  useUnsaved(form.isDirty() && !isSaving);
  const { values } = form;
  const isNew = edited === undefined;
  const save = (): void => {
    const problem = findBudgetProblem(values);
    if (problem === undefined) onSave(writeBudget(values));
    else form.setFieldError(problem, t(`budgets.problems.${problem}`));
  };
  /** The form of a key, in which it may stand, would be saved, and close over it. */
  const onEnter = (event: KeyboardEvent): void => {
    const isOfMenu = event.defaultPrevented || event.nativeEvent.isComposing;
    if (event.key !== 'Enter' || isOfMenu || !(event.target instanceof HTMLInputElement)) return;
    event.preventDefault();
    save();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of its fields
    <div className="form-stack" onKeyDown={onEnter}>
      {isNew && owner === undefined && (
        <OwnerFields
          values={values}
          error={form.errors.subject}
          onChange={(change) => form.setValues({ ...values, ...change })}
        />
      )}
      <div className="form-row">
        {isNew && (
          <Select
            autoFocus={owner !== undefined}
            openOnFocus={false}
            label={t('budgets.unit')}
            data={BUDGET_UNITS.map((value) => ({ value, label: t(`budgets.units.${value}`) }))}
            allowDeselect={false}
            {...form.getInputProps('unit')}
          />
        )}
        <AmountInput
          autoFocus={!isNew}
          label={t(values.unit === 'money' ? 'budgets.dollars' : 'budgets.amount')}
          range={amountRange(values.unit)}
          value={values.amount}
          error={form.errors.amount}
          onChange={(text) => form.setFieldValue('amount', text)}
        />
        {isNew && (
          <Select
            label={t('budgets.period')}
            data={BUDGET_PERIODS.map((value) => ({
              value,
              label: t(`budgets.periodNames.${value}`),
            }))}
            allowDeselect={false}
            {...form.getInputProps('period')}
          />
        )}
        {isNew && (
          <TimeZoneSelect
            label={t('budgets.timeZone')}
            value={values.timeZone}
            onChange={(zone) => form.setFieldValue('timeZone', zone)}
          />
        )}
      </div>
      <div className="form-row">
        <Switch
          label={t('budgets.isHard')}
          description={t('budgets.isHardHint')}
          {...form.getInputProps('isHard', { type: 'checkbox' })}
        />
        <AmountInput
          label={t('budgets.warnPercent')}
          range={PERCENT_RANGE}
          value={values.warnPercent}
          error={form.errors.warnPercent}
          onChange={(text) => form.setFieldValue('warnPercent', text)}
        />
      </div>
      {error !== null && <ErrorNote error={error} />}
      <div className="form-actions">
        <Button variant="default" onClick={onCancel}>
          {t('common.cancel')}
        </Button>
        <Button loading={isSaving} onClick={save}>
          {t(isNew ? 'budgets.create' : 'common.save')}
        </Button>
      </div>
    </div>
  );
}

interface OwnerFieldsProps {
  readonly values: BudgetValues;
  readonly error: unknown;
  readonly onChange: (change: BudgetOwner) => void;
}

function OwnerFields({ values: { scope, subject }, error, onChange }: OwnerFieldsProps) {
  const { t } = useTranslation();
  const { data } = useQuery(keysQuery);
  const keys = data?.keys ?? [];
  const teams = [...new Set(keys.map(({ team }) => team))].filter(
    (team) => typeof team === 'string',
  );
  const problem = typeof error === 'string' ? error : undefined;
  return (
    <div className="form-row">
      <Select
        autoFocus
        openOnFocus={false}
        label={t('budgets.scope')}
        data={BUDGET_SCOPES.map((value) => ({ value, label: t(`budgets.scopes.${value}`) }))}
        value={scope}
        allowDeselect={false}
        onChange={(value) =>
          onChange({ scope: BUDGET_SCOPES.find((one) => one === value) ?? scope, subject: '' })
        }
      />
      {scope === 'key' && (
        <Select
          label={t('budgets.scopes.key')}
          data={keys.map(({ id, name }) => ({ value: id, label: name }))}
          value={subject}
          searchable
          error={problem}
          onChange={(value) => onChange({ scope, subject: value ?? '' })}
        />
      )}
      {scope === 'team' && (
        <Autocomplete
          label={t('budgets.scopes.team')}
          data={teams}
          value={subject}
          maxLength={128}
          error={problem}
          onChange={(value) => onChange({ scope, subject: value })}
        />
      )}
    </div>
  );
}
