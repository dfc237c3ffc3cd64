// Gives tools with names that upstreams refuse an accepted one, wherever the request names them.

import { told } from '../canonical/receipt.ts';
import type { Part, Tool, ToolChoice } from '../canonical/request.ts';
import { acceptedToolNames } from '../canonical/tool-names.ts';
import { mapTurns, type Transform } from './transform.ts';

/** Longer names are cut where they are quoted in a description. */
const MAX_QUOTED_LENGTH = 200;

/** Comes last: signatures and answers know tools by the client's names. */
export const acceptToolNames: Transform = (request, { receipt }) => {
  const names = acceptedToolNames(request);
  if (names.size === 0) return request;
  const tools = request.tools.map((tool, index) => {
    const renamed = renameTool(tool, names);
    if (renamed !== tool) {
      const path = tool.path ?? `tools[${index}]`;
      receipt.add(
        'repaired',
        path,
        told`Upstreams refuse such a name: another is sent in its place.`,
      );
    }
    return renamed;
  });
  const turns = mapTurns(request, (turn) =>
    turn.role === 'system'
      ? turn
      : { ...turn, parts: turn.parts.map((part) => renamePart(part, names)) },
  ).turns;
  const declared = new Set(request.tools.map((tool) => ('name' in tool ? tool.name : undefined)));
  if ([...names.keys()].some((name) => !declared.has(name))) {
    receipt.add('repaired', 'messages', told`Names of earlier tool calls were made acceptable.`);
  }
  return { ...request, tools, turns, toolChoice: renameChoice(request.toolChoice, names) };
};

/** The description tells the name by which the conversation may speak of the tool. */
function renameTool(tool: Tool, names: ReadonlyMap<string, string>): Tool {
  if (tool.kind !== 'function' && tool.kind !== 'freeform') return tool;
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
