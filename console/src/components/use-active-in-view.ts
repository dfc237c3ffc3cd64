// Brings the chosen one of a row that scrolls into view.

import { type RefObject, useEffect, useRef } from 'react';

/** For the row; `active` names the chosen one. */
export function useActiveInView<Row extends HTMLElement>(active: string): RefObject<Row | null> {
  const row = useRef<Row>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another choice stands elsewhere in the row.
  useEffect(() => {
    const chosen = row.current?.querySelector('[aria-selected=true], [aria-current=page]');
    chosen?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [active]);
  return row;
}
