// How an account did: the last 24 hours as a strip, its last failure, and how long its answers take.

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Account } from '../../../../src/admin/contract.ts';
import { latencyQuery, outcomesQuery } from '../../api/queries/latency.ts';
import { LatencyFigures } from '../../components/latency-figures.tsx';
import { useNow } from '../../components/now.tsx';
import { OutcomeStrip } from '../../components/outcome-strip.tsx';
import { RelativeTime } from '../../components/times.tsx';
import { useSentences } from '../../i18n/use-sentences.ts';
import { startOfPeriod } from '../usage/usage-view.ts';

interface AccountProps {
  readonly account: Account;
}

export function AccountStrip({ account }: AccountProps) {
  const { data } = useQuery(outcomesQuery);
  if (data === undefined) return <div className="strip-place" />;
  const outcomes = data.accounts.find((one) => one.account === account.name);
  return (
    <div className="strip-place">
      <OutcomeStrip outcomes={outcomes} from={data.from} stepMs={data.stepMs} />
    </div>
  );
}

export function Health({ account }: AccountProps) {
  const { t } = useTranslation();
  const say = useSentences();
  const from = startOfPeriod('day', useNow());
  const { data } = useQuery(
    latencyQuery({ from, step: 'hour', by: 'none', filter: { account: account.name } }),
  );
  const { lastFailure, lastFailureAt } = account.condition;
  return (
    <section>
      <div className="section-line">
        <h3>{t('accounts.lastDay')}</h3>
        <Link to="/requests" search={{ account: account.name }}>
          {t('accounts.itsRequests')}
        </Link>
      </div>
      <AccountStrip account={account} />
      {lastFailure !== null && lastFailureAt !== null && (
        <p className="state-detail wrap-anywhere">
          {t('accounts.lastFailure')} (<RelativeTime at={lastFailureAt} />
          ): {say(lastFailure)}{' '}
          <Link to="/requests" search={{ account: account.name, status: 'error' }}>
            {t('accounts.itsFailures')}
          </Link>
        </p>
      )}
      <LatencyFigures figures={data?.all} />
    </section>
  );
}
