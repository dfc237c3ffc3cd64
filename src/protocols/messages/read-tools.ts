// Reads `tools` and `tool_choice`: client tools, tools of the real service, and who may be called.

import { NotedMemo, type Receipt } from '../../canonical/receipt.ts';
import {
  type FunctionTool,
  PLACE_KEYS,
  type ServerToolResultPart,
  type Tool,
  type ToolChoice,
  type UserLocation,
} from '../../canonical/request.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { shareAs } from '../../lib/shared-json.ts';
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
  optionalStringsAt,
  pathOf,
  type Scope,
  stringAt,
  TOOL_KINDS,
  type ToolKind,
  tagOf,
  toolKindOf,
  toolShapeOf,
  unknownTag,
} from './schema.ts';

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
  const declared = readDeclared(optionalArrayAt(body, 'tools') ?? NO_TOOLS, receipt);
  const named = applyToolChanges(declared.named, toolChanges, (scope) => placed(scope, receipt));
  const tools = named === declared.named ? declared.tools : toolsOf(named);
  const choice = optionalObjectAt(body, 'tool_choice');
  if (choice === undefined) return { tools, toolChoice: AUTO };
  const isSerial = optionalBooleanAt(choice, 'disable_parallel_tool_use') === true;
  return {
    ...readToolChoice(choice, { named, tools, receipt }),
    ...(isSerial ? { parallelToolCalls: false } : {}),
  };
}

const NO_TOOLS: readonly JsonValue[] = [];

interface Declared {
  readonly named: readonly NamedTool[];
  /** Those of them that have a counterpart. */
  readonly tools: readonly Tool[];
}

const toolLists = new NotedMemo<Declared>();

function readDeclared(items: readonly JsonValue[], given: Receipt): Declared {
  return toolLists.get(items, { variant: '', receipt: given }, (receipt) => {
    const scopes = items.map((item, index) => asScope(item, `tools.${index}`));
    const named = withoutNameless(scopes, receipt).map((scope) => placed(scope, receipt));
    refuseDuplicates(named);
    return { named, tools: shareAs(items, toolsOf(named)) };
  });
}

function toolsOf(named: readonly NamedTool[]): readonly Tool[] {
  return named.map(({ tool }) => tool).filter((tool) => tool !== undefined);
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

/** What limits fetches of the real service, or shapes what they give. */
const FETCH_OPTIONS = [
  'max_uses',
  'max_content_tokens',
  'allowed_domains',
  'blocked_domains',
  'url_sources',
];

interface TypedTool {
  readonly kind: ToolKind;
  readonly name: string;
  readonly receipt: Receipt;
}

/** Undefined for a tool without a counterpart, which the receipt names. */
function readTypedTool(scope: Scope, { kind, name, receipt }: TypedTool): Tool | undefined {
  switch (kind) {
    case 'web_search':
      noteIgnored(scope, { keys: ['max_uses'], receipt });
      return readWebSearch(scope);
    case 'web_fetch':
      noteIgnored(scope, { keys: FETCH_OPTIONS, receipt });
      if (optionalObjectAt(scope, 'citations')?.value.enabled === true) {
        noteIgnored(scope, { keys: ['citations'], receipt });
      }
      return { kind: 'url-context' };
    case 'code_execution':
      return { kind: 'code-execution' };
    case 'tool_search_tool': {
      const reason = told`Every tool is declared at once, so there is nothing to search for.`;
      note(receipt, 'dropped', { path: scope.path, reason });
      return undefined;
    }
    case 'bash':
    case 'text_editor':
    case 'memory': {
      noteIgnored(scope, { keys: ['max_characters'], receipt });
      const tool = builtInTool(kind, name);
      return { ...tool, ...readToolHints(scope, { description: tool.description, receipt }) };
    }
    default:
      return kind satisfies never;
  }
}

function readWebSearch(scope: Scope): Tool {
  const allowedDomains = optionalStringsAt(scope, 'allowed_domains');
  const blockedDomains = optionalStringsAt(scope, 'blocked_domains');
  const userLocation = readUserLocation(scope);
  return {
    kind: 'web-search',
    ...(allowedDomains === undefined ? {} : { allowedDomains }),
    ...(blockedDomains === undefined ? {} : { blockedDomains }),
    ...(userLocation === undefined ? {} : { userLocation }),
  };
}

function readUserLocation(scope: Scope): UserLocation | undefined {
  const location = optionalObjectAt(scope, 'user_location');
  if (location === undefined) return undefined;
  const words = PLACE_KEYS.flatMap((key): [string, string][] => {
    const word = optionalStringAt(location, key)?.trim() ?? '';
    return word === '' ? [] : [[key, word]];
  });
  if (words.length === 0) return undefined;
  return { path: bracketPath(location.path), ...Object.fromEntries(words) };
}

/** Options of a tool that change its answers, but nothing upstream. */
function noteIgnored(
  scope: Scope,
  { keys, receipt }: { readonly keys: readonly string[]; readonly receipt: Receipt },
): void {
  for (const key of keys) {
    if (scope.value[key] === undefined || scope.value[key] === null) continue;
    const reason = told`The upstream has no counterpart for this option.`;
    note(receipt, 'dropped', { path: pathOf(scope, key), reason });
  }
}

const TEXT = { type: 'string' };
const RANGE = { type: 'array', items: { type: 'integer' }, description: 'First and last line' };

/**
 * The tool that a dated type such as `bash_20250124` stands for.
 * Source: Messages API, "Bash tool", "Text editor tool", "Memory tool".
 */
function builtInTool(type: 'bash' | 'text_editor' | 'memory', name: string): FunctionTool {
  switch (type) {
    case 'bash':
      return { kind: 'function', name, ...BASH };
    case 'text_editor':
      return { kind: 'function', name, ...TEXT_EDITOR };
    case 'memory':
      return { kind: 'function', name, ...MEMORY };
    default:
      return type satisfies never;
  }
}

const BASH = {
  description: 'Runs a command in a bash session that lasts between calls.',
  parameters: object(
    { command: TEXT, restart: { type: 'boolean', description: 'True starts a new session' } },
    [],
  ),
};

const TEXT_EDITOR = {
  description: 'Views, creates and edits text files. str_replace needs one exact, unique match.',
  parameters: object(
    {
      command: { type: 'string', enum: ['view', 'create', 'str_replace', 'insert'] },
      path: { type: 'string', description: 'File or folder' },
      file_text: { type: 'string', description: 'Whole content, for create' },
      old_str: { type: 'string', description: 'Text to replace, for str_replace' },
      new_str: { type: 'string', description: 'Text to put there, for str_replace' },
      insert_line: { type: 'integer', description: 'Line to insert after, 0 for the start' },
      insert_text: { type: 'string', description: 'Text to put there, for insert' },
      view_range: RANGE,
    },
    ['command', 'path'],
  ),
};

const MEMORY = {
  description: 'Keeps notes between conversations as files under /memories.',
  parameters: object(
    {
      command: {
        type: 'string',
        enum: ['view', 'create', 'str_replace', 'insert', 'delete', 'rename'],
      },
      path: TEXT,
      file_text: TEXT,
      old_str: TEXT,
      new_str: TEXT,
      insert_line: { type: 'integer' },
      insert_text: TEXT,
      old_path: TEXT,
      new_path: TEXT,
      view_range: RANGE,
    },
    ['command'],
  ),
};

function object(properties: JsonObject, required: string[]): JsonObject {
  return { type: 'object', properties, ...(required.length > 0 ? { required } : {}) };
}

/** `defer_loading` and delivery hints are silent: every tool is declared from the start. */
function readToolHints(
  scope: Scope,
  {
    description,
    receipt,
  }: { readonly description?: string | undefined; readonly receipt: Receipt },
): Pick<FunctionTool, 'description' | 'strict'> {
  noteCallers(scope, receipt);
  const words = [description, readExamples(scope, receipt)].filter(
    (text) => text !== undefined && text !== '',
  );
  const strict = optionalBooleanAt(scope, 'strict');
  return {
    ...(words.length === 0 ? {} : { description: words.join('\n\n') }),
    ...(strict === undefined ? {} : { strict }),
  };
}

function readExamples(scope: Scope, receipt: Receipt): string | undefined {
  const examples = optionalArrayAt(scope, 'input_examples') ?? [];
  if (examples.length === 0) return undefined;
  const path = pathOf(scope, 'input_examples');
  note(receipt, 'approximated', { path, reason: told`Examples stand in the description.` });
  return ['Examples of its input:', ...examples.map((example) => JSON.stringify(example))].join(
    '\n',
  );
}

/** Code the real service runs calls such tools; here the model does. */
function noteCallers(scope: Scope, receipt: Receipt): void {
  const callers = optionalArrayAt(scope, 'allowed_callers') ?? [];
  if (callers.length === 0 || callers.includes('direct')) return;
  const path = pathOf(scope, 'allowed_callers');
  note(receipt, 'approximated', { path, reason: told`Here the model itself calls all tools.` });
}

/** A change of the tools of the request itself; those of MCP servers are none of them. */
export type ToolChange =
  | { readonly kind: 'added'; readonly name: string }
  | { readonly kind: 'removed'; readonly name: string }
  | { readonly kind: 'defined'; readonly definition: Scope };

interface ToldChange {
  /** What the model reads at the place of the change. */
  readonly text: string;
  readonly change?: ToolChange;
}

/**
 * A `tool_addition` or `tool_removal` block.
 * Source: SDK `resources/beta/messages/messages.d.ts`, BetaSystemMessageParam.
 */
export function readToolChange(block: Scope, kind: 'added' | 'removed'): ToldChange {
  const tool = objectAt(block, 'tool');
  switch (tagOf(tool)) {
    case 'tool_definition': {
      const definition = objectAt(tool, 'definition');
      const text = tellChange(kind, stringAt(definition, 'name'));
      return { text, change: { kind: 'defined', definition } };
    }
    case 'mcp_tool_reference':
      return { text: tellChange(kind, stringAt(tool, 'name')) };
    case 'mcp_toolset_reference':
      return { text: tellChange(kind, stringAt(tool, 'server_name')) };
    default: {
      const name = stringAt(tool, 'name');
      return { text: tellChange(kind, name), change: { kind, name } };
    }
  }
}

/**
 * The tools in effect at the end of the conversation, each where it was declared first: a definition
 * takes the place of an earlier one of its name, and a removed tool cannot be called.
 */
function applyToolChanges<Declared extends { readonly name: string }>(
  declared: readonly Declared[],
  changes: readonly ToolChange[],
  readTool: (definition: Scope) => Declared,
): readonly Declared[] {
  if (changes.length === 0) return declared;
  const tools = [...declared];
  const places = new Map<string, number>();
  for (const [place, { name }] of tools.entries()) if (!places.has(name)) places.set(name, place);
  const removed = new Set<string>();
  for (const change of changes) {
    switch (change.kind) {
      case 'added':
        removed.delete(change.name);
        break;
      case 'removed':
        removed.add(change.name);
        break;
      case 'defined': {
        const tool = readTool(change.definition);
        const place = places.get(tool.name) ?? tools.length;
        tools[place] = tool;
        places.set(tool.name, place);
        removed.delete(tool.name);
        break;
      }
      default:
        change satisfies never;
    }
  }
  return tools.filter(({ name }) => !removed.has(name));
}

function tellChange(kind: 'added' | 'removed', name: string): string {
  return kind === 'added' ? toolAvailable(name) : `Tool ${name} is no longer available.`;
}

const SUFFIX = '_tool_result';

/** True for every block that answers a server-side tool, known or of a later date. */
export function isServerResultTag(tag: string): boolean {
  return tag.endsWith(SUFFIX);
}

/**
 * A `web_search_tool_result`, `web_fetch_tool_result`, `*_code_execution_tool_result`,
 * `mcp_tool_result` … block. Its content is history: it is read tolerantly and never refused.
 */
export function readServerResult(scope: Scope): ServerToolResultPart {
  const content = renderResult(scope.value.content);
  return {
    kind: 'server-tool-result',
    callId: nonEmptyStringAt(scope, 'tool_use_id'),
    name: tagOf(scope).slice(0, -SUFFIX.length),
    text: scope.value.is_error === true ? `error: ${content}` : content,
  };
}

/** The words that stand for a tool declared in mid-conversation. */
export function toolAvailable(name: string): string {
  return `Tool ${name} is now available.`;
}

function renderResult(content: JsonValue | undefined): string {
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) return content.map(renderResult).filter(Boolean).join('\n\n');
  if (!isJsonObject(content)) return '';
  const type = text(content.type);
  if (type.endsWith('_error')) return `error: ${text(content.error_code)}`;
  switch (type) {
    case 'web_search_result':
      return lines(text(content.title), text(content.url));
    case 'web_fetch_result':
      return lines(text(content.url), renderResult(content.content));
    case 'document':
      return lines(text(content.title), renderSource(content.source));
    case 'tool_search_tool_search_result':
      return lines(...referencedTools(content).map(toolAvailable));
    case 'text':
    case 'advisor_result':
      return text(content.text);
    default:
      return renderExecution(content) ?? JSON.stringify(content);
  }
}

/** The output of a program or a file command; undefined when the object is neither. */
function renderExecution(content: JsonObject): string | undefined {
  if (typeof content.return_code === 'number') {
    return lines(text(content.stdout), text(content.stderr), `exit code ${content.return_code}`);
  }
  return typeof content.content === 'string' ? content.content : undefined;
}

/** The readable part of a fetched document; bytes are left out. */
function renderSource(source: JsonValue | undefined): string {
  if (!isJsonObject(source)) return '';
  if (source.type === 'text') return text(source.data);
  return source.type === 'content' ? renderResult(source.content) : '';
}

function referencedTools(content: JsonObject): readonly string[] {
  const references = Array.isArray(content.tool_references) ? content.tool_references : [];
  return references.filter(isJsonObject).map((reference) => text(reference.tool_name));
}

function lines(...texts: readonly string[]): string {
  return texts.filter((line) => line !== '').join('\n');
}

function text(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
