// What was spent today and this month, by the calendar of the browser.

import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { usageQuery } from '../../api/queries/usage.ts';
import { LinkButton } from '../../components/link-button.tsx';
import { useNow } from '../../components/now.tsx';
import { ownTimeZone } from '../../components/own-time-zone.ts';
import { Panel } from '../../components/panel.tsx';
import { useFormat } from '../../components/use-format.ts';
import { sumAll, type UsageSum } from '../usage/sum-usage.ts';
import '../usage/page.css';

export function CostPanel() {
  const { t } = useTranslation();
  const date = new Date(useNow());
  const from = new Date(date.getFullYear(), date.getMonth(), 1).getTime();
  const { data } = useQuery(usageQuery({ from, step: 'day', by: 'none', timeZone: ownTimeZone() }));
  const today = data?.spans.at(-1);
  const totals = data?.totals ?? [];
  return (
    <Panel
      title={t('overview.cost')}
      actions={
        <LinkButton
          to="/usage"
          search={{ period: 'thisMonth', by: 'owner' }}
          variant="subtle"
          size="compact-sm"
        >
          {t('overview.costDetails')}
        </LinkButton>
      }
    >
      <dl className="totals">
        <Cost name={t('overview.today')} sum={sumAll(totals.filter(({ at }) => at === today))} />
        <Cost name={t('overview.thisMonth')} sum={sumAll(totals)} />
      </dl>
    </Panel>
  );
}

function Cost({ name, sum }: { readonly name: string; readonly sum: UsageSum }) {
  const { t } = useTranslation();
  const format = useFormat();
  return (
    <div className="total">
      <dt>{name}</dt>
      <dd>
        <span className="total-value">
          {sum.pricedRequests === 0 ? '–' : format.money(sum.costNanos)}
        </span>
        <span className="sub-line">
          {t('overview.costHint', {
            flatRate: format.money(sum.flatRateNanos),
            saved: format.money(sum.cacheSavingsNanos),
          })}
        </span>
      </dd>
    </div>
  );
}
