// What one answer said, put together from its events: whole texts and calls instead of pieces.

import { copyBeginning } from '../lib/long-text.ts';
import type { BlockOpening, CanonicalEvent } from './event.ts';

export type TranscriptBlock =
  | { readonly kind: 'text' | 'thinking'; text: string }
  | { readonly kind: 'tool-call'; readonly id: string; readonly name: string; arguments: string }
  | { readonly kind: 'media'; readonly mediaType: string; readonly bytes: number }
  | { readonly kind: 'code'; readonly language: string; readonly code: string }
  | { readonly kind: 'code-result'; readonly outcome: string; readonly output: string };

/** Of what one answer said that is kept, in UTF-16 units. */
const MAX_CHARACTERS = 262_144;

/** The beginning of a text that may be long. */
export class KeptText {
  text = '';
  /** True when more was said than is kept. */
  isCut = false;

  add(text: string): void {
    const room = MAX_CHARACTERS - this.text.length;
    if (text.length <= room) this.text += text;
    else {
      this.isCut = true;
      if (room > 0) this.text += copyBeginning(text, room);
    }
  }

  addLine(text: string): void {
    this.add(text);
    this.add('\n');
  }
}

/** @param maxCharacters of all texts together, in UTF-16 units; the rest is left out */
export class AnswerTranscript {
  readonly blocks: TranscriptBlock[] = [];
  /** What the upstream sent: a line of JSON for each event, or for a whole answer. */
  readonly wire = new KeptText();
  /** True when the answer said more than is kept. */
  isCut = false;
  readonly #open = new Map<number, TranscriptBlock>();
  #room: number;

  constructor(maxCharacters = MAX_CHARACTERS) {
    this.#room = maxCharacters;
  }

  /** Call with every event in order. */
  onEvent(event: CanonicalEvent): void {
    switch (event.kind) {
      case 'block-start':
        this.#begin(event.index, event.block);
        break;
      case 'block-delta': {
        const { delta } = event;
        this.#append(event.index, delta.kind === 'arguments' ? delta.json : delta.text);
        break;
      }
      case 'block-end':
        this.#open.delete(event.index);
        break;
      case 'start':
      case 'grounding':
      case 'usage':
      case 'finish':
      case 'error':
        break;
      default:
        event satisfies never;
    }
  }

  #begin(index: number, opening: BlockOpening): void {
    if (this.#room <= 0) {
      this.isCut = true;
      return;
    }
    const block = this.#blockOf(opening);
    this.blocks.push(block);
    this.#open.set(index, block);
  }

  #blockOf(opening: BlockOpening): TranscriptBlock {
    switch (opening.kind) {
      case 'text':
      case 'thinking':
        return { kind: opening.kind, text: '' };
      case 'tool-call': {
        const id = this.#take(opening.id);
        return { kind: 'tool-call', id, name: this.#take(opening.name), arguments: '' };
      }
      case 'media': {
        const { mediaType, base64 } = opening;
        return { kind: 'media', mediaType, bytes: Math.floor((base64.length * 3) / 4) };
      }
      case 'code':
        return { kind: 'code', language: opening.language, code: this.#take(opening.code) };
      case 'code-result': {
        const { kind, outcome } = opening;
        return { kind, outcome, output: this.#take(opening.output) };
      }
      default:
        return opening satisfies never;
    }
  }

  #append(index: number, text: string): void {
    const block = this.#open.get(index);
    if (block === undefined) return;
    if (block.kind === 'text' || block.kind === 'thinking') block.text += this.#take(text);
    else if (block.kind === 'tool-call') block.arguments += this.#take(text);
  }

  #take(text: string): string {
    const taken = text.slice(0, Math.max(0, this.#room));
    if (taken.length < text.length) this.isCut = true;
    // Each block costs a little even when it is empty.
    this.#room -= taken.length + 1;
    return taken;
  }
}
