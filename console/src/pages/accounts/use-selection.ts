// Which of the shown accounts are selected.

import { useMemo, useState } from 'react';
import type { Account } from '../../../../src/admin/contract.ts';

export interface Selection {
  /** In the order of the list; what is not shown is not selected. */
  readonly ids: ReadonlySet<string>;
  select(id: string, isSelected: boolean): void;
  selectAll(isSelected: boolean): void;
}

export function useSelection(shown: readonly Account[]): Selection {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const ids = useMemo(
    () => new Set(shown.map(({ id }) => id).filter((id) => chosen.has(id))),
    [shown, chosen],
  );
  return {
    ids,
    select: (id, isSelected) =>
      setChosen((before) => {
        const after = new Set(before);
        if (isSelected) after.add(id);
        else after.delete(id);
        return after;
      }),
    selectAll: (isSelected) => setChosen(new Set(isSelected ? shown.map(({ id }) => id) : [])),
  };
}
