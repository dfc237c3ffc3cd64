// Writes tools: declarations with schemas the upstream takes, and the tools it runs itself.

import { invalidRequest } from '../../canonical/error.ts';
import { NotedMemo } from '../../canonical/receipt.ts';
import type { FreeformTool, FunctionTool, Tool, ToolChoice } from '../../canonical/request.ts';
import { isCallable } from '../../canonical/tool-names.ts';
import { NOTHING_TYPED, type TypedValues } from '../../canonical/typed-values.ts';
import { isJsonObject, type JsonObject, writtenValue } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { objectsOf } from '../../lib/read-values.ts';
import { shareAs } from '../../lib/shared-json.ts';
import { createUnfolding, toToolInput, type Unfolding } from '../../schema/tool-schema.ts';
import type {
  WireFunctionCallingConfig,
  WireFunctionDeclaration,
  WireToolConfig,
} from '../../wire/generate.ts';
import { keyIn } from '../../wire/vocabulary.ts';
import { checkChosen, describeFreeform, FREEFORM_INPUT } from '../wire-parts.ts';
import type { EncodeContext } from './encode-config.ts';
import { traitsOf } from './models.ts';

export interface EncodedTools {
  /** One element for all declarations, then one for each tool the upstream runs. */
  readonly tools: JsonObject[];
  readonly functionNames: readonly string[];
  /** Functions whose arguments go as the JSON text of one (`wrapMapArguments`). */
  readonly mapNames: ReadonlySet<string>;
  readonly hasServerTools: boolean;
  /** True when every function is strict and calls can be held to their schemas. */
  readonly isStrict: boolean;
}

interface Unfolds {
  readonly unfolding: Unfolding;
}

interface Declared {
  readonly declaration: WireFunctionDeclaration;
  readonly isMap: boolean;
}

const toolLists = new NotedMemo<EncodedTools>();

/** Expects names the upstream takes. @throws GatewayError (invalid-request) for too many functions. */
export function encodeTools(
  tools: readonly Tool[],
  toolChoice: ToolChoice,
  context: EncodeContext,
): EncodedTools {
  const { target, profile } = context;
  // Few requests offer some of their functions alone.
  const isPart = toolChoice.kind === 'auto' && toolChoice.names.length > 0;
  if (isPart) return encodeToolList(tools, toolChoice, context);
  const { takesJsonSchema } = target.capabilities;
  const { validatesCalls } = traitsOf(target.modelId);
  const variant = `${profile.vocabulary} ${takesJsonSchema} ${validatesCalls} ${toolChoice.kind}`;
  return toolLists.get(tools, { variant, receipt: target.receipt }, (receipt) => {
    const noted: EncodeContext = { ...context, target: { ...target, receipt } };
    const encoded = encodeToolList(tools, toolChoice, noted);
    return { ...encoded, tools: shareAs(tools, encoded.tools) };
  });
}

function encodeToolList(
  tools: readonly Tool[],
  toolChoice: ToolChoice,
  context: EncodeContext,
): EncodedTools {
  const offered = new Set(toolChoice.kind === 'auto' ? toolChoice.names : []);
  const declarations = new Map<string, Declared>();
  const serverTools: JsonObject[] = [];
  const unfolding = createUnfolding();
  checkFunctionCount(countFunctions(tools, offered));
  for (const [index, tool] of tools.entries()) {
    const path = tool.path ?? `tools[${index}]`;
    if (!isCallable(tool)) {
      serverTools.push(encodeServerTool(tool, context));
    } else if (declarations.has(tool.name)) {
      const reason = told`A second tool named ${tool.name} was left out.`;
      context.target.receipt.add('dropped', path, reason);
    } else if (offered.size === 0 || offered.has(tool.name)) {
      const declared =
        tool.kind === 'function'
          ? encodeFunction(tool, path, { ...context, unfolding })
          : { declaration: encodeFreeform(tool, path, context), isMap: false };
      declarations.set(tool.name, declared);
    }
  }
  const functionNames = [...declarations.keys()];
  const functionDeclarations = [...declarations.values()].map(({ declaration }) => declaration);
  return {
    tools: functionNames.length === 0 ? serverTools : [{ functionDeclarations }, ...serverTools],
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

function encodeFunction(
  { name, description, parameters: schema, parametersPath }: FunctionTool,
  path: string,
  { target: { receipt, capabilities }, unfolding }: EncodeContext & Unfolds,
): Declared {
  const { takesJsonSchema } = capabilities;
  const { form, parameters, said, isMap } = toToolInput(schema, {
    receipt,
    path: parametersPath ?? `${path}.parameters`,
    takesJsonSchema,
    unfolding,
  });
  checkUnfolding(unfolding);
  const key = form === 'schema' ? 'parameters' : 'parametersJsonSchema';
  const words = describeFunction(description, said);
  const declaration = {
    name,
    ...(words === undefined ? {} : { description: words }),
    ...(parameters === undefined ? {} : { [key]: parameters }),
  };
  return { declaration, isMap };
}

function encodeFreeform(
  tool: FreeformTool,
  path: string,
  { target: { receipt } }: EncodeContext,
): WireFunctionDeclaration {
  const said = describeFreeform(tool, { path, receipt });
  return { name: tool.name, ...said, parameters: FREEFORM_INPUT };
}

/** Undefined when there is nothing to be said. */
export function describeFunction(
  description: string | undefined,
  said: string | undefined,
): string | undefined {
  if (said === undefined) return description;
  return description === undefined || description === '' ? said : `${description}\n\n${said}`;
}

/** Source: Vertex AI and Gemini API, reference of `Tool.functionDeclarations`. */
const MAX_FUNCTIONS = 512;

function countFunctions(tools: readonly Tool[], offered: ReadonlySet<string>): number {
  const names = new Set<string>();
  for (const tool of tools) {
    if (!isCallable(tool)) continue;
    if (offered.size === 0 || offered.has(tool.name)) names.add(tool.name);
  }
  return names.size;
}

/** @throws GatewayError (invalid-request) for functions whose references together repeat too much. */
export function checkUnfolding({ left }: Unfolding): void {
  if (left >= 0) return;
  throw invalidRequest(
    'tools',
    'tools: the references in the schemas of all functions together unfold too far. Send fewer functions, or schemas with fewer references.',
  );
}

/** @throws GatewayError (invalid-request) above the limit: the upstream's own refusal names no tool. */
export function checkFunctionCount(count: number): void {
  if (count <= MAX_FUNCTIONS) return;
  throw invalidRequest(
    'tools',
    `tools: ${count} functions are too many; the model takes at most ${MAX_FUNCTIONS} in one request.`,
  );
}

/** What a translated body asks for in `responseJsonSchema` and `parametersJsonSchema`. */
export function typedValues({ generationConfig, tools }: JsonObject): TypedValues {
  const answer = isJsonObject(generationConfig) && 'responseJsonSchema' in generationConfig;
  if (!answer && tools === undefined) return NOTHING_TYPED;
  const functions = new Set<string>();
  for (const { functionDeclarations } of objectsOf(tools)) {
    for (const declaration of objectsOf(functionDeclarations)) {
      if ('parametersJsonSchema' in declaration) functions.add(writtenValue(declaration.name));
    }
  }
  return answer || functions.size > 0 ? { answer, functions } : NOTHING_TYPED;
}

const MODES = { auto: 'AUTO', none: 'NONE', required: 'ANY', validated: 'VALIDATED' } as const;

/**
 * Where there is a function to call. A free choice whose calls are held to their schemas, as strict functions
 * ask, and as it has to be beside tools the upstream runs (ai.google.dev, "Combine built-in tools and function
 * calling": `VALIDATED`, not `AUTO`; `@ai-sdk/google`, `prepareTools`, does the same): the names of a free choice
 * are the only ones declared, so that there is nothing left to allow.
 * @param tellsTraces whether the upstream is to tell what its own tools did
 * @throws GatewayError (invalid-request) when a forced tool is not among the declared ones.
 */
export function encodeToolConfig(
  toolChoice: ToolChoice,
  { functionNames, hasServerTools, isStrict }: EncodedTools,
  tellsTraces: boolean,
): WireToolConfig {
  const isHeld = toolChoice.kind === 'auto' && (isStrict || hasServerTools);
  const functionCallingConfig: WireFunctionCallingConfig = {
    mode: MODES[isHeld ? 'validated' : toolChoice.kind],
    ...(toolChoice.kind === 'required' || toolChoice.kind === 'validated'
      ? allowedNames(toolChoice.names, functionNames)
      : {}),
  };
  return {
    functionCallingConfig,
    ...(tellsTraces ? { includeServerSideToolInvocations: true } : {}),
  };
}

function allowedNames(
  names: readonly string[],
  functionNames: readonly string[],
): Pick<WireFunctionCallingConfig, 'allowedFunctionNames'> {
  checkChosen(names, new Set(functionNames));
  return names.length === 0 ? {} : { allowedFunctionNames: [...names] };
}
