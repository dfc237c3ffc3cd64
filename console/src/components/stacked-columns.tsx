// Columns over time, each stacked of the same parts; read with the pointer or the arrow keys, and opened with a click or Enter.

import type { MouseEvent } from 'react';
import { placeTicks } from './place-ticks.ts';
import { useChartSlider } from './use-chart-slider.ts';
import { useFormat } from './use-format.ts';
import './stacked-columns.css';

export interface Series {
  readonly id: string;
  readonly name: string;
  /** 0 to 7, or `bad` and `rest`: the colour. */
  readonly tone: string;
}

export interface Column {
  readonly id: string;
  /** What stands below it. */
  readonly tick: string;
  /** What it is called when it is read. */
  readonly title: string;
  /** By the id of the series. */
  readonly values: ReadonlyMap<string, number>;
}

export interface StackedColumnsProps {
  readonly series: readonly Series[];
  readonly columns: readonly Column[];
  readonly label: string;
  /** What is behind a column, or behind one part of it, by their ids. */
  readonly onOpen: (column: string, series?: string) => void;
}

const TICKS = 8;

export function StackedColumns({ series, columns, label, onOpen }: StackedColumnsProps) {
  const format = useFormat();
  const { shown, setShown, slider } = useChartSlider({
    count: columns.length,
    label,
    sayColumn: (index) => columns[index]?.title,
    onOpen: (index) => {
      const column = columns[index];
      if (column !== undefined) onOpen(column.id);
    },
  });
  const peak = niceCeiling(Math.max(0, ...columns.map((column) => totalOf(column, series))));
  const column = shown === undefined ? undefined : columns[shown];
  return (
    <div className="columns">
      <Reading column={column} series={series} />
      <div className="columns-plot">
        <div className="columns-scale" aria-hidden="true">
          {[1, 0.5, 0].map((share) => (
            <span key={share}>{format.compact(peak * share)}</span>
          ))}
        </div>
        <div className="columns-bars" {...slider} onPointerLeave={() => setShown(undefined)}>
          {columns.map((one, index) => (
            <ColumnBar
              key={one.id}
              column={one}
              series={series}
              peak={peak}
              isShown={index === shown}
              onShow={() => setShown(index)}
              onOpen={(part) => onOpen(one.id, part)}
            />
          ))}
        </div>
      </div>
      <div className="columns-ticks" aria-hidden="true">
        <Ticks columns={columns} />
      </div>
    </div>
  );
}

function Ticks({ columns }: { readonly columns: readonly Column[] }) {
  const names = columns.map(({ tick }) => tick);
  const ticks = new Map(placeTicks(names, TICKS).map((tick) => [tick.index, tick]));
  return columns.map(({ id, tick }, index) => {
    const placed = ticks.get(index);
    return (
      <span key={id}>
        {placed !== undefined && <span className={placed.isMinor ? 'is-minor' : ''}>{tick}</span>}
      </span>
    );
  });
}

interface ReadingProps {
  readonly column: Column | undefined;
  readonly series: readonly Series[];
}

/** The legend, with the figures of the column that is pointed at. */
function Reading({ column, series }: ReadingProps) {
  const format = useFormat();
  return (
    <div className="columns-reading" aria-live="polite">
      <span className="columns-title">{column?.title}</span>
      <ul>
        {series.map(({ id, name, tone }) => (
          <li key={id} className={`tone-${tone}`}>
            <span className="one-line" title={name}>
              {name}
            </span>
            {column !== undefined && <strong>{format.compact(column.values.get(id) ?? 0)}</strong>}
          </li>
        ))}
      </ul>
    </div>
  );
}

interface ColumnBarProps {
  readonly column: Column;
  readonly series: readonly Series[];
  readonly peak: number;
  readonly isShown: boolean;
  readonly onShow: () => void;
  readonly onOpen: (series?: string) => void;
}

function ColumnBar({ column, series, peak, isShown, onShow, onOpen }: ColumnBarProps) {
  const open = ({ target }: MouseEvent): void =>
    onOpen(target instanceof HTMLElement ? target.dataset.series : undefined);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the plot around it has the keys
    // biome-ignore lint/a11y/noStaticElementInteractions: as above
    <span className={isShown ? 'column is-shown' : 'column'} onPointerEnter={onShow} onClick={open}>
      {series.map(({ id, tone }) => {
        const value = column.values.get(id) ?? 0;
        if (value === 0) return null;
        const share = (value / peak) * 100;
        return (
          <span
            key={id}
            className={`tone-${tone}`}
            style={{ blockSize: `${share}%` }}
            data-series={id}
          />
        );
      })}
    </span>
  );
}

function totalOf({ values }: Column, series: readonly Series[]): number {
  return series.reduce((sum, { id }) => sum + (values.get(id) ?? 0), 0);
}

/** The next of 1, 2, 4, 5 and 10 times a power of ten: a scale that can be read. */
function niceCeiling(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 4, 5, 10].find((one) => one * power >= value) ?? 10;
  return step * power;
}
