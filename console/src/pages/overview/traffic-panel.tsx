// What goes through now, and through the last hour.

import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Overview } from '../../../../src/admin/contract.ts';
import { Panel } from '../../components/panel.tsx';
import { useChartSlider } from '../../components/use-chart-slider.ts';
import { useFormat } from '../../components/use-format.ts';

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

type Series = Overview['series'];
type Minute = Series[number];

const HEIGHT = 132;
const SLOT = 12;
const BAR = 8;
const LEAST = 2;
const MINUTE_MS = 60_000;

function TrafficChart({ series }: { readonly series: Series }) {
  const { t } = useTranslation();
  const format = useFormat();
  const navigate = useNavigate();
  const peak = Math.max(1, ...series.map(({ requests }) => requests));
  const sum = (pick: (minute: Minute) => number): number =>
    series.reduce((total, minute) => total + pick(minute), 0);
  const label = t('overview.chartLabel', {
    requests: format.number(sum(({ requests }) => requests)),
    errors: format.number(sum(({ errors }) => errors)),
    peak: format.number(Math.max(0, ...series.map(({ requests }) => requests))),
  });
  const hasTraffic = series.some(({ requests }) => requests > 0);
  const open = ({ at }: Minute): void =>
    void navigate({ to: '/requests', search: { from: String(at), to: String(at + MINUTE_MS) } });
  const { shown, setShown, slider } = useChartSlider({
    count: series.length,
    label,
    sayColumn: (index) => series[index] && format.clock(series[index].at),
    onOpen: (index) => series[index] && open(series[index]),
  });
  const minute = shown === undefined ? undefined : series[shown];
  return (
    <figure className="chart">
      <figcaption>
        <span>{t('overview.lastHour')}</span>
        <span className="chart-read">
          {minute === undefined ? (
            <Legend />
          ) : (
            `${format.clock(minute.at)} · ${t('overview.chartMinute', {
              requests: format.number(minute.requests),
              errors: format.number(minute.errors),
              tokens: format.compact(minute.tokens),
            })}`
          )}
        </span>
      </figcaption>
      <div className="chart-plot" {...slider}>
        {hasTraffic && <span className="chart-peak">{format.compact(peak)}</span>}
        <svg
          viewBox={`0 0 ${Math.max(1, series.length) * SLOT} ${HEIGHT}`}
          preserveAspectRatio="none"
          aria-hidden="true"
          onPointerLeave={() => setShown(undefined)}
        >
          {series.map((one, index) => (
            <MinuteBar
              key={String(one.at)}
              minute={one}
              x={index * SLOT}
              scale={HEIGHT / peak}
              isShown={index === shown}
              onShow={() => setShown(index)}
              onOpen={() => open(one)}
            />
          ))}
        </svg>
      </div>
      <div className="chart-axis" aria-hidden="true">
        {[series[0], series[Math.floor(series.length / 2)]].map((one, index) => (
          <span key={index === 0 ? 'first' : 'middle'}>
            {one === undefined ? '' : format.clock(one.at)}
          </span>
        ))}
        <span>{t('overview.now')}</span>
      </div>
    </figure>
  );
}

function Legend() {
  const { t } = useTranslation();
  return (
    <>
      <span className="legend is-good">{t('overview.succeeded')}</span>
      <span className="legend is-bad">{t('overview.failed')}</span>
    </>
  );
}

interface MinuteBarProps {
  readonly minute: Minute;
  readonly x: number;
  /** Height of one request. */
  readonly scale: number;
  readonly isShown: boolean;
  readonly onShow: () => void;
  readonly onOpen: () => void;
}

function MinuteBar({ minute, x, scale, isShown, onShow, onOpen }: MinuteBarProps) {
  const { requests, errors } = minute;
  const bad = errors === 0 ? 0 : Math.max(LEAST, errors * scale);
  const good = requests === errors ? 0 : Math.max(LEAST, (requests - errors) * scale);
  const inset = (SLOT - BAR) / 2;
  return (
    // The whole column answers to the pointer, not the bar alone.
    // biome-ignore lint/a11y/noStaticElementInteractions: the chart around it has the keys
    <g className={isShown ? 'bar is-shown' : 'bar'} onPointerEnter={onShow} onClick={onOpen}>
      <rect className="bar-slot" x={x} y={0} width={SLOT} height={HEIGHT} />
      <rect className="bar-base" x={x + inset} y={HEIGHT - 1} width={BAR} height={1} />
      <rect className="bar-good" x={x + inset} y={HEIGHT - good} width={BAR} height={good} />
      <rect className="bar-bad" x={x + inset} y={HEIGHT - good - bad} width={BAR} height={bad} />
    </g>
  );
}
