// The sentences of receipts in the language of the console.

import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { type SayIn, sayIn } from './sentences.ts';

/** English is what the gateway says; another language is loaded where it is first needed. */
export function useSentences(): SayIn {
  const { i18n } = useTranslation();
  const { data } = useQuery({
    queryKey: ['sentences'],
    queryFn: async () => sayIn((await import('./zh/receipt.ts')).receipt),
    enabled: i18n.language === 'zh',
    staleTime: Number.POSITIVE_INFINITY,
  });
  return i18n.language === 'zh' && data !== undefined ? data : asItIs;
}

function asItIs(sentence: string): string {
  return sentence;
}
