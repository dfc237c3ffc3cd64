// Writes items that are known whole at once, with the whole life cycle of each: searches, refusals.

import type { GroundingEvent } from '../../../canonical/event.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type { FrameNumbering } from './frames.ts';
import type { ItemPlace } from './open-reasoning.ts';
import { messageItem, refusalPart, type SearchShow, searchItem } from './output-items.ts';

export interface WholeItem {
  readonly item: JsonObject;
  readonly text: string;
}

export function writeSearch(
  place: ItemPlace,
  { grounding, show }: { readonly grounding: GroundingEvent; readonly show: SearchShow },
  frames: FrameNumbering,
): WholeItem {
  const item = searchItem(place.id, grounding, show);
  const begun = { ...item, status: 'in_progress' };
  const steps = ['in_progress', 'searching', 'completed'];
  return { item, text: writeLife({ place, begun, item, steps }, frames) };
}

/**
 * Why an answer was withheld, as a message of its own: clients that know no refusals keep the text that
 * came before it.
 */
export function writeRefusal(place: ItemPlace, refusal: string, frames: FrameNumbering): WholeItem {
  const { id, outputIndex } = place;
  const whole = refusalPart(refusal);
  const item = messageItem(id, 'completed', [whole]);
  const at = { item_id: id, output_index: outputIndex, content_index: 0 };
  const text =
    frames.write('response.output_item.added', {
      output_index: outputIndex,
      item: messageItem(id, 'in_progress', []),
    }) +
    frames.write('response.content_part.added', { ...at, part: refusalPart('') }) +
    frames.write('response.refusal.delta', { ...at, delta: refusal }) +
    frames.write('response.refusal.done', { ...at, refusal }) +
    frames.write('response.content_part.done', { ...at, part: whole }) +
    frames.write('response.output_item.done', { output_index: outputIndex, item });
  return { item, text };
}

interface Life {
  readonly place: ItemPlace;
  readonly begun: JsonObject;
  readonly item: JsonObject;
  /** The events of the item's own kind between `added` and `done`. */
  readonly steps: readonly string[];
}

function writeLife({ place, begun, item, steps }: Life, frames: FrameNumbering): string {
  const { id, outputIndex } = place;
  const at = { item_id: id, output_index: outputIndex };
  const kind = String(item.type);
  const added = frames.write('response.output_item.added', {
    output_index: outputIndex,
    item: begun,
  });
  const lived = steps.map((step) => frames.write(`response.${kind}.${step}`, at)).join('');
  return (
    added + lived + frames.write('response.output_item.done', { output_index: outputIndex, item })
  );
}
