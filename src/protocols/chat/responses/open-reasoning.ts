// One reasoning item while it is written: its summary and, at its end, the proof.

import type { JsonObject } from '../../../lib/json.ts';
import type { FrameNumbering } from './frames.ts';
import { reasoningItem, summaryPart } from './output-items.ts';

export interface ItemPlace {
  readonly id: string;
  readonly outputIndex: number;
}

export class OpenReasoning {
  readonly #place: ItemPlace;
  readonly #frames: FrameNumbering;
  readonly #delta: (text: string) => string;
  #text: string | undefined;

  constructor(place: ItemPlace, frames: FrameNumbering) {
    this.#place = place;
    this.#frames = frames;
    this.#delta = frames.deltas('response.reasoning_summary_text.delta', this.#at());
  }

  open(): string {
    const { id, outputIndex } = this.#place;
    return this.#frames.write('response.output_item.added', {
      output_index: outputIndex,
      item: reasoningItem(id, { text: undefined, proof: undefined }),
    });
  }

  addText(text: string): string {
    if (text === '') return '';
    const opening =
      this.#text === undefined
        ? this.#frames.write('response.reasoning_summary_part.added', {
            ...this.#at(),
            part: summaryPart(''),
          })
        : '';
    this.#text = (this.#text ?? '') + text;
    return opening + this.#delta(text);
  }

  /** The item as it stands where the answer breaks off; undefined when it says nothing yet. */
  breakOff(): JsonObject | undefined {
    if (this.#text === undefined) return undefined;
    const item = reasoningItem(this.#place.id, { text: this.#text, proof: undefined });
    return { ...item, status: 'incomplete' };
  }

  close(proof: string | undefined): { item: JsonObject; text: string } {
    const item = reasoningItem(this.#place.id, { text: this.#text, proof });
    const done = this.#frames;
    const summary =
      this.#text === undefined
        ? ''
        : done.write('response.reasoning_summary_text.done', { ...this.#at(), text: this.#text }) +
          done.write('response.reasoning_summary_part.done', {
            ...this.#at(),
            part: summaryPart(this.#text),
          });
    const text =
      summary +
      done.write('response.output_item.done', { output_index: this.#place.outputIndex, item });
    return { item, text };
  }

  #at(): JsonObject {
    return { item_id: this.#place.id, output_index: this.#place.outputIndex, summary_index: 0 };
  }
}
