// The tier of an account, where one is known.

import { useTranslation } from 'react-i18next';
import type { Account } from '../../../../src/admin/contract.ts';

export function TierMark({ tier }: { readonly tier: Account['tier'] }) {
  const { t } = useTranslation();
  if (tier === null) return null;
  return <span className={`tier-mark is-${tier}`}>{t(`accounts.tiers.${tier}`)}</span>;
}
