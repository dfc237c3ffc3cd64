// The state of the gateway in ten seconds: what is well, what is not, and the way out.

import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { latencyQuery } from '../../api/queries/latency.ts';
import { overviewQuery } from '../../api/queries/overview.ts';
import { ErrorNote } from '../../components/error-note.tsx';
import { LatencyChart } from '../../components/latency-chart.tsx';
import { LatencyFigures } from '../../components/latency-figures.tsx';
import { LinkButton } from '../../components/link-button.tsx';
import { useNow } from '../../components/now.tsx';
import { Panel } from '../../components/panel.tsx';
import { useFormat } from '../../components/use-format.ts';
import { startOfPeriod } from '../usage/usage-view.ts';
import { AccountsPanel } from './accounts-panel.tsx';
import { AttentionList } from './attention-list.tsx';
import { CostPanel } from './cost-panel.tsx';
import { ErrorsPanel } from './errors-panel.tsx';
import { QuotaPanel } from './quota-panel.tsx';
import { StatusHead } from './status-head.tsx';
import { TrafficPanel } from './traffic-panel.tsx';
import './page.css';

export function OverviewPage() {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(overviewQuery);
  if (data === undefined) {
    if (error === null) return <OverviewSkeleton />;
    return (
      <ErrorNote error={error} title={t('common.failedToLoad')} onRetry={() => void refetch()} />
    );
  }
  return (
    <div className="overview">
      <StatusHead overview={data} />
      <AttentionList entries={data.attention} />
      <TrafficPanel overview={data} />
      <div className="overview-pair">
        <QuotaPanel quota={data.quota} />
        <AccountsPanel accounts={data.accounts} />
      </div>
      <LatencyPanel />
      <CostPanel />
      <ErrorsPanel errors={data.recentErrors} />
    </div>
  );
}

/** The shape of the overview before its figures are there, so that nothing jumps. */
function OverviewSkeleton() {
  const { t } = useTranslation();
  return (
    <div className="overview" role="status" aria-label={t('common.loading')}>
      <Skeleton height={92} radius="md" />
      <Skeleton height={296} radius="md" />
      <div className="overview-pair">
        <Skeleton height={280} radius="md" />
        <Skeleton height={280} radius="md" />
      </div>
      <Skeleton height={220} radius="md" />
    </div>
  );
}

/** How long answers took in the last 24 hours. */
function LatencyPanel() {
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
