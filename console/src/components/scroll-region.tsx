// A part of a page that scrolls by itself, with the keyboard as well.

import type { ComponentProps } from 'react';

export interface ScrollRegionProps extends Omit<ComponentProps<'section'>, 'tabIndex'> {
  /** Names it to those who do not see it. */
  readonly label: string;
}

export function ScrollRegion({ label, children, ...others }: ScrollRegionProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section tabIndex={0} aria-label={label} {...others}>
      {children}
    </section>
  );
}
