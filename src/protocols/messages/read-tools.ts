// Reads `tools` and `tool_choice`: client tools, tools of the real service, and who may be called.

import { NotedMemo, type Receipt } from '../../canonical/receipt.ts';
import type {
  FunctionTool,
  ServerToolResultPart,
  Tool,
  ToolChoice,
} from '../../canonical/request.ts';
import { locationOf } from '../../canonical/user-location.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { objectsOf } from '../../lib/read-values.ts';
import { shareAs } from '../../lib/shared-json.ts';
import type { ValueOf } from '../body-schema.ts';
import {
  type Body,
  bracketPath,
  CLIENT_TOOL,
  check,
  fieldError,
  listWords,
  note,
  noteUnknown,
  type Scope,
  SERVER_RESULT,
  TOOL_HEAD,
  type ToolChangeBlock,
  TYPED_TOOL,
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
  { tools: items, tool_choice: choice }: Body,
  toolChanges: readonly ToolChange[],
  receipt: Receipt,
): ToolSet {
  const declared = items ? readDeclared(items, receipt) : NO_TOOLS;
  const list = toolChanges.length === 0 ? declared : changedTools(declared, toolChanges, receipt);
  if (!choice) return { tools: list.tools, toolChoice: AUTO };
  const set = readToolChoice(choice, list, receipt);
  return choice.disable_parallel_tool_use === true ? { ...set, parallelToolCalls: false } : set;
}

interface ToolList {
  readonly named: readonly NamedTool[];
  /** Those of them that have a counterpart. */
  readonly tools: readonly Tool[];
}

const NO_TOOLS: ToolList = { named: [], tools: [] };
const toolLists = new NotedMemo<ToolList>();

function readDeclared(items: readonly JsonValue[], given: Receipt): ToolList {
  return toolLists.get(items, { variant: '', receipt: given }, (receipt) => {
    const heads = items.map((value, index) => headOf({ value, path: `tools.${index}` }));
    const named = withoutNameless(heads, receipt).map((tool) => readTool(tool, receipt));
    refuseDuplicates(named);
    return { named, tools: shareAs(items, toolsOf(named)) };
  });
}

function toolsOf(named: readonly NamedTool[]): readonly Tool[] {
  return named.map(({ tool }) => tool).filter((tool) => tool !== undefined);
}

interface ToolHead extends Scope<JsonValue | undefined> {
  readonly type: string;
  readonly name: string;
}

function headOf(tool: Scope<JsonValue | undefined>): ToolHead {
  const { type, name } = check(tool, TOOL_HEAD).value;
  return { ...tool, type: type ?? 'custom', name: name ?? '' };
}

/** Client tools without a name are left out where others are left; alone they are refused when they are read. */
function withoutNameless(tools: readonly ToolHead[], receipt: Receipt): readonly ToolHead[] {
  const isNamed = ({ type, name }: ToolHead): boolean => type !== 'custom' || name !== '';
  if (!tools.some(isNamed)) return tools;
  return tools.filter((tool) => {
    if (isNamed(tool)) return true;
    note(receipt, 'dropped', tool.path, told`A tool without a name cannot be called.`);
    return false;
  });
}

function readTool(head: ToolHead, receipt: Receipt): NamedTool {
  const { type, name } = head;
  // Before the name is asked for: toolsets have none, and their type is what cannot be served.
  if (type.startsWith(`${ADVISOR}_`)) {
    note(receipt, 'dropped', head.path, NO_ADVISOR);
    return { name: name || ADVISOR, tool: undefined };
  }
  const tool = type === 'custom' ? readClientTool(head, receipt) : readTypedTool(head, receipt);
  if (tool === undefined) return { name, tool };
  const path = bracketPath(head.path);
  if (tool.kind !== 'function') return { name, tool: { ...tool, path } };
  return { name, tool: { ...tool, path, parametersPath: `${path}.input_schema` } };
}

function readClientTool(scope: ToolHead, receipt: Receipt): FunctionTool {
  const tool = check(scope, CLIENT_TOOL);
  noteUnknown(tool, scope.path, receipt);
  const { name, input_schema } = tool.value;
  return {
    kind: 'function',
    name,
    parameters: input_schema,
    ...readToolHints(tool.value, scope.path, receipt),
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

const CHOICE = 'tool_choice';

function readToolChoice(
  choice: NonNullable<Body['tool_choice']>,
  list: ToolList,
  receipt: Receipt,
): ToolSet {
  const { named, tools } = list;
  switch (choice.type) {
    case 'auto':
      return { tools, toolChoice: AUTO };
    case 'none':
      return { tools, toolChoice: { kind: 'none' } };
    case 'any': {
      if (named.length === 0) throw fieldError(CHOICE, 'Tools are needed to require a call');
      const isPossible = tools.some((tool) => tool.kind === 'function');
      if (isPossible) return { tools, toolChoice: { kind: 'required', names: [] } };
      const reason = told`Only calls of declared functions can be required.`;
      note(receipt, 'approximated', CHOICE, reason);
      return { tools, toolChoice: AUTO };
    }
    case 'tool':
      return requireNamed(choice.name, list, receipt);
    default:
      throw unknownTag(choice, CHOICE, "'auto', 'any', 'tool' or 'none'");
  }
}

/** A server-side tool cannot be forced by name; standing alone in the request has the same effect. */
function requireNamed(name: string, { named, tools }: ToolList, receipt: Receipt): ToolSet {
  const matches = named.filter((candidate) => candidate.name === name);
  if (matches.length === 0) {
    throw fieldError(`${CHOICE}.name`, 'Input should be the name of one of the tools');
  }
  const tool = matches.find((match) => match.tool?.kind === 'function')?.tool ?? matches[0]?.tool;
  if (tool?.kind === 'function') return { tools, toolChoice: { kind: 'required', names: [name] } };
  if (tool === undefined) {
    if (name === ADVISOR) throw fieldError(`${CHOICE}.name`, NO_ADVISOR.text, 'unsupported');
    note(receipt, 'dropped', CHOICE, told`The chosen tool was dropped.`);
    return { tools, toolChoice: AUTO };
  }
  if (tools.length > 1) {
    const reason = told`A forced server tool goes alone: the other tools were left out.`;
    note(receipt, 'dropped', 'tools', reason);
  }
  return { tools: [tool], toolChoice: AUTO };
}

/** A date follows, which changes often and which some clients leave out. */
const TOOL_KINDS = [
  ...(['web_search', 'web_fetch', 'code_execution', 'tool_search_tool'] as const),
  ...(['bash', 'text_editor', 'memory'] as const),
];

/** What limits fetches of the real service, or shapes what they give. */
const FETCH_OPTIONS = [
  ...(['max_uses', 'max_content_tokens', 'allowed_domains', 'blocked_domains'] as const),
  'url_sources' as const,
];

/** Undefined for a tool without a counterpart, which the receipt names. */
function readTypedTool(head: ToolHead, receipt: Receipt): Tool | undefined {
  const { path, type } = head;
  const kind = TOOL_KINDS.find((known) => type === known || type.startsWith(`${known}_`));
  if (kind === undefined) {
    throw unknownTag(head, path, `${listWords(['custom', ...TOOL_KINDS])} with its date`);
  }
  const checked = check(head, TYPED_TOOL);
  noteUnknown(checked, path, receipt);
  const tool = checked.value;
  /** Of options of a tool that change its answers, but nothing upstream. */
  const noteIgnored = (keys: readonly (keyof typeof tool)[]): void => {
    for (const key of keys) {
      if ((tool[key] ?? null) === null) continue;
      const reason = told`The upstream has no counterpart for this option.`;
      note(receipt, 'dropped', `${path}.${key}`, reason);
    }
  };
  switch (kind) {
    case 'web_search':
      noteIgnored(['max_uses']);
      return readWebSearch(tool, path);
    case 'web_fetch':
      noteIgnored(FETCH_OPTIONS);
      if (tool.citations?.enabled === true) noteIgnored(['citations']);
      if (tool.use_cache === false) noteIgnored(['use_cache']);
      return { kind: 'url-context' };
    case 'code_execution':
      return { kind: 'code-execution' };
    case 'tool_search_tool': {
      const reason = told`Every tool is declared at once, so there is nothing to search for.`;
      note(receipt, 'dropped', path, reason);
      return undefined;
    }
    case 'bash':
    case 'text_editor':
    case 'memory': {
      noteIgnored(['max_characters']);
      const { description, parameters } = BUILT_IN_TOOLS[kind];
      const hints = readToolHints({ ...tool, description }, path, receipt);
      return { kind: 'function', name: tool.name, parameters, ...hints };
    }
    default:
      return kind satisfies never;
  }
}

function readWebSearch(
  { allowed_domains, blocked_domains, user_location }: ValueOf<typeof TYPED_TOOL>,
  tool: string,
): Tool {
  const userLocation = locationOf(user_location ?? {}, bracketPath(`${tool}.user_location`));
  return {
    kind: 'web-search',
    ...(allowed_domains ? { allowedDomains: allowed_domains } : {}),
    ...(blocked_domains ? { blockedDomains: blocked_domains } : {}),
    ...(userLocation ? { userLocation } : {}),
  };
}

const TEXT = { type: 'string' };
const RANGE = { type: 'array', items: { type: 'integer' }, description: 'First and last line' };

/**
 * The tools that dated types such as `bash_20250124` stand for.
 * Source: Messages API, "Bash tool", "Text editor tool", "Memory tool".
 */
const BUILT_IN_TOOLS = {
  bash: {
    description: 'Runs a command in a bash session that lasts between calls.',
    parameters: {
      type: 'object',
      properties: {
        command: TEXT,
        restart: { type: 'boolean', description: 'True starts a new session' },
      },
    },
  },
  text_editor: {
    description: 'Views, creates and edits text files. str_replace needs one exact, unique match.',
    parameters: {
      type: 'object',
      properties: {
        command: { ...TEXT, enum: ['view', 'create', 'str_replace', 'insert'] },
        path: { ...TEXT, description: 'File or folder' },
        file_text: { ...TEXT, description: 'Whole content, for create' },
        old_str: { ...TEXT, description: 'Text to replace, for str_replace' },
        new_str: { ...TEXT, description: 'Text to put there, for str_replace' },
        insert_line: { type: 'integer', description: 'Line to insert after, 0 for the start' },
        insert_text: { ...TEXT, description: 'Text to put there, for insert' },
        view_range: RANGE,
      },
      required: ['command', 'path'],
    },
  },
  memory: {
    description: 'Keeps notes between conversations as files under /memories.',
    parameters: {
      type: 'object',
      properties: {
        command: { ...TEXT, enum: ['view', 'create', 'str_replace', 'insert', 'delete', 'rename'] },
        ...{ path: TEXT, file_text: TEXT, old_str: TEXT, new_str: TEXT },
        insert_line: { type: 'integer' },
        ...{ insert_text: TEXT, old_path: TEXT, new_path: TEXT },
        view_range: RANGE,
      },
      required: ['command'],
    },
  },
};

type ToolHints = Pick<
  ValueOf<typeof CLIENT_TOOL>,
  'description' | 'strict' | 'input_examples' | 'allowed_callers'
>;

/** `defer_loading` and delivery hints are silent: every tool is declared from the start. */
function readToolHints(
  { description, strict, input_examples, allowed_callers }: ToolHints,
  tool: string,
  receipt: Receipt,
): Pick<FunctionTool, 'description' | 'strict'> {
  // Code the real service runs calls such tools; here the model does.
  if (allowed_callers && allowed_callers.length > 0 && !allowed_callers.includes('direct')) {
    const reason = told`Here the model itself calls all tools.`;
    note(receipt, 'approximated', `${tool}.allowed_callers`, reason);
  }
  const words = description ? [description] : [];
  if (input_examples && input_examples.length > 0) {
    const reason = told`Examples are in the description.`;
    note(receipt, 'approximated', `${tool}.input_examples`, reason);
    const examples = input_examples.map((example) => JSON.stringify(example));
    words.push(['Examples of its input:', ...examples].join('\n'));
  }
  return {
    ...(words.length === 0 ? {} : { description: words.join('\n\n') }),
    ...((strict ?? null) === null ? {} : { strict: strict === true }),
  };
}

/** A change of the tools of the request itself; those of MCP servers are none of them. */
export type ToolChange =
  | { readonly kind: 'added'; readonly name: string }
  | { readonly kind: 'removed'; readonly name: string }
  | { readonly kind: 'defined'; readonly definition: ToolHead };

/**
 * A `tool_addition` or `tool_removal` block, and the text that the model reads at its place.
 * Source: SDK `resources/beta/messages/messages.d.ts`, BetaSystemMessageParam.
 */
export function readToolChange(
  { type, tool }: ToolChangeBlock,
  path: string,
): { readonly text: string; readonly change?: ToolChange } {
  const kind = type === 'tool_removal' ? 'removed' : 'added';
  const tell = (name: string): string =>
    kind === 'added' ? toolAvailable(name) : `Tool ${name} is no longer available.`;
  switch (tool.type) {
    case 'tool_definition': {
      const definition = headOf({ value: tool.definition, path: `${path}.tool.definition` });
      return { text: tell(tool.definition.name), change: { kind: 'defined', definition } };
    }
    case 'mcp_tool_reference':
      return { text: tell(tool.name) };
    case 'mcp_toolset_reference':
      return { text: tell(tool.server_name) };
    default:
      return { text: tell(tool.name), change: { kind, name: tool.name } };
  }
}

/**
 * The tools in effect at the end of the conversation, each where it was declared first: a definition
 * takes the place of an earlier one of its name, and a removed tool cannot be called.
 */
function changedTools(
  { named: declared }: ToolList,
  changes: readonly ToolChange[],
  receipt: Receipt,
): ToolList {
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
        const tool = readTool(change.definition, receipt);
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
  const named = tools.filter(({ name }) => !removed.has(name));
  return { named, tools: toolsOf(named) };
}

const SUFFIX = '_tool_result';

/** True for every block that answers a server-side tool, known or of a later date. */
export function isServerResult({ type }: { readonly type: string }): boolean {
  return type.endsWith(SUFFIX);
}

/**
 * A `web_search_tool_result`, `web_fetch_tool_result`, `*_code_execution_tool_result`,
 * `mcp_tool_result` … block. Its content is history: it is read tolerantly and never refused.
 */
export function readServerResult(value: object, path: string): ServerToolResultPart {
  const result = check({ value, path }, SERVER_RESULT).value;
  const content = renderResult(result.content ?? undefined);
  return {
    kind: 'server-tool-result',
    callId: result.tool_use_id,
    name: result.type.slice(0, -SUFFIX.length),
    text: result.is_error === true ? `error: ${content}` : content,
  };
}

/** The words that stand for a tool declared in mid-conversation. */
export function toolAvailable(name: string): string {
  return `Tool ${name} is now available.`;
}

/** What of a result is told, by its type; a result and the source of a document may have the same one. */
const TOLD_FIELDS: ReadonlyMap<string, readonly string[]> = new Map([
  ['web_search_result', ['title', 'url']],
  ['web_fetch_result', ['url', 'content']],
  ['document', ['title', 'source']],
  ['text', ['text', 'data']],
  ['advisor_result', ['text']],
  ['content', ['content']],
  // The bytes of a document are left out.
  ...['base64', 'url', 'file'].map((type): [string, string[]] => [type, []]),
]);

function renderResult(content: JsonValue | undefined): string {
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) return content.map(renderResult).filter(Boolean).join('\n\n');
  if (!isJsonObject(content)) return '';
  const type = renderResult(content.type);
  if (type.endsWith('_error')) return `error: ${renderResult(content.error_code)}`;
  const texts = TOLD_FIELDS.get(type)?.map((name) => renderResult(content[name]));
  return texts === undefined ? renderExecution(content) : lines(texts);
}

/** The tools that were found, or the output of a program or a file command; other objects as they are. */
function renderExecution(content: JsonObject): string {
  const { type, tool_references: found, return_code, stdout, stderr } = content;
  if (type === 'tool_search_tool_search_result') {
    return lines(objectsOf(found).map(({ tool_name }) => toolAvailable(renderResult(tool_name))));
  }
  if (typeof return_code === 'number') {
    return lines([renderResult(stdout), renderResult(stderr), `exit code ${return_code}`]);
  }
  return typeof content.content === 'string' ? content.content : JSON.stringify(content);
}

function lines(texts: readonly string[]): string {
  return texts.filter((line) => line !== '').join('\n');
}
