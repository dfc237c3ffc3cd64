// How the change that a form sends ends: told in the form while that is there, else in a notice.

import { type RefObject, useEffect, useRef } from 'react';
import { useToasts } from './use-toasts.tsx';

/** `isOpen` says whether the form is still there. */
type OnDone<Answer> = (answer: Answer, isOpen: boolean) => void;

export type Settle = <Answer>(
  change: Promise<Answer>,
  onDone: OnDone<Answer>,
  onRefused?: (refusal: unknown) => void,
) => void;

/** Callbacks that `mutate` takes are dropped when the form goes, or sends again: these are not. `onRefused` is of the open form. */
export function useSettle(): Settle {
  const toasts = useToasts();
  const isThere = useIsThere();
  return (change, onDone, onRefused) =>
    void change.then(
      (answer) => onDone(answer, isThere.current),
      (refusal: unknown) => {
        if (isThere.current) onRefused?.(refusal);
        else toasts.failed(refusal);
      },
    );
}

/** Whether the component is on the page. */
export function useIsThere(): RefObject<boolean> {
  const isThere = useRef(false);
  useEffect(() => {
    isThere.current = true;
    return () => {
      isThere.current = false;
    };
  }, []);
  return isThere;
}
