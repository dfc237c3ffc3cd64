// Words about a control that are shown while the pointer or the focus is on it.

import {
  cloneElement,
  type ReactElement,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import './hint.css';

export interface HintProps {
  readonly label: string;
  /** One element. */
  readonly children: ReactElement<{ 'aria-describedby'?: string | undefined }>;
}

const DELAY_MS = 250;
const GAP = 6;
const MARGIN = 8;

/** Needs less code than the floating parts of the component library, which the first page does without. */
export function Hint({ label, children }: HintProps) {
  const id = useId();
  const target = useRef<HTMLSpanElement>(null);
  const hint = useRef<HTMLDivElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const [isShown, setShown] = useState(false);
  const show = (delayMs: number): void => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setShown(true), delayMs);
  };
  const hide = (): void => {
    clearTimeout(timer.current);
    setShown(false);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => {
    if (!isShown) return undefined;
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === 'Escape') setShown(false);
    };
    const onScroll = (): void => setShown(false);
    window.addEventListener('keydown', onKey, true);
    window.addEventListener('scroll', onScroll, true);
    return () => {
      window.removeEventListener('keydown', onKey, true);
      window.removeEventListener('scroll', onScroll, true);
    };
  }, [isShown]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: other words have another size
  useLayoutEffect(() => {
    const control = target.current?.firstElementChild;
    if (!isShown || hint.current === null || control === null || control === undefined) return;
    hint.current.showPopover();
    place(hint.current, control);
  }, [isShown, label]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the control inside is what is reached
    <span
      ref={target}
      className="hint-target"
      onPointerEnter={({ pointerType }) => {
        if (pointerType === 'mouse') show(DELAY_MS);
      }}
      onPointerLeave={hide}
      onPointerDown={hide}
      onFocus={(event) => {
        if (event.target.matches(':focus-visible')) show(0);
      }}
      onBlur={hide}
    >
      {isShown ? cloneElement(children, { 'aria-describedby': id }) : children}
      {isShown && (
        <div ref={hint} id={id} role="tooltip" popover="manual" className="hint">
          {label}
        </div>
      )}
    </span>
  );
}

/** Above the control, below it where there is no room; never outside the window. */
function place(hint: HTMLElement, control: Element): void {
  const { left, top, bottom, width } = control.getBoundingClientRect();
  const { offsetWidth, offsetHeight } = hint;
  const centered = left + width / 2 - offsetWidth / 2;
  const most = document.documentElement.clientWidth - offsetWidth - MARGIN;
  const above = top - offsetHeight - GAP;
  hint.style.left = `${Math.max(MARGIN, Math.min(centered, most))}px`;
  hint.style.top = `${above >= MARGIN ? above : bottom + GAP}px`;
}
