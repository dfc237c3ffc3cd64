// Keeps only the combinations of tools and output formats the model takes together.

import { formatInWords, refusedFormat } from '../canonical/format-in-words.ts';
import { told } from '../canonical/receipt.ts';
import type { CanonicalRequest, TextPart, Tool, ToolChoice } from '../canonical/request.ts';
import type { Transform, TransformContext } from './transform.ts';

export const limitTools: Transform = (request, context) => {
  const isSerial = request.parallelToolCalls === false && request.tools.some(isCallable);
  if (isSerial) {
    context.receipt.add(
      'approximated',
      'parallel_tool_calls',
      told`Upstreams have no such switch: the model is told, and only the first call is passed on.`,
    );
  }
  const tools = withSearchVariant(request, context);
  const hasFunctions = tools.some(isCallable);
  const kept =
    hasFunctions && !context.capabilities.searchWithFunctions
      ? tools.filter((tool) => keepBesideFunctions(tool, context))
      : tools;
  const toolChoice = hasFunctions ? request.toolChoice : NO_CHOICE;
  const system = isSerial ? [...request.system, ONE_CALL] : request.system;
  const limited = { ...request, system, tools: kept, toolChoice };
  const refusal = refusedFormat(context.capabilities, kept.length > 0);
  if (request.outputFormat.kind !== 'text' && refusal !== undefined) {
    context.receipt.add('approximated', 'response_format', refusal);
    const wish: TextPart = { kind: 'text', text: formatInWords(request.outputFormat) };
    return { ...limited, system: [...system, wish], outputFormat: { kind: 'text' } };
  }
  return limited;
};

const ONE_CALL: TextPart = {
  kind: 'text',
  text: 'Call at most one function at a time, and wait for its result before the next call.',
};

/** Without functions there is nothing to choose: server tools run as the model sees fit. */
const NO_CHOICE: ToolChoice = { kind: 'auto', names: [] };

function isCallable(tool: Tool): boolean {
  return tool.kind === 'function' || tool.kind === 'freeform';
}

function withSearchVariant(
  { tools, toolChoice }: CanonicalRequest,
  { variant, receipt }: TransformContext,
): readonly Tool[] {
  if (!variant.webSearch || tools.some((tool) => tool.kind === 'web-search')) return tools;
  if (toolChoice.kind === 'none') {
    receipt.add('dropped', 'model', told`tool_choice rules out the search the name asks for.`);
    return tools;
  }
  return [...tools, { kind: 'web-search', path: 'model' }];
}

function keepBesideFunctions(tool: Tool, { receipt }: TransformContext): boolean {
  if (isCallable(tool)) return true;
  const reason = told`This model takes no ${tool.kind} beside function tools.`;
  receipt.add('dropped', tool.path ?? 'tools', reason);
  return false;
}
