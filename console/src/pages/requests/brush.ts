// The parts of a histogram that are marked, from where the mark began to where it is now.

export interface Brush {
  readonly anchor: number;
  readonly head: number;
}

/** Both ends are within. */
export function endsOf({ anchor, head }: Brush): readonly [first: number, last: number] {
  return anchor < head ? [anchor, head] : [head, anchor];
}

/** The part at a place of a plot that has `count` of them side by side; the nearest one beyond its ends. */
export function partAt(x: number, width: number, count: number): number {
  if (width <= 0 || count === 0) return 0;
  return Math.min(count - 1, Math.max(0, Math.floor((x / width) * count)));
}

/**
 * The mark after a key; undefined for keys that do nothing here. Without a mark it begins at the latest part, with
 * Shift it grows from where it is.
 */
export function moveBrush(
  brush: Brush | undefined,
  { key, shiftKey }: { readonly key: string; readonly shiftKey: boolean },
  count: number,
): Brush | undefined {
  const last = count - 1;
  const from = brush?.head ?? count;
  const to = targetOf(key, from, last);
  if (to === undefined) return undefined;
  const head = Math.min(last, Math.max(0, to));
  return { head, anchor: shiftKey && brush !== undefined ? brush.anchor : head };
}

const PAGE = 10;

function targetOf(key: string, from: number, last: number): number | undefined {
  switch (key) {
    case 'ArrowLeft':
      return from - 1;
    case 'ArrowRight':
      return from + 1;
    case 'PageUp':
      return from - PAGE;
    case 'PageDown':
      return from + PAGE;
    case 'Home':
      return 0;
    case 'End':
      return last;
    default:
      return undefined;
  }
}
