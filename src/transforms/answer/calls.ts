// Applies the call rules to the events of one answer; everything that is no tool call passes untouched.

import type { BlockOpening, CanonicalEvent } from '../../canonical/event.ts';
import type { Receipt } from '../../canonical/receipt.ts';
import type { FreeformTool, FunctionTool, Turn } from '../../canonical/request.ts';
import { acceptedToolNames, type NamedTools } from '../../canonical/tool-names.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { once } from '../../lib/once.ts';
import { closedRule, type SchemaNode, SchemaReader, ValueRepair } from '../../schema/coerce.ts';
import { unwrapMapArguments } from '../../schema/tool-schema.ts';

type BlockStart = Extract<CanonicalEvent, { kind: 'block-start' }>;
type BlockDelta = Extract<CanonicalEvent, { kind: 'block-delta' }>;
type BlockEnd = Extract<CanonicalEvent, { kind: 'block-end' }>;

/** An open call whose pieces do not pass as they come. */
type OpenCall =
  | { readonly kind: 'left-out' }
  | {
      readonly kind: 'held';
      readonly name: string;
      readonly repair: (json: string) => string;
      json: string;
    };

export interface RewriteOptions {
  /** In order; each gets what the one before it gave. */
  readonly rules: readonly CallRule[];
  readonly repairArguments: RepairArguments;
  /** True for arguments that clients may return in another form than they were shown. */
  mayChange(toolName: string, json: string): boolean;
}

/** Batches without a call come back as the same array. */
export function createCallRewriter(
  options: RewriteOptions,
): (events: readonly CanonicalEvent[]) => readonly CanonicalEvent[] {
  const rewriter = new CallRewriter(options);
  return (events) => rewriter.rewrite(events);
}

class CallRewriter {
  readonly #options: RewriteOptions;
  readonly #open = new Map<number, OpenCall>();

  constructor(options: RewriteOptions) {
    this.#options = options;
  }

  rewrite(events: readonly CanonicalEvent[]): readonly CanonicalEvent[] {
    if (this.#open.size === 0 && !hasCallStart(events)) return events;
    const shown: CanonicalEvent[] = [];
    for (const event of events) this.#add(event, shown);
    return shown;
  }

  #add(event: CanonicalEvent, shown: CanonicalEvent[]): void {
    switch (event.kind) {
      case 'block-start':
        this.#start(event, shown);
        break;
      case 'block-delta':
        this.#continue(event, shown);
        break;
      case 'block-end':
        this.#end(event, shown);
        break;
      case 'start':
      case 'grounding':
      case 'usage':
      case 'finish':
      case 'error':
        shown.push(event);
        break;
      default:
        event satisfies never;
    }
  }

  #start(event: BlockStart, shown: CanonicalEvent[]): void {
    const { block: given, choice, index } = event;
    if (given.kind !== 'tool-call') {
      shown.push(event);
      return;
    }
    let block: typeof given | undefined = given;
    for (const rule of this.#options.rules) {
      block = rule(block, choice);
      if (block === undefined) {
        this.#open.set(index, { kind: 'left-out' });
        return;
      }
    }
    const repair = this.#options.repairArguments(block.name);
    if (repair !== undefined) {
      this.#open.set(index, { kind: 'held', name: block.name, repair, json: '' });
    }
    shown.push(block === given ? event : { ...event, block });
  }

  #continue(event: BlockDelta, shown: CanonicalEvent[]): void {
    const call = this.#open.get(event.index);
    if (call === undefined) shown.push(event);
    else if (call.kind === 'held' && event.delta.kind === 'arguments')
      call.json += event.delta.json;
  }

  #end(event: BlockEnd, shown: CanonicalEvent[]): void {
    const call = this.#open.get(event.index);
    this.#open.delete(event.index);
    if (call?.kind === 'left-out') return;
    if (call?.kind !== 'held' || call.json === '') {
      shown.push(event);
      return;
    }
    const json = call.repair(call.json);
    shown.push({ kind: 'block-delta', index: event.index, delta: { kind: 'arguments', json } });
    const isOther = json !== call.json || this.#options.mayChange(call.name, json);
    shown.push(isOther ? { ...event, issuedArguments: call.json } : event);
  }
}

function hasCallStart(events: readonly CanonicalEvent[]): boolean {
  for (const event of events) {
    if (event.kind === 'block-start' && event.block.kind === 'tool-call') return true;
  }
  return false;
}

type CallOpening = Extract<BlockOpening, { kind: 'tool-call' }>;

/** What a rule for the model's tool calls is: it rewrites the opening of each call of one answer. */
export type CallableTool = FunctionTool | FreeformTool;

/**
 * Gets the openings of one answer's calls in order and gives each as the client is to see it (the
 * same object when nothing changes); undefined leaves the whole call out. Instances keep state, so
 * there is one for each answer.
 */
export type CallRule = (opening: CallOpening, choice: number) => CallOpening | undefined;

/**
 * For clients that want one tool call at a time: lets the first call of each choice through. Upstreams have no
 * such switch; the request's receipt already says that further calls are left out.
 */
export function limitCalls(): CallRule {
  const called = new Set<number>();
  return (opening, choice) => {
    if (called.has(choice)) return undefined;
    called.add(choice);
    return opening;
  };
}

/** Messages API: `tool_use.id` is `^[a-zA-Z0-9_-]+$`; Responses API: `call_id` has at most 64 characters. */
const PORTABLE_ID = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Gives a call a fresh id where the upstream's own could not be told apart or carried by every client. Decoders
 * keep ids apart within one answer. Some upstreams count from zero in every answer, so an id the conversation
 * already holds is replaced as well: its result could not be matched.
 */
export function uniqueCallIds({
  turns,
  callIdPrefix = 'call_',
  createId,
}: {
  readonly turns: readonly Turn[];
  readonly callIdPrefix?: string | undefined;
  readonly createId: (prefix: string) => string;
}): CallRule {
  let known: ReadonlySet<string> | undefined;
  return (opening) => {
    known ??= idsOf(turns);
    if (PORTABLE_ID.test(opening.id) && !known.has(opening.id)) return opening;
    return { ...opening, id: createId(callIdPrefix) };
  };
}

function idsOf(turns: readonly Turn[]): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const { parts } of turns) {
    for (const part of parts) if (part.kind === 'tool-call') ids.add(part.id);
  }
  return ids;
}

/**
 * Gives the calls of tools that went upstream under another name the names their client knows. Exact: the name
 * that was sent comes back as the name that was declared.
 */
export function restoreToolNames(request: NamedTools): CallRule {
  let own: ReadonlyMap<string, string> | undefined;
  return (opening) => {
    own ??= ownNames(request);
    const name = own.get(opening.name);
    return name === undefined ? opening : { ...opening, name };
  };
}

function ownNames(request: NamedTools): ReadonlyMap<string, string> {
  return new Map([...acceptedToolNames(request)].map(([name, sent]) => [sent, name]));
}

export interface MatchOptions {
  readonly tools: readonly CallableTool[];
  readonly receipt: Receipt;
}

/** An answer that makes up more names than this means none of them: each is looked for among all tools. */
const MAX_CANDIDATES = 64;

/**
 * Leads a call of an unknown name to the one declared tool it clearly means. Rewrites the openings of calls; see
 * `createNameMatcher`.
 */
export function matchToolNames(options: MatchOptions): CallRule {
  const match = createNameMatcher(options);
  return (opening) => {
    const name = match(opening.name);
    return name === opening.name ? opening : { ...opening, name };
  };
}

/**
 * A declared name is never changed. Otherwise the name counts in another letter case or way of joining
 * words (`readFile`, `read-file`), with articles (`read_a_file`), with a server's name that is missing or
 * too many (`fs__read_file`, `fs.read_file`), and the name of an MCP tool (`mcp__<server>__<tool>`) in the
 * short forms models use, and in some of its words. A name that could mean two tools, or none, stays as
 * it is: the client knows best how to answer it.
 */
export function createNameMatcher({ tools, receipt }: MatchOptions): (called: string) => string {
  const declared = new Set(tools.map((tool) => tool.name));
  const index = once(() => new NameIndex(declared));
  // A name that was written differently once is written so again.
  const found = new Map<string, string | undefined>();
  return (called) => {
    if (declared.has(called)) return called;
    if (!found.has(called) && found.size < MAX_CANDIDATES) found.set(called, index().find(called));
    const name = found.get(called);
    if (name === undefined) return called;
    receipt.add('repaired', `tool_calls.${name}`, told`The model wrote the name differently.`);
    return name;
  };
}

const MCP_NAME = /^mcp_+(.+)$/i;
const MCP_TOOL = /^mcp__(.+?)__(.+)$/i;
/** `server__tool`, `server.tool`, `server/tool`. */
const SERVER_TOOL = /^(.+?)(?:__|[.:/])(.+)$/;
const LAST_NAME = /^[\w-]+[.:]([\w-]+)$/;
/** What models take for the place that tools are in. */
const NO_SERVER = /^(?:default_api|functions?|tools?)[.:](.+)$/i;

interface ServerTool {
  readonly name: string;
  /** The words of the server's name and of the tool's. */
  readonly server: readonly string[];
  readonly tool: readonly string[];
  /** The tool's words without the server's name, where it repeats that. */
  readonly own: readonly string[];
}

/** What the words of a name are: all of it, a tool without its server, or one that has none. */
type Form = 'case' | 'whole' | 'tool' | 'short' | 'plain';

/** The declared names by what they may be called, made once for all calls of an answer. */
class NameIndex {
  /** Undefined for what two tools could be called. */
  readonly #names = new Map<string, string | undefined>();
  readonly #mcpTools: ServerTool[] = [];
  readonly #servers = new Set<string>();
  readonly #declared: ReadonlySet<string>;

  constructor(declared: ReadonlySet<string>) {
    this.#declared = declared;
    for (const name of declared) this.#add(name);
  }

  find(called: string): string | undefined {
    const byCase = this.#byCase(called);
    if (byCase !== undefined) return byCase;
    const inside = NO_SERVER.exec(called)?.[1];
    if (inside !== undefined) return this.#declared.has(inside) ? inside : this.find(inside);
    return this.#byLastName(called) ?? this.#byWords(called);
  }

  #add(name: string): void {
    this.#names.set(...this.#entry(`case ${name.toLowerCase()}`, name));
    const { server, tool, own, isMcp } = readName(name);
    if (server.length === 0) {
      this.#note(['whole', 'plain'], tool, name);
      return;
    }
    this.#servers.add(server.join(''));
    this.#note(['whole'], [...server, ...tool], name);
    this.#note(['whole'], [...server, ...own], name);
    this.#note(['tool', 'short'], tool, name);
    if (!isMcp) return;
    this.#note(['short'], own, name);
    this.#mcpTools.push({ name, server, tool, own });
  }

  #note(forms: readonly Form[], words: readonly string[], name: string): void {
    for (const form of forms) {
      for (const key of keysOf(form, words)) this.#names.set(...this.#entry(key, name));
    }
  }

  #entry(key: string, name: string): [string, string | undefined] {
    const isFree = !this.#names.has(key) || this.#names.get(key) === name;
    return [key, isFree ? name : undefined];
  }

  #byCase(called: string): string | undefined {
    return this.#names.get(`case ${called.toLowerCase()}`);
  }

  /** Models call `toolbox.run` or `toolbox:run` what was declared as `run`. */
  #byLastName(called: string): string | undefined {
    const last = LAST_NAME.exec(called)?.[1];
    if (last === undefined) return undefined;
    return this.#declared.has(last) ? last : this.#byCase(last);
  }

  #byWords(called: string): string | undefined {
    const { server, tool, isMcp } = readName(called);
    const words = [...server, ...tool];
    for (const [form, looked] of this.#looks({ server, tool, words, isMcp })) {
      for (const key of keysOf(form, looked)) {
        // One that two could be called is not looked for in wider ways.
        if (this.#names.has(key)) return this.#names.get(key);
      }
    }
    return isMcp ? onlyOne(this.#toolsHolding(words, called))?.name : undefined;
  }

  *#looks(called: {
    readonly server: readonly string[];
    readonly tool: readonly string[];
    readonly words: readonly string[];
    readonly isMcp: boolean;
  }): Generator<readonly [Form, readonly string[]]> {
    const { server, tool, words, isMcp } = called;
    yield ['whole', words];
    if (isMcp) yield ['short', words];
    // One word alone says too little of whose tool it is.
    else if (server.length === 0 && tool.length > 1) yield ['tool', tool];
    if (server.length > 0 && !this.#servers.has(server.join(''))) yield ['plain', tool];
  }

  /** Where a server is named, its own tools alone may be meant: those of another one do other things. */
  #toolsHolding(words: readonly string[], called: string): readonly ServerTool[] {
    const ofServer = this.#mcpTools.filter(({ server }) => beginsWith(words, server));
    if (ofServer.length > 0) {
      return ofServer.filter(({ server, own }) => holds(own, words.slice(server.length)));
    }
    return MCP_TOOL.test(called) ? [] : this.#mcpTools.filter(({ own }) => holds(own, words));
  }
}

/** `puppeteer` + `puppeteer_navigate` is called as both together and without the server's name repeated. */
function readName(name: string): Omit<ServerTool, 'name'> & { readonly isMcp: boolean } {
  const rest = MCP_NAME.exec(name)?.[1];
  const match = SERVER_TOOL.exec(rest ?? name);
  const server = wordsOf(match?.[1] ?? '');
  const tool = wordsOf(match?.[2] ?? rest ?? name);
  const repeats = server.length > 0 && beginsWith(tool, server) && tool.length > server.length;
  return {
    server,
    tool,
    own: repeats ? tool.slice(server.length) : tool,
    isMcp: rest !== undefined,
  };
}

/** With all words first, then without articles but the first word, which may be a server; how they are joined does not matter. */
function keysOf(form: Form, words: readonly string[]): readonly string[] {
  if (words.length === 0) return [];
  const telling = words.filter((word, place) => place === 0 || !ARTICLES.has(word));
  return [`${form} ${words.join('')}`, `${form} without articles ${telling.join('')}`];
}

const ARTICLES: ReadonlySet<string> = new Set(['a', 'an', 'the']);

function beginsWith(words: readonly string[], start: readonly string[]): boolean {
  return start.every((word, index) => words[index] === word);
}

/** True when `part` stands in `words`, as whole words, side by side. */
function holds(words: readonly string[], part: readonly string[]): boolean {
  return part.length > 0 && ` ${words.join(' ')} `.includes(` ${part.join(' ')} `);
}

function wordsOf(name: string): readonly string[] {
  return name
    .replace(/([\p{Ll}\d])(\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu, '$1$3 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

function onlyOne<Item>(items: readonly Item[]): Item | undefined {
  return items.length === 1 ? items[0] : undefined;
}

/**
 * How to rewrite the whole arguments of a call of this tool; undefined when nothing could change
 * (no schema, or one that says nothing of any argument), so that pieces need not be held back.
 */
export type RepairArguments = (toolName: string) => ((json: string) => string) | undefined;

export interface ArgumentRepairOptions {
  readonly tools: readonly CallableTool[];
  readonly receipt: Receipt;
  /** True for a tool whose arguments were asked for in their own types: none of their texts stands for another value. */
  isTyped(toolName: string): boolean;
}

/**
 * Repairs the arguments of a call by the schema the client declared for the tool. Schemas are read when their
 * tool is first called, and once.
 */
export function createArgumentRepair(options: ArgumentRepairOptions): RepairArguments {
  const plans = new Map<string, ((json: string) => string) | undefined>();
  return (toolName) => {
    if (!plans.has(toolName)) plans.set(toolName, planFor(toolName, options));
    return plans.get(toolName);
  };
}

function planFor(
  toolName: string,
  { tools, receipt, isTyped }: ArgumentRepairOptions,
): ((json: string) => string) | undefined {
  const tool = tools.find(({ name }) => name === toolName);
  if (tool?.kind !== 'function') return undefined;
  const bySchema = planBySchema(tool, { receipt, isTyped: isTyped(toolName) });
  const { shownDefaults = {} } = tool;
  if (Object.keys(shownDefaults).length === 0) return bySchema;
  return (json) => complete(bySchema?.(json) ?? json, shownDefaults);
}

/** What clients are shown beside the model's own arguments is known here, so that it can be taken back. */
function complete(json: string, shownDefaults: JsonObject): string {
  const given = readArguments(json);
  return given === undefined ? json : JSON.stringify({ ...shownDefaults, ...given });
}

/** What these lead to may declare members even where nothing here could be resolved. */
const REFERENCES = ['$ref', '$dynamicRef'];

function planBySchema(
  tool: FunctionTool,
  { receipt, isTyped }: { readonly receipt: Receipt; readonly isTyped: boolean },
): ((json: string) => string) | undefined {
  const { parameters } = tool;
  if (!isJsonObject(parameters)) return undefined;
  const reader = new SchemaReader(parameters);
  const { root } = reader;
  const refers = REFERENCES.some((keyword) => Object.hasOwn(parameters, keyword));
  if (root.objects.length === 0 && root.choices.length === 0 && !refers) return undefined;
  const path = `tool_calls.${tool.name}`;
  // Clients refuse a call with any argument.
  const takesNone = closedRule(root)?.properties.size === 0;
  const mayBeMap = !takesNone && !isTyped && declaresNothing(root, reader);
  return (json) => repairJson(json, { reader, takesNone, mayBeMap, isTyped, path, receipt });
}

/** True where the names of the arguments are free: all of them may come inside one. */
function declaresNothing({ objects, choices }: SchemaNode, reader: SchemaReader): boolean {
  const branches = choices.flat().flatMap((branch) => reader.branch(branch).objects);
  return [...objects, ...branches].every(({ properties }) => properties.size === 0);
}

interface RepairPlan {
  readonly reader: SchemaReader;
  readonly takesNone: boolean;
  readonly mayBeMap: boolean;
  readonly isTyped: boolean;
  readonly path: string;
  readonly receipt: Receipt;
}

/** Arguments that need no repair, or too much work, come back as the same text. */
function repairJson(json: string, plan: RepairPlan): string {
  const { reader, path, receipt } = plan;
  const written = readArguments(json);
  if (written === undefined) return json;
  const inside = plan.mayBeMap ? unwrapMapArguments(written) : undefined;
  const given = inside ?? written;
  if (plan.takesNone) {
    if (Object.keys(given).length === 0) return json;
    receipt.add('dropped', path, told`The tool takes no arguments.`);
    return '{}';
  }
  const repair = new ValueRepair(reader, plan.isTyped || inside !== undefined);
  const repaired = repair.repair(reader.root, given, { path, name: '' });
  if (repair.gaveUp || repaired === given) return given === written ? json : JSON.stringify(given);
  for (const { action, path: at, reason } of repair.notes) receipt.add(action, at, reason);
  return JSON.stringify(repaired);
}

function readArguments(json: string): JsonObject | undefined {
  try {
    const value = parseJson(json);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
