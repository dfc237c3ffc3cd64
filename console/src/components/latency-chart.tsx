// The median, p95 and p99 of durations over time, as lines.

import { useTranslation } from 'react-i18next';
import type { Latency } from '../../../src/admin/contract.ts';
import { useFormat } from './use-format.ts';
import './latency-chart.css';

const LINES = ['p50', 'p95', 'p99'] as const;
const WIDTH = 600;
const HEIGHT = 120;
const NO_SPANS: Latency['spans'] = [];

interface LatencyChartProps {
  /** Undefined until they are there. */
  readonly spans: Latency['spans'] | undefined;
  readonly titleOf: (at: number) => string;
}

/** Spans without an answer break the lines. As high without any as with all of them. */
export function LatencyChart({ spans = NO_SPANS, titleOf }: LatencyChartProps) {
  const { t } = useTranslation();
  const format = useFormat();
  const peak = Math.max(0, ...spans.map(({ duration }) => duration?.p99 ?? 0));
  const x = (index: number): number => (WIDTH * (index + 0.5)) / Math.max(1, spans.length);
  const y = (ms: number): number => HEIGHT - (HEIGHT * ms) / Math.max(1, peak);
  const [first, last] = [spans[0], spans.at(-1)];
  if (first === undefined || last === undefined) return <div className="latency-chart" />;
  return (
    <figure className="latency-chart">
      <ul className="latency-legend" aria-hidden="true">
        {LINES.map((line) => (
          <li key={line} className={`is-${line}`}>
            {t(`common.percentiles.${line}`)}
          </li>
        ))}
      </ul>
      <div className="latency-plot">
        <span className="latency-peak">{format.duration(peak)}</span>
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={t('common.latencyChart', {
            from: titleOf(first.at),
            to: titleOf(last.at),
            peak: format.duration(peak),
          })}
        >
          {LINES.map((line) => {
            const points = spans.map(
              ({ duration }, index) => duration && `${x(index)},${y(duration[line])}`,
            );
            const lone = points.map((point, at) =>
              points[at - 1] === undefined && points[at + 1] === undefined ? point : undefined,
            );
            return (
              <g key={line} className={`latency-line is-${line}`}>
                <path d={drawn(points)} />
                <path className="latency-point" d={drawn(lone)} />
              </g>
            );
          })}
          {spans.map(({ at, duration }, index) => (
            <rect
              key={at}
              className="latency-hit"
              x={x(index) - WIDTH / spans.length / 2}
              width={WIDTH / spans.length}
              height={HEIGHT}
            >
              <title>
                {duration === undefined
                  ? titleOf(at)
                  : `${titleOf(at)}: ${LINES.map(
                      (line) =>
                        `${t(`common.percentiles.${line}`)} ${format.duration(duration[line])}`,
                    ).join(' · ')}`}
              </title>
            </rect>
          ))}
        </svg>
        <div className="latency-ends">
          <span>{titleOf(first.at)}</span>
          <span>{titleOf(last.at)}</span>
        </div>
      </div>
    </figure>
  );
}

/** Lines through what stands side by side. What stands alone is a line too short to be seen but for its round ends. */
function drawn(points: readonly (string | undefined)[]): string {
  return points
    .map((point, at) => point && `${points[at - 1] === undefined ? 'M' : 'L'}${point}h0.1`)
    .join('');
}
