// Tells what of an answer only the upstream's own protocol has a place for.

import type { CanonicalEvent } from '../canonical/event.ts';
import { type Receipt, told } from '../canonical/receipt.ts';

/** More are counted: an answer may recite many pages, and a receipt stays readable. */
const MOST_NAMED = 5;

/** Call with every batch of events; a finish is the last event of its batch. */
export function noteUntold(events: readonly CanonicalEvent[], receipt: Receipt): void {
  const last = events.at(-1);
  if (last?.kind !== 'finish') return;
  noteRecited(new Set(last.choices.flatMap(({ recited = [] }) => recited)), receipt);
  for (const { rawReason = '', isOdd, message } of last.choices) {
    if (isOdd === undefined) continue;
    const reason = message === undefined ? rawReason : `${rawReason} (${message})`;
    receipt.add(
      'approximated',
      'answer',
      told`The upstream did not end the answer as finished, but for this reason: ${reason}.`,
    );
  }
  for (const kind of last.choices.flatMap(({ unread = [] }) => unread)) {
    receipt.add('dropped', 'answer', told`The answer has a part of a kind unknown here: ${kind}.`);
  }
}

function noteRecited(pages: ReadonlySet<string>, receipt: Receipt): void {
  if (pages.size === 0) return;
  const recited = [...pages];
  const names = recited.slice(0, MOST_NAMED).join(', ');
  const left = recited.length - MOST_NAMED;
  receipt.add(
    'dropped',
    'answer',
    left > 0
      ? told`Words of the answer are recited from ${names} and ${left} more pages.`
      : told`Words of the answer are recited from ${names}.`,
  );
}
