// What the sentences of something that needs attention are filled with.

import { useTranslation } from 'react-i18next';
import type { Attention } from '../../../src/admin/contract.ts';
import { useSentences } from '../i18n/use-sentences.ts';
import { sayFamily } from '../pages/overview/say-family.ts';
import { sayReason, sayWayOut } from './say-account-state.ts';
import { useFormat } from './use-format.ts';

export function useAttentionFacts({ about, wayOut }: Pick<Attention, 'about' | 'wayOut'>) {
  const { t } = useTranslation();
  const format = useFormat();
  const { account = '', accountKind, reason, family = '', quotaKind, percent = 0 } = about;
  const { upstream = '', models = '', version = '', problems } = about;
  const say = useSentences(problems !== undefined);
  const state = { kind: accountKind, reason };
  return {
    account,
    upstream,
    models,
    version,
    problems: problems === undefined ? '' : say(problems),
    reason: sayReason(state, t),
    wayOut: sayWayOut(state, wayOut, t),
    family: sayFamily({ family, kind: quotaKind }, t),
    percent: format.percent(percent),
    count: about.count ?? 0,
    total: about.total ?? 0,
  };
}
