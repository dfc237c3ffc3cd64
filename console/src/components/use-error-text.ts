// Says a failure in words: the gateway's own where it has any.

import { useCallback } from 'react';
import { useTranslation } from 'react-i18next';
import { isForeign, isSignedOut, isStale, isUnreachable, isWithheld } from '../api/client.ts';

export function useErrorText(): (error: unknown) => string {
  const { t } = useTranslation();
  return useCallback(
    (error) => {
      if (isUnreachable(error)) return t('common.unreachable');
      if (isSignedOut(error)) return t('common.signedOut');
      if (isStale(error)) return t('common.stale');
      if (isWithheld(error)) return t('common.withheld');
      if (isForeign(error)) return t('common.failedWith', { status: error.status });
      return error instanceof Error ? error.message : String(error);
    },
    [t],
  );
}
