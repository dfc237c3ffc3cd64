// How many accounts can serve now, and what the others do.

import { IconPlus, IconUsers } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Overview } from '../../../../src/admin/contract.ts';
import { EmptyNote } from '../../components/empty-note.tsx';
import { LinkButton } from '../../components/link-button.tsx';
import { Panel } from '../../components/panel.tsx';
import { useFormat } from '../../components/use-format.ts';

export function AccountsPanel({ accounts }: { readonly accounts: Overview['accounts'] }) {
  const { t } = useTranslation();
  if (accounts.total === 0) {
    return (
      <Panel title={t('overview.accounts')}>
        <EmptyNote
          icon={<IconUsers size={28} />}
          title={t('account.empty')}
          hint={t('account.emptyHint')}
          action={
            <LinkButton to="/accounts" search={{ add: 'key' }} leftSection={<IconPlus size={16} />}>
              {t('overview.addAccount')}
            </LinkButton>
          }
        />
      </Panel>
    );
  }
  return (
    <Panel
      title={t('overview.accounts')}
      actions={<Link to="/accounts">{t('overview.manageAccounts')}</Link>}
    >
      <Shares accounts={accounts} />
    </Panel>
  );
}

function Shares({ accounts }: { readonly accounts: Overview['accounts'] }) {
  const { t } = useTranslation();
  const format = useFormat();
  const { total, usable, untried, failing, cooling, disabled } = accounts;
  const shares = [
    { name: t('overview.usable'), count: usable, tone: 'ok', show: 'usable' },
    { name: t('overview.untried'), count: untried, tone: 'idle', show: 'untried' },
    { name: t('overview.failing'), count: failing, tone: 'bad', show: 'failing' },
    { name: t('overview.cooling'), count: cooling, tone: 'warn', show: 'resting' },
    { name: t('overview.disabled'), count: disabled, tone: 'idle', show: 'off' },
  ] as const;
  return (
    <>
      <p className="usable-count">
        {/* One that was not tried since the gateway started is taken as any other. */}
        <strong>{format.number(usable + untried)}</strong>{' '}
        {t('overview.accountsOf', { total: format.number(total) })}
      </p>
      <div className="shares" aria-hidden="true">
        {shares
          .filter(({ count }) => count > 0)
          .map(({ tone, count, show }) => (
            <span key={show} className={`meter-fill is-${tone}`} style={{ flexGrow: count }} />
          ))}
      </div>
      <ul className="share-list">
        {shares.map(({ name, count, tone, show }) => (
          <li key={show}>
            <Link to="/accounts" search={{ show }} className={`legend is-${tone}`}>
              {name}
            </Link>
            <span>{format.number(count)}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
