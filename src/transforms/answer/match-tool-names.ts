// Leads a call of an unknown name to the one declared tool it clearly means.

import type { Receipt } from '../../canonical/receipt.ts';
import type { CallableTool, CallRule } from './call-rule.ts';

const MCP_CALL = /^mcp_+(.+)$/i;
const LAST_NAME = /^[\w-]+[.:]([\w-]+)$/;
const MCP_TOOL = /^mcp__(.+?)__(.+)$/i;

/**
 * A declared name is never changed. Otherwise the name counts in another letter case, and the name
 * of an MCP tool (`mcp__<server>__<tool>`) in the short forms models use. A name that could mean two
 * tools, or none, stays as it is: the client knows best how to answer it.
 */
export function matchToolNames({
  tools,
  receipt,
}: {
  readonly tools: readonly CallableTool[];
  readonly receipt: Receipt;
}): CallRule {
  const declared = new Set(tools.map((tool) => tool.name));
  return (opening) => {
    if (declared.has(opening.name)) return opening;
    const { name: called } = opening;
    const name =
      findByCase(declared, called) ??
      findByLastName(declared, called) ??
      findByShortForm(declared, called);
    if (name === undefined) return opening;
    receipt.add('repaired', `tool_calls.${name}`, 'The model wrote the name differently.');
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

function findByShortForm(declared: ReadonlySet<string>, called: string): string | undefined {
  const rest = MCP_CALL.exec(called)?.[1];
  if (rest === undefined) return undefined;
  const words = wordsOf(rest).join(' ');
  return onlyOne([...declared].filter((name) => shortForms(name).includes(words)));
}

/**
 * `puppeteer` + `puppeteer_navigate` is called as both together, as the tool alone, and either way
 * without the server's name repeated in the tool's. Dropping other words could reach a wrong tool.
 */
function shortForms(name: string): readonly string[] {
  const match = MCP_TOOL.exec(name);
  if (match?.[1] === undefined || match[2] === undefined) return [];
  const server = wordsOf(match[1]);
  const tool = wordsOf(match[2]);
  const repeats = server.every((word, index) => tool[index] === word);
  const own = repeats && tool.length > server.length ? tool.slice(server.length) : tool;
  return [[...server, ...tool], tool, [...server, ...own], own].map((words) => words.join(' '));
}

function wordsOf(name: string): readonly string[] {
  return name
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}

function onlyOne(names: readonly string[]): string | undefined {
  return names.length === 1 ? names[0] : undefined;
}
