// Holds the text of an answer to the client's own limit, where the upstream was allowed more to think.

import type {
  BlockEndEvent,
  BlockStartEvent,
  CanonicalEvent,
  ChoiceEnd,
} from '../canonical/event.ts';
import type { Receipt } from '../canonical/receipt.ts';
import { told } from '../lib/localized-message.ts';
import { AnswerCutter, type CutChoice, type TextDelta } from './answer-cutter.ts';

/** Where nobody counted, a token is taken to be so many bytes: longer than those of any language. */
const MAX_BYTES_PER_TOKEN = 8;

export interface TextLimitOptions {
  /** Tokens of text the client allows in each choice. */
  readonly limit: number;
  /** How many alternative answers were asked for. */
  readonly choices: number;
  readonly receipt: Receipt;
  /** Tokens of the answer with the events passed last, as the upstream counted them; undefined where it did not. */
  readonly counted: () => number | undefined;
}

interface LimitedChoice extends CutChoice {
  /** Tokens of the text that was let through. */
  spent: number;
  /** The opening of a text of which nothing has come yet. */
  heldStart: BlockStartEvent | undefined;
}

/**
 * Ends a choice where its text goes over the limit: by the upstream's count in a frame that has one,
 * at the share of the frame's text that is within it; else by an estimate that is rather too kind.
 * Thoughts, calls and media do not count.
 */
export class TextLimit extends AnswerCutter<LimitedChoice> {
  readonly #options: TextLimitOptions;
  #lastCount = 0;
  /** True once the answer holds more than text: its count is no longer that of the text. */
  #isMixed = false;
  /** True when a count said so, which then is told as what was used. */
  #isCutByCount = false;
  /** Tokens a byte of the text in this frame; zero where all of it is within the limit. */
  #rate = 0;

  constructor(options: TextLimitOptions) {
    super(options.choices);
    this.#options = options;
  }

  /** True when no more of the upstream's text is needed, nor of its counts. */
  get isDone(): boolean {
    return this.#isCutByCount;
  }

  /** Takes the events of one frame after the other and gives what is left of them. */
  override cut(events: readonly CanonicalEvent[]): CanonicalEvent[] {
    const count = this.#readCount(events);
    const shown = super.cut(events);
    const choice = this.choices.get(0);
    if (count === undefined || choice === undefined) return shown;
    if (choice.isCut) this.#isCutByCount = true;
    else if (!this.#isMixed) choice.spent = count;
    return shown;
  }

  protected override createChoice(): LimitedChoice {
    return { spent: 0, shownLength: 0, openIndex: undefined, heldStart: undefined, isCut: false };
  }

  protected override start(choice: LimitedChoice, event: BlockStartEvent): void {
    if (event.block.kind === 'text') choice.heldStart = event;
    else this.shown.push(event);
  }

  protected override text(choice: LimitedChoice, event: TextDelta): void {
    const { text } = event.delta;
    const kept = this.#keep(text, choice);
    if (kept !== '') {
      this.#open(choice);
      this.shown.push({ ...event, delta: { kind: 'text', text: kept } });
      choice.shownLength += kept.length;
    }
    if (kept.length === text.length) return;
    this.close(choice);
    const reason = told`The answer was cut at this limit: the upstream's was raised for its thinking.`;
    this.#options.receipt.add('capped', 'max_tokens', reason);
  }

  protected override end(choice: LimitedChoice, event: BlockEndEvent): void {
    this.#open(choice);
    if (choice.openIndex === event.index) choice.openIndex = undefined;
    this.shown.push(event);
  }

  protected override endOfCut(end: Omit<ChoiceEnd, 'reason'>): ChoiceEnd {
    return { ...end, reason: 'max-tokens', stopSequence: undefined };
  }

  /** Sets the rate for the text of this frame. Gives the count that it was set by, if there is one. */
  #readCount(events: readonly CanonicalEvent[]): number | undefined {
    const { limit, choices, counted } = this.#options;
    this.#rate = 1 / MAX_BYTES_PER_TOKEN;
    this.#isMixed ||= events.some(isMore);
    const count = counted();
    if (count === undefined || choices > 1 || count <= this.#lastCount) return undefined;
    this.#lastCount = count;
    if (count <= limit) this.#rate = 0;
    else {
      const bytes = events.reduce((sum, event) => sum + textBytes(event), 0);
      const rate = (count - (this.choices.get(0)?.spent ?? 0)) / bytes;
      // No token is shorter than a byte: a count beyond that is one of other things, too.
      if (this.#isMixed || rate > 1) return undefined;
      this.#rate = rate;
    }
    return count;
  }

  #open(choice: LimitedChoice): void {
    const { heldStart } = choice;
    if (heldStart === undefined) return;
    this.shown.push(heldStart);
    choice.openIndex = heldStart.index;
    choice.heldStart = undefined;
  }

  /** As much of `text` as is within the limit. */
  #keep(text: string, choice: LimitedChoice): string {
    if (this.#rate === 0) return text;
    const before = choice.spent;
    choice.spent += Buffer.byteLength(text) * this.#rate;
    // What is exactly the limit may come out a little above it.
    if (choice.spent <= this.#options.limit + 1e-6) return text;
    return opening(text, (this.#options.limit - before) / this.#rate);
  }
}

function isMore(event: CanonicalEvent): boolean {
  if (event.kind !== 'block-start') return false;
  const { kind } = event.block;
  return kind !== 'text' && kind !== 'thinking';
}

function textBytes(event: CanonicalEvent): number {
  if (event.kind !== 'block-delta' || event.delta.kind !== 'text') return 0;
  return Buffer.byteLength(event.delta.text);
}

/** The characters that begin within the first so many bytes; none is cut in two. */
function opening(text: string, bytes: number): string {
  let length = 0;
  let left = bytes;
  for (const character of text) {
    if (left < 1e-6) break;
    left -= Buffer.byteLength(character);
    length += character.length;
  }
  return text.slice(0, length);
}
