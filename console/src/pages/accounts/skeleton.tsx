// The shape of the accounts before they are there.

import { Skeleton } from '@mantine/core';
import { useTranslation } from 'react-i18next';

const CARDS = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth'];

export function AccountsSkeleton() {
  const { t } = useTranslation();
  return (
    <div role="status" aria-label={t('common.loading')}>
      <Skeleton height={36} mb={16} radius="sm" />
      <div className="account-cards">
        {CARDS.map((card) => (
          <Skeleton key={card} height={232} radius="md" />
        ))}
      </div>
    </div>
  );
}
