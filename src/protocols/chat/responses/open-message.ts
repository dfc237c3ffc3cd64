// One message item while it is written: its text, its citations, and the events of both.

import type { GroundingEvent, Logprobs } from '../../../canonical/event.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { KeptText } from '../../../lib/kept-text.ts';
import { writeAnnotations } from '../annotations.ts';
import { ContentText } from '../content-text.ts';
import { writeLogprobs } from '../logprobs.ts';
import type { FrameNumbering } from './frames.ts';
import { messageItem, type TextContent, textPart } from './output-items.ts';

export interface MessagePlace {
  readonly id: string;
  readonly outputIndex: number;
  /** Where the message's text begins in the model's whole text, in UTF-16 units. */
  readonly textStart: number;
}

export interface MessageEnd {
  readonly grounding: GroundingEvent | undefined;
  readonly logprobs: Logprobs | undefined;
  readonly isCut: boolean;
}

const EMPTY: TextContent = { text: '', annotations: [], logprobs: [] };

export class OpenMessage {
  readonly #place: MessagePlace;
  readonly #frames: FrameNumbering;
  readonly #content = new ContentText();
  readonly #delta: (text: string) => string;
  readonly #text = new KeptText();
  /** Units of the model's own text in this message. */
  modelLength = 0;

  constructor(place: MessagePlace, frames: FrameNumbering) {
    this.#place = place;
    this.#frames = frames;
    this.#delta = frames.deltas('response.output_text.delta', { ...this.#at(), logprobs: [] });
  }

  open(): string {
    const { id, outputIndex } = this.#place;
    const item = messageItem(id, 'in_progress', []);
    return (
      this.#frames.write('response.output_item.added', { output_index: outputIndex, item }) +
      this.#frames.write('response.content_part.added', { ...this.#at(), part: textPart(EMPTY) })
    );
  }

  addText(text: string): string {
    this.modelLength += text.length;
    return this.#add(this.#content.addText(text));
  }

  /** Something that is no text of the model's, as a paragraph of its own. */
  addBlock(markdown: string): string {
    return this.#add(this.#content.addBlock(markdown));
  }

  /** The item as it stands where the answer breaks off; undefined when it says nothing yet. */
  breakOff(grounding: GroundingEvent | undefined): JsonObject | undefined {
    if (this.#text.length === 0) return undefined;
    const content = {
      text: this.#text.toString(),
      annotations: this.#annotations(grounding),
      logprobs: [],
    };
    return messageItem(this.#place.id, 'incomplete', [textPart(content)]);
  }

  close({ grounding, logprobs, isCut }: MessageEnd): { item: JsonObject; text: string } {
    const content: TextContent = {
      text: this.#text.toString(),
      annotations: this.#annotations(grounding),
      logprobs: listLogprobs(logprobs),
    };
    const item = messageItem(this.#place.id, isCut ? 'incomplete' : 'completed', [
      textPart(content),
    ]);
    const at = this.#at();
    const frames = this.#frames;
    const noted = content.annotations.map((annotation, index) =>
      frames.write('response.output_text.annotation.added', {
        ...at,
        annotation_index: index,
        annotation,
      }),
    );
    const text =
      noted.join('') +
      frames.write('response.output_text.done', {
        ...at,
        text: content.text,
        logprobs: [...content.logprobs],
      }) +
      frames.write('response.content_part.done', { ...at, part: textPart(content) }) +
      frames.write('response.output_item.done', {
        output_index: this.#place.outputIndex,
        item,
      });
    return { item, text };
  }

  #add(text: string): string {
    if (text === '') return '';
    this.#text.add(text);
    return this.#delta(text);
  }

  /** The citations of this message's text, in the flat form of this surface. */
  #annotations(grounding: GroundingEvent | undefined): JsonObject[] {
    const { textStart } = this.#place;
    const content = this.#content;
    const shifted = {
      length: content.length,
      startOf: (position: number) => content.startOf(position - textStart),
      endOf: (position: number) => content.endOf(position - textStart),
    };
    if (grounding === undefined) return [];
    const citations = grounding.citations.filter(({ startIndex, endIndex }) => {
      return startIndex >= textStart && endIndex <= textStart + this.modelLength;
    });
    // Without any citation all sources stand for the whole.
    if (citations.length === 0 && grounding.citations.length > 0) return [];
    return writeAnnotations({ ...grounding, citations }, shifted).map(
      ({ url_citation: citation }) => ({ type: 'url_citation', ...citation }),
    );
  }

  #at(): JsonObject {
    return { item_id: this.#place.id, output_index: this.#place.outputIndex, content_index: 0 };
  }
}

function listLogprobs(logprobs: Logprobs | undefined): readonly JsonObject[] {
  if (logprobs === undefined) return [];
  const written = writeLogprobs({ choice: 0, reason: 'stop', logprobs });
  return (written?.content ?? []).map((token) => ({ ...token }));
}
