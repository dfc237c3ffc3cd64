// Parts of the console that the first page can be seen without: loaded when they are shown, at the latest.

import { type ComponentType, useEffect, useState } from 'react';
import { loadStyles } from '../styles/load-styles.ts';

const RETRY_MS = 2000;
const SIGNS = ['pointermove', 'pointerdown', 'keydown', 'focusin'] as const;

/** Of all parts: called when the person first does something, so that no part is waited for. */
const loads: (() => Promise<unknown>)[] = [];

/** A component that shows `Placeholder` until it is loaded. A gateway that is away is asked again until it answers. */
export function later<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  Placeholder?: ComponentType<Props>,
): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined;
  const loadOnce = async (): Promise<ComponentType<Props>> => {
    const [part] = await Promise.all([load(), loadStyles()]);
    loaded ??= part;
    return loaded;
  };
  loads.push(loadOnce);
  return function Later(props: Props) {
    const [Part, setPart] = useState(() => loaded);
    useEffect(() => {
      let isOver = false;
      let timer: ReturnType<typeof setTimeout> | undefined;
      const fetchPart = (): void =>
        void loadOnce().then(
          (part) => {
            if (!isOver) setPart(() => part);
          },
          () => {
            if (!isOver) timer = setTimeout(fetchPart, RETRY_MS);
          },
        );
      // Also where it has come since this was drawn.
      fetchPart();
      return () => {
        isOver = true;
        clearTimeout(timer);
      };
    }, []);
    const Shown = Part ?? Placeholder;
    return Shown === undefined ? null : <Shown {...props} />;
  };
}

/** Loads every part as soon as the person moves the pointer, presses a key or goes to a control. */
export function loadPartsOnFirstSign(page: EventTarget): void {
  const onSign = (): void => {
    for (const sign of SIGNS) page.removeEventListener(sign, onSign, true);
    // One that does not come is loaded when it is shown.
    for (const load of loads) void load().catch(() => undefined);
  };
  for (const sign of SIGNS) page.addEventListener(sign, onSign, true);
}

/** For a dialog that is open when it comes: it notes whose focus to give back when it opens, not when it is there. */
export function useOpenedLater(isOpen: boolean): boolean {
  const [isOpened, setOpened] = useState(false);
  useEffect(() => setOpened(isOpen), [isOpen]);
  return isOpened;
}
