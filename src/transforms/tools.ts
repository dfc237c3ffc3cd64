// Rules about tools: which of them the client's choice leaves, which combinations the model accepts, and names the upstream
// accepts.

import { invalidRequest } from '../canonical/error.ts';
import type { ModelCapabilities } from '../canonical/model.ts';
import type { CanonicalRequest, Part, TextPart, Tool, ToolChoice } from '../canonical/request.ts';
import { formatInWords, refusedFormat } from '../canonical/text-forms.ts';
import { acceptedToolNames, isCallable } from '../canonical/tool-names.ts';
import { told } from '../lib/localized-message.ts';
import { mapTurns, type Transform, type TransformContext, withParts } from './transform.ts';

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
  const kinds: readonly string[] = serverTools ?? [];
  return (tool) => (isCallable(tool) ? keepsFunctions : kinds.includes(tool.kind));
}

/**
 * Keeps only the combinations of tools and output formats that the model accepts.
 * @throws GatewayError (invalid-request) when a call is demanded of a model that makes none
 */
export const limitTools: Transform = (request, context) => {
  const { capabilities, receipt } = context;
  const tools = withSearchVariant(request, context);
  const refused = refusedTools(capabilities, tools.some(isCallable));
  if (refused === 'functions' && request.toolChoice.kind === 'required') {
    const message = 'tool_choice demands a call, and this model calls no functions.';
    throw invalidRequest('tool_choice', message, 'unsupported');
  }
  const kept =
    refused === undefined ? tools : tools.filter((tool) => keeps(tool, refused, context));
  const hasFunctions = kept.some(isCallable);
  const isSerial =
    request.parallelToolCalls === false && hasFunctions && capabilities.takesSerialCalls !== true;
  if (isSerial) {
    const reason = told`Upstreams have no such switch: the model is told, and only the first call is passed on.`;
    receipt.add('approximated', 'parallel_tool_calls', reason);
  }
  const toolChoice = hasFunctions ? request.toolChoice : NO_CHOICE;
  const system = isSerial ? [...request.system, ONE_CALL] : request.system;
  const limited = { ...request, system, tools: kept, toolChoice };
  const refusal = refusedFormat(capabilities, kept.length > 0);
  if (request.outputFormat.kind === 'text' || refusal === undefined) return limited;
  receipt.add('approximated', 'response_format', refusal);
  const wish: TextPart = { kind: 'text', text: formatInWords(request.outputFormat) };
  return { ...limited, system: [...system, wish], outputFormat: { kind: 'text' } };
};

/**
 * What the model does not take of tools among which there are functions: models that draw or speak refuse
 * declarations, others what they would run themselves beside them.
 */
export function refusedTools(
  { callsFunctions, searchWithFunctions }: ModelCapabilities,
  hasFunctions: boolean,
): 'functions' | 'server-tools' | undefined {
  if (!hasFunctions || (callsFunctions && searchWithFunctions)) return undefined;
  return callsFunctions ? 'server-tools' : 'functions';
}

function keeps(
  tool: Tool,
  refused: 'functions' | 'server-tools',
  { receipt }: TransformContext,
): boolean {
  if (isCallable(tool) !== (refused === 'functions')) return true;
  const reason =
    refused === 'functions'
      ? told`This model calls no functions.`
      : told`This model takes no ${tool.kind} beside function tools.`;
  receipt.add('dropped', tool.path ?? 'tools', reason);
  return false;
}

const ONE_CALL: TextPart = {
  kind: 'text',
  text: 'Call at most one function at a time, and wait for its result before the next call.',
};

/** Without functions there is nothing to choose: server tools run as the model sees fit. */
const NO_CHOICE: ToolChoice = { kind: 'auto', names: [] };

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

/** Longer names are cut where they are quoted in a description. */
const MAX_QUOTED_LENGTH = 200;

/** Comes last: signatures and answers know tools by the client's names. */
export const acceptToolNames: Transform = (request, { receipt, capabilities }) => {
  const isPlain = capabilities.plainToolNames === true;
  const names = acceptedToolNames(request, isPlain ? 'plain' : 'dotted');
  if (names.size === 0) return request;
  const tools = request.tools.map((tool, index) => {
    const renamed = renameTool(tool, names);
    const reason = told`Upstreams refuse such a name: another is sent in its place.`;
    if (renamed !== tool) receipt.add('repaired', tool.path ?? `tools[${index}]`, reason);
    return renamed;
  });
  const { turns } = mapTurns(request, (turn) => {
    const parts = turn.parts.map((part: Part) => renamePart(part, names));
    return withParts(turn, parts);
  });
  const declared = new Set(request.tools.map((tool) => ('name' in tool ? tool.name : undefined)));
  if ([...names.keys()].some((name) => !declared.has(name))) {
    receipt.add(
      'repaired',
      'messages',
      told`Names of earlier tool calls were replaced by accepted ones.`,
    );
  }
  return { ...request, tools, turns, toolChoice: renameChoice(request.toolChoice, names) };
};

/** The description tells the name by which the conversation may speak of the tool. */
function renameTool(tool: Tool, names: ReadonlyMap<string, string>): Tool {
  if (!isCallable(tool)) return tool;
  const name = names.get(tool.name);
  if (name === undefined) return tool;
  const quoted = JSON.stringify(tool.name.slice(0, MAX_QUOTED_LENGTH));
  const lines = [tool.description ?? '', `Also called ${quoted}.`];
  return { ...tool, name, description: lines.filter((line) => line !== '').join('\n\n') };
}

function renamePart(part: Part, names: ReadonlyMap<string, string>): Part {
  if (part.kind !== 'tool-call' && part.kind !== 'tool-result') return part;
  const name = part.name === undefined ? undefined : names.get(part.name);
  return name === undefined ? part : { ...part, name };
}

function renameChoice(choice: ToolChoice, names: ReadonlyMap<string, string>): ToolChoice {
  if (choice.kind === 'none') return choice;
  return { ...choice, names: choice.names.map((name) => names.get(name) ?? name) };
}
