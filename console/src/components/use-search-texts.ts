// What the address of a page says after its `?`, as texts that can be changed one by one.

import { useNavigate, useRouter, useSearch } from '@tanstack/react-router';
import { useCallback, useRef } from 'react';

export type SearchTexts = Readonly<Record<string, string>>;

type SearchChange = Readonly<Record<string, string | undefined>>;

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** What the address said where this place was opened: the step before in the browser's history. */
    openedOver?: SearchTexts;
  }
}

export interface AddressSearch {
  readonly texts: SearchTexts;
  /** Undefined and empty texts leave the address. The page stays where it is. */
  adjust(change: SearchChange): void;
  /** The same for what a person goes to: the way back of the browser leads here again. */
  open(change: SearchChange): void;
  /** Takes back what `open` did, its step in the browser's history too; at a place one came to directly, adjusts. */
  close(change: SearchChange): void;
}

export function useSearchTexts(): AddressSearch {
  const texts: SearchTexts = useSearch({ strict: false });
  const navigate = useNavigate();
  const router = useRouter();
  const adjust = useCallback(
    (change: SearchChange): void =>
      void navigate({ ...changeOf(change), state: true, replace: true }),
    [navigate],
  );
  const open = useCallback(
    (change: SearchChange): void =>
      void navigate({ ...changeOf(change), state: openedOver(router.state.location.search) }),
    [navigate, router],
  );
  const closing = useRef<SearchTexts>(undefined);
  const close = (change: SearchChange): void => {
    // A second Escape before the browser has gone back would go back twice.
    if (closing.current === texts) return;
    closing.current = texts;
    const before = router.state.location.state.openedOver;
    if (before !== undefined && isSame(before, changed(texts, change))) router.history.back();
    else adjust(change);
  };
  return { texts, adjust, open, close };
}

/** What a link that opens something over a page tells that place, for `close`. */
export function openedOver(texts: SearchTexts): { readonly openedOver: SearchTexts } {
  return { openedOver: texts };
}

function changeOf(change: SearchChange) {
  return {
    to: '.',
    resetScroll: false,
    search: (before: SearchTexts) => changed(before, change),
  } as const;
}

function changed(before: SearchTexts, change: SearchChange): Record<string, string> {
  return Object.fromEntries(
    Object.entries({ ...before, ...change }).filter(
      (entry): entry is [string, string] => (entry[1] ?? '') !== '',
    ),
  );
}

function isSame(left: SearchTexts, right: SearchTexts): boolean {
  const names = Object.keys(left);
  return (
    names.length === Object.keys(right).length && names.every((name) => left[name] === right[name])
  );
}
