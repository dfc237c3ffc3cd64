// The keyboard's way through a long list: one Tab stop, arrow keys between rows, and a focus that stays.

import type { Range, Virtualizer } from '@tanstack/react-virtual';
import { defaultRangeExtractor } from '@tanstack/react-virtual';
import {
  type FocusEvent,
  type KeyboardEvent,
  type RefObject,
  useCallback,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';

export interface RowFocus {
  /** Of the row that had the focus last; -1 while none had it, or when it is gone. */
  readonly activeIndex: number;
  /** The active row always exists, so that the focus on it is never lost. */
  rangeExtractor(range: Range): number[];
  onFocus(event: FocusEvent): void;
  onBlur(): void;
  onKeyDown(event: KeyboardEvent, list: Virtualizer<HTMLElement, Element>): void;
}

/** A row is reached by the first link or button in it. */
export function useRowFocus(
  frame: RefObject<HTMLElement | null>,
  keys: readonly string[],
): RowFocus {
  const [activeKey, setActiveKey] = useState<string>();
  const holdsFocus = useRef(false);
  const isMoving = useRef(false);
  const activeIndex = activeKey === undefined ? -1 : keys.indexOf(activeKey);
  useLayoutEffect(() => {
    if (isMoving.current) {
      isMoving.current = false;
      stopIn(findRow(frame.current, activeIndex))?.focus({ preventScroll: true });
    }
    // Its row is gone: the list keeps the focus, so that the next key still means it.
    if (holdsFocus.current && document.activeElement === document.body) {
      frame.current?.focus({ preventScroll: true });
    }
  });
  const rangeExtractor = useCallback(
    (range: Range): number[] => {
      const indexes = defaultRangeExtractor(range);
      if (activeIndex < 0 || indexes.includes(activeIndex)) return indexes;
      return [...indexes, activeIndex].sort((one, other) => one - other);
    },
    [activeIndex],
  );
  return {
    activeIndex,
    rangeExtractor,
    onFocus({ target }) {
      holdsFocus.current = true;
      const index = indexOf(target);
      if (index !== undefined) setActiveKey(keys[index]);
    },
    // React tells of no blur that its own removal of a row brings about.
    onBlur() {
      holdsFocus.current = false;
    },
    onKeyDown(event, list) {
      const from = indexOf(event.target);
      if (from === undefined || event.target !== stopIn(findRow(frame.current, from))) return;
      const page = Math.max(1, (list.range?.endIndex ?? 0) - (list.range?.startIndex ?? 0) - 1);
      const to = targetOf(event, { from, page, last: keys.length - 1 });
      if (to === undefined) return;
      event.preventDefault();
      if (to === from) return;
      isMoving.current = true;
      setActiveKey(keys[to]);
      list.scrollToIndex(to, { align: 'auto' });
    },
  };
}

interface Place {
  readonly from: number;
  readonly page: number;
  readonly last: number;
}

/** Undefined for keys that do not move. */
function targetOf(event: KeyboardEvent, { from, page, last }: Place): number | undefined {
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return undefined;
  switch (event.key) {
    case 'ArrowDown':
      return Math.min(from + 1, last);
    case 'ArrowUp':
      return Math.max(from - 1, 0);
    case 'PageDown':
      return Math.min(from + page, last);
    case 'PageUp':
      return Math.max(from - page, 0);
    case 'Home':
      return 0;
    case 'End':
      return last;
    default:
      return undefined;
  }
}

function findRow(frame: HTMLElement | null, index: number): Element | null | undefined {
  return frame?.querySelector(`[data-index="${index}"]`);
}

function stopIn(row: Element | null | undefined): HTMLElement | null | undefined {
  return row?.querySelector<HTMLElement>('a, button');
}

function indexOf(target: EventTarget): number | undefined {
  const row = target instanceof Element ? target.closest('[data-index]') : null;
  return row === null ? undefined : Number(row.getAttribute('data-index'));
}
