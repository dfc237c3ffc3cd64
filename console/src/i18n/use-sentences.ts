// The sentences of the gateway in the language of the console.

import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { loadSentences } from './load-sentences.ts';
import type { SayIn } from './sentences.ts';

/** As the gateway says them until those of the other language are loaded. */
export function useSentences(isNeeded = true): SayIn {
  const { i18n } = useTranslation();
  const { data: say } = useQuery({
    queryKey: ['sentences', i18n.language],
    queryFn: () => loadSentences(i18n.language),
    enabled: isNeeded,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return say ?? asItIs;
}

function asItIs(sentence: string): string {
  return sentence;
}
