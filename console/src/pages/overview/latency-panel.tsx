// How long answers took in the last 24 hours.

import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { latencyQuery } from '../../api/queries/latency.ts';
import { LatencyChart } from '../../components/latency-chart.tsx';
import { LatencyFigures } from '../../components/latency-figures.tsx';
import { LinkButton } from '../../components/link-button.tsx';
import { useNow } from '../../components/now.tsx';
import { Panel } from '../../components/panel.tsx';
import { useFormat } from '../../components/use-format.ts';
import { startOfPeriod } from '../usage/usage-view.ts';

export function LatencyPanel() {
  const { t } = useTranslation();
  const format = useFormat();
  const from = startOfPeriod('day', useNow());
  const { data } = useQuery(latencyQuery({ from, step: 'hour', by: 'none' }));
  return (
    <Panel
      title={t('common.latency')}
      hint={t('common.lastDay')}
      actions={
        <LinkButton to="/usage" search={{ period: 'day' }} variant="subtle" size="compact-sm">
          {t('overview.costDetails')}
        </LinkButton>
      }
    >
      <div className="overview-latency">
        <LatencyFigures figures={data?.all} />
        <LatencyChart spans={data?.spans} titleOf={format.clock} />
      </div>
    </Panel>
  );
}
