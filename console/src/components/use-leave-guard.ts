// Asks before a page is left over something that would be lost with it.

import { useBlocker } from '@tanstack/react-router';
import { useEffect } from 'react';
import { type Question, useConfirm } from './use-confirm.tsx';

/** The browser asks in its own words where its tab is closed; other parts of the same page are no leaving. */
export function useLeaveGuard(
  isAtRisk: () => boolean,
  question: Pick<Question, 'title' | 'body' | 'confirm'>,
): void {
  const confirm = useConfirm();
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname && isAtRisk(),
    enableBeforeUnload: isAtRisk,
    withResolver: true,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is asked once, when somebody leaves
  useEffect(() => {
    if (status === 'blocked') confirm({ ...question, onConfirm: proceed, onCancel: reset });
  }, [status]);
}
