// How many requests there were over time, and how they ended; a time marked in it narrows the list.

import { Button } from '@mantine/core';
import { IconZoomOut } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, type PointerEvent, useId, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { RequestHistogram } from '../../../../src/admin/contract.ts';
import { histogramQuery, type RequestQuery } from '../../api/queries/requests.ts';
import { useFormat } from '../../components/use-format.ts';
import { regionOf } from '../../i18n/region.ts';
import { type Brush, endsOf, moveBrush, partAt } from './brush.ts';
import './histogram.css';

export interface HistogramProps {
  readonly query: RequestQuery;
  /** Whether a time is marked already. */
  readonly isZoomed: boolean;
  readonly isFollowing: boolean;
  readonly onZoom: (span: { readonly from: number; readonly to: number }) => void;
  readonly onZoomOut: () => void;
}

type Part = RequestHistogram['parts'][number];

const OUTCOMES = ['ok', 'cancelled', 'error'] as const;
const NO_PARTS: readonly Part[] = [];

export function Histogram({ query, isZoomed, isFollowing, onZoom, onZoomOut }: HistogramProps) {
  const { t } = useTranslation();
  const format = useFormat();
  const help = useId();
  const { data } = useQuery(histogramQuery(query, isFollowing));
  const [brush, setBrush] = useState<Brush>();
  const [pointed, setPointed] = useState<number>();
  const names = useSpanNames(data?.stepMs ?? 0);
  const parts = data?.parts ?? NO_PARTS;
  const peak = Math.max(1, ...parts.map(sumOf));
  const marked = brush === undefined ? pointedAt(pointed, parts) : endsOf(brush);
  const shown = marked === undefined ? parts : parts.slice(marked[0], marked[1] + 1);
  const sums = OUTCOMES.map((outcome) => sumBy(shown, outcome));
  const says = (from: number, to: number): string => {
    const [ok = 0, cancelled = 0, error = 0] = sums;
    const [first, last] = [parts[from], parts[to]];
    if (first === undefined || last === undefined || data === undefined) return '';
    return t('requests.histogramPart', {
      span: names.span(first.at, last.at + data.stepMs),
      requests: format.number(ok + cancelled + error),
      errors: format.number(error),
    });
  };
  const zoom = (to: Brush | undefined): void => {
    setBrush(undefined);
    if (to === undefined || data === undefined) return;
    const [first, last] = endsOf(to);
    const [begin, end] = [parts[first], parts[last]];
    if (begin === undefined || end === undefined) return;
    onZoom({ from: begin.at, to: end.at + data.stepMs });
  };
  const place = ({ currentTarget, clientX }: PointerEvent<HTMLElement>): number => {
    const { left, width } = currentTarget.getBoundingClientRect();
    return partAt(clientX - left, width, parts.length);
  };
  const onKey = (event: KeyboardEvent): void => {
    const moved = moveBrush(brush, event, parts.length);
    if (moved !== undefined) setBrush(moved);
    else if (event.key === 'Enter' && brush !== undefined) zoom(brush);
    else if (event.key === 'Escape' && brush !== undefined) setBrush(undefined);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const [first, last] = [parts[0], parts.at(-1)];
  return (
    <section className="histogram" aria-label={t('requests.histogram')}>
      <div className="histogram-head">
        <span className="histogram-reading">
          {marked === undefined ? t('requests.histogramHint') : says(...marked)}
        </span>
        {data?.isWhole === false && (
          <span className="dimmed">{t('requests.histogramPartial')}</span>
        )}
        {isZoomed && (
          <Button
            size="compact-xs"
            variant="subtle"
            leftSection={<IconZoomOut size={14} />}
            onClick={onZoomOut}
          >
            {t('requests.zoomOut')}
          </Button>
        )}
      </div>
      <div
        className="histogram-plot"
        role="slider"
        tabIndex={0}
        aria-label={t('requests.histogramSlider')}
        aria-describedby={help}
        aria-orientation="horizontal"
        aria-valuemin={0}
        aria-valuemax={Math.max(0, parts.length - 1)}
        aria-valuenow={brush?.head ?? Math.max(0, parts.length - 1)}
        aria-valuetext={brush === undefined ? t('requests.nothingMarked') : says(...endsOf(brush))}
        onKeyDown={onKey}
        onBlur={() => setBrush(undefined)}
        onPointerDown={(event) => {
          if (event.button !== 0 || parts.length === 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          setBrush({ anchor: place(event), head: place(event) });
        }}
        onPointerMove={(event) => {
          const head = place(event);
          setPointed(head);
          if (event.currentTarget.hasPointerCapture(event.pointerId)) {
            setBrush((known) => known && { ...known, head });
          }
        }}
        onPointerUp={(event) => {
          if (event.currentTarget.hasPointerCapture(event.pointerId)) zoom(brush);
        }}
        onPointerCancel={() => setBrush(undefined)}
        onPointerLeave={() => setPointed(undefined)}
      >
        {parts.map((part, index) => (
          <span
            key={part.at}
            className={
              marked !== undefined && index >= marked[0] && index <= marked[1]
                ? 'histogram-part is-marked'
                : 'histogram-part'
            }
          >
            {OUTCOMES.map(
              (outcome) =>
                part[outcome] > 0 && (
                  <span
                    key={outcome}
                    className={`is-${outcome}`}
                    style={{ blockSize: `${(part[outcome] / peak) * 100}%` }}
                  />
                ),
            )}
          </span>
        ))}
      </div>
      <div className="histogram-axis" aria-hidden="true">
        <span>{first && names.tick(first.at)}</span>
        <span>{last && names.tick(last.at + (data?.stepMs ?? 0))}</span>
      </div>
      <span id={help} className="visually-hidden">
        {t('requests.histogramKeys')}
      </span>
    </section>
  );
}

function pointedAt(
  pointed: number | undefined,
  parts: readonly Part[],
): readonly [first: number, last: number] | undefined {
  return pointed === undefined || parts[pointed] === undefined ? undefined : [pointed, pointed];
}

function sumOf({ ok, error, cancelled }: Part): number {
  return ok + error + cancelled;
}

function sumBy(parts: readonly Part[], outcome: (typeof OUTCOMES)[number]): number {
  return parts.reduce((sum, part) => sum + part[outcome], 0);
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

interface SpanNames {
  tick(at: number): string;
  /** @param to not included */
  span(from: number, to: number): string;
}

function useSpanNames(stepMs: number): SpanNames {
  const { i18n } = useTranslation();
  const { language } = i18n;
  return useMemo(() => {
    const format = new Intl.DateTimeFormat(regionOf(language), {
      month: 'short',
      day: 'numeric',
      ...(stepMs < DAY_MS && { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
      ...(stepMs < MINUTE_MS && { second: '2-digit' }),
    });
    return {
      tick: (at) => format.format(at),
      span: (from, to) => format.formatRange(from, to),
    };
  }, [language, stepMs]);
}
