// Rewrites the tool calls of one answer as its client can use them, with arguments of the types that their schemas have;
// everything else passes untouched.

import type { BlockOpening, CanonicalEvent } from '../../canonical/event.ts';
import type { Receipt } from '../../canonical/receipt.ts';
import type { CanonicalRequest, FunctionTool, Turn } from '../../canonical/request.ts';
import { declaredArguments, mayComeBackChanged } from '../../canonical/signatures.ts';
import {
  acceptedToolNames,
  type CallableTool,
  isCallable,
  type NameForm,
} from '../../canonical/tool-names.ts';
import type { TypedValues } from '../../canonical/typed-values.ts';
import { isJsonObject, type JsonObject, tryParse } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { objectOf } from '../../lib/read-values.ts';
import { closedRule, repairValue, type SchemaNode, SchemaReader } from '../../schema/coerce.ts';
import { unwrapMapArguments } from '../../schema/tool-schema.ts';

type BlockStart = Extract<CanonicalEvent, { kind: 'block-start' }>;
type BlockEnd = Extract<CanonicalEvent, { kind: 'block-end' }>;
type CallOpening = Extract<BlockOpening, { kind: 'tool-call' }>;

/** An open call whose pieces do not pass as they come. */
type OpenCall =
  | { readonly kind: 'left-out' }
  | { readonly kind: 'held'; readonly name: string; readonly repair: Repair; json: string };

interface CallRewriterOptions {
  readonly request: CanonicalRequest;
  /** What the upstream was asked for in its own types; the rest may come as texts. */
  readonly typed: TypedValues;
  readonly receipt: Receipt;
  /** Of the ids that calls get in place of ones the client cannot use. */
  readonly callIdPrefix?: string | undefined;
  readonly createId: (prefix: string) => string;
}

/** Messages API: `tool_use.id` is `^[a-zA-Z0-9_-]+$`; Responses API: `call_id` has at most 64 characters. */
const PORTABLE_ID = /^[A-Za-z0-9_-]{1,64}$/;

const MORE_CALLS = told`The model made further calls at once, which were left out.`;

/** Which of them was sent depends on the upstream; no name of one form stands for another tool in the other. */
const NAME_FORMS: readonly NameForm[] = ['dotted', 'plain'];

/** What the tools of a request are called, here and upstream, and how their arguments are repaired. */
interface ToolIndex {
  readonly tools: readonly CallableTool[];
  /** The client's name by the one that was sent. */
  readonly ownNames: ReadonlyMap<string, string>;
  /** The names that were sent in place of the client's, in each form. */
  readonly sentNames: readonly ReadonlyMap<string, string>[];
  readonly match: (called: string) => string;
  readonly knownIds: ReadonlySet<string>;
  readonly schemas: ReturnType<typeof declaredArguments>;
  /** Repairs by tool: schemas are read when their tool is first called, and once. */
  readonly repairs: Map<string, Repair | undefined>;
}

/** One for each answer, as it keeps state. Batches without a call come back as the same array. */
export class CallRewriter {
  readonly #options: CallRewriterOptions;
  readonly #open = new Map<number, OpenCall>();
  readonly #called = new Set<number>();
  /** Made for the first call. */
  #index: ToolIndex | undefined;

  constructor(options: CallRewriterOptions) {
    this.#options = options;
  }

  rewrite(events: readonly CanonicalEvent[]): readonly CanonicalEvent[] {
    if (this.#open.size === 0 && !events.some(isCallStart)) return events;
    const shown: CanonicalEvent[] = [];
    for (const event of events) {
      if (event.kind === 'block-start') this.#start(event, shown);
      else if (event.kind === 'block-end') this.#end(event, shown);
      else {
        const call = event.kind === 'block-delta' ? this.#open.get(event.index) : undefined;
        if (event.kind !== 'block-delta' || call === undefined) shown.push(event);
        else if (call.kind === 'held' && event.delta.kind === 'arguments') {
          call.json += event.delta.json;
        }
      }
    }
    return shown;
  }

  #start(event: BlockStart, shown: CanonicalEvent[]): void {
    const { block: given, choice, index } = event;
    if (given.kind !== 'tool-call') {
      shown.push(event);
      return;
    }
    // Some clients want one call at a time, and upstreams have no such switch, or models do not mind it.
    if (this.#options.request.parallelToolCalls === false && this.#called.has(choice)) {
      this.#options.receipt.add('dropped', 'tool_calls', MORE_CALLS);
      this.#open.set(index, { kind: 'left-out' });
      return;
    }
    this.#called.add(choice);
    const block = this.#openingOf(given);
    const repair = this.#repairOf(block.name);
    if (repair !== undefined) {
      this.#open.set(index, { kind: 'held', name: block.name, repair, json: '' });
    }
    shown.push(block === given ? event : { ...event, block });
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
    const mayChange = mayComeBackChanged(json, this.#tools().schemas.get(call.name));
    const isOther = json !== call.json || mayChange;
    shown.push(isOther ? { ...event, issuedArguments: call.json } : event);
  }

  /**
   * The call under the name its client knows, and with an id it can use. The name that was sent comes back as the one
   * that was declared. Decoders keep ids apart within one answer; some upstreams count from zero in every answer, so an
   * id the conversation already holds is replaced as well: its result could not be matched.
   */
  #openingOf(opening: CallOpening): CallOpening {
    const { ownNames, match, knownIds } = this.#tools();
    const { callIdPrefix = 'call_', createId } = this.#options;
    const name = match(ownNames.get(opening.name) ?? opening.name);
    const isUsable = PORTABLE_ID.test(opening.id) && !knownIds.has(opening.id);
    if (name === opening.name && isUsable) return opening;
    return { ...opening, name, id: isUsable ? opening.id : createId(callIdPrefix) };
  }

  /** By the schema of the tool that was really meant. */
  #repairOf(name: string): Repair | undefined {
    const { tools, sentNames, repairs } = this.#tools();
    if (!repairs.has(name)) {
      const { typed, receipt } = this.#options;
      const tool = tools.find((each) => each.name === name);
      const isTyped = sentNames.some((names) => typed.functions.has(names.get(name) ?? name));
      repairs.set(name, tool && planRepair(tool, { receipt, isTyped }));
    }
    return repairs.get(name);
  }

  #tools(): ToolIndex {
    if (this.#index !== undefined) return this.#index;
    const { request, receipt } = this.#options;
    const tools = request.tools.filter(isCallable);
    const sentNames = NAME_FORMS.map((form) => acceptedToolNames(request, form));
    const sent = sentNames.flatMap((names) => [...names]);
    this.#index = {
      tools,
      sentNames,
      ownNames: new Map(sent.map(([name, accepted]) => [accepted, name])),
      match: createNameMatcher(tools, receipt),
      knownIds: idsOf(request.turns),
      schemas: declaredArguments(tools),
      repairs: new Map(),
    };
    return this.#index;
  }
}

function isCallStart(event: CanonicalEvent): boolean {
  return event.kind === 'block-start' && event.block.kind === 'tool-call';
}

function idsOf(turns: readonly Turn[]): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const { parts } of turns) {
    for (const part of parts) if (part.kind === 'tool-call') ids.add(part.id);
  }
  return ids;
}

/** An answer that makes up more names than this means none of them: each is looked for among all tools. */
const MAX_CANDIDATES = 64;

/**
 * Leads an unknown name to the one declared tool it clearly means. A declared name is never changed. Otherwise the name counts in another letter case or way of joining
 * words (`readFile`, `read-file`), with articles (`read_a_file`), with a server's name that is missing or
 * too many (`fs__read_file`, `fs.read_file`), and the name of an MCP tool (`mcp__<server>__<tool>`) in the
 * short forms models use, and in some of its words. A name that could mean two tools, or none, stays as
 * it is: the client knows best how to answer it.
 */
export function createNameMatcher(
  tools: readonly Pick<CallableTool, 'name'>[],
  receipt: Receipt,
): (called: string) => string {
  const declared = new Set(tools.map((tool) => tool.name));
  let index: NameIndex | undefined;
  // A name that was written differently once is written so again.
  const found = new Map<string, string | undefined>();
  return (called) => {
    if (declared.has(called)) return called;
    if (!found.has(called) && found.size < MAX_CANDIDATES) {
      index ??= new NameIndex(declared);
      found.set(called, index.find(called));
    }
    const name = found.get(called);
    if (name === undefined) return called;
    receipt.add('repaired', `tool_calls.${name}`, told`The model wrote the name differently.`);
    return name;
  };
}

const MCP_NAME = /^mcp_+(.+)$/is;
const MCP_TOOL = /^mcp__(.+?)__(.+)$/is;
/** `server__tool`, `server.tool`, `server/tool`. */
const SERVER_TOOL = /^(.+?)(?:__|[.:/])(.+)$/s;
const LAST_NAME = /^[\w-]+[.:]([\w-]+)$/;
/** What models take for the place that tools are in. */
const NO_SERVER = /^(?:(?:default_api|functions?|tools?)[.:])+(.+)$/is;

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
    this.#set(`case ${name.toLowerCase()}`, name);
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
      for (const key of keysOf(form, words)) this.#set(key, name);
    }
  }

  #set(key: string, name: string): void {
    const isFree = !this.#names.has(key) || this.#names.get(key) === name;
    this.#names.set(key, isFree ? name : undefined);
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
    const looks: [Form, readonly string[]][] = [['whole', words]];
    if (isMcp) looks.push(['short', words]);
    // One word alone says too little of whose tool it is.
    else if (server.length === 0 && tool.length > 1) looks.push(['tool', tool]);
    if (server.length > 0 && !this.#servers.has(server.join(''))) looks.push(['plain', tool]);
    for (const key of looks.flatMap(([form, looked]) => keysOf(form, looked))) {
      // One that two could be called is not looked for in wider ways.
      if (this.#names.has(key)) return this.#names.get(key);
    }
    const [only, ...others] = isMcp ? this.#toolsHolding(words, called) : [];
    return others.length === 0 ? only?.name : undefined;
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

/** The whole arguments of a call as the client is to see them. */
type Repair = (json: string) => string;

interface RepairOptions {
  readonly receipt: Receipt;
  /** True where the arguments were asked for in their own types: none of their texts stands for another value. */
  readonly isTyped: boolean;
}

/**
 * How to rewrite the whole arguments of a call by the schema the client declared for the tool; undefined when nothing
 * could change (no schema, or one that says nothing of any argument), so that pieces need not be held back.
 */
function planRepair(tool: CallableTool, options: RepairOptions): Repair | undefined {
  if (tool.kind !== 'function') return undefined;
  const bySchema = planBySchema(tool, options);
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

function planBySchema(tool: FunctionTool, { receipt, isTyped }: RepairOptions): Repair | undefined {
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

interface RepairPlan extends RepairOptions {
  readonly reader: SchemaReader;
  readonly takesNone: boolean;
  readonly mayBeMap: boolean;
  readonly path: string;
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
  const hasOwnTypes = plan.isTyped || inside !== undefined;
  const repaired = repairValue(reader, given, { receipt, path, hasOwnTypes }) ?? given;
  return repaired === written ? json : JSON.stringify(repaired);
}

function readArguments(json: string): JsonObject | undefined {
  return objectOf(tryParse(json));
}
