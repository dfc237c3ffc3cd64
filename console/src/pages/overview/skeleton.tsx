// The shape of the overview before its figures are there, so that nothing jumps.

import { Skeleton } from '@mantine/core';
import { useTranslation } from 'react-i18next';

export function OverviewSkeleton() {
  const { t } = useTranslation();
  return (
    <div className="overview" role="status" aria-label={t('common.loading')}>
      <Skeleton height={92} radius="md" />
      <Skeleton height={296} radius="md" />
      <div className="overview-pair">
        <Skeleton height={280} radius="md" />
        <Skeleton height={280} radius="md" />
      </div>
      <Skeleton height={220} radius="md" />
    </div>
  );
}
