// Holds back what comes between the unfinished pictures of a drawing and the picture.

import type { CanonicalEvent } from '../../../canonical/event.ts';

/** Takes one event and gives those that are to be written now, in order. */
type DrawingHold = (event: CanonicalEvent) => readonly CanonicalEvent[];

/**
 * Items follow one another, and a model may speak while it draws: its words wait for the picture, or
 * for the end. Call with the events of one answer, in order.
 */
export function createDrawingHold(): DrawingHold {
  let isDrawing = false;
  let held: CanonicalEvent[] = [];
  const release = (): CanonicalEvent[] => {
    isDrawing = false;
    const due = held;
    held = [];
    return due;
  };
  return (event) => {
    if (event.kind === 'finish' || event.kind === 'error') return [...release(), event];
    const media =
      event.kind === 'block-start' && event.block.kind === 'media' ? event.block : undefined;
    if (media?.isDraft === true) isDrawing = true;
    else if (media !== undefined) return [event, ...release()];
    if (!isDrawing || media !== undefined) return [event];
    held.push(event);
    return [];
  };
}
