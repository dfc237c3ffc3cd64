// Everything that can be done to one account.

import { ActionIcon, Loader, Menu } from '@mantine/core';
import {
  IconArrowBarToUp,
  IconArrowDown,
  IconArrowUp,
  IconDots,
  IconInfoCircle,
  IconLogin2,
  IconPlayerPause,
  IconPlayerPlay,
  IconRefresh,
  IconSnowflakeOff,
} from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Account } from '../../../../src/admin/contract.ts';
import { useMay } from '../../api/queries/session.ts';
import { RemoveItem } from '../../components/remove-item.tsx';
import { canEnable } from './account-state.tsx';
import type { AccountWork } from './use-account-work.tsx';

export interface AccountMenuProps {
  readonly account: Account;
  readonly work: AccountWork;
  readonly onOpen: (account: Account) => void;
  readonly onSignIn: (account: Account) => void;
  /** Undefined while the list is searched: then places mean nothing. */
  readonly onMove: ((account: Account, step: 'up' | 'down' | 'top') => void) | undefined;
}

const ICON = { size: 16, 'aria-hidden': true } as const;

export function AccountMenu(props: AccountMenuProps) {
  const { t } = useTranslation();
  const { account, work, onOpen } = props;
  const may = useMay('operator');
  // Disabled meanwhile, the button would lose the focus that the menu gives back.
  const isBusy = work.busyId === account.id;
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-busy={isBusy}
          aria-label={t('accounts.actionsOf', { name: account.label })}
        >
          {isBusy ? <Loader size={16} /> : <IconDots size={18} />}
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconInfoCircle {...ICON} />} onClick={() => onOpen(account)}>
          {t('accounts.editTitle')}
        </Menu.Item>
        {may && <ChangeItems {...props} />}
      </Menu.Dropdown>
    </Menu>
  );
}

function ChangeItems(props: AccountMenuProps) {
  const { t } = useTranslation();
  const { account, work, onSignIn } = props;
  return (
    <>
      <Menu.Item leftSection={<IconRefresh {...ICON} />} onClick={() => work.refresh(account)}>
        {t('accounts.refresh')}
      </Menu.Item>
      {account.kind === 'oauth' && account.origin === 'stored' && (
        <Menu.Item leftSection={<IconLogin2 {...ICON} />} onClick={() => onSignIn(account)}>
          {t('accounts.signInAgain')}
        </Menu.Item>
      )}
      {account.cooldowns.length > 0 && (
        <Menu.Item
          leftSection={<IconSnowflakeOff {...ICON} />}
          onClick={() => work.clearCooldowns(account)}
        >
          {t('accounts.clearAll')}
        </Menu.Item>
      )}
      {canEnable(account) && (
        <Menu.Item leftSection={<IconPlayerPlay {...ICON} />} onClick={() => work.enable(account)}>
          {t('accounts.enable')}
        </Menu.Item>
      )}
      {account.status.kind === 'active' && (
        <Menu.Item
          leftSection={<IconPlayerPause {...ICON} />}
          onClick={() => work.disable(account)}
        >
          {t('accounts.disable')}
        </Menu.Item>
      )}
      {account.origin === 'stored' && <StoredItems {...props} />}
    </>
  );
}

function StoredItems({ account, work, onMove }: AccountMenuProps) {
  const { t } = useTranslation();
  return (
    <>
      {onMove !== undefined && (
        <>
          <Menu.Divider />
          <Menu.Item
            leftSection={<IconArrowBarToUp {...ICON} />}
            onClick={() => onMove(account, 'top')}
          >
            {t('accounts.moveTop')}
          </Menu.Item>
          <Menu.Item leftSection={<IconArrowUp {...ICON} />} onClick={() => onMove(account, 'up')}>
            {t('accounts.moveUp')}
          </Menu.Item>
          <Menu.Item
            leftSection={<IconArrowDown {...ICON} />}
            onClick={() => onMove(account, 'down')}
          >
            {t('accounts.moveDown')}
          </Menu.Item>
        </>
      )}
      <Menu.Divider />
      <RemoveItem onClick={() => work.remove(account)}>{t('common.remove')}</RemoveItem>
    </>
  );
}
