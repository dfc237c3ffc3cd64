// Writes tools: declarations with schemas the upstream takes, and the tools it runs itself.

import type { FreeformTool, FunctionTool, Tool, ToolChoice } from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { WireFunctionDeclaration } from '../../wire/generate.ts';
import { keyIn } from '../../wire/vocabulary.ts';
import type { EncodeContext } from './encode-context.ts';
import { cleanToolSchema } from './schema/clean-tool-schema.ts';

export interface EncodedTools {
  /** One element for all declarations, then one for each tool the upstream runs. */
  readonly tools: readonly JsonObject[];
  readonly functionNames: readonly string[];
  readonly hasServerTools: boolean;
}

/** Expects names the upstream takes. */
export function encodeTools(
  tools: readonly Tool[],
  toolChoice: ToolChoice,
  context: EncodeContext,
): EncodedTools {
  const offered = toolChoice.kind === 'auto' && toolChoice.names.length > 0 ? toolChoice.names : [];
  const declarations = new Map<string, WireFunctionDeclaration>();
  const serverTools: JsonObject[] = [];
  for (const [index, tool] of tools.entries()) {
    const path = tool.path ?? `tools[${index}]`;
    if (tool.kind !== 'function' && tool.kind !== 'freeform') {
      serverTools.push(encodeServerTool(tool, path, context));
    } else if (declarations.has(tool.name)) {
      note(context, path, `A second tool named ${tool.name} was left out.`);
    } else if (offered.length === 0 || offered.includes(tool.name)) {
      declarations.set(tool.name, encodeDeclaration(tool, path, context));
    }
  }
  const functionNames = [...declarations.keys()];
  const functions = functionNames.length === 0 ? [] : [[...declarations.values()]];
  return {
    tools: [...functions.map((functionDeclarations) => ({ functionDeclarations })), ...serverTools],
    functionNames,
    hasServerTools: serverTools.length > 0,
  };
}

function encodeServerTool(
  tool: Exclude<Tool, FunctionTool | FreeformTool>,
  path: string,
  context: EncodeContext,
): JsonObject {
  switch (tool.kind) {
    case 'web-search':
      if (tool.allowedDomains !== undefined || tool.blockedDomains !== undefined) {
        note(context, path, 'The upstream search takes no lists of domains.');
      }
      return { [keyIn(context.profile.vocabulary, 'googleSearch')]: {} };
    case 'url-context':
      return { urlContext: {} };
    case 'code-execution':
      return { codeExecution: {} };
    default:
      return tool satisfies never;
  }
}

function encodeDeclaration(
  tool: FunctionTool | FreeformTool,
  path: string,
  context: EncodeContext,
): WireFunctionDeclaration {
  return tool.kind === 'freeform' ? encodeFreeform(tool) : encodeFunction(tool, path, context);
}

function encodeFunction(
  { name, description, parameters, parametersPath, strict }: FunctionTool,
  path: string,
  { target: { receipt } }: EncodeContext,
): WireFunctionDeclaration {
  if (strict === true) {
    receipt.add('approximated', path, 'Strict schemas are followed, but not enforced.');
  }
  const cleaned =
    parameters === undefined
      ? undefined
      : cleanToolSchema(parameters, { receipt, path: parametersPath ?? `${path}.parameters` });
  return {
    name,
    ...(description === undefined ? {} : { description }),
    ...(cleaned === undefined ? {} : { parameters: cleaned }),
  };
}

/** Free text travels as the one string parameter `input`. */
function encodeFreeform({ name, description, grammar }: FreeformTool): WireFunctionDeclaration {
  const rules =
    grammar === undefined
      ? undefined
      : `The input must follow this ${grammar.syntax} grammar:\n${grammar.definition}`;
  const text = [description, rules].filter((line) => line !== undefined && line !== '');
  return {
    name,
    ...(text.length === 0 ? {} : { description: text.join('\n\n') }),
    parameters: {
      type: 'object',
      properties: { input: { type: 'string', description: 'The whole input, as plain text.' } },
      required: ['input'],
    },
  };
}

function note({ target }: EncodeContext, path: string, reason: string): void {
  target.receipt.add('dropped', path, reason);
}
