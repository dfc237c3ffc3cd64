// How an account did: the last 24 hours as a strip, its last failure, and how long its answers take.

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Account, AccountOutcomes } from '../../../../src/admin/contract.ts';
import { latencyQuery, outcomesQuery } from '../../api/queries/latency.ts';
import { LatencyFigures } from '../../components/latency-figures.tsx';
import { useNow } from '../../components/now.tsx';
import { RelativeTime } from '../../components/times.tsx';
import { useFormat } from '../../components/use-format.ts';
import { useSentences } from '../../i18n/use-sentences.ts';
import { startOfPeriod } from '../usage/usage-view.ts';
import './outcome-strip.css';

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

interface OutcomeStripProps {
  /** Absent where there was no attempt. */
  readonly outcomes: AccountOutcomes | undefined;
  readonly from: number;
  readonly stepMs: number;
}

const HEIGHT = 20;
const WIDTH = 5;

function OutcomeStrip({ outcomes, from, stepMs }: OutcomeStripProps) {
  const { t } = useTranslation();
  const format = useFormat();
  if (outcomes === undefined) {
    return <span className="dimmed small">{t('accounts.noAttempts')}</span>;
  }
  const { good, failed } = outcomes;
  const [goods, failures] = [sum(good), sum(failed)];
  const share = format.percent((goods / (goods + failures)) * 100);
  return (
    <div className="outcome-strip">
      <svg
        viewBox={`0 0 ${good.length * WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={t('accounts.stripLabel', {
          good: format.number(goods),
          failed: format.number(failures),
        })}
      >
        {good.map((ok, index) => {
          const bad = failed[index] ?? 0;
          const at = from + index * stepMs;
          const badHeight = ok + bad === 0 ? 0 : Math.ceil((HEIGHT * bad) / (ok + bad));
          const place = { x: index * WIDTH, width: WIDTH - 1 };
          return (
            <g key={at}>
              <title>
                {t('accounts.stripPart', {
                  time: format.clock(at),
                  good: format.number(ok),
                  failed: format.number(bad),
                })}
              </title>
              <rect
                {...place}
                className={ok + bad === 0 ? 'is-none' : 'is-good'}
                height={HEIGHT - badHeight}
              />
              <rect {...place} className="is-failed" y={HEIGHT - badHeight} height={badHeight} />
            </g>
          );
        })}
      </svg>
      <span className="strip-share">{t('accounts.succeeded', { share })}</span>
    </div>
  );
}

function sum(counts: readonly number[]): number {
  return counts.reduce((all, one) => all + one, 0);
}
