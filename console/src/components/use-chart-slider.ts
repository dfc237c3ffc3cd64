// The columns of a chart as a slider: arrows go from one to the next, Enter opens the one that is shown.

import { type KeyboardEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';

interface ChartSlider {
  readonly count: number;
  readonly label: string;
  /** What is said of a column. */
  readonly sayColumn: (index: number) => string | undefined;
  readonly onOpen: (index: number) => void;
}

export function useChartSlider({ count, label, sayColumn, onOpen }: ChartSlider) {
  const { t } = useTranslation();
  const [shown, setShown] = useState<number>();
  const last = count - 1;
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && shown !== undefined && shown < count) onOpen(shown);
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (by === 0) return;
    event.preventDefault();
    setShown((known) => Math.min(last, Math.max(0, known === undefined ? last : known + by)));
  };
  const slider = {
    role: 'slider',
    'aria-label': label,
    'aria-description': t('common.chartKeys'),
    'aria-orientation': 'horizontal',
    'aria-valuemin': 0,
    'aria-valuemax': Math.max(0, last),
    'aria-valuenow': shown ?? Math.max(0, last),
    'aria-valuetext': (shown === undefined ? undefined : sayColumn(shown)) ?? t('common.noColumn'),
    tabIndex: 0,
    onKeyDown,
    onBlur: () => setShown(undefined),
  } as const;
  return { shown, setShown, slider };
}
