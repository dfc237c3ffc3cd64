// Tools that take free text, on wires whose tools take arguments.

import type { FreeformTool } from '../canonical/request.ts';
import type { JsonObject } from '../lib/json.ts';

/** Free text travels as the one string argument `input`. */
export const FREEFORM_INPUT: JsonObject = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The whole input, as plain text.' } },
  required: ['input'],
};

/** What the tool does, and the grammar of its input; undefined where nothing is said. */
export function describeFreeform({ description, grammar }: FreeformTool): string | undefined {
  const rules =
    grammar === undefined
      ? undefined
      : `The input must follow this ${grammar.syntax} grammar:\n${grammar.definition}`;
  const text = [description, rules].filter((line) => line !== undefined && line !== '');
  return text.length === 0 ? undefined : text.join('\n\n');
}
