// Tells a client that asked for several answers when it gets fewer.

import type { CanonicalEvent } from '../canonical/event.ts';
import { type Receipt, told } from '../canonical/receipt.ts';
import type { CanonicalRequest } from '../canonical/request.ts';

/** Call with every batch of events; a finish is the last event of its batch. */
export function noteMissingChoices(
  events: readonly CanonicalEvent[],
  { choices: asked }: Pick<CanonicalRequest, 'choices'>,
  receipt: Receipt,
): void {
  const last = events.at(-1);
  if (asked <= 1 || last?.kind !== 'finish' || last.choices.length >= asked) return;
  if (last.choices.some(({ reason }) => reason === 'prompt-blocked')) return;
  receipt.add('dropped', 'n', told`The upstream gave ${last.choices.length} of ${asked} answers.`);
}
