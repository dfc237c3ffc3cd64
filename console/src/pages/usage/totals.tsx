// The sums of the whole time, with what the caches saved.

import { useTranslation } from 'react-i18next';
import { useFormat } from '../../components/use-format.ts';
import { allTokens, cacheShare, isPartlyPriced, sumAll, type UsageSum } from './sum-usage.ts';

export function Totals({ buckets }: { readonly buckets: readonly UsageSum[] }) {
  const { t } = useTranslation();
  const format = useFormat();
  const sum = sumAll(buckets);
  const share = cacheShare(sum);
  const errorShare = sum.requests === 0 ? 0 : (sum.errors / sum.requests) * 100;
  return (
    <dl className="totals">
      <Total
        name={t('usage.requests')}
        value={format.compact(sum.requests)}
        hint={t('usage.imagesDrawn', { count: sum.images, formatted: format.number(sum.images) })}
      />
      <Total
        name={t('usage.tokens')}
        value={format.compact(allTokens(sum))}
        hint={t('usage.inOut', {
          input: format.compact(sum.inputTokens),
          output: format.compact(sum.outputTokens),
        })}
      />
      <Total
        name={t('usage.errors')}
        value={format.compact(sum.errors)}
        hint={t('usage.errorShare', { share: format.percent(errorShare) })}
        isBad={errorShare >= 5}
      />
      <Total
        name={t('usage.cache')}
        value={share === undefined ? '–' : format.percent(share * 100)}
        hint={t('usage.cacheHint', { tokens: format.compact(sum.cachedTokens) })}
      />
      <Total
        name={t('usage.cost')}
        value={sum.pricedRequests === 0 ? '–' : format.money(sum.costNanos)}
        hint={
          sum.pricedRequests === 0
            ? t('usage.noPrices')
            : [
                t('usage.costHint', {
                  flatRate: format.money(sum.flatRateNanos),
                  saved: format.money(sum.cacheSavingsNanos),
                }),
                ...(isPartlyPriced(sum) ? [t('usage.partlyPriced')] : []),
              ].join(' · ')
        }
      />
    </dl>
  );
}

interface TotalProps {
  readonly name: string;
  readonly value: string;
  readonly hint: string;
  readonly isBad?: boolean;
}

function Total({ name, value, hint, isBad = false }: TotalProps) {
  return (
    <div className="total">
      <dt>{name}</dt>
      <dd>
        <span className={isBad ? 'total-value is-bad' : 'total-value'}>{value}</span>
        <span className="sub-line">{hint}</span>
      </dd>
    </div>
  );
}
