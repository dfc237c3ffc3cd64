// Gives the values of a structured answer the types its schema has, where the upstream could only write texts.

import type { CanonicalEvent, GroundingEvent } from '../../canonical/event.ts';
import type { Receipt } from '../../canonical/receipt.ts';
import type { OutputFormat } from '../../canonical/request.ts';
import { isJsonObject, tryParse } from '../../lib/json.ts';
import { repairValue, SchemaReader } from '../../schema/coerce.ts';
import { isTextDelta, type TextDelta } from '../answer-cutter.ts';
import { FENCE_RULE, type RewrittenText, type TextRule } from './fences.ts';

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
  readonly deltas: TextDelta[];
  text: string;
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
    const state: ChoiceState = { held: { index, deltas: [], text: '' }, shift: 0 };
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
    held.deltas.push(event);
    held.text += event.delta.text;
    if (!isDecided && !this.#rule.mayChange(held.text)) this.#release(choice, shown);
    return true;
  }

  /** The text is whole: it is given out as its rule wants it. */
  #settle(choice: ChoiceState | undefined, shown: CanonicalEvent[]): void {
    const held = choice?.held;
    if (choice === undefined || held === undefined) return;
    const rewritten = this.#rule.rewrite(held.text);
    if (rewritten === undefined) {
      this.#release(choice, shown);
      return;
    }
    const { text, shift } = rewritten;
    choice.shift = shift;
    this.#forget(choice, held);
    const delta = { kind: 'text', text } as const;
    if (text !== '') shown.push({ kind: 'block-delta', index: held.index, delta });
  }

  #release(choice: ChoiceState, shown: CanonicalEvent[]): void {
    const { held } = choice;
    if (held === undefined) return;
    this.#forget(choice, held);
    for (const delta of held.deltas) shown.push(delta);
  }

  #forget(choice: ChoiceState, { index }: HeldText): void {
    choice.held = undefined;
    this.#owners.delete(index);
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
