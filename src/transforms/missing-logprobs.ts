// Tells a client that asked for log-probabilities when its answer comes without.

import type { CanonicalEvent } from '../canonical/event.ts';
import { type Receipt, told } from '../canonical/receipt.ts';
import type { CanonicalRequest } from '../canonical/request.ts';

/** Call with every batch of events; a finish is the last event of its batch. */
export function noteMissingLogprobs(
  events: readonly CanonicalEvent[],
  { sampling }: Pick<CanonicalRequest, 'sampling'>,
  receipt: Receipt,
): void {
  const last = events.at(-1);
  if (sampling.logprobs === undefined || last?.kind !== 'finish') return;
  if (last.choices.every(({ logprobs }) => (logprobs?.tokens.length ?? 0) > 0)) return;
  receipt.add('dropped', 'logprobs', told`The answer came without log-probabilities.`);
}
