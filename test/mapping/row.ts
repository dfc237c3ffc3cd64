// What a row of the mapping says: how each client protocol asks for one thing, and what becomes of it.

import type { ReceiptAction } from '../../src/canonical/receipt.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import type { Words } from './words.ts';

/** The client protocols; Responses are a surface of the first with a form of their own. */
export const PROTOCOLS = ['chat', 'responses', 'messages', 'generate'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

/** A part of a body in either vocabulary. */
export type InWords = JsonObject | ((words: Words) => JsonObject);

/** Two upstream bodies must have this in common with what is written; `exactly` fields leave nothing beside. */
export interface Expected {
  /** Fields of the upstream body, whole. */
  readonly fields?: InWords;
  /** Top-level fields the upstream body must not have. */
  readonly without?: readonly string[];
}

export type Noted = readonly [action: ReceiptAction, path: string];

export type Entry =
  /** The upstream body says the same; `noted` is the whole receipt. */
  | {
      readonly kind: 'written';
      readonly ask: InWords;
      readonly expected: Expected;
      readonly noted: readonly Noted[] | ((words: Words) => readonly Noted[]);
      readonly model?: string;
    }
  /** A 400 that names the field. */
  | {
      readonly kind: 'refused';
      readonly ask: InWords;
      readonly field: string;
      readonly model?: string;
    }
  /** The protocol has no word for it. */
  | { readonly kind: 'unsaid'; readonly why: string };

export interface RequestRow {
  readonly name: string;
  readonly entries: Readonly<Record<Protocol, Entry>>;
}

/** Carried without any loss. */
export function carried(ask: InWords, fields: InWords, model?: string): Entry {
  return { kind: 'written', ask, expected: { fields }, noted: [], ...(model && { model }) };
}

/** Carried as near as the upstream allows, or left out: the receipt says so. */
export function noted(
  ask: InWords,
  expected: Expected,
  ...[first, ...more]: readonly [Noted, ...Noted[]]
): Entry {
  return { kind: 'written', ask, expected, noted: [first, ...more] };
}

/** Left out on purpose without a word: it changes no answer. */
export function silent(ask: InWords, without: readonly string[] = []): Entry {
  return { kind: 'written', ask, expected: { without }, noted: [] };
}

export function refused(ask: InWords, field: string): Entry {
  return { kind: 'refused', ask, field };
}

export function unsaid(why: string): Entry {
  return { kind: 'unsaid', why };
}
