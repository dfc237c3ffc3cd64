// Puts fields that have no effect into the receipt, so that a client learns what was not understood.

import { noteUnknownFields, type Shape } from '../../canonical/field-shapes.ts';
import { told } from '../../canonical/receipt.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { ReadContext } from './read-context.ts';

export interface NoteOptions {
  /** What is known, at any depth. */
  readonly known: Shape;
  /** Path of the object; '' for the body. */
  readonly path: string;
  readonly context: Pick<ReadContext, 'receipt'>;
}

/** Notes every field outside `known` that says something. */
export function noteUnreadFields(object: JsonObject, { known, path, context }: NoteOptions): void {
  noteUnknownFields(object, {
    shape: known,
    path,
    note: (unread) => context.receipt.add('dropped', unread, told`This field has no effect here.`),
  });
}
