// Leaves functions out for models that call none: they draw or speak, and refuse declarations.

import { invalidRequest } from '../canonical/error.ts';
import { told } from '../canonical/receipt.ts';
import type { Tool } from '../canonical/request.ts';
import type { Transform } from './transform.ts';

/** @throws GatewayError (invalid-request) when a call is demanded. */
export const dropFunctions: Transform = (request, { capabilities, receipt }) => {
  const { tools, toolChoice } = request;
  if (capabilities.callsFunctions || !tools.some(isCallable)) return request;
  if (toolChoice.kind === 'required') {
    const message = 'tool_choice demands a call, and this model calls no functions.';
    throw invalidRequest('tool_choice', message, 'unsupported');
  }
  for (const { path = 'tools' } of tools.filter(isCallable)) {
    receipt.add('dropped', path, told`This model calls no functions.`);
  }
  return {
    ...request,
    tools: tools.filter((tool) => !isCallable(tool)),
    toolChoice: { kind: 'auto', names: [] },
  };
};

function isCallable({ kind }: Tool): boolean {
  return kind === 'function' || kind === 'freeform';
}
