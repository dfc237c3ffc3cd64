// Ends the choices of an answer before the upstream does: what was let through stays, nothing comes behind it.

import type {
  BlockDeltaEvent,
  BlockEndEvent,
  BlockStartEvent,
  CanonicalEvent,
  ChoiceEnd,
} from '../canonical/event.ts';
import type { GroundingEvent } from '../canonical/grounding.ts';

export type TextDelta = BlockDeltaEvent & { readonly delta: { readonly kind: 'text' } };

export interface CutChoice {
  /** UTF-16 units of text that were let through. */
  shownLength: number;
  /** The text block that is open for the client. */
  openIndex: number | undefined;
  isCut: boolean;
}

/** Thoughts, calls and media stay whole where they begin before the cut. */
export abstract class AnswerCutter<Choice extends CutChoice> {
  protected readonly choices = new Map<number, Choice>();
  protected shown: CanonicalEvent[] = [];
  readonly #expected: number;
  readonly #owners = new Map<number, Choice>();
  #cutCount = 0;

  /** @param expected how many alternative answers were asked for */
  constructor(expected: number) {
    this.#expected = expected;
  }

  protected abstract createChoice(): Choice;
  protected abstract start(choice: Choice, event: BlockStartEvent): void;
  protected abstract text(choice: Choice, event: TextDelta): void;
  protected abstract end(choice: Choice, event: BlockEndEvent): void;
  /** Gives out what was held back, at the end of the answer. */
  protected flush?(choice: Choice): void;
  /** Of a choice that was cut. */
  protected abstract endOfCut(end: Omit<ChoiceEnd, 'reason'>, choice: Choice): ChoiceEnd;

  /** True when every choice has been cut: an error of the upstream ends nothing any more. */
  protected get isCut(): boolean {
    return this.#cutCount >= this.#expected;
  }

  /** Takes the answer's events batch by batch, in order, and gives what is left of them. */
  cut(events: readonly CanonicalEvent[]): CanonicalEvent[] {
    this.shown = [];
    for (const event of events) this.#take(event);
    return this.shown;
  }

  protected close(choice: Choice): void {
    choice.isCut = true;
    this.#cutCount += 1;
    if (choice.openIndex === undefined) return;
    this.shown.push({ kind: 'block-end', index: choice.openIndex });
    choice.openIndex = undefined;
  }

  #take(event: CanonicalEvent): void {
    switch (event.kind) {
      case 'block-start': {
        const choice = this.#choiceAt(event.choice);
        this.#owners.set(event.index, choice);
        if (!choice.isCut) this.start(choice, event);
        break;
      }
      case 'block-delta': {
        const choice = this.#owners.get(event.index);
        if (choice === undefined || choice.isCut) break;
        if (isTextDelta(event)) this.text(choice, event);
        else this.shown.push(event);
        break;
      }
      case 'block-end': {
        const choice = this.#owners.get(event.index);
        this.#owners.delete(event.index);
        if (choice !== undefined && !choice.isCut) this.end(choice, event);
        break;
      }
      case 'grounding':
        this.shown.push(this.#groundShown(event));
        break;
      case 'start':
      case 'usage':
        this.shown.push(event);
        break;
      case 'finish':
        this.#flushAll();
        this.shown.push({ ...event, choices: event.choices.map((end) => this.#endOf(end)) });
        break;
      case 'error':
        this.#flushAll();
        this.shown.push(this.isCut ? { kind: 'finish', choices: this.#ends() } : event);
        break;
      default:
        event satisfies never;
    }
  }

  #flushAll(): void {
    for (const choice of this.choices.values()) if (!choice.isCut) this.flush?.(choice);
  }

  /** Citations of text that was cut off go with it. */
  #groundShown(event: GroundingEvent): GroundingEvent {
    const { isCut, shownLength } = this.#choiceAt(event.choice);
    if (!isCut) return event;
    const citations = event.citations.filter(({ endIndex }) => endIndex <= shownLength);
    return { ...event, citations };
  }

  /** The log-probabilities of a cut choice cover tokens that are gone, so they go too. */
  #endOf(end: ChoiceEnd): ChoiceEnd {
    const choice = this.choices.get(end.choice);
    if (choice?.isCut !== true) return end;
    return this.endOfCut({ choice: end.choice, rawReason: end.rawReason }, choice);
  }

  #ends(): ChoiceEnd[] {
    return [...this.choices]
      .sort(([left], [right]) => left - right)
      .map(([index, choice]) => this.endOfCut({ choice: index }, choice));
  }

  #choiceAt(index: number): Choice {
    const known = this.choices.get(index);
    if (known !== undefined) return known;
    const choice = this.createChoice();
    this.choices.set(index, choice);
    return choice;
  }
}

export function isTextDelta(event: BlockDeltaEvent): event is TextDelta {
  return event.delta.kind === 'text';
}
