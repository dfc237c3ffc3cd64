// The requests next to the open one in the list, which the keys j and k open too.

import { useCallback, useEffect } from 'react';
import type { RequestRow } from '../../../../src/admin/contract.ts';
import { useSearchTexts } from '../../components/use-search-texts.ts';

export interface Neighbours {
  /** The ids; undefined at either end, and of a request that the list does not hold. */
  readonly newer: string | undefined;
  readonly older: string | undefined;
  open(id: string): void;
}

export function useNeighbours(
  id: string | undefined,
  rows: readonly RequestRow[] | undefined,
): Neighbours {
  const { adjust } = useSearchTexts();
  const open = useCallback((next: string) => adjust({ id: next }), [adjust]);
  const index = id === undefined ? -1 : (rows?.findIndex((row) => row.id === id) ?? -1);
  const newer = index > 0 ? rows?.[index - 1]?.id : undefined;
  const older = index >= 0 ? rows?.[index + 1]?.id : undefined;
  useEffect(() => {
    if (id === undefined) return undefined;
    const onKey = (event: KeyboardEvent): void => {
      if (isTyped(event)) return;
      const next = event.key === 'j' ? older : event.key === 'k' ? newer : undefined;
      if (next === undefined) return;
      event.preventDefault();
      open(next);
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [id, newer, older, open]);
  return { newer, older, open };
}

/** Keys belong to fields and to the browser first. */
function isTyped(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return true;
  const { target } = event;
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.matches('input, textarea, select, [role="menuitem"]');
}
