// Writes tools: declarations with schemas the upstream takes, and the tools it runs itself.

import { type Sentence, told } from '../../canonical/receipt.ts';
import type { FreeformTool, FunctionTool, Tool, ToolChoice } from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { WireFunctionDeclaration } from '../../wire/generate.ts';
import { keyIn } from '../../wire/vocabulary.ts';
import { traitsOf } from './capabilities.ts';
import { describeFunction } from './describe-function.ts';
import type { EncodeContext } from './encode-context.ts';
import { checkFunctionCount } from './function-limit.ts';
import { cleanToolSchema, cleanTypedToolSchema } from './schema/clean-tool-schema.ts';

export interface EncodedTools {
  /** One element for all declarations, then one for each tool the upstream runs. */
  readonly tools: readonly JsonObject[];
  readonly functionNames: readonly string[];
  /** Functions whose arguments go as the JSON text of one (canonical/map-argument.ts). */
  readonly mapNames: ReadonlySet<string>;
  readonly hasServerTools: boolean;
  /** True when every function is strict and calls can be held to their schemas. */
  readonly isStrict: boolean;
}

interface Declared {
  readonly declaration: WireFunctionDeclaration;
  readonly isMap: boolean;
}

/** Expects names the upstream takes. @throws GatewayError (invalid-request) for too many functions. */
export function encodeTools(
  tools: readonly Tool[],
  toolChoice: ToolChoice,
  context: EncodeContext,
): EncodedTools {
  const offered = new Set(toolChoice.kind === 'auto' ? toolChoice.names : []);
  const declarations = new Map<string, Declared>();
  const serverTools: JsonObject[] = [];
  for (const [index, tool] of tools.entries()) {
    const path = tool.path ?? `tools[${index}]`;
    if (tool.kind !== 'function' && tool.kind !== 'freeform') {
      serverTools.push(encodeServerTool(tool, context));
    } else if (declarations.has(tool.name)) {
      note(context, path, told`A second tool named ${tool.name} was left out.`);
    } else if (offered.size === 0 || offered.has(tool.name)) {
      declarations.set(tool.name, encodeDeclaration(tool, path, context));
    }
  }
  const functionNames = [...declarations.keys()];
  checkFunctionCount(functionNames.length);
  const written = [...declarations.values()].map(({ declaration }) => declaration);
  const functions = functionNames.length === 0 ? [] : [written];
  return {
    tools: [...functions.map((functionDeclarations) => ({ functionDeclarations })), ...serverTools],
    functionNames,
    mapNames: new Set(functionNames.filter((name) => declarations.get(name)?.isMap)),
    hasServerTools: serverTools.length > 0,
    isStrict: holdsToSchemas(tools, toolChoice, context),
  };
}

/**
 * A demanded call follows its schema; others do so in a mode that holds for all functions or none
 * (ai.google.dev, "Function calling": `ANY` and `VALIDATED`). The receipt names schemas that are only
 * followed as well as the model can.
 */
function holdsToSchemas(
  tools: readonly Tool[],
  { kind }: ToolChoice,
  { target }: EncodeContext,
): boolean {
  const functions = tools.filter((tool) => tool.kind === 'function');
  const strict = functions.filter((tool) => tool.strict === true);
  if (strict.length === 0) return false;
  const isEveryOne = strict.length === functions.length;
  const isHeldAnyway = kind === 'required' || kind === 'validated';
  if (traitsOf(target.modelId).validatesCalls && (isEveryOne || isHeldAnyway)) return isEveryOne;
  for (const { path = 'tools' } of strict) {
    target.receipt.add('approximated', path, told`Strict schemas are followed, but not enforced.`);
  }
  return false;
}

function encodeServerTool(
  tool: Exclude<Tool, FunctionTool | FreeformTool>,
  context: EncodeContext,
): JsonObject {
  switch (tool.kind) {
    case 'web-search':
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
): Declared {
  if (tool.kind === 'function') return encodeFunction(tool, path, context);
  return { declaration: encodeFreeform(tool), isMap: false };
}

function encodeFunction(
  { name, description, parameters: schema, parametersPath }: FunctionTool,
  path: string,
  { target: { receipt, capabilities } }: EncodeContext,
): Declared {
  const options = { receipt, path: parametersPath ?? `${path}.parameters` };
  const clean = capabilities.takesJsonSchema ? cleanTypedToolSchema : cleanToolSchema;
  const { form, parameters, said, isMap } = clean(schema, options);
  const key = form === 'schema' ? 'parameters' : 'parametersJsonSchema';
  const words = describeFunction(description, said);
  const declaration = {
    name,
    ...(words === undefined ? {} : { description: words }),
    ...(parameters === undefined ? {} : { [key]: parameters }),
  };
  return { declaration, isMap };
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

function note({ target }: EncodeContext, path: string, reason: Sentence): void {
  target.receipt.add('dropped', path, reason);
}
