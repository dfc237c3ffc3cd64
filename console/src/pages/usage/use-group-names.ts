// The names of the groups that usage is summed by.

import { useCallback, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { UsageBucket } from '../../../../src/admin/contract.ts';

/** The name of a key where the group is its id; words where there is no group. */
export function useGroupNames(buckets: readonly UsageBucket[]): (group: string) => string {
  const { t } = useTranslation();
  const names = useMemo(
    () => new Map(buckets.map(({ group, groupName }) => [group, groupName ?? group])),
    [buckets],
  );
  return useCallback(
    (group) => {
      const name = names.get(group) ?? group;
      return name === '' ? t('usage.noGroup') : name;
    },
    [names, t],
  );
}
