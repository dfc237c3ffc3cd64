// Reads `tools` and `tool_choice`: client tools, tools of the real service, and who may be called.

import { type Receipt, told } from '../../canonical/receipt.ts';
import type { FunctionTool, Tool, ToolChoice } from '../../canonical/request.ts';
import { toolShapeOf } from './body-shape.ts';
import {
  asScope,
  bracketPath,
  fieldError,
  listWords,
  nonEmptyStringAt,
  note,
  noteUnknown,
  objectAt,
  optionalArrayAt,
  optionalBooleanAt,
  optionalObjectAt,
  optionalStringAt,
  pathOf,
  type Scope,
  tagOf,
  unknownTag,
} from './fields.ts';
import { readToolHints } from './read-tool-hints.ts';
import { readTypedTool, TOOL_KINDS, toolKindOf } from './read-typed-tool.ts';
import { applyToolChanges, type ToolChange } from './tool-changes.ts';

interface ToolSet {
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice;
  readonly parallelToolCalls?: false;
}

interface NamedTool {
  readonly name: string;
  /** Absent when the tool has no counterpart and was dropped. */
  readonly tool: Tool | undefined;
}

const ADVISOR = 'advisor';
const NO_ADVISOR = told`The advisor is a model of the real service alone.`;
const AUTO: ToolChoice = { kind: 'auto', names: [] };
/** @throws GatewayError naming the tool by its index. */
export function readToolSet(
  body: Scope,
  {
    toolChanges,
    receipt,
  }: { readonly toolChanges: readonly ToolChange[]; readonly receipt: Receipt },
): ToolSet {
  const scopes = (optionalArrayAt(body, 'tools') ?? []).map((item, index) =>
    asScope(item, `tools.${index}`),
  );
  const declared = withoutNameless(scopes, receipt).map((scope) => placed(scope, receipt));
  refuseDuplicates(declared);
  const named = applyToolChanges(declared, toolChanges, (scope) => placed(scope, receipt));
  const tools = named.map(({ tool }) => tool).filter((tool) => tool !== undefined);
  const choice = optionalObjectAt(body, 'tool_choice');
  if (choice === undefined) return { tools, toolChoice: AUTO };
  const isSerial = optionalBooleanAt(choice, 'disable_parallel_tool_use') === true;
  return {
    ...readToolChoice(choice, { named, tools, receipt }),
    ...(isSerial ? { parallelToolCalls: false } : {}),
  };
}

/** Client tools without a name are left out where others are left; alone they are refused when they are read. */
function withoutNameless(scopes: readonly Scope[], receipt: Receipt): readonly Scope[] {
  const named = scopes.filter((scope) => !isNameless(scope));
  if (named.length === 0) return scopes;
  for (const { path } of scopes.filter(isNameless)) {
    note(receipt, 'dropped', { path, reason: told`A tool without a name cannot be called.` });
  }
  return named;
}

function isNameless(scope: Scope): boolean {
  const type = optionalStringAt(scope, 'type') ?? 'custom';
  return type === 'custom' && (optionalStringAt(scope, 'name') ?? '') === '';
}

function placed(scope: Scope, receipt: Receipt): NamedTool {
  const { name, tool } = readTool(scope, receipt);
  if (tool === undefined) return { name, tool };
  const path = bracketPath(scope.path);
  if (tool.kind !== 'function') return { name, tool: { ...tool, path } };
  return { name, tool: { ...tool, path, parametersPath: `${path}.input_schema` } };
}

function readTool(scope: Scope, receipt: Receipt): NamedTool {
  const type = optionalStringAt(scope, 'type') ?? 'custom';
  // Before the name is asked for: toolsets have none, and their type is what cannot be served.
  if (type.startsWith(`${ADVISOR}_`)) {
    note(receipt, 'dropped', { path: scope.path, reason: NO_ADVISOR });
    return { name: optionalStringAt(scope, 'name') ?? ADVISOR, tool: undefined };
  }
  const kind = toolKindOf(type);
  if (kind === undefined && type !== 'custom') {
    throw unknownTag(scope, `${listWords(['custom', ...TOOL_KINDS])} with its date`);
  }
  noteUnknown(scope, toolShapeOf(type), receipt);
  const name = nonEmptyStringAt(scope, 'name');
  const tool =
    kind === undefined
      ? readClientTool(scope, { name, receipt })
      : readTypedTool(scope, { kind, name, receipt });
  return { name, tool };
}

function readClientTool(
  scope: Scope,
  { name, receipt }: { readonly name: string; readonly receipt: Receipt },
): FunctionTool {
  const description = optionalStringAt(scope, 'description');
  return {
    kind: 'function',
    name,
    parameters: objectAt(scope, 'input_schema').value,
    ...readToolHints(scope, { description, receipt }),
  };
}

function refuseDuplicates(named: readonly NamedTool[]): void {
  const seen = new Set<string>();
  for (const { name, tool } of named) {
    if (tool?.kind !== 'function') continue;
    if (seen.has(name)) throw fieldError('tools', 'Tool names must be unique');
    seen.add(name);
  }
}

interface ChoiceContext {
  readonly named: readonly NamedTool[];
  readonly tools: readonly Tool[];
  readonly receipt: Receipt;
}

function readToolChoice(choice: Scope, context: ChoiceContext): ToolSet {
  const { tools } = context;
  switch (tagOf(choice)) {
    case 'auto':
      return { tools, toolChoice: AUTO };
    case 'none':
      return { tools, toolChoice: { kind: 'none' } };
    case 'any':
      return { tools, toolChoice: requireAny(choice, context) };
    case 'tool':
      return requireNamed(choice, context);
    default:
      throw unknownTag(choice, "'auto', 'any', 'tool' or 'none'");
  }
}

function requireAny(choice: Scope, { named, tools, receipt }: ChoiceContext): ToolChoice {
  if (named.length === 0) throw fieldError(choice.path, 'Tools are needed to require a call');
  if (tools.some((tool) => tool.kind === 'function')) return { kind: 'required', names: [] };
  const reason = told`Only calls of declared functions can be required.`;
  note(receipt, 'approximated', { path: choice.path, reason });
  return AUTO;
}

/** A server-side tool cannot be forced by name; standing alone in the request has the same effect. */
function requireNamed(choice: Scope, { named, tools, receipt }: ChoiceContext): ToolSet {
  const name = nonEmptyStringAt(choice, 'name');
  const matches = named.filter((candidate) => candidate.name === name);
  if (matches.length === 0) {
    throw fieldError(pathOf(choice, 'name'), 'Input should be the name of one of the tools');
  }
  const tool = matches.find((match) => match.tool?.kind === 'function')?.tool ?? matches[0]?.tool;
  if (tool?.kind === 'function') return { tools, toolChoice: { kind: 'required', names: [name] } };
  if (tool === undefined) {
    if (name === ADVISOR) throw fieldError(pathOf(choice, 'name'), NO_ADVISOR, 'unsupported');
    note(receipt, 'dropped', { path: choice.path, reason: told`The chosen tool was dropped.` });
    return { tools, toolChoice: AUTO };
  }
  if (tools.length > 1) {
    const reason = told`A forced server tool goes alone: the other tools were left out.`;
    note(receipt, 'dropped', { path: 'tools', reason });
  }
  return { tools: [tool], toolChoice: AUTO };
}
