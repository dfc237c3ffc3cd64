// Long lists in portions: the next one comes when the end of the last is nearly reached.

import { Button } from '@mantine/core';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import './more-rows.css';

export interface MoreRowsProps<Row> {
  readonly rows: readonly Row[];
  /** A change of it begins again with the first portion. */
  readonly resetKey: string;
  readonly children: (rows: readonly Row[]) => ReactNode;
}

const PORTION = 30;
const AHEAD = '600px';

export function MoreRows<Row>({ rows, resetKey, children }: MoreRowsProps<Row>) {
  const { t } = useTranslation();
  const [count, setCount] = useState(PORTION);
  // Rows that stay are not made anew: a search would do that with each letter.
  const [began, setBegan] = useState(resetKey);
  if (began !== resetKey) {
    setBegan(resetKey);
    setCount(PORTION);
  }
  const end = useRef<HTMLDivElement>(null);
  const hasMore = count < rows.length;
  // An observer tells changes only: each portion has its own, as the end may still be near after it.
  useEffect(() => {
    const { current } = end;
    if (!hasMore || current === null) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.at(-1)?.isIntersecting === true) setCount(count + PORTION);
      },
      { rootMargin: AHEAD },
    );
    observer.observe(current);
    return () => observer.disconnect();
  }, [hasMore, count]);
  return (
    <>
      {children(rows.slice(0, count))}
      {hasMore && (
        <div ref={end} className="more-rows">
          <Button variant="default" onClick={() => setCount((before) => before + PORTION)}>
            {t('common.showMore')}
          </Button>
        </div>
      )}
    </>
  );
}
