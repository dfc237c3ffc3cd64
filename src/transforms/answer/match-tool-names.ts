// Leads a call of an unknown name to the one declared tool it clearly means.

import { type Receipt, told } from '../../canonical/receipt.ts';
import { once } from '../../lib/once.ts';
import type { CallableTool, CallRule } from './call-rule.ts';

const MCP_CALL = /^mcp_+(.+)$/i;
const LAST_NAME = /^[\w-]+[.:]([\w-]+)$/;
const MCP_TOOL = /^mcp__(.+?)__(.+)$/i;

/**
 * A declared name is never changed. Otherwise the name counts in another letter case, and the name
 * of an MCP tool (`mcp__<server>__<tool>`) in the short forms models use, and in some of its words.
 * A name that could mean two tools, or none, stays as it is: the client knows best how to answer it.
 */
export function matchToolNames({
  tools,
  receipt,
}: {
  readonly tools: readonly CallableTool[];
  readonly receipt: Receipt;
}): CallRule {
  const declared = new Set(tools.map((tool) => tool.name));
  const mcpTools = once(() => [...declared].flatMap((name) => readMcpTool(name) ?? []));
  const find = (called: string): string | undefined =>
    findByCase(declared, called) ??
    findByLastName(declared, called) ??
    findMcpTool(mcpTools(), called);
  // A name that was written differently once is written so again.
  const found = new Map<string, string | undefined>();
  return (opening) => {
    const { name: called } = opening;
    if (declared.has(called)) return opening;
    if (!found.has(called)) found.set(called, find(called));
    const name = found.get(called);
    if (name === undefined) return opening;
    receipt.add('repaired', `tool_calls.${name}`, told`The model wrote the name differently.`);
    return { ...opening, name };
  };
}

function findByCase(declared: ReadonlySet<string>, called: string): string | undefined {
  const lower = called.toLowerCase();
  return onlyOne([...declared].filter((name) => name.toLowerCase() === lower));
}

/** Models call `default_api.run` or `functions:run` what was declared as `run`. */
function findByLastName(declared: ReadonlySet<string>, called: string): string | undefined {
  const last = LAST_NAME.exec(called)?.[1];
  if (last === undefined) return undefined;
  return declared.has(last) ? last : findByCase(declared, last);
}

interface McpTool {
  readonly name: string;
  /** The words of the server's name and of the tool's. */
  readonly server: readonly string[];
  readonly tool: readonly string[];
  /** The tool's words without the server's name, where it repeats that. */
  readonly own: readonly string[];
}

function readMcpTool(name: string): McpTool | undefined {
  const match = MCP_TOOL.exec(name);
  if (match?.[1] === undefined || match[2] === undefined) return undefined;
  const server = wordsOf(match[1]);
  const tool = wordsOf(match[2]);
  const own =
    beginsWith(tool, server) && tool.length > server.length ? tool.slice(server.length) : tool;
  return { name, server, tool, own };
}

/** The one tool that is called in short, else the one whose name holds all words of the called one. */
function findMcpTool(tools: readonly McpTool[], called: string): string | undefined {
  const rest = MCP_CALL.exec(called)?.[1];
  if (rest === undefined) return undefined;
  const words = wordsOf(rest);
  const inShort = tools.filter((tool) => shortForms(tool).includes(words.join(' ')));
  if (inShort.length > 0) return onlyOne(inShort)?.name;
  return onlyOne(toolsHolding(words, { tools, called }))?.name;
}

/**
 * `puppeteer` + `puppeteer_navigate` is called as both together, as the tool alone, and either way
 * without the server's name repeated in the tool's.
 */
function shortForms({ server, tool, own }: McpTool): readonly string[] {
  return [[...server, ...tool], tool, [...server, ...own], own].map((words) => words.join(' '));
}

/** Where a server is named, its own tools alone may be meant: those of another one do other things. */
function toolsHolding(
  words: readonly string[],
  { tools, called }: { readonly tools: readonly McpTool[]; readonly called: string },
): readonly McpTool[] {
  const ofServer = tools.filter(({ server }) => beginsWith(words, server));
  if (ofServer.length > 0) {
    return ofServer.filter(({ server, own }) => holds(own, words.slice(server.length)));
  }
  return MCP_TOOL.test(called) ? [] : tools.filter(({ own }) => holds(own, words));
}

function beginsWith(words: readonly string[], start: readonly string[]): boolean {
  return start.every((word, index) => words[index] === word);
}

/** True when `part` stands in `words`, as whole words, side by side. */
function holds(words: readonly string[], part: readonly string[]): boolean {
  return part.length > 0 && ` ${words.join(' ')} `.includes(` ${part.join(' ')} `);
}

function wordsOf(name: string): readonly string[] {
  return name
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}

function onlyOne<Item>(items: readonly Item[]): Item | undefined {
  return items.length === 1 ? items[0] : undefined;
}
