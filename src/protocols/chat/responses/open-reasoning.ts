// One reasoning item while it is written: its summary and, at its end, the proof.

import type { JsonObject } from '../../../lib/json.ts';
import { KeptText } from '../../../lib/kept-text.ts';
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
  readonly #text = new KeptText();

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
      this.#text.length === 0
        ? this.#frames.write('response.reasoning_summary_part.added', {
            ...this.#at(),
            part: summaryPart(''),
          })
        : '';
    this.#text.add(text);
    return opening + this.#delta(text);
  }

  /** The item as it stands where the answer breaks off; undefined when it says nothing yet. */
  breakOff(): JsonObject | undefined {
    if (this.#text.length === 0) return undefined;
    const text = this.#text.toString();
    const item = reasoningItem(this.#place.id, { text, proof: undefined });
    return { ...item, status: 'incomplete' };
  }

  close(proof: string | undefined): { item: JsonObject; text: string } {
    const said = this.#text.length === 0 ? undefined : this.#text.toString();
    const item = reasoningItem(this.#place.id, { text: said, proof });
    const done = this.#frames;
    const summary =
      said === undefined
        ? ''
        : done.write('response.reasoning_summary_text.done', { ...this.#at(), text: said }) +
          done.write('response.reasoning_summary_part.done', {
            ...this.#at(),
            part: summaryPart(said),
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
