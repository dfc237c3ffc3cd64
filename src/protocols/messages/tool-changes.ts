// Reads the changes a conversation makes to its tools: what the model is told of them, and what they leave.

import { objectAt, type Scope, stringAt, tagOf } from './fields.ts';
import { toolAvailable } from './read-server-results.ts';

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
export function applyToolChanges<Declared extends { readonly name: string }>(
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
