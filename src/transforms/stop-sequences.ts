// Stop sequences: which of them the upstream gets, and cutting the answer at those it does not stop at.

import type { BlockEndEvent, BlockStartEvent, ChoiceEnd } from '../canonical/event.ts';
import type { Receipt } from '../canonical/receipt.ts';
import type { CanonicalRequest } from '../canonical/request.ts';
import { told } from '../lib/localized-message.ts';
import { AnswerCutter, type CutChoice, type TextDelta } from './answer-cutter.ts';

/** Those that an upstream gets which takes `most`: the first ones. The gateway cuts the answer at the others. */
export function sentStops(
  request: Pick<CanonicalRequest, 'stopSequences'>,
  most: number,
  receipt: Receipt,
): readonly string[] {
  const stops = enforcedStops(request);
  if (stops.length <= most) return stops;
  const reason = told`The upstream takes ${most} stop sequences; the gateway cuts the answer at the others.`;
  receipt.add('approximated', 'stop', reason);
  return stops.slice(0, most);
}

/**
 * All stop sequences of the client's own request: no answer goes on behind one. The upstream says
 * `STOP` for a sequence as for a natural end, and leaves the sequence out of the text, so that its own
 * cut cannot be told from an end (ai.google.dev, "GenerateContent API reference", `FinishReason`);
 * what it lets through is cut here, where it is known.
 */
export function enforcedStops({
  stopSequences,
}: Pick<CanonicalRequest, 'stopSequences'>): readonly string[] {
  return [...new Set(stopSequences)];
}

type Held = BlockStartEvent | BlockEndEvent | TextDelta;

interface SearchedChoice extends CutChoice {
  readonly matcher: StopMatcher;
  /** Withheld text and the block borders inside it; begins with text. */
  readonly held: Held[];
  heldLength: number;
  /** The sequence it was cut at. */
  stop: string | undefined;
}

/**
 * Ends a choice where the first of `stops` is complete in its text, and leaves the sequence out.
 * Only as much text is held back as may be the beginning of one, so the result does not depend on
 * where deltas begin. Thoughts, tool calls and media are never searched; between two runs of text
 * they keep a sequence from matching.
 * @param stops none of them empty
 * @param expected how many alternative answers were asked for
 */
export class StopCutter extends AnswerCutter<SearchedChoice> {
  readonly #stops: readonly string[];

  constructor(stops: readonly string[], expected = 1) {
    super(expected);
    this.#stops = stops;
  }

  /** True when every choice has been cut: no more of the upstream's text is needed. */
  get isDone(): boolean {
    return this.isCut;
  }

  protected override createChoice(): SearchedChoice {
    return {
      matcher: createStopMatcher(this.#stops),
      held: [],
      heldLength: 0,
      shownLength: 0,
      openIndex: undefined,
      isCut: false,
      stop: undefined,
    };
  }

  protected override start(choice: SearchedChoice, event: BlockStartEvent): void {
    if (event.block.kind !== 'text') {
      this.flush(choice);
      choice.matcher.reset();
      this.shown.push(event);
    } else if (choice.held.length > 0) choice.held.push(event);
    else this.#show(choice, event);
  }

  protected override text(choice: SearchedChoice, event: TextDelta): void {
    const before = choice.heldLength;
    choice.held.push(event);
    choice.heldLength += event.delta.text.length;
    const match = choice.matcher.push(event.delta.text);
    if (match === undefined) {
      this.#release(choice, choice.heldLength - choice.matcher.pending);
      return;
    }
    this.#release(choice, before + match.end - match.stop.length);
    choice.stop = match.stop;
    choice.held.length = 0;
    this.close(choice);
  }

  protected override end(choice: SearchedChoice, event: BlockEndEvent): void {
    if (choice.held.length > 0) choice.held.push(event);
    else this.#show(choice, event);
  }

  protected override flush(choice: SearchedChoice): void {
    this.#release(choice, choice.heldLength);
  }

  protected override endOfCut(end: Omit<ChoiceEnd, 'reason'>, { stop }: SearchedChoice): ChoiceEnd {
    return { ...end, reason: 'stop-sequence', stopSequence: stop };
  }

  /** Gives out so much of the held text, with the block borders around it. */
  #release(choice: SearchedChoice, length: number): void {
    const { held } = choice;
    let left = length;
    let taken = 0;
    for (; taken < held.length; taken += 1) {
      const event = held[taken];
      if (event === undefined) break;
      if (event.kind !== 'block-delta') {
        this.#show(choice, event);
        continue;
      }
      const { text } = event.delta;
      if (text.length > left) {
        if (left > 0) this.#show(choice, withText(event, text.slice(0, left)));
        held[taken] = withText(event, text.slice(left));
        break;
      }
      left -= text.length;
      this.#show(choice, event);
    }
    held.splice(0, taken);
    choice.heldLength -= length;
  }

  #show(choice: SearchedChoice, event: Held): void {
    if (event.kind === 'block-delta') choice.shownLength += event.delta.text.length;
    else choice.openIndex = event.kind === 'block-start' ? event.index : undefined;
    this.shown.push(event);
  }
}

function withText(event: TextDelta, text: string): TextDelta {
  return { ...event, delta: { kind: 'text', text } };
}

type StopMatcher = ReturnType<typeof createStopMatcher>;

interface Pattern {
  readonly stop: string;
  /** By matched length: the longest shorter match that the same text is as well. Made as far as a text has matched. */
  readonly fallbacks: number[];
  matched: number;
}

/**
 * Finds the first of several texts to be complete in a stream of text, one unit at a time. Knuth, Morris and
 * Pratt's search for each stop, side by side: linear in the text, whatever it is.
 */
function createStopMatcher(stops: readonly string[]) {
  const patterns = stops
    .toSorted((left, right) => right.length - left.length)
    .map((stop): Pattern => ({ stop, fallbacks: [0, 0], matched: 0 }));
  return {
    /** Units at the end of the text so far that may be the beginning of a stop. */
    get pending() {
      return patterns.reduce((most, { matched }) => Math.max(most, matched), 0);
    },
    /**
     * The stop completed first, and how many units of the piece it takes; of several completed by the same
     * unit, the longest. Ends the search.
     */
    push(piece: string) {
      for (let at = 0; at < piece.length; at += 1) {
        const unit = piece.charCodeAt(at);
        const complete = advanceAll(patterns, unit);
        if (complete !== undefined) return { stop: complete.stop, end: at + 1 };
      }
      return undefined;
    },
    /** Forgets the text so far. */
    reset(): void {
      for (const pattern of patterns) pattern.matched = 0;
    },
  };
}

function advanceAll(patterns: readonly Pattern[], unit: number): Pattern | undefined {
  let complete: Pattern | undefined;
  for (const pattern of patterns) {
    pattern.matched = advance(pattern, unit);
    if (pattern.matched === pattern.stop.length) complete ??= pattern;
    else if (pattern.matched === pattern.fallbacks.length) addFallback(pattern);
  }
  return complete;
}

function advance(
  { stop, fallbacks, matched }: Pick<Pattern, 'stop' | 'fallbacks' | 'matched'>,
  unit: number,
): number {
  let length = matched;
  while (length > 0 && stop.charCodeAt(length) !== unit) length = fallbacks[length] ?? 0;
  return stop.charCodeAt(length) === unit ? length + 1 : 0;
}

/** That of the next length: a match grows by one unit at a time. */
function addFallback({ stop, fallbacks }: Pattern): void {
  const length = fallbacks.length - 1;
  const matched = fallbacks[length] ?? 0;
  fallbacks.push(advance({ stop, fallbacks, matched }, stop.charCodeAt(length)));
}
