// Columns over time, each stacked of the same parts; read with the pointer or the arrow keys.

import { type KeyboardEvent, useState } from 'react';
import { placeTicks } from './place-ticks.ts';
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
}

const TICKS = 8;

export function StackedColumns({ series, columns, label }: StackedColumnsProps) {
  const [shown, setShown] = useState<number>();
  const format = useFormat();
  const peak = niceCeiling(Math.max(0, ...columns.map((column) => totalOf(column, series))));
  const column = shown === undefined ? undefined : columns[shown];
  const onKey = (event: KeyboardEvent): void => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (by === 0) return;
    event.preventDefault();
    const last = columns.length - 1;
    setShown((known) => Math.min(last, Math.max(0, known === undefined ? last : known + by)));
  };
  return (
    <div className="columns">
      <Reading column={column} series={series} />
      <div className="columns-plot">
        <div className="columns-scale" aria-hidden="true">
          {[1, 0.5, 0].map((share) => (
            <span key={share}>{format.compact(peak * share)}</span>
          ))}
        </div>
        <div
          className="columns-bars"
          role="img"
          aria-label={label}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: the columns are read with the arrow keys
          tabIndex={0}
          onKeyDown={onKey}
          onBlur={() => setShown(undefined)}
          onPointerLeave={() => setShown(undefined)}
        >
          {columns.map((one, index) => (
            <ColumnBar
              key={one.id}
              column={one}
              series={series}
              peak={peak}
              isShown={index === shown}
              onShow={() => setShown(index)}
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
}

function ColumnBar({ column, series, peak, isShown, onShow }: ColumnBarProps) {
  return (
    <span className={isShown ? 'column is-shown' : 'column'} onPointerEnter={onShow}>
      {series.map(({ id, tone }) => {
        const value = column.values.get(id) ?? 0;
        if (value === 0) return null;
        const share = (value / peak) * 100;
        return <span key={id} className={`tone-${tone}`} style={{ blockSize: `${share}%` }} />;
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
