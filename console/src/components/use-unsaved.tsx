// Asks before a drawer or dialog closes, or its page is left, over something that was typed and not saved.

import {
  createContext,
  type ReactNode,
  type RefObject,
  useContext,
  useEffect,
  useRef,
} from 'react';
import { useTranslation } from 'react-i18next';
import { useConfirm } from './use-confirm.tsx';
import { useLeaveGuard } from './use-leave-guard.ts';
import { useSearchTexts } from './use-search-texts.ts';

const UnsavedContext = createContext<RefObject<number> | undefined>(undefined);

export interface CloseGuard {
  /** For the drawer's `onClose`: closes, or asks first. */
  readonly close: () => void;
  /** For its forms: closes. */
  readonly leave: () => void;
  /** Put around the drawer's content, so that its forms can say what they hold. */
  readonly guard: (content: ReactNode) => ReactNode;
}

/**
 * @param onClose absent for a part of a page, which is left and not closed
 * @param over the part of the address by which it is open: the way back of the browser closes it, too
 */
export function useCloseGuard(
  onClose: () => void = () => undefined,
  over?: 'id' | 'add',
): CloseGuard {
  const { t } = useTranslation();
  const { texts } = useSearchTexts();
  const opened = over && texts[over];
  const confirm = useConfirm();
  /** How many forms hold something: one may stand in another. */
  const unsaved = useRef(0);
  const question = {
    title: t('common.unsavedTitle'),
    body: <p className="dialog-text">{t('common.unsavedHint')}</p>,
    confirm: t('common.discard'),
  };
  const isLeaving = useRef<string>(undefined);
  useLeaveGuard(() => unsaved.current > 0 && isLeaving.current === undefined, question, over);
  // biome-ignore lint/correctness/useExhaustiveDependencies: then it was left, or is another
  useEffect(() => {
    isLeaving.current = undefined;
  }, [opened]);
  const leave = (): void => {
    isLeaving.current = opened;
    onClose();
  };
  const close = (): void => {
    if (unsaved.current > 0) confirm({ ...question, onConfirm: leave });
    else leave();
  };
  return {
    close,
    leave,
    guard: (content) => <UnsavedContext value={unsaved}>{content}</UnsavedContext>,
  };
}

/** Called by a form with whether it holds what was not saved; what is being sent is not lost with it. */
export function useUnsaved(isUnsaved: boolean): void {
  const unsaved = useContext(UnsavedContext);
  useEffect(() => {
    if (unsaved === undefined || !isUnsaved) return undefined;
    unsaved.current += 1;
    return () => {
      unsaved.current -= 1;
    };
  }, [unsaved, isUnsaved]);
}
