// The budgets of the gateway, or those of one key: how much is used, and making, changing and removing them.

import { ActionIcon, Badge, Button } from '@mantine/core';
import { IconEdit, IconPlus, IconTrash, IconWallet } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Budget } from '../../../../src/admin/contract.ts';
import {
  budgetsQuery,
  useChangeBudget,
  useCreateBudget,
  useRemoveBudget,
} from '../../api/queries/budgets.ts';
import { useMay } from '../../api/queries/session.ts';
import { EmptyNote } from '../../components/empty-note.tsx';
import { NotLoaded } from '../../components/not-loaded.tsx';
import { useConfirm } from '../../components/use-confirm.tsx';
import { useFormat } from '../../components/use-format.ts';
import { useSettle } from '../../components/use-settle.ts';
import { useToasts } from '../../components/use-toasts.tsx';
import { BudgetBar } from './budget-bar.tsx';
import { BudgetForm } from './budget-form.tsx';
import { sayAmount } from './budget-values.ts';

/** @param keyId of whose budgets alone there are; those of all when absent */
export function BudgetList({ keyId }: { readonly keyId?: string | undefined }) {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(budgetsQuery);
  /** Once it was closed, the button that opened it has the focus again. */
  const [isNew, setNew] = useState<boolean>();
  const may = useMay('operator');
  if (data === undefined)
    return <NotLoaded isMain error={error} onRetry={() => void refetch()} height={120} />;
  const budgets =
    keyId === undefined
      ? data.budgets
      : data.budgets.filter(({ scope, subject }) => scope === 'key' && subject === keyId);
  const isBare = budgets.length === 0 && keyId === undefined && !isNew;
  const add = (
    <Button
      disabled={!may}
      autoFocus={isNew === false}
      variant={isBare ? 'filled' : 'default'}
      size={keyId === undefined ? 'sm' : 'xs'}
      leftSection={<IconPlus size={16} />}
      onClick={() => setNew(true)}
    >
      {t('budgets.add')}
    </Button>
  );
  return (
    <div className="budget-list">
      {isBare && (
        <EmptyNote
          icon={<IconWallet size={32} stroke={1.5} />}
          title={t('budgets.empty')}
          hint={t('budgets.emptyHint')}
          action={add}
        />
      )}
      {budgets.map((budget) => (
        <BudgetRow key={budget.id} budget={budget} isOfKey={keyId !== undefined} />
      ))}
      {isNew && <NewBudgetForm keyId={keyId} onClose={() => setNew(false)} />}
      {!isNew && !isBare && <div>{add}</div>}
    </div>
  );
}

interface NewBudgetFormProps {
  readonly keyId: string | undefined;
  readonly onClose: () => void;
}

function NewBudgetForm({ keyId, onClose }: NewBudgetFormProps) {
  const { t } = useTranslation();
  const toasts = useToasts();
  const settle = useSettle();
  const create = useCreateBudget();
  return (
    <div className="budget-row">
      <BudgetForm
        edited={undefined}
        owner={keyId === undefined ? undefined : { scope: 'key', subject: keyId }}
        isSaving={create.isPending}
        error={create.error}
        onCancel={onClose}
        onSave={(budget) =>
          settle(create.mutateAsync(budget), (_made, isOpen) => {
            if (isOpen) onClose();
            toasts.done(t('budgets.created'));
          })
        }
      />
    </div>
  );
}

interface BudgetRowProps {
  readonly budget: Budget;
  readonly isOfKey: boolean;
}

function BudgetRow({ budget, isOfKey }: BudgetRowProps) {
  const { t } = useTranslation();
  const toasts = useToasts();
  const settle = useSettle();
  const confirm = useConfirm();
  const format = useFormat();
  const change = useChangeBudget();
  const remove = useRemoveBudget();
  const may = useMay('operator');
  const [isEdited, setEdited] = useState<boolean>();
  const { id, scope, subject = '', subjectName = subject, isHard, timeZone, period } = budget;
  const owner = scope === 'gateway' ? t('budgets.scopes.gateway') : subjectName;
  const name = `${owner}, ${sayAmount(budget, budget.amount, { t, format })} ${t(`budgets.periods.${period}`)}`;
  const onRemove = (): void =>
    confirm({
      title: t('budgets.removeTitle', { name }),
      body: t('budgets.removeHint'),
      confirm: t('common.remove'),
      onConfirm: () =>
        void remove.mutateAsync(id).then(() => toasts.done(t('budgets.removed')), toasts.failed),
    });
  return (
    <div className="budget-row">
      <div className="budget-head">
        {!isOfKey && (
          <strong className="wrap-anywhere">
            {scope === 'gateway' ? owner : t(`budgets.of.${scope}`, { name: owner })}
          </strong>
        )}
        <Badge variant="default" tt="none" fw={500} radius="sm">
          {t(isHard ? 'budgets.hard' : 'budgets.soft')}
        </Badge>
        <span className="sub-line">{timeZone}</span>
        {!isEdited && (
          <span className="budget-actions">
            <ActionIcon
              disabled={!may}
              autoFocus={isEdited === false}
              variant="subtle"
              color="gray"
              aria-label={t('budgets.edit', { name })}
              onClick={() => setEdited(true)}
            >
              <IconEdit size={18} />
            </ActionIcon>
            <ActionIcon
              disabled={!may}
              variant="subtle"
              color="gray"
              aria-label={t('budgets.remove', { name })}
              onClick={onRemove}
            >
              <IconTrash size={18} />
            </ActionIcon>
          </span>
        )}
      </div>
      <BudgetBar budget={budget} />
      {isEdited && (
        <BudgetForm
          edited={budget}
          isSaving={change.isPending}
          error={change.error}
          onCancel={() => setEdited(false)}
          onSave={({ amount, isHard: hard = true, warnPercent = 80 }) =>
            settle(
              change.mutateAsync({ budget, change: { amount, isHard: hard, warnPercent } }),
              (_changed, isOpen) => {
                if (isOpen) setEdited(false);
                toasts.done(t('budgets.saved'));
              },
            )
          }
        />
      )}
    </div>
  );
}
