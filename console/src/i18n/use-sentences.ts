// The sentences of the gateway in the language of the console.

import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { loadFaults, loadSentences } from './load-sentences.ts';
import { type SayIn, sayInEnglish } from './sentences.ts';

/** As the gateway says them until those of the other language are loaded. */
export function useSentences(isNeeded = true): SayIn {
  return useLoaded('sentences', loadSentences, isNeeded);
}

/** What clients are told of requests that fail, and nothing else. */
export function useFaults(isNeeded: boolean): SayIn {
  return useLoaded('faults', loadFaults, isNeeded);
}

function useLoaded(
  name: string,
  load: (language: string) => Promise<SayIn>,
  isNeeded: boolean,
): SayIn {
  const { i18n } = useTranslation();
  const { language } = i18n;
  const { data: say } = useQuery({
    queryKey: [name, language],
    queryFn: () => load(language),
    enabled: isNeeded,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return say ?? sayInEnglish;
}
