// What the repairs of texts, objects and arrays share: the way down into values, and the notes taken.

import type { Sentence } from '../../canonical/receipt.ts';
import type { JsonValue } from '../../lib/json.ts';
import type { SchemaNode } from './schema-node.ts';
import type { SchemaWork } from './schema-work.ts';

/** Where a value stands: the path for the receipt and the property it was given for. */
export interface Place {
  readonly path: string;
  readonly name: string;
}

export interface RepairNote {
  readonly action: 'repaired' | 'dropped';
  readonly path: string;
  readonly reason: Sentence;
}

export interface ValueRepairer {
  readonly work: SchemaWork;
  /** The value as its schema wants it; the same value when it fits or when nothing is clearly meant. */
  repair(node: SchemaNode, value: JsonValue, place: Place): JsonValue;
  note(note: RepairNote): void;
}
