// Holds the text of an answer to the client's own limit, where the upstream was allowed more to think.

import type {
  BlockDeltaEvent,
  BlockEndEvent,
  BlockStartEvent,
  CanonicalEvent,
  ChoiceEnd,
  GroundingEvent,
} from '../canonical/event.ts';
import type { Receipt } from '../canonical/receipt.ts';
import { told } from '../lib/localized-message.ts';

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

interface ChoiceState {
  /** Tokens of the text that was let through. */
  spent: number;
  /** UTF-16 units of it. */
  shownLength: number;
  /** The text block that is open for the client. */
  openIndex: number | undefined;
  /** The opening of a text of which nothing has come yet. */
  heldStart: BlockStartEvent | undefined;
  isCut: boolean;
}

/**
 * Ends a choice where its text goes over the limit: by the upstream's count in a frame that has one,
 * at the share of the frame's text that is within it; else by an estimate that is rather too kind.
 * Thoughts do not count, and neither do calls and media: they stay whole where they begin before the
 * cut. Nothing of a choice comes behind it, and an error of the upstream ends nothing any more once
 * every choice is cut.
 */
export class TextLimit {
  readonly #options: TextLimitOptions;
  readonly #choices = new Map<number, ChoiceState>();
  readonly #owners = new Map<number, ChoiceState>();
  #cutCount = 0;
  #lastCount = 0;
  /** True once the answer holds more than text: its count is no longer that of the text. */
  #isMixed = false;
  /** True when a count said so, which then is told as what was used. */
  #isCutByCount = false;
  /** Tokens a byte of the text in this frame; zero where all of it is within the limit. */
  #rate = 0;
  #shown: CanonicalEvent[] = [];

  constructor(options: TextLimitOptions) {
    this.#options = options;
  }

  /** True when no more of the upstream's text is needed, nor of its counts. */
  get isDone(): boolean {
    return this.#isCutByCount;
  }

  /** Takes the events of one frame after the other and gives what is left of them. */
  cut(events: readonly CanonicalEvent[]): CanonicalEvent[] {
    this.#shown = [];
    const count = this.#readCount(events);
    for (const event of events) this.#take(event);
    const choice = this.#choices.get(0);
    if (count === undefined || choice === undefined) return this.#shown;
    if (choice.isCut) this.#isCutByCount = true;
    else if (!this.#isMixed) choice.spent = count;
    return this.#shown;
  }

  #isCut(): boolean {
    return this.#cutCount >= this.#options.choices;
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
      const rate = (count - (this.#choices.get(0)?.spent ?? 0)) / bytes;
      // No token is shorter than a byte: a count beyond that is one of other things, too.
      if (this.#isMixed || rate > 1) return undefined;
      this.#rate = rate;
    }
    return count;
  }

  #take(event: CanonicalEvent): void {
    switch (event.kind) {
      case 'block-start':
        this.#start(event);
        break;
      case 'block-delta':
        this.#continue(event);
        break;
      case 'block-end':
        this.#end(event);
        break;
      case 'grounding':
        this.#shown.push(this.#groundShown(event));
        break;
      case 'start':
      case 'usage':
        this.#shown.push(event);
        break;
      case 'finish':
        this.#shown.push({ ...event, choices: event.choices.map((end) => this.#endOf(end)) });
        break;
      case 'error':
        this.#shown.push(this.#isCut() ? { kind: 'finish', choices: this.#ends() } : event);
        break;
      default:
        event satisfies never;
    }
  }

  #start(event: BlockStartEvent): void {
    const choice = this.#choiceAt(event.choice);
    this.#owners.set(event.index, choice);
    if (choice.isCut) return;
    if (event.block.kind === 'text') choice.heldStart = event;
    else this.#shown.push(event);
  }

  #continue(event: BlockDeltaEvent): void {
    const choice = this.#owners.get(event.index);
    if (choice === undefined || choice.isCut) return;
    if (event.delta.kind !== 'text') {
      this.#shown.push(event);
      return;
    }
    const { text } = event.delta;
    const kept = this.#keep(text, choice);
    if (kept !== '') {
      this.#open(choice);
      this.#shown.push({ ...event, delta: { kind: 'text', text: kept } });
      choice.shownLength += kept.length;
    }
    if (kept.length < text.length) this.#close(choice);
  }

  #end(event: BlockEndEvent): void {
    const choice = this.#owners.get(event.index);
    this.#owners.delete(event.index);
    if (choice === undefined || choice.isCut) return;
    this.#open(choice);
    if (choice.openIndex === event.index) choice.openIndex = undefined;
    this.#shown.push(event);
  }

  #open(choice: ChoiceState): void {
    const { heldStart } = choice;
    if (heldStart === undefined) return;
    this.#shown.push(heldStart);
    choice.openIndex = heldStart.index;
    choice.heldStart = undefined;
  }

  #close(choice: ChoiceState): void {
    choice.isCut = true;
    this.#cutCount += 1;
    if (choice.openIndex !== undefined) {
      this.#shown.push({ kind: 'block-end', index: choice.openIndex });
    }
    this.#options.receipt.add(
      'capped',
      'max_tokens',
      told`The answer was cut at this limit: the upstream's was raised for its thinking.`,
    );
  }

  /** As much of `text` as is within the limit. */
  #keep(text: string, choice: ChoiceState): string {
    if (this.#rate === 0) return text;
    const before = choice.spent;
    choice.spent += Buffer.byteLength(text) * this.#rate;
    // What is exactly the limit may come out a little above it.
    if (choice.spent <= this.#options.limit + 1e-6) return text;
    return opening(text, (this.#options.limit - before) / this.#rate);
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
    if (this.#choices.get(end.choice)?.isCut !== true) return end;
    return { choice: end.choice, reason: 'max-tokens', rawReason: end.rawReason };
  }

  #ends(): ChoiceEnd[] {
    return [...this.#choices.keys()]
      .sort((left, right) => left - right)
      .map((choice) => ({ choice, reason: 'max-tokens' }));
  }

  #choiceAt(index: number): ChoiceState {
    const known = this.#choices.get(index);
    if (known !== undefined) return known;
    const choice: ChoiceState = {
      spent: 0,
      shownLength: 0,
      openIndex: undefined,
      heldStart: undefined,
      isCut: false,
    };
    this.#choices.set(index, choice);
    return choice;
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
