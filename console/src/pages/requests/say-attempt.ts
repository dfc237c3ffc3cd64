// Says how tries ended and why accounts were chosen or passed over, in the language of the console.

import type { TFunction } from 'i18next';
import { attempts } from '../../i18n/en/attempts.ts';

type End = keyof typeof attempts.ends;
type Verdict = keyof typeof attempts.verdicts;

/** The gateway says verdicts in English sentences; these are the ones the console knows. */
const VERDICTS: ReadonlyMap<string, Verdict> = new Map(
  // The keys of an object written above.
  (Object.keys(attempts.verdicts) as Verdict[]).map((id) => [attempts.verdicts[id], id]),
);

/** Words nobody here knows stay as the gateway says them. */
export function sayEnd(outcome: string, t: TFunction): string {
  return isEnd(outcome) ? t(`attempts.ends.${outcome}`) : outcome;
}

export function sayVerdict(sentence: string, t: TFunction): string {
  const verdict = VERDICTS.get(sentence);
  return verdict === undefined ? sentence : t(`attempts.verdicts.${verdict}`);
}

function isEnd(outcome: string): outcome is End {
  return Object.hasOwn(attempts.ends, outcome);
}
