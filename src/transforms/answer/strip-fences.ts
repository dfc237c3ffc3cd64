// Takes the code fence off an answer that was asked to be JSON and is wholly inside one.

import type { BlockDeltaEvent, CanonicalEvent, GroundingEvent } from '../../canonical/event.ts';

type TextDelta = BlockDeltaEvent & { readonly delta: { readonly kind: 'text' } };

/** The first text of a choice while it may still be a fence. */
interface HeldText {
  readonly index: number;
  readonly deltas: TextDelta[];
  text: string;
}

interface ChoiceState {
  held: HeldText | undefined;
  /** Units that were taken off before the text. */
  shift: number;
}

const FENCE = '```';
const FENCED = /^\s*```[\w-]*[ \t]*\r?\n([\s\S]*?)\r?\n?[ \t]*```\s*$/;

/**
 * Batch by batch, in order. A text goes through as it comes once it is known to begin otherwise; one that
 * begins with a fence waits for its end, as only there it is known whether the fence holds it all.
 */
export function createFenceStripper(): (
  events: readonly CanonicalEvent[],
) => readonly CanonicalEvent[] {
  const stripper = new FenceStripper();
  return (events) => stripper.strip(events);
}

class FenceStripper {
  readonly #choices = new Map<number, ChoiceState>();
  /** The choices whose first text is held, by block index. */
  readonly #owners = new Map<number, ChoiceState>();

  strip(events: readonly CanonicalEvent[]): readonly CanonicalEvent[] {
    const shown: CanonicalEvent[] = [];
    for (const event of events) this.#take(event, shown);
    return shown;
  }

  #take(event: CanonicalEvent, shown: CanonicalEvent[]): void {
    switch (event.kind) {
      case 'block-start':
        if (event.block.kind === 'text') this.#open(event.choice, event.index);
        break;
      case 'block-delta':
        if (isTextDelta(event) && this.#hold(event, shown)) return;
        break;
      case 'block-end':
        this.#settle(this.#owners.get(event.index), shown);
        break;
      case 'grounding': {
        const choice = this.#choices.get(event.choice);
        this.#settle(choice, shown);
        shown.push(shifted(event, choice?.shift ?? 0));
        return;
      }
      case 'finish':
      case 'error':
        for (const choice of this.#choices.values()) this.#release(choice, shown);
        break;
      case 'start':
      case 'usage':
        break;
      default:
        event satisfies never;
    }
    shown.push(event);
  }

  /** Only a choice's first text is looked at. */
  #open(choice: number, index: number): void {
    if (this.#choices.has(choice)) return;
    const state: ChoiceState = { held: { index, deltas: [], text: '' }, shift: 0 };
    this.#choices.set(choice, state);
    this.#owners.set(index, state);
  }

  /** True when the event waits, or was given out with those that waited. */
  #hold(event: TextDelta, shown: CanonicalEvent[]): boolean {
    const choice = this.#owners.get(event.index);
    const held = choice?.held;
    if (choice === undefined || held === undefined) return false;
    held.deltas.push(event);
    held.text += event.delta.text;
    if (!mayBeFenced(held.text)) this.#release(choice, shown);
    return true;
  }

  /** The text is whole: it is given out without its fence, if it has one. */
  #settle(choice: ChoiceState | undefined, shown: CanonicalEvent[]): void {
    const held = choice?.held;
    if (choice === undefined || held === undefined) return;
    const inside = FENCED.exec(held.text)?.[1];
    if (inside === undefined) {
      this.#release(choice, shown);
      return;
    }
    choice.shift = held.text.indexOf(inside, held.text.indexOf('\n') + 1);
    this.#forget(choice, held);
    const delta = { kind: 'text', text: inside } as const;
    if (inside !== '') shown.push({ kind: 'block-delta', index: held.index, delta });
  }

  #release(choice: ChoiceState, shown: CanonicalEvent[]): void {
    const { held } = choice;
    if (held === undefined) return;
    this.#forget(choice, held);
    shown.push(...held.deltas);
  }

  #forget(choice: ChoiceState, { index }: HeldText): void {
    choice.held = undefined;
    this.#owners.delete(index);
  }
}

function mayBeFenced(text: string): boolean {
  const begun = text.trimStart().slice(0, FENCE.length);
  return FENCE.startsWith(begun);
}

function shifted(event: GroundingEvent, shift: number): GroundingEvent {
  if (shift === 0) return event;
  const citations = event.citations.flatMap((citation) =>
    citation.startIndex < shift
      ? []
      : [
          {
            ...citation,
            startIndex: citation.startIndex - shift,
            endIndex: citation.endIndex - shift,
          },
        ],
  );
  return { ...event, citations };
}

function isTextDelta(event: BlockDeltaEvent): event is TextDelta {
  return event.delta.kind === 'text';
}
