// Takes Escape before the dialogs of a page hear of it: they would close below what is above them, with what was typed.

import { useWindowEvent } from '@mantine/hooks';

/** @param onEscape undefined while nothing is above them. Mounted before any dialog of a page, which listen in turn */
export function useEscapeFirst(onEscape: (() => void) | undefined): void {
  useWindowEvent(
    'keydown',
    (event) => {
      if (onEscape === undefined || event.key !== 'Escape') return;
      event.stopImmediatePropagation();
      onEscape();
    },
    { capture: true },
  );
}
