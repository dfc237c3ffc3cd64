// The external provider: how it takes part, and how its account does.

import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { accountsQuery } from '../../api/queries/accounts.ts';
import { sectionQuery } from '../../api/queries/config.ts';
import { ErrorNote } from '../../components/error-note.tsx';
import { Panel } from '../../components/panel.tsx';
import { RelativeTime } from '../../components/times.tsx';
import { StateMark, StateReason } from '../accounts/account-state.tsx';
import { ProviderForm } from './provider-form.tsx';

export function ProviderPanel() {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(sectionQuery('extprov'));
  return (
    <Panel title={t('provider.title')} hint={t('provider.hint')}>
      <div className="form-stack provider">
        <ProviderState />
        {data === undefined && error === null && <Skeleton height={420} />}
        {data === undefined && error !== null && (
          <ErrorNote error={error} onRetry={() => void refetch()} />
        )}
        {data !== undefined && <ProviderForm section={data} />}
      </div>
    </Panel>
  );
}

/** The settings make one account while the provider takes part. */
function ProviderState() {
  const { t } = useTranslation();
  const { data } = useQuery(accountsQuery);
  const account = data?.accounts.find(({ origin }) => origin === 'settings');
  if (data === undefined) return <Skeleton height={44} />;
  if (account === undefined)
    return <p className="provider-state dimmed">{t('provider.inactive')}</p>;
  const { label, lastUsedAt } = account;
  return (
    <section className="provider-state" aria-label={t('provider.state')}>
      <StateMark account={account} />
      <span className="dimmed small">
        <StateReason account={account} />
      </span>
      <span className="dimmed small">
        {t('accounts.lastUsed')}:{' '}
        {lastUsedAt === null ? t('accounts.notUsed') : <RelativeTime at={lastUsedAt} />}
      </span>
      <Link to="/requests" search={{ account: label }}>
        {t('provider.requests')}
      </Link>
    </section>
  );
}
