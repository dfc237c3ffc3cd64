// Puts drawings that are named behind the last question into it.

import { type Receipt, told } from '../../../canonical/receipt.ts';
import type { Turn } from '../../../canonical/request.ts';

/**
 * Clients name an earlier drawing behind the words that say how to change it. It is what these words are
 * about, not the beginning of the answer. `asked` are the turns of the request itself.
 */
export function endWithPictures(asked: readonly Turn[], receipt: Receipt): readonly Turn[] {
  const end = asked.findLastIndex((turn) => !isPictures(turn)) + 1;
  if (end === asked.length) return asked;
  receipt.add('approximated', 'input', told`Pictures at the end are shown with the question.`);
  return asked.map((turn, index) => (index < end ? turn : { ...turn, role: 'user' }));
}

function isPictures({ role, parts }: Turn): boolean {
  return role === 'assistant' && parts.length > 0 && parts.every(({ kind }) => kind === 'media');
}
