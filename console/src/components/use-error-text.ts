// Says a failure in words: the gateway's own where it has any.

import { useCallback } from 'react';
import { useTranslation } from 'react-i18next';
import { isStale, isUnreachable } from '../api/client.ts';

export function useErrorText(): (error: unknown) => string {
  const { t } = useTranslation();
  return useCallback(
    (error) => {
      if (isUnreachable(error)) return t('common.unreachable');
      if (isStale(error)) return t('common.stale');
      return error instanceof Error ? error.message : String(error);
    },
    [t],
  );
}
