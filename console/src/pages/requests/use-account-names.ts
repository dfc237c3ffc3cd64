// The labels of accounts by their ids.

import { useQuery } from '@tanstack/react-query';
import { useCallback } from 'react';
import { accountsQuery } from '../../api/queries/accounts.ts';

export interface AccountNames {
  /** The id itself for an account that is gone. */
  nameOf(id: string): string;
}

export function useAccountNames(): AccountNames {
  const { data } = useQuery(accountsQuery);
  const nameOf = useCallback(
    (id: string) => data?.accounts.find((account) => account.id === id)?.label ?? id,
    [data],
  );
  return { nameOf };
}
