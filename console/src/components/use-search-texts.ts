// What the address of a page says after its `?`, as texts that can be changed one by one.

import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';

export type SearchTexts = Readonly<Record<string, string>>;

export type SearchChange = Readonly<Record<string, string | undefined>>;

export interface AddressSearch {
  readonly texts: SearchTexts;
  /** Undefined and empty texts leave the address. The page stays where it is. */
  adjust(change: SearchChange): void;
  /** The same for what a person goes to: the way back of the browser leads here again. */
  open(change: SearchChange): void;
}

export function useSearchTexts(): AddressSearch {
  const texts: SearchTexts = useSearch({ strict: false });
  const navigate = useNavigate();
  const adjust = useCallback(
    (change: SearchChange): void => void navigate({ ...changeOf(change), replace: true }),
    [navigate],
  );
  const open = useCallback(
    (change: SearchChange): void => void navigate(changeOf(change)),
    [navigate],
  );
  return { texts, adjust, open };
}

function changeOf(change: SearchChange) {
  return {
    to: '.',
    resetScroll: false,
    search: (before: SearchTexts) =>
      Object.fromEntries(
        Object.entries<string | undefined>({ ...before, ...change }).filter(
          ([, text]) => (text ?? '') !== '',
        ),
      ),
  } as const;
}
