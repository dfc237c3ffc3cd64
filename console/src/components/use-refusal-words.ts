// Says what a refusal of the gateway is, by its code and in the language of the console.

import { useCallback } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError, isSignedOut } from '../api/client.ts';
import { refusals } from '../i18n/en/refusals.ts';

type Code = keyof typeof refusals;

/** Undefined for a code that nobody here knows. */
export function useRefusalWords(): (code: string) => string | undefined {
  const { t } = useTranslation();
  return useCallback((code) => (isCode(code) ? t(`refusals.${code}`) : undefined), [t]);
}

/** What stands above the words of a failure. */
export function useFailureTitle(): (error: unknown) => string {
  const { t } = useTranslation();
  const say = useRefusalWords();
  return useCallback(
    (error) => {
      // Of a session that is over, the words below say more.
      const isNamed = error instanceof ApiError && !isSignedOut(error);
      return (isNamed ? say(error.code) : undefined) ?? t('common.failed');
    },
    [say, t],
  );
}

function isCode(code: string): code is Code {
  return Object.hasOwn(refusals, code);
}
