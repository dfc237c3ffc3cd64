// Remembers cleaned schemas by content: clients declare the same tools with every request.

import type { Receipt, ReceiptAction, Sentence } from '../../../canonical/receipt.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type { Cleaning, Loss, SchemaForm } from './facets.ts';
import { createSchemaDocument } from './schema-document.ts';

const MAX_ENTRIES = 500;
/** Characters of schema text kept in all. */
const MAX_TEXT = 4_000_000;
/** More fragments than any honest schema has. */
const MAX_FRAGMENTS = 20_000;
/** Characters, without those of the schemas inside. */
const MAX_REPEATED = 2_000_000;
const MAX_WORDED = 2000;
/** A list is told again at each place that refers to it. */
const MAX_LISTED = 500_000;
/** More values than any honest schema lists, counted at each place they stand. */
const MAX_VALUES = 100_000;
/**
 * A schema whose limits `maxItems` add up to more than 960 or so is refused, one of 972 by itself
 * (googleapis/python-genai#2170).
 */
const MAX_ITEMS = 900;

export interface CleanOptions {
  readonly receipt: Receipt;
  /** Path of the schema in the client's request, such as `tools[2].input_schema`. */
  readonly path: string;
}

interface Cleaned<Node> {
  readonly node: Node;
  readonly notes: readonly Note[];
}

interface Note {
  readonly action: ReceiptAction;
  readonly path: string;
  readonly reason: Sentence;
}

export interface MemoOptions<Node> extends Pick<Cleaning, 'ordered' | 'restored'> {
  /** True to write as JSON Schema what the other form can only send as texts. */
  readonly takesJsonSchema: boolean;
  readonly clean: (cleaning: Cleaning, schema: JsonObject) => Node;
}

/**
 * Cleans through a memo. The same content gives the same frozen object and the same receipt
 * entries, so prompts stay byte-equal between requests. Holds at most 500 schemas or 4 M characters.
 */
export function createSchemaMemo<Node>(options: MemoOptions<Node>) {
  const byIdentity = new WeakMap<JsonObject, Cleaned<Node>>();
  const byText = new Map<string, Cleaned<Node>>();
  let textKept = 0;

  const recall = (text: string, schema: JsonObject): Cleaned<Node> => {
    const known = byText.get(text);
    const cleaned = known ?? cleanOnce(schema, options);
    if (known !== undefined) byText.delete(text);
    else textKept += text.length;
    byText.set(text, cleaned);
    for (const [oldest] of byText) {
      if (byText.size <= MAX_ENTRIES && textKept <= MAX_TEXT) break;
      byText.delete(oldest);
      textKept -= oldest.length;
    }
    return cleaned;
  };

  return (schema: JsonObject, { receipt, path }: CleanOptions): Node => {
    let cleaned = byIdentity.get(schema);
    if (cleaned === undefined) {
      cleaned = recall(JSON.stringify(schema), schema);
      byIdentity.set(schema, cleaned);
    }
    for (const note of cleaned.notes) receipt.add(note.action, path + note.path, note.reason);
    return cleaned.node;
  };
}

function cleanOnce<Node>(schema: JsonObject, options: MemoOptions<Node>): Cleaned<Node> {
  const { losses, ...cleaned } = cleanInForm(schema, 'schema', options);
  const gains = options.takesJsonSchema && losses.has('value') && !losses.has('depth');
  return gains ? cleanInForm(schema, 'json-schema', options) : cleaned;
}

function cleanInForm<Node>(
  schema: JsonObject,
  form: SchemaForm,
  { ordered, restored, clean }: MemoOptions<Node>,
): Cleaned<Node> & { readonly losses: ReadonlySet<Loss> } {
  const notes: Note[] = [];
  const isUpper = typeof schema.type === 'string' && /^[A-Z]+$/.test(schema.type);
  const cleaning: Cleaning = {
    document: createSchemaDocument(schema),
    form,
    losses: new Set(),
    upperCase: isUpper && form === 'schema',
    ordered,
    restored,
    fragmentsLeft: MAX_FRAGMENTS,
    repeatedLeft: MAX_REPEATED,
    weights: new Map(),
    wordsLeft: MAX_WORDED,
    listedLeft: MAX_LISTED,
    valuesLeft: MAX_VALUES,
    itemsLeft: MAX_ITEMS,
    note: (action, path, reason) => notes.push({ action, path, reason }),
  };
  const node = clean(cleaning, schema);
  return { node, notes, losses: cleaning.losses };
}
