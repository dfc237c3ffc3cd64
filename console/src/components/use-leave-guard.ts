// Asks before a page is left over something that would be lost with it.

import { useBlocker } from '@tanstack/react-router';
import { useEffect } from 'react';
import { type Question, useConfirm } from './use-confirm.tsx';

/** What of the address says which part of a page is shown in place of another. */
const PARTS = ['tab', 'section'] as const;

/** The browser asks in its own words where its tab is closed. `over` is the part of the address that opens it over the page. */
export function useLeaveGuard(
  isAtRisk: () => boolean,
  question: Pick<Question, 'title' | 'body' | 'confirm'>,
  over?: string,
): void {
  const confirm = useConfirm();
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) =>
      (current.pathname !== next.pathname ||
        [...PARTS, over ?? ''].some((part) => current.search[part] !== next.search[part])) &&
      isAtRisk(),
    enableBeforeUnload: isAtRisk,
    withResolver: true,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is asked once, when somebody leaves
  useEffect(() => {
    if (status === 'blocked') confirm({ ...question, onConfirm: proceed, onCancel: reset });
  }, [status]);
}
