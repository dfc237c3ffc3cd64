// The rules of the address filter, with their hits.

import { ActionIcon, Alert, Button, Modal } from '@mantine/core';
import {
  IconPencil,
  IconPlus,
  IconShieldHalf,
  IconShieldOff,
  IconTrash,
} from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { AddressRule } from '../../../../src/admin/contract.ts';
import { addressRulesQuery, useAddRule, useRemoveRule } from '../../api/queries/address-rules.ts';
import { EmptyNote } from '../../components/empty-note.tsx';
import { NotLoaded } from '../../components/not-loaded.tsx';
import { useNow } from '../../components/now.tsx';
import { Panel } from '../../components/panel.tsx';
import { StackingTable } from '../../components/stacking-table.tsx';
import { StatusMark } from '../../components/status-mark.tsx';
import { RelativeTime } from '../../components/times.tsx';
import { useFormat } from '../../components/use-format.ts';
import { useToasts } from '../../components/use-toasts.tsx';
import { useCloseGuard } from '../../components/use-unsaved.tsx';
import { FILTER_ENABLED } from '../../settings/fields.ts';
import { useSetting } from '../../settings/use-setting.ts';
import { RuleForm } from './rule-form.tsx';

/** The rule in the dialog; `new` while one is made. */
type Editing = AddressRule | 'new' | undefined;

export function RulesPanel() {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(addressRulesQuery);
  const [editing, setEditing] = useState<Editing>();
  const remove = useRemovalWithUndo();
  const close = (): void => setEditing(undefined);
  const guarded = useCloseGuard(close);
  return (
    <Panel
      isFlush
      title={t('security.rulesTitle')}
      actions={
        <Button size="xs" leftSection={<IconPlus size={14} />} onClick={() => setEditing('new')}>
          {t('security.addRule')}
        </Button>
      }
    >
      {data === undefined && (
        <NotLoaded error={error} onRetry={() => void refetch()} height={140} />
      )}
      {data?.rules.length === 0 && (
        <EmptyNote
          icon={<IconShieldHalf size={32} stroke={1.5} />}
          title={t('security.noRules')}
          hint={t('security.noRulesHint')}
        />
      )}
      {data !== undefined && data.rules.length > 0 && (
        <>
          <IdleRulesNote />
          <RuleTable rules={data.rules} onEdit={setEditing} onRemove={remove} />
        </>
      )}
      <Modal
        opened={editing !== undefined}
        onClose={guarded.close}
        title={
          editing === 'new' || editing === undefined
            ? t('security.ruleTitle')
            : t('security.ruleEditTitle', { range: editing.range })
        }
      >
        {editing === 'new' && guarded.guard(<RuleForm edited={undefined} onClose={close} />)}
        {editing !== undefined &&
          editing !== 'new' &&
          guarded.guard(
            <RuleForm
              // As it is now: others may have changed it since the form was opened.
              edited={data?.rules.find(({ id }) => id === editing.id) ?? editing}
              onClose={close}
            />,
          )}
      </Modal>
    </Panel>
  );
}

/** Rules that count for nothing yet, with the way to change that. */
function IdleRulesNote() {
  const { t } = useTranslation();
  const filter = useSetting(FILTER_ENABLED);
  const isOn = filter.override?.value ?? filter.value;
  if (!filter.isLoaded || isOn === true) return null;
  return (
    <Alert color="yellow" mx="md" mb="sm" icon={<IconShieldOff size={18} />}>
      <span className="toast-line">
        <span>{t('security.rulesIdle')}</span>
        <Button size="xs" variant="default" onClick={() => filter.save(true)}>
          {t('security.rulesWake')}
        </Button>
      </span>
    </Alert>
  );
}

/** Gone at once; taken back it is made anew, with its hits from zero. */
function useRemovalWithUndo(): (rule: AddressRule) => void {
  const { t } = useTranslation();
  const toasts = useToasts();
  const removal = useRemoveRule();
  const addition = useAddRule();
  return (rule) => {
    const { list, range, note, expiresAt } = rule;
    const again = { list, range, note, ...(expiresAt === undefined ? {} : { expiresAt }) };
    const undo = (): void =>
      void addition.mutateAsync(again).then(() => toasts.done(t('common.undone')), toasts.failed);
    void removal
      .mutateAsync(rule.id)
      .then(() => toasts.doneWithUndo(t('security.ruleRemoved', { range }), undo), toasts.failed);
  };
}

interface RuleTableProps {
  readonly rules: readonly AddressRule[];
  readonly onEdit: (rule: AddressRule) => void;
  readonly onRemove: (rule: AddressRule) => void;
}

function RuleTable({ rules, onEdit, onRemove }: RuleTableProps) {
  const { t } = useTranslation();
  return (
    <StackingTable
      headings={[
        t('security.range'),
        t('security.list'),
        t('security.note'),
        t('security.expires'),
        t('security.hits'),
      ]}
    >
      {rules.map((rule) => (
        <tr key={rule.id}>
          <td className="is-lead mono wrap-anywhere">{rule.range}</td>
          <td>
            <StatusMark tone={rule.list === 'allow' ? 'ok' : 'bad'}>
              {t(`security.lists.${rule.list}`)}
            </StatusMark>
          </td>
          <td className={rule.note === '' ? 'is-blank' : 'wrap-anywhere'}>
            {rule.note === '' ? '–' : rule.note}
          </td>
          <td className="rule-figure">
            <span className="cell-label">{t('security.expires')}</span>
            <RuleExpiry rule={rule} />
          </td>
          <td className="rule-figure">
            <span className="cell-label">{t('security.hits')}</span>
            <RuleHits rule={rule} />
          </td>
          <td className="is-corner rule-actions">
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={t('security.editRule', { range: rule.range })}
              onClick={() => onEdit(rule)}
            >
              <IconPencil size={16} />
            </ActionIcon>
            <ActionIcon
              variant="subtle"
              color="red"
              aria-label={t('security.removeRule', { range: rule.range })}
              onClick={() => onRemove(rule)}
            >
              <IconTrash size={16} />
            </ActionIcon>
          </td>
        </tr>
      ))}
    </StackingTable>
  );
}

function RuleExpiry({ rule }: { readonly rule: AddressRule }) {
  const { t } = useTranslation();
  const now = useNow();
  const { expiresAt } = rule;
  if (expiresAt === undefined)
    return <span className="dimmed">{t('security.expiries.never')}</span>;
  if (expiresAt <= now) return <span className="dimmed">{t('security.expired')}</span>;
  return <RelativeTime at={expiresAt} />;
}

function RuleHits({ rule }: { readonly rule: AddressRule }) {
  const { t } = useTranslation();
  const format = useFormat();
  const now = useNow();
  if (rule.hits === 0) return <span className="dimmed">{t('security.noHits')}</span>;
  return (
    <>
      {format.number(rule.hits)}
      {rule.lastHitAt !== undefined && (
        <span className="sub-line" title={format.absolute(rule.lastHitAt)}>
          {t('security.lastHit', { time: format.relative(rule.lastHitAt, now) })}
        </span>
      )}
    </>
  );
}
