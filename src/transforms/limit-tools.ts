// Keeps only the combinations of tools and output formats the model takes together.

import type { Tool, ToolChoice } from '../canonical/request.ts';
import type { Transform, TransformContext } from './transform.ts';

export const limitTools: Transform = (request, context) => {
  if (request.parallelToolCalls === false && request.tools.some(isCallable)) {
    context.receipt.add(
      'approximated',
      'parallel_tool_calls',
      'Upstreams have no such switch: only the first call of an answer is passed on.',
    );
  }
  const tools = withSearchVariant(request.tools, context);
  const hasFunctions = tools.some(isCallable);
  const kept =
    hasFunctions && !context.capabilities.searchWithFunctions
      ? tools.filter((tool) => keepBesideFunctions(tool, context))
      : tools;
  const toolChoice = hasFunctions ? request.toolChoice : NO_CHOICE;
  const limited = { ...request, tools: kept, toolChoice };
  if (
    hasFunctions &&
    request.outputFormat.kind !== 'text' &&
    !context.capabilities.jsonWithFunctions
  ) {
    context.receipt.add(
      'dropped',
      'response_format',
      'This model takes no output format beside tools.',
    );
    return { ...limited, outputFormat: { kind: 'text' } };
  }
  return limited;
};

/** Without functions there is nothing to choose: server tools run as the model sees fit. */
const NO_CHOICE: ToolChoice = { kind: 'auto', names: [] };

function isCallable(tool: Tool): boolean {
  return tool.kind === 'function' || tool.kind === 'freeform';
}

function withSearchVariant(tools: readonly Tool[], { variant }: TransformContext): readonly Tool[] {
  if (!variant.webSearch || tools.some((tool) => tool.kind === 'web-search')) return tools;
  return [...tools, { kind: 'web-search', path: 'model' }];
}

function keepBesideFunctions(tool: Tool, { receipt }: TransformContext): boolean {
  if (isCallable(tool)) return true;
  const reason = `This model takes no ${tool.kind} beside function tools.`;
  receipt.add('dropped', tool.path ?? 'tools', reason);
  return false;
}
