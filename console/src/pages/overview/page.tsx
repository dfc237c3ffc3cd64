// The state of the gateway in ten seconds: what is well, what is not, and the way out.

import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { overviewQuery } from '../../api/queries/overview.ts';
import { ErrorNote } from '../../components/error-note.tsx';
import { AccountsPanel } from './accounts-panel.tsx';
import { AttentionList } from './attention-list.tsx';
import { CostPanel } from './cost-panel.tsx';
import { ErrorsPanel } from './errors-panel.tsx';
import { LatencyPanel } from './latency-panel.tsx';
import { QuotaPanel } from './quota-panel.tsx';
import { OverviewSkeleton } from './skeleton.tsx';
import { StatusHead } from './status-head.tsx';
import { TrafficPanel } from './traffic-panel.tsx';
import './page.css';

export function OverviewPage() {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(overviewQuery);
  if (data === undefined) {
    if (error === null) return <OverviewSkeleton />;
    const retry = () => void refetch();
    return <ErrorNote error={error} title={t('common.failedToLoad')} onRetry={retry} />;
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
