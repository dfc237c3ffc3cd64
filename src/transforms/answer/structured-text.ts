// Rules for the text of a whole answer: the code fence comes off what was asked to be JSON, and values get the types
// that their schema has, where the upstream could only write texts.

import type { CanonicalEvent } from '../../canonical/event.ts';
import type { GroundingEvent } from '../../canonical/grounding.ts';
import type { Receipt } from '../../canonical/receipt.ts';
import type { OutputFormat } from '../../canonical/request.ts';
import { isJsonObject, tryParse } from '../../lib/json.ts';
import { KeptText } from '../../lib/long-text.ts';
import { repairValue, SchemaReader } from '../../schema/coerce.ts';
import { isTextDelta, type TextDelta } from '../answer-cutter.ts';

/**
 * The rule for an answer of this format; undefined when none is needed. The whole text waits only where
 * the schema has values that may come as texts: others are streamed as they come, as are those the upstream
 * was asked for in their own types.
 */
export function answerRule(
  format: OutputFormat,
  { receipt, isTyped }: { readonly receipt: Receipt; readonly isTyped: boolean },
): TextRule | undefined {
  if (format.kind !== 'json' && format.kind !== 'json-schema') return undefined;
  if (format.kind === 'json' || isTyped || !isJsonObject(format.schema)) return FENCE_RULE;
  const reader = new SchemaReader(format.schema);
  return reader.holdsTexts() ? repairRule(reader, receipt) : FENCE_RULE;
}

function repairRule(reader: SchemaReader, receipt: Receipt): TextRule {
  return {
    decidedAfter: 0,
    mayChange: () => true,
    rewrite(text) {
      const unfenced = FENCE_RULE.rewrite(text);
      const given = tryParse(unfenced?.text ?? text);
      const repaired =
        given === undefined ? undefined : repairValue(reader, given, { receipt, path: 'answer' });
      if (repaired === undefined) return unfenced;
      return { text: JSON.stringify(repaired), shift: undefined };
    },
  };
}

/** The first text of a choice while it may still change. */
interface HeldText {
  readonly index: number;
  readonly text: KeptText;
}

interface ChoiceState {
  held: HeldText | undefined;
  shift: RewrittenText['shift'];
}

/**
 * Rewrites the first text of each choice: it waits while its rule may still change it. Batch by batch, in order.
 * A text its rule leaves alone goes through as it comes; one that may change waits for its end.
 */
export class TextRewriter {
  readonly #rule: TextRule;
  readonly #choices = new Map<number, ChoiceState>();
  /** The choices whose first text is held, by block index. */
  readonly #owners = new Map<number, ChoiceState>();

  constructor(rule: TextRule) {
    this.#rule = rule;
  }

  /** Of the texts that wait. */
  get heldBytes(): number {
    let bytes = 0;
    for (const { held } of this.#choices.values()) bytes += held?.text.heldBytes ?? 0;
    return bytes;
  }

  rewrite(events: readonly CanonicalEvent[]): readonly CanonicalEvent[] {
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
        shown.push(choice === undefined ? event : shifted(event, choice.shift));
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
    const state: ChoiceState = { held: { index, text: new KeptText() }, shift: 0 };
    this.#choices.set(choice, state);
    this.#owners.set(index, state);
  }

  /** True when the event waits, or was given out with those that waited. */
  #hold(event: TextDelta, shown: CanonicalEvent[]): boolean {
    const choice = this.#owners.get(event.index);
    const held = choice?.held;
    if (choice === undefined || held === undefined) return false;
    // Looking at a text puts its pieces together: a long one is not looked at for each of them.
    const isDecided = held.text.length >= this.#rule.decidedAfter;
    held.text.add(event.delta.text);
    if (!isDecided && !this.#rule.mayChange(held.text.toString())) this.#release(choice, shown);
    return true;
  }

  /** The text is whole: it is given out as its rule wants it. */
  #settle(choice: ChoiceState | undefined, shown: CanonicalEvent[]): void {
    const held = choice?.held;
    if (choice === undefined || held === undefined) return;
    const given = held.text.toString();
    const { text, shift } = this.#rule.rewrite(given) ?? { text: given, shift: choice.shift };
    choice.shift = shift;
    this.#give(choice, held, text, shown);
  }

  #release(choice: ChoiceState, shown: CanonicalEvent[]): void {
    const { held } = choice;
    if (held !== undefined) this.#give(choice, held, held.text.toString(), shown);
  }

  #give(choice: ChoiceState, { index }: HeldText, text: string, shown: CanonicalEvent[]): void {
    choice.held = undefined;
    this.#owners.delete(index);
    const delta = { kind: 'text', text } as const;
    if (text !== '') shown.push({ kind: 'block-delta', index, delta });
  }
}

function shifted(event: GroundingEvent, shift: RewrittenText['shift']): GroundingEvent {
  if (shift === 0) return event;
  if (shift === undefined) return { ...event, citations: [] };
  const citations = event.citations
    .filter(({ startIndex }) => startIndex >= shift)
    .map((citation) => ({
      ...citation,
      startIndex: citation.startIndex - shift,
      endIndex: citation.endIndex - shift,
    }));
  return { ...event, citations };
}

const FENCE = '```';
const FIRST_LINE = /^```[\w-]*[ \t]*\r?$/;

/** White space before a fence. Models that are to write JSON may write nothing else, without end. */
const MAX_LEADING = 64;

/**
 * Takes the code fence off an answer that was asked to be JSON and is wholly inside one. A text that begins with
 * a fence waits for its end, as only there it is known whether the fence holds it all.
 */
const FENCE_RULE: TextRule = {
  decidedAfter: MAX_LEADING + FENCE.length,
  mayChange(begun) {
    const opening = begun.slice(0, MAX_LEADING + FENCE.length);
    const said = opening.trimStart();
    if (opening.length - said.length > MAX_LEADING) return false;
    return FENCE.startsWith(said.slice(0, FENCE.length));
  },
  // Place by place: answers are long, and patterns look at runs of white space over and over.
  rewrite(text) {
    const whole = text.trim();
    const start = whole.indexOf('\n') + 1;
    const end = whole.length - FENCE.length;
    if (start === 0 || start > end || !whole.endsWith(FENCE)) return undefined;
    if (!FIRST_LINE.test(whole.slice(0, start - 1))) return undefined;
    const inside = whole.slice(start, lastLineEnd(whole, start, end));
    return { text: inside, shift: text.length - text.trimStart().length + start };
  },
};

/** Where what stands before the closing fence ends, without its line break and what indents the fence. */
function lastLineEnd(text: string, start: number, end: number): number {
  let at = end;
  while (at > start && (text[at - 1] === ' ' || text[at - 1] === '\t')) at -= 1;
  if (at > start && text[at - 1] === '\n') at -= 1;
  if (at > start && text[at - 1] === '\r') at -= 1;
  return at;
}

interface TextRule {
  /** How much of a text's beginning, in UTF-16 units, tells whether it may change. */
  readonly decidedAfter: number;
  /** False when the rule leaves a text that begins like this as it is. */
  mayChange(begun: string): boolean;
  /** The whole text as the client is to see it; undefined for as it came. */
  rewrite(text: string): RewrittenText | undefined;
}

interface RewrittenText {
  readonly text: string;
  /** Units taken off before what is left as it was; undefined when positions in the text mean nothing any more. */
  readonly shift: number | undefined;
}
