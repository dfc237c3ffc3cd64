// What goes through now, and through the last hour.

import { useTranslation } from 'react-i18next';
import type { Overview } from '../../../../src/admin/contract.ts';
import { Panel } from '../../components/panel.tsx';
import { useFormat } from '../../components/use-format.ts';
import { TrafficChart } from './traffic-chart.tsx';

export function TrafficPanel({ overview }: { readonly overview: Overview }) {
  const { t } = useTranslation();
  const format = useFormat();
  const { live, series } = overview;
  const hasTraffic = series.some(({ requests }) => requests > 0);
  const perMinute = t('overview.perMinute');
  return (
    <Panel className="traffic">
      <div className="traffic-figures">
        <Figure name={t('overview.requests')} unit={perMinute}>
          {format.compact(live.requestsPerMinute)}
        </Figure>
        <Figure name={t('overview.tokens')} unit={perMinute}>
          {format.compact(live.tokensPerMinute)}
        </Figure>
        <Figure name={t('overview.errors')} unit={perMinute} isBad={live.errorsPerMinute > 0}>
          {format.compact(live.errorsPerMinute)}
        </Figure>
        <Figure name={t('overview.inFlight')} unit={t('overview.now')}>
          {format.compact(live.inFlight)}
        </Figure>
      </div>
      <TrafficChart series={series} />
      {!hasTraffic && (
        <p className="traffic-empty">
          <strong>{t('overview.noTraffic')}</strong> {t('overview.noTrafficHint')}
        </p>
      )}
    </Panel>
  );
}

interface FigureProps {
  readonly name: string;
  readonly unit: string;
  readonly isBad?: boolean;
  readonly children: string;
}

function Figure({ name, unit, isBad, children }: FigureProps) {
  return (
    <div className={isBad === true ? 'figure is-bad' : 'figure'}>
      <span className="figure-name">{name}</span>
      <span className="figure-value">{children}</span>
      <span className="figure-unit">{unit}</span>
    </div>
  );
}
