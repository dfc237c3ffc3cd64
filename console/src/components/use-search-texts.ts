// What the address of a page says after its `?`, as texts that can be changed one by one.

import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';

export type SearchTexts = Readonly<Record<string, string>>;

export type SearchChange = Readonly<Record<string, string | undefined>>;

export interface AddressSearch {
  readonly texts: SearchTexts;
  /** Undefined and empty texts leave the address. The page stays where it is. */
  adjust(change: SearchChange): void;
}

export function useSearchTexts(): AddressSearch {
  const texts: SearchTexts = useSearch({ strict: false });
  const navigate = useNavigate();
  const adjust = useCallback(
    (change: SearchChange): void =>
      void navigate({
        to: '.',
        replace: true,
        resetScroll: false,
        search: (before: SearchTexts) =>
          Object.fromEntries(
            Object.entries<string | undefined>({ ...before, ...change }).filter(
              ([, text]) => (text ?? '') !== '',
            ),
          ),
      }),
    [navigate],
  );
  return { texts, adjust };
}
