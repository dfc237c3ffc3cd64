// Writes how tools may be used: the mode of function calling and its names.

import { invalidRequest } from '../../canonical/error.ts';
import type { ToolChoice } from '../../canonical/request.ts';
import type { WireFunctionCallingConfig, WireToolConfig } from '../../wire/generate.ts';
import type { EncodeContext } from './encode-context.ts';
import type { EncodedTools } from './encode-tools.ts';

/**
 * Undefined when there is no function to call.
 * @throws GatewayError (invalid-request) when a forced tool is not among the declared ones.
 */
export function encodeToolConfig(
  toolChoice: ToolChoice,
  { functionNames, hasServerTools, isStrict }: EncodedTools,
  { profile }: Pick<EncodeContext, 'profile'>,
): WireToolConfig | undefined {
  if (functionNames.length === 0) return undefined;
  const isTold = tellsTraces({ functionNames, hasServerTools }, profile);
  const isHeld = isStrict || hasServerTools;
  return {
    functionCallingConfig: callingConfig(
      isHeld ? heldChoice(toolChoice) : toolChoice,
      functionNames,
    ),
    ...(isTold ? { includeServerSideToolInvocations: true } : {}),
  };
}

/**
 * True where the upstream tells what its own tools did, and wants it back: built-in tools beside
 * functions (ai.google.dev, "Combine built-in tools and function calling"). Vertex AI has no such
 * switch and takes both without (vercel/ai#14655, maximhq/bifrost#6066).
 */
export function tellsTraces(
  { functionNames, hasServerTools }: Pick<EncodedTools, 'functionNames' | 'hasServerTools'>,
  { extraFields }: Pick<EncodeContext['profile'], 'extraFields'>,
): boolean {
  const isSwitched = extraFields.includes('toolConfig.includeServerSideToolInvocations');
  return isSwitched && hasServerTools && functionNames.length > 0;
}

/**
 * A free choice whose calls are held to their schemas, as strict functions ask, and as it has to be beside
 * tools the upstream runs (ai.google.dev, "Combine built-in tools and function calling": `VALIDATED`, not
 * `AUTO`; `@ai-sdk/google`, `prepareTools`, does the same). The names of a free choice are the only ones
 * declared, so that there is nothing left to allow.
 */
function heldChoice(toolChoice: ToolChoice): ToolChoice {
  return toolChoice.kind === 'auto' ? { kind: 'validated', names: [] } : toolChoice;
}

function callingConfig(
  toolChoice: ToolChoice,
  functionNames: readonly string[],
): WireFunctionCallingConfig {
  switch (toolChoice.kind) {
    case 'auto':
      return { mode: 'AUTO' };
    case 'none':
      return { mode: 'NONE' };
    case 'required':
      return { mode: 'ANY', ...allowedNames(toolChoice.names, functionNames) };
    case 'validated':
      return { mode: 'VALIDATED', ...allowedNames(toolChoice.names, functionNames) };
    default:
      return toolChoice satisfies never;
  }
}

function allowedNames(
  names: readonly string[],
  functionNames: readonly string[],
): Pick<WireFunctionCallingConfig, 'allowedFunctionNames'> {
  const known = new Set(functionNames);
  const unknown = names.find((name) => !known.has(name));
  if (unknown !== undefined) {
    throw invalidRequest('tool_choice', `tool_choice: "${unknown}" is not among the tools.`);
  }
  return names.length === 0 ? {} : { allowedFunctionNames: [...names] };
}
