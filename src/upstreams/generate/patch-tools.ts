// Fits native tools to the upstream: its words for them, its schema dialect, its combinations.

import { invalidRequest } from '../../canonical/error.ts';
import { told } from '../../canonical/receipt.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import { keyIn } from '../../wire/vocabulary.ts';
import { describeFunction } from './describe-function.ts';
import { editFields, editItems, type FieldEdits } from './edits.ts';
import { checkFunctionCount } from './function-limit.ts';
import type { PatchContext } from './patch-context.ts';
import { cleanRelayedToolSchema, cleanRelayedTypedToolSchema } from './schema/clean-tool-schema.ts';
import { isTooDeep } from './schema/schema-depth.ts';

/** @throws GatewayError (invalid-request) for too many functions. */
export function patchTools(tools: JsonValue[], context: PatchContext): JsonValue[] | undefined {
  const { callsFunctions, searchWithFunctions } = context.target.capabilities;
  const dropsServerTools = callsFunctions && !searchWithFunctions && tools.some(hasFunctions);
  const patched = editItems(tools, (tool, index) => {
    if (!isJsonObject(tool)) return tool;
    if (Object.keys(tool).length === 0) return undefined;
    const path = `tools[${index}]`;
    const keep = dropsServerTools ? withoutServerTools : callsFunctions ? asIs : withoutFunctions;
    const kept = keep(tool, path, context);
    if (kept === undefined) return undefined;
    return inVocabulary(patchDeclarations(kept, path, context), context);
  });
  checkFunctionCount(patched.reduce<number>((count, tool) => count + functionsOf(tool), 0));
  return patched.length === 0 ? undefined : patched;
}

/**
 * The tool configuration beside these tools; only the flag for mixed tools is ever edited, and what is said of
 * calls to models that make none.
 * @throws GatewayError (invalid-request) for a call demanded of such a model.
 */
export function patchToolConfig(
  given: JsonObject | undefined,
  tools: readonly JsonValue[],
  { target, profile }: PatchContext,
): JsonObject | undefined {
  const config = target.capabilities.callsFunctions ? given : withoutCalls(given);
  const flag = 'includeServerSideToolInvocations';
  const isMixed = tools.some(hasFunctions) && tools.some(hasServerTools);
  const isTaken =
    target.capabilities.searchWithFunctions && profile.extraFields.includes(`toolConfig.${flag}`);
  if (isTaken) {
    // ai.google.dev, "Function calling": wanted for built-in tools beside functions.
    return isMixed && config?.[flag] === undefined ? { ...config, [flag]: true } : config;
  }
  const edited = config && editFields(config, { [flag]: undefined });
  return edited === undefined || Object.keys(edited).length === 0 ? undefined : edited;
}

function withoutCalls(config: JsonObject | undefined): JsonObject | undefined {
  const calling = config?.functionCallingConfig;
  if (config === undefined || !isJsonObject(calling)) return config;
  if (calling.mode === 'ANY') {
    const field = 'toolConfig.functionCallingConfig.mode';
    const message = `${field} demands a call, and this model calls no functions.`;
    throw invalidRequest(field, message, 'unsupported');
  }
  return editFields(config, { functionCallingConfig: undefined });
}

function functionsOf(tool: JsonValue): number {
  return isJsonObject(tool) && Array.isArray(tool.functionDeclarations)
    ? tool.functionDeclarations.length
    : 0;
}

function hasFunctions(tool: JsonValue): boolean {
  return isJsonObject(tool) && Array.isArray(tool.functionDeclarations);
}

function hasServerTools(tool: JsonValue): boolean {
  return isJsonObject(tool) && Object.keys(tool).some((key) => key !== 'functionDeclarations');
}

function asIs(tool: JsonObject): JsonObject {
  return tool;
}

function withoutFunctions(
  tool: JsonObject,
  path: string,
  { target }: PatchContext,
): JsonObject | undefined {
  if (!hasFunctions(tool)) return tool;
  const reason = told`This model calls no functions.`;
  target.receipt.add('dropped', `${path}.functionDeclarations`, reason);
  const { functionDeclarations: _functions, ...others } = tool;
  return Object.keys(others).length === 0 ? undefined : others;
}

function withoutServerTools(
  tool: JsonObject,
  path: string,
  { target }: PatchContext,
): JsonObject | undefined {
  for (const key of Object.keys(tool)) {
    if (key === 'functionDeclarations') continue;
    target.receipt.add(
      'dropped',
      `${path}.${key}`,
      told`This model takes it only without functions.`,
    );
  }
  if (!hasServerTools(tool)) return tool;
  const { functionDeclarations } = tool;
  return functionDeclarations === undefined ? undefined : { functionDeclarations };
}

function patchDeclarations(tool: JsonObject, path: string, context: PatchContext): JsonObject {
  const { functionDeclarations } = tool;
  if (!Array.isArray(functionDeclarations)) return tool;
  const edited = editItems(functionDeclarations, (declaration, index) =>
    patchDeclaration(declaration, `${path}.functionDeclarations[${index}]`, context),
  );
  return editFields(tool, { functionDeclarations: edited });
}

function patchDeclaration(
  declaration: JsonValue,
  path: string,
  { target }: PatchContext,
): JsonValue {
  if (!isJsonObject(declaration)) return declaration;
  const { description, parametersJsonSchema } = declaration;
  const key = isTooDeep(parametersJsonSchema) ? 'parametersJsonSchema' : 'parameters';
  const schema = declaration[key];
  if (!isJsonObject(schema)) return declaration;
  const options = { receipt: target.receipt, path: `${path}.${key}` };
  const { takesJsonSchema } = target.capabilities;
  const clean = takesJsonSchema ? cleanRelayedTypedToolSchema : cleanRelayedToolSchema;
  const { form, parameters, said } = clean(schema, options);
  const written = form === 'schema' ? 'parameters' : 'parametersJsonSchema';
  const edits: FieldEdits = { [key]: undefined, [written]: parameters };
  if (said === undefined) return editFields(declaration, edits);
  const given = typeof description === 'string' ? description : undefined;
  return editFields(declaration, { ...edits, description: describeFunction(given, said) });
}

function inVocabulary(tool: JsonObject, { profile }: PatchContext): JsonObject {
  const edits: FieldEdits[] = Object.entries(tool).flatMap(([key, value]) => {
    const word = keyIn(profile.vocabulary, key);
    return word === key ? [] : [{ [key]: undefined, [word]: value }];
  });
  return edits.reduce(editFields, tool);
}
