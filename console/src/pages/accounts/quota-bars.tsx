// What an account has left of each model, the scarcest first where not all fit.

import { Tooltip } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Account, Quota } from '../../../../src/admin/contract.ts';
import { Meter } from '../../components/meter.tsx';
import { ResetCountdown } from '../../components/times.tsx';
import { useFormat } from '../../components/use-format.ts';

export interface QuotaBarsProps {
  readonly account: Account;
  /** How many models are shown; all when absent. */
  readonly limit?: number;
  /** Without saying how many are not shown. */
  readonly isTerse?: boolean;
}

export function QuotaBars({ account, limit, isTerse = false }: QuotaBarsProps) {
  const { t } = useTranslation();
  const { quotas } = account;
  if (quotas.length === 0) return <p className="quota-none">{t('accounts.noQuota')}</p>;
  const scarcest = quotas.toSorted(
    (left, right) => left.percent - right.percent || (left.model < right.model ? -1 : 1),
  );
  const shown = scarcest.slice(0, limit ?? quotas.length);
  const hidden = quotas.length - shown.length;
  return (
    <>
      <ul className="quota-bars">
        {shown.map((quota) => (
          <QuotaBar key={quota.model} quota={quota} />
        ))}
      </ul>
      {hidden > 0 && !isTerse && (
        <p className="quota-none">{t('accounts.moreModels', { count: hidden })}</p>
      )}
    </>
  );
}

function QuotaBar({ quota }: { readonly quota: Quota }) {
  const { t } = useTranslation();
  const format = useFormat();
  const { model, percent, resetsAt, source, isProtected } = quota;
  const left = format.percent(percent);
  return (
    <li>
      <div className="quota-line">
        <span className="one-line" title={model}>
          {model}
        </span>
        <span className="quota-marks">
          {isProtected && (
            <Tooltip label={t('accounts.protectedHint')}>
              <span>{t('accounts.protected')}</span>
            </Tooltip>
          )}
          {source === 'estimated' && (
            <Tooltip label={t('accounts.estimatedHint')}>
              <span>{t('accounts.estimated')}</span>
            </Tooltip>
          )}
          {source === 'rate' && (
            <Tooltip label={t('accounts.rateHint')}>
              <span>{t('accounts.rate')}</span>
            </Tooltip>
          )}
          {percent < 100 && resetsAt !== null && <ResetCountdown at={resetsAt} />}
        </span>
        <span className="quota-left">{left}</span>
      </div>
      <Meter
        percent={percent}
        label={`${model}: ${t('common.percent', { value: left })}`}
        {...(isProtected ? { tone: 'idle' as const } : {})}
      />
    </li>
  );
}
