// Accounts as a table whose rows are put in order by hand, with the pointer or with arrow keys.

import { Checkbox } from '@mantine/core';
import { IconGripVertical } from '@tabler/icons-react';
import { type DragEvent, type KeyboardEvent, memo, useCallback, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Account } from '../../../../src/admin/contract.ts';
import { RelativeTime } from '../../components/times.tsx';
import { type AccountItemProps, AccountName, SelectAccount } from './account-card.tsx';
import { AccountMenu } from './account-menu.tsx';
import { StateMark, StateReason } from './account-state.tsx';
import { AccountStrip } from './account-strip.tsx';
import { QuotaBars } from './quota-bars.tsx';
import { TierMark } from './tier-mark.tsx';

export interface AccountTableProps extends Omit<AccountItemProps, 'account' | 'isSelected'> {
  readonly accounts: readonly Account[];
  readonly selected: ReadonlySet<string>;
  readonly onSelectAll: (isSelected: boolean) => void;
  /** Undefined while the list is searched. */
  readonly onPlace: ((account: Account, place: number) => void) | undefined;
}

export function AccountTable(props: AccountTableProps) {
  const { t } = useTranslation();
  const { accounts, selected, onSelectAll, ...item } = props;
  const { onPlace } = item;
  const [dragged, setDragged] = useState<Account>();
  const [overId, setOverId] = useState<string>();
  const chosen = accounts.filter(({ id }) => selected.has(id)).length;
  const drop = useCallback(
    (place: number): void => {
      if (dragged !== undefined) onPlace?.(dragged, place);
      setDragged(undefined);
      setOverId(undefined);
    },
    [dragged, onPlace],
  );
  return (
    <div className="table-frame table-scroll">
      <table className="plain-table account-table">
        <thead>
          <tr>
            <th scope="col" className="cell-select">
              <Checkbox
                size="xs"
                aria-label={t('accounts.selectAll')}
                checked={chosen > 0 && chosen === accounts.length}
                indeterminate={chosen > 0 && chosen < accounts.length}
                onChange={(event) => onSelectAll(event.currentTarget.checked)}
              />
            </th>
            <th scope="col">{t('accounts.name')}</th>
            <th scope="col">{t('accounts.state')}</th>
            <th scope="col">{t('accounts.quota')}</th>
            <th scope="col">{t('accounts.lastUsed')}</th>
            <th scope="col">
              <span className="visually-hidden">{t('common.more')}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {accounts.map((account, place) => (
            <Row
              key={account.id}
              {...item}
              account={account}
              place={place}
              isSelected={selected.has(account.id)}
              isTarget={overId === account.id && dragged !== undefined && dragged !== account}
              onDrag={setDragged}
              onOver={setOverId}
              onDrop={drop}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface RowProps extends Omit<AccountTableProps, 'accounts' | 'selected' | 'onSelectAll'> {
  readonly account: Account;
  readonly place: number;
  readonly isSelected: boolean;
  readonly isTarget: boolean;
  readonly onDrag: (account: Account | undefined) => void;
  readonly onOver: (id: string) => void;
  readonly onDrop: (place: number) => void;
}

const SHOWN_MODELS = 2;

const Row = memo(function Row(props: RowProps) {
  const { t } = useTranslation();
  const { account, place, isSelected, isTarget, onOver, onDrop } = props;
  const { id, lastUsedAt } = account;
  const over = (event: DragEvent): void => {
    event.preventDefault();
    onOver(id);
  };
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    onDrop(place);
  };
  return (
    <tr
      className={[isSelected && 'is-selected', isTarget && 'is-target'].filter(Boolean).join(' ')}
      onDragOver={over}
      onDrop={drop}
    >
      <td className="cell-select">
        <span className="select-line">
          <MoveHandle {...props} />
          <SelectAccount {...props} />
        </span>
      </td>
      <td className="cell-name">
        <div className="table-name">
          <AccountName {...props} />
          <TierMark tier={account.tier} />
        </div>
        <div className="one-line dimmed small">
          {account.upstream} · {t(`accounts.kinds.${account.kind}`)}
        </div>
      </td>
      <td className="cell-state">
        <StateMark account={account} />
        <div className="dimmed small">
          <StateReason account={account} />
        </div>
        <AccountStrip account={account} />
      </td>
      <td className="cell-quota">
        <QuotaBars account={account} limit={SHOWN_MODELS} isTerse />
      </td>
      <td className="cell-used">
        {lastUsedAt === null ? t('accounts.notUsed') : <RelativeTime at={lastUsedAt} />}
      </td>
      <td className="cell-menu">
        <AccountMenu {...props} />
      </td>
    </tr>
  );
});

function MoveHandle({ account, place, onPlace, onDrag }: RowProps) {
  const { t } = useTranslation();
  if (onPlace === undefined || account.origin !== 'stored') {
    return <span className="move-handle is-off" aria-hidden="true" />;
  }
  const step = (event: KeyboardEvent): void => {
    const steps = { ArrowUp: -1, ArrowDown: 1 } as const;
    const by = event.key === 'ArrowUp' || event.key === 'ArrowDown' ? steps[event.key] : 0;
    if (by === 0) return;
    event.preventDefault();
    onPlace(account, place + by);
  };
  const start = (event: DragEvent): void => {
    event.dataTransfer.effectAllowed = 'move';
    event.dataTransfer.setData('text/plain', account.label);
    onDrag(account);
  };
  return (
    <button
      type="button"
      className="move-handle"
      draggable
      aria-label={t('accounts.moveOf', { name: account.label })}
      onDragStart={start}
      onDragEnd={() => onDrag(undefined)}
      onKeyDown={step}
    >
      <IconGripVertical size={15} aria-hidden="true" />
    </button>
  );
}
