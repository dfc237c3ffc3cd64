// Leaves out the tools that the choice of tools rules out and upstreams would run all the same.

import type { Tool, ToolChoice } from '../canonical/request.ts';
import type { Transform } from './transform.ts';

/**
 * Upstreams choose among functions alone: what they run themselves they run as they see fit, so it
 * is offered only where it is allowed. The receipt says nothing of it: it is what was asked for.
 */
export const chooseTools: Transform = (request) => {
  const isAllowed = allowedBy(request.toolChoice);
  const tools = request.tools.filter(isAllowed);
  return tools.length === request.tools.length ? request : { ...request, tools };
};

function allowedBy(choice: ToolChoice): (tool: Tool) => boolean {
  const names = choice.kind === 'none' ? [] : choice.names;
  const { serverTools } = choice;
  if (choice.kind !== 'none' && names.length === 0 && serverTools === undefined) return () => true;
  // The declarations stay when none may be called: the history refers to them.
  const keepsFunctions = choice.kind === 'none' || names.length > 0;
  return ({ kind }) =>
    kind === 'function' || kind === 'freeform'
      ? keepsFunctions
      : serverTools?.includes(kind) === true;
}
