// Why an answer was held back, in words for clients.

import { told } from '../lib/told.ts';
import type { ChoiceEnd } from './event.ts';

/** The upstream's own words, else its reason; undefined for answers that were not held back, or without a reason. */
export function withheldBecause({ reason, rawReason, message }: ChoiceEnd): string | undefined {
  if (reason !== 'safety' && reason !== 'prompt-blocked') return undefined;
  if (message !== undefined || rawReason === undefined) return message;
  return reason === 'safety'
    ? told`The upstream held this answer back: ${rawReason}.`
    : told`The upstream refused this prompt: ${rawReason}.`;
}
