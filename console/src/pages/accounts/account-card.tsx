// One account as a card.

import { Button, Checkbox } from '@mantine/core';
import { memo } from 'react';
import { useTranslation } from 'react-i18next';
import { useMay } from '../../api/queries/session.ts';
import { sayWayOut } from '../../components/say-account-state.ts';
import { RelativeTime } from '../../components/times.tsx';
import { AccountMenu, type AccountMenuProps } from './account-menu.tsx';
import { canEnable, needsSignIn, StateMark, StateReason } from './account-state.tsx';
import { AccountStrip } from './account-strip.tsx';
import { QuotaBars } from './quota-bars.tsx';
import { TierMark } from './tier-mark.tsx';

export interface AccountItemProps extends AccountMenuProps {
  readonly isSelected: boolean;
  readonly onSelect: (id: string, isSelected: boolean) => void;
}

const SHOWN_MODELS = 3;

export const AccountCard = memo(function AccountCard(props: AccountItemProps) {
  const { t } = useTranslation();
  const { account, isSelected } = props;
  const { status, lastUsedAt } = account;
  return (
    <li className={isSelected ? 'account-card is-selected' : 'account-card'}>
      <div className="card-head">
        <SelectAccount {...props} />
        <div className="card-name">
          <AccountName {...props} />
          <span className="card-origin">
            <span className="one-line">
              {account.upstream} · {t(`accounts.kinds.${account.kind}`)}
              {account.origin !== 'stored' && ` · ${t(`accounts.origins.${account.origin}`)}`}
            </span>
          </span>
        </div>
        <AccountMenu {...props} />
      </div>
      <div className="card-state">
        <StateMark account={account} />
        <span className="dimmed small">
          <StateReason account={account} />
        </span>
      </div>
      {status.wayOut !== null && <WayOut {...props} />}
      <AccountStrip account={account} />
      <div className="card-quota">
        <QuotaBars account={account} limit={SHOWN_MODELS} />
      </div>
      <div className="card-foot">
        <span>
          {t('accounts.lastUsed')}:{' '}
          {lastUsedAt === null ? t('accounts.notUsed') : <RelativeTime at={lastUsedAt} />}
        </span>
        <TierMark tier={account.tier} />
      </div>
    </li>
  );
});

export function SelectAccount({ account: { id, label }, isSelected, onSelect }: AccountItemProps) {
  const { t } = useTranslation();
  return (
    <Checkbox
      size="xs"
      checked={isSelected}
      aria-label={t('accounts.select', { name: label })}
      onChange={(event) => onSelect(id, event.currentTarget.checked)}
    />
  );
}

export function AccountName({ account, onOpen }: Pick<AccountItemProps, 'account' | 'onOpen'>) {
  return (
    <button type="button" className="name-button" onClick={() => onOpen(account)}>
      <span className="one-line" title={account.label}>
        {account.label}
      </span>
    </button>
  );
}

/** What would help, with the button that does it. */
function WayOut({ account, work, onSignIn }: AccountItemProps) {
  const { t } = useTranslation();
  const { status, kind, id } = account;
  const may = useMay('operator');
  return (
    <div className="way-out-line">
      <span>{sayWayOut({ kind, reason: status.reason }, status.wayOut, t)}</span>
      {needsSignIn(account) && (
        <Button
          size="compact-sm"
          variant="default"
          disabled={!may}
          onClick={() => onSignIn(account)}
        >
          {t('accounts.signInAgain')}
        </Button>
      )}
      {!needsSignIn(account) && canEnable(account) && (
        <Button
          size="compact-sm"
          variant="default"
          loading={work.busyId === id}
          disabled={!may}
          onClick={() => work.enable(account)}
        >
          {t('accounts.enable')}
        </Button>
      )}
    </div>
  );
}
