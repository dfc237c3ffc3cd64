// Reads what a client says of a function beside its name and its schema, and what of that the model can be told.

import { type Receipt, told } from '../../canonical/receipt.ts';
import type { FunctionTool } from '../../canonical/request.ts';
import { note, optionalArrayAt, optionalBooleanAt, pathOf, type Scope } from './fields.ts';

/** `defer_loading` and delivery hints are silent: every tool is declared from the start. */
export function readToolHints(
  scope: Scope,
  {
    description,
    receipt,
  }: { readonly description?: string | undefined; readonly receipt: Receipt },
): Pick<FunctionTool, 'description' | 'strict'> {
  noteCallers(scope, receipt);
  const words = [description, readExamples(scope, receipt)].filter(
    (text) => text !== undefined && text !== '',
  );
  const strict = optionalBooleanAt(scope, 'strict');
  return {
    ...(words.length === 0 ? {} : { description: words.join('\n\n') }),
    ...(strict === undefined ? {} : { strict }),
  };
}

function readExamples(scope: Scope, receipt: Receipt): string | undefined {
  const examples = optionalArrayAt(scope, 'input_examples') ?? [];
  if (examples.length === 0) return undefined;
  const path = pathOf(scope, 'input_examples');
  note(receipt, 'approximated', { path, reason: told`Examples stand in the description.` });
  return ['Examples of its input:', ...examples.map((example) => JSON.stringify(example))].join(
    '\n',
  );
}

/** Code the real service runs calls such tools; here the model does. */
function noteCallers(scope: Scope, receipt: Receipt): void {
  const callers = optionalArrayAt(scope, 'allowed_callers') ?? [];
  if (callers.length === 0 || callers.includes('direct')) return;
  const path = pathOf(scope, 'allowed_callers');
  note(receipt, 'approximated', { path, reason: told`Here the model itself calls all tools.` });
}
