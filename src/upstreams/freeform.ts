// Tools that take free text, on wires whose tools take arguments.

import type { Receipt } from '../canonical/receipt.ts';
import type { FreeformTool } from '../canonical/request.ts';
import type { JsonObject } from '../lib/json.ts';
import { told } from '../lib/localized-message.ts';

/** Free text travels as the one string argument `input`. */
export const FREEFORM_INPUT: JsonObject = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The whole input, as plain text.' } },
  required: ['input'],
};

/** What the tool at `path` does, and the grammar of its input; undefined where nothing is said. */
export function describeFreeform(
  { description, grammar }: FreeformTool,
  { path, receipt }: { readonly path: string; readonly receipt: Receipt },
): string | undefined {
  if (grammar !== undefined) {
    receipt.add(
      'approximated',
      path,
      told`The model is told the grammar, and nothing enforces it.`,
    );
  }
  const rules =
    grammar === undefined
      ? undefined
      : `The input must follow this ${grammar.syntax} grammar:\n${grammar.definition}`;
  const text = [description, rules].filter((line) => line !== undefined && line !== '');
  return text.length === 0 ? undefined : text.join('\n\n');
}
