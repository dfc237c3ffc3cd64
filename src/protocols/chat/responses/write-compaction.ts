// Writes an answer that is a summary: one compaction item, whole at its end.

import type { BlockDeltaEvent, ChoiceEnd, GroundingEvent } from '../../../canonical/event.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { compactionItem } from './compaction.ts';
import type { AnswerItems, ItemsOptions } from './write-items.ts';

/** Half a summary is none, as the conversation could not go on from it; thoughts about it are of no use. */
export class SummaryItems implements AnswerItems {
  readonly done: JsonObject[] = [];
  grounding: GroundingEvent | undefined;
  readonly #options: ItemsOptions;
  #summary = '';

  constructor(options: ItemsOptions) {
    this.#options = options;
  }

  openBlock(): string {
    return '';
  }

  continueBlock(delta: BlockDeltaEvent['delta']): string {
    if (delta.kind === 'text') this.#summary += delta.text;
    return '';
  }

  endBlock(): string {
    return '';
  }

  brokenOff(): readonly JsonObject[] {
    return [];
  }

  end(end: ChoiceEnd | undefined): string {
    if (end?.reason !== 'stop' || this.#summary.trim() === '') return '';
    const { createId, frames } = this.#options;
    const item = compactionItem(createId('cmp_'), this.#summary);
    this.done.push(item);
    const fields = { output_index: 0, item };
    return (
      frames.write('response.output_item.added', fields) +
      frames.write('response.output_item.done', fields)
    );
  }
}
