// Leads a call of an unknown name to the one declared tool it clearly means.

import { type Receipt, told } from '../../canonical/receipt.ts';
import { once } from '../../lib/once.ts';
import type { CallableTool, CallRule } from './call-rule.ts';

export interface MatchOptions {
  readonly tools: readonly CallableTool[];
  readonly receipt: Receipt;
}

/** An answer that makes up more names than this means none of them: each is looked for among all tools. */
const MOST_LOOKED_FOR = 64;

/** Rewrites the openings of calls; see `createNameMatcher`. */
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
    if (!found.has(called) && found.size < MOST_LOOKED_FOR) found.set(called, index().find(called));
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
