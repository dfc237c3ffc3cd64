// How long answers took: of all of the time, and over it.

import { useTranslation } from 'react-i18next';
import type { Latency } from '../../../../src/admin/contract.ts';
import { LatencyChart } from '../../components/latency-chart.tsx';
import { LatencyFigures } from '../../components/latency-figures.tsx';
import { Panel } from '../../components/panel.tsx';
import type { UsageView } from './usage-view.ts';
import { useStepNames } from './use-step-names.ts';

interface LatencyPanelProps {
  /** Undefined until it is there. */
  readonly latency: Latency | undefined;
  readonly view: UsageView;
}

export function LatencyPanel({ latency, view }: LatencyPanelProps) {
  const { t } = useTranslation();
  const names = useStepNames(view);
  return (
    <Panel title={t('common.latency')} hint={t('common.latencyHint')}>
      <div className="usage-latency">
        <LatencyFigures figures={latency?.all} />
        <LatencyChart spans={latency?.spans} titleOf={names.title} />
      </div>
    </Panel>
  );
}
