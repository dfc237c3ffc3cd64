// A part of a page that scrolls by itself, with the keyboard as well.

import type { ComponentProps } from 'react';

export interface ScrollRegionProps extends Omit<ComponentProps<'section'>, 'tabIndex'> {
  /** Names it to those who do not see it. */
  readonly label: string;
  /** False where what is in it is reached by keyboard and scrolls it. */
  readonly hasOwnStop?: boolean;
}

export function ScrollRegion({ label, hasOwnStop = true, children, ...others }: ScrollRegionProps) {
  // What scrolls must be reachable by keyboard.
  return (
    <section tabIndex={hasOwnStop ? 0 : -1} aria-label={label} {...others}>
      {children}
    </section>
  );
}
