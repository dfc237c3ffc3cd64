// One drawing while it is made: unfinished pictures as they come, then the picture.

import type { JsonObject } from '../../../lib/json.ts';
import type { FrameNumbering } from './frames.ts';
import type { ItemPlace } from './open-reasoning.ts';
import { drawingItem } from './output-items.ts';

/** Source: `openai` resources/responses, `ResponseImageGenCallPartialImageEvent`. */
export class OpenDrawing {
  readonly #place: ItemPlace;
  readonly #frames: FrameNumbering;
  #shown = 0;

  constructor(place: ItemPlace, frames: FrameNumbering) {
    this.#place = place;
    this.#frames = frames;
  }

  open(): string {
    const { id, outputIndex } = this.#place;
    const added = { output_index: outputIndex, item: drawingItem(id, 'in_progress', null) };
    return (
      this.#frames.write('response.output_item.added', added) +
      this.#step('in_progress') +
      this.#step('generating')
    );
  }

  /** Nothing beyond `most`. */
  addDraft(base64: string, most: number): string {
    if (this.#shown >= most) return '';
    const fields = { partial_image_index: this.#shown, partial_image_b64: base64 };
    this.#shown += 1;
    return this.#step('partial_image', fields);
  }

  /** Without a picture the drawing failed. */
  close(base64: string | undefined): { readonly item: JsonObject; readonly text: string } {
    const isDrawn = base64 !== undefined;
    const item = drawingItem(this.#place.id, isDrawn ? 'completed' : 'failed', base64 ?? null);
    const done = { output_index: this.#place.outputIndex, item };
    const text =
      (isDrawn ? this.#step('completed') : '') +
      this.#frames.write('response.output_item.done', done);
    return { item, text };
  }

  #step(step: string, fields: JsonObject = {}): string {
    return this.#frames.write(`response.image_generation_call.${step}`, {
      item_id: this.#place.id,
      output_index: this.#place.outputIndex,
      ...fields,
    });
  }
}
