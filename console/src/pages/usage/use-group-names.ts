// The names of the groups that usage is summed by.

import type { TFunction } from 'i18next';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { UsageBucket } from '../../../../src/admin/contract.ts';

type Named = Pick<UsageBucket, 'group' | 'groupName'>;

/** The name of a key where the group is its id; words where there is no group. */
export function nameGroups(groups: readonly Named[], t: TFunction): (group: string) => string {
  const names = new Map(groups.map(({ group, groupName }) => [group, groupName ?? group]));
  return (group) => {
    const name = names.get(group) ?? group;
    return name === '' ? t('usage.noGroup') : name;
  };
}

export function useGroupNames(groups: readonly Named[]): (group: string) => string {
  const { t } = useTranslation();
  return useMemo(() => nameGroups(groups, t), [groups, t]);
}
